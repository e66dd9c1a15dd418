/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of `weir exec`: the command and its helper, the path and its place, the command line,
 * and the drain at the end. What it shares with `weir on` is in path/path.h.
 */
#ifndef WEIR_EXEC_H
#define WEIR_EXEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "gateway/gateway.h"
#include "live/runtime.h"
#include "namespace/netlink.h"
#include "path/path.h"
#include "scenario/problem.h"
#include "scenario/scenario.h"
#include "socket/socket.h"
#include "text/word.h"

/*
 * The command of `weir exec`, and the helper: the process between it and weir.
 *
 * The helper is forked before weir has threads. It waits until the path exists, and starts the
 * command in its network namespace, with its own /etc/hosts and /etc/resolv.conf if these are to
 * differ. Then it waits, and reaps the processes that the command leaves behind
 * (PR_SET_CHILD_SUBREAPER). When the command or weir has ended, in whatever way, the helper kills
 * all remaining processes of the command.
 *
 * Job control: the command is in weir's process group, so the terminal's ^C, ^Z and changes of size
 * reach it. weir does not act on these itself, and stops when the command has stopped.
 *
 * Ownership: exec_child_end frees.
 */

#define EXEC_HOSTS_BYTES    512
#define EXEC_RESOLVER_BYTES 4096

struct exec_child {
	int fd; /* becomes readable when there is an event */
	pid_t helper;
	pid_t command; /* 0: not started */
};

/* What the name of a socket of weir exec's own begins with; its process namespace, `-`, its process
 * and `.sock` follow. Helpers remove those of all processes that are killed. */
#define EXEC_SOCKET "/weir-exec-"

/* The surroundings of the command. */
struct exec_surroundings {
	char hosts[EXEC_HOSTS_BYTES];       /* lines added to those of /etc/hosts; "": none */
	char resolver[EXEC_RESOLVER_BYTES]; /* replaces /etc/resolv.conf; "": nothing does */
	char socket[SOCKET_PATH_BYTES];     /* the value of SOCKET_VARIABLE; "": not set */
};

enum exec_event {
	EXEC_NOTHING,
	EXEC_STARTED,
	EXEC_STOPPED, /* value: the signal */
	EXEC_ENDED,   /* value: the status of waitpid */
	EXEC_FAILED,  /* it could not be started; value: errno */
	/* its /etc/hosts or /etc/resolv.conf could not be made; value: errno */
	EXEC_UNNAMED,
};

/* Forks the helper. `argv` is that of the command, `others` are the children made before. Returns
 * 0, or -errno with problem. */
int exec_child_make(char *const *argv, const struct exec_child *others, unsigned n_others,
                    struct exec_child *child, struct problem *problem);
/* Starts the command in the network namespace `net`. Returns 0 or -errno. */
int exec_child_start(struct exec_child *child, int net, const struct exec_surroundings *around);
/* Returns the next event. Does not wait. */
enum exec_event exec_child_hear(struct exec_child *child, int *value);
void exec_child_signal(const struct exec_child *child, int number);
/* Kills the remaining processes, and waits for them. `child` may be all zero. */
void exec_child_end(struct exec_child *child);
/* Called after the last exec_child_end: kills the processes that weir has inherited because a
 * helper was killed. */
void exec_children_end(void);

/*
 * Whether a process has begun to serve: whether a TCP socket listens, or a UDP socket is bound, in
 * its network namespace.
 *
 * Thread: control.
 */

bool exec_is_listening(pid_t process);

/*
 * The two ends of the path of `weir exec`: network namespaces, each with a tap of weir's.
 *
 *   near  the command's (of --between: B's); its default route leads through weir
 *   far   that of the gateway (gateway.h), or A's
 *
 * Addresses are of a network that neither this machine nor a surrounding `weir exec` uses (below):
 * the far end is .1, the near end .2. Each end has the link address of the other, so no ARP and no
 * neighbour discovery crosses the path. There is IPv6 if this machine has it and, for the gateway,
 * a route. The MTU is that of the route out.
 *
 * Ownership: exec_path_close closes everything. The namespaces vanish with that, and with the
 * processes inside.
 */

#define EXEC_INTERFACE "weir0" /* at both ends */

struct exec_path {
	struct tap_end ends[PATH_ENDS];
	struct address address[PATH_ENDS][2]; /* IPv4; IPv6, or none */
	int opening[2]; /* of a socket pair: the far port's, and the gateway's; of --between: -1 */
	struct gateway_resolver resolvers[GATEWAY_RESOLVERS_MAX];
	uint32_t n_resolvers;
	struct exec_surroundings around; /* of both ends */
	struct gateway *gateway;
};

/* Opens the path. `between`: two commands, no gateway. Returns 0, or -errno with problem. */
int exec_path_open(bool between, struct exec_path *path, struct problem *problem);
/* Starts the gateway, when the ports are open. Returns 0, or -errno with problem. */
int exec_path_let_out(struct exec_path *path, const struct priority *priority,
                      struct problem *problem);
void exec_path_close(struct exec_path *path);

/*
 * Chooses the networks of the path of `weir exec`: one that neither this machine nor a surrounding
 * `weir exec` uses. They are taken from ranges for tests of networks, 198.18.0.0/15 (RFC 2544) and
 * 2001:2::/48 (RFC 5180). If a machine uses all of a range itself, as for example a proxy that
 * answers queries for names with addresses of its own, the next range is used: 100.64.0.0/10
 * (RFC 6598) and 10.0.0.0/8 (RFC 1918), 3fff::/48 (RFC 9637).
 *
 * A network is in use if an interface or a route of this machine overlaps it, in any table. A route
 * that is wider than the range is a way out and not a use, as the default route is.
 *
 * Inside another `weir exec`, only the innermost network of the surrounding ones can be seen. Each
 * therefore takes the first free one behind all addresses that it sees, and after the last network
 * of a range comes the first.
 */

/* A network that is in use. */
struct exec_use {
	struct address network;
	uint8_t prefix;
	bool address; /* of an interface, and `network` is the address; otherwise of a route */
	bool weir;    /* of the interface of a surrounding weir exec */
};

/* Chooses a network of a family, a /24 or a /64, and sets `network` to its first address. Returns
 * 0, or -errno with problem: -EADDRINUSE, -ENOMEM. */
int exec_place_choose(int family, struct address *network, struct problem *problem);
/* The same for given uses, for tests. */
int exec_place_free(int family, const struct exec_use *uses, size_t n, struct address *network,
                    struct problem *problem);

/*
 * Name resolution inside `weir exec`. A resolver of this machine at a loopback address
 * (systemd-resolved, dnsmasq) or a link-local one cannot be reached from another network namespace.
 * Then the command gets a resolv.conf in which such a server has an address of the gateway, which
 * passes the queries on (gateway.h). All servers stay, in their order, with all other lines: which
 * of them is asked, and for how long, is the business of the command's resolver, as it is outside.
 *
 * Without any server, the C library asks 127.0.0.1.
 */

/* Reads /etc/resolv.conf. Sets `text` to what the command is to read instead, and `resolvers` to
 * the servers that the gateway passes on, at its address and those behind that of the command.
 * Returns how many. If the command may read the same file, `text` is "", and there are none. */
uint32_t exec_resolver_choose(const struct address *gateway,
                              struct gateway_resolver resolvers[GATEWAY_RESOLVERS_MAX], char *text,
                              size_t room);
/* The same for a given text, for tests. `here`: a server listens at 127.0.0.1. */
uint32_t exec_resolver_read(const char *conf, bool here, const struct address *gateway,
                            struct gateway_resolver resolvers[GATEWAY_RESOLVERS_MAX], char *text,
                            size_t room);

/* The command line of `weir exec`, parsed; docs/man/weir-exec.1 describes it. */

#define EXEC_COMMANDS_MAX 2

struct exec_arguments {
	struct path_arguments path; /* first */
	bool shell;                 /* there is no command: a shell */
	bool between;               /* two commands, at the far end (A) and the near end (B) */
	bool dashes;                /* there is a command behind the statements */
	/* of the far end, if it has a command, and of the near end */
	char *argv[EXEC_COMMANDS_MAX][4]; /* a shell with the text of --between */
	char *const *command[EXEC_COMMANDS_MAX];
};

/* Returns OPTIONS_RUN, or another value if everything was printed (options.h). Pointers point into
 * argv and into `arguments`. */
int exec_arguments_parse(int argc, char **argv, struct exec_arguments *arguments);

/*
 * The scenario of `weir exec`: that of a file, or one of a path without impairments,
 *
 *   port world
 *   port command
 *   cloud down from world to command
 *   cloud up from command to world
 *
 * followed by the statements of the command line (short_form.h): `down` is for packets to the
 * command. With --between the ports are A and B.
 */

const struct path_words *exec_words(const struct exec_arguments *arguments);
/* Makes the scenario, as path_scenario_make. */
int exec_scenario_make(struct exec_arguments *arguments, struct scenario **scenario,
                       uint32_t ports[PATH_ENDS], char *message, size_t room);

/*
 * What the command of `weir exec` has sent and what is still on its way when it has ended. Without
 * weir the kernel goes on sending after the end of a process. So the path stays until nothing is
 * left of
 *
 *   bytes that TCP in the command's namespace has not got acknowledged; the end of a connection
 *   counts as one
 *   packets that have come from the command and are in the clouds, or in front of them
 *   bytes that the gateway has taken from the command and not yet given to a socket outside
 *
 * Packets to the command do not count, nor do those that its kernel sends afterwards, for instance
 * to refuse what still comes.
 *
 * The drain gives up if nothing of this gets less for EXEC_DRAIN_MS, and for as long as the slowest
 * packet of each cloud has taken: a link may be down, or have 1 bit/s. What is on a line is due
 * within that time.
 *
 * Ownership: the runtime and the path are the caller's.
 */

#define EXEC_DRAIN_MS   2000
#define EXEC_DRAIN_TEXT 160

struct exec_drain;

/* Begins when the command has ended. `port` is the command's. Returns NULL if there is no
 * memory. */
struct exec_drain *exec_drain_make(const struct exec_path *path, struct runtime *runtime,
                                   uint32_t port);
/* Returns true if nothing is left, or if the drain gives up. */
bool exec_drain_is_over(struct exec_drain *drain, int64_t now_ms);
/* Returns how long to wait before the next call of exec_drain_is_over, in ms. */
int exec_drain_pace_ms(const struct exec_drain *drain);
/* Describes what is left, for people. Returns false if nothing is. */
bool exec_drain_tell(const struct exec_drain *drain, char *text, size_t room);
/* NULL is allowed. */
void exec_drain_free(struct exec_drain *drain);

#endif
