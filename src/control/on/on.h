/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of `weir on`: its command line, and the interface whose packets cross weir. What it
 * shares with `weir exec` is in path/path.h.
 */
#ifndef WEIR_ON_H
#define WEIR_ON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "namespace/detour.h"
#include "path/path.h"
#include "port/interface_look.h"
#include "scenario/problem.h"

/* The command line; docs/man/weir-on.1 describes it. */

struct on_arguments {
	struct path_arguments path; /* first */
	const char *interface;
	const char *netns; /* a name of `ip netns`, or a path; NULL: not given */
	uint64_t pid;      /* 0: not given */
	uint64_t for_ns;   /* 0: not given */
	bool yes;
};

/* Returns OPTIONS_RUN, or another value if everything was printed (options.h). Pointers point into
 * argv and into `arguments`. */
int on_arguments_parse(int argc, char **argv, struct on_arguments *arguments);

/*
 * The scenario: that of a file, or
 *
 *   port world
 *   port host
 *   cloud down from world to host
 *   cloud up from host to world
 *
 * `host` is the kernel above the interface, `world` what is at its other side.
 */
extern const struct path_words on_words;

/* Returns true if the scenario leaves hardly a packet through, for as long as nobody ends weir, who
 * may be connected through the interface; and a line that says so. With --for or --yes: false. */
bool on_cuts_off(const struct on_arguments *arguments, const struct scenario *scenario,
                 char *message, size_t room);

/*
 * The interface: two taps, and the detour through them (detour.h). The taps are in the interface's
 * network namespace, where `ip link` shows them as weir-h7 and weir-w7, 7 being the index of the
 * interface, in hexadecimal digits. They have no addresses, and the kernel sends nothing of its own
 * there.
 *
 * The names keep a second weir away: two detours at one interface would feed each other for ever.
 */

struct on_interface {
	int socket;  /* in the interface's namespace */
	int netlink; /* the same */
	int process; /* readable when the process of --pid has ended; -1: there is none */
	struct interface_look look;
	struct path_end ends[PATH_ENDS]; /* near: the host's */
	struct detour detour;
};

extern const struct on_interface on_interface_none;

/* Finds the interface and makes the taps. Packets still go their usual way. Returns 0, or -errno
 * with problem: there is no such interface, it cannot be taken, weir is on it already. */
int on_interface_open(const struct on_arguments *arguments, struct on_interface *interface,
                      struct problem *problem);
/* Begins the detour, when the ports on the taps are open. Returns 0, or -errno with problem. */
int on_interface_begin(struct on_interface *interface, struct problem *problem);
/* Gives the interface back. */
void on_interface_end(struct on_interface *interface);
void on_interface_close(struct on_interface *interface);
/* Returns true, with problem, if the interface is not there any more, or the process whose it was.
 * That it has another name now is no matter. */
bool on_interface_is_gone(const struct on_interface *interface, struct problem *problem);
/* Reads how many packets had no room in the tap of each end so far: weir has never seen them.
 * Returns false if that is not known. */
bool on_interface_lost(const struct on_interface *interface, uint64_t lost[PATH_ENDS]);

#endif
