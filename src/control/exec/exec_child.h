/* SPDX-License-Identifier: BSD-3-Clause */
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
 * Thread: the main thread.
 */
#ifndef WEIR_EXEC_CHILD_H
#define WEIR_EXEC_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "scenario/problem.h"
#include "socket/socket.h"

#define EXEC_HOSTS_BYTES    512
#define EXEC_RESOLVER_BYTES 4096

struct exec_child {
	int fd; /* becomes readable when there is an event */
	pid_t helper;
	pid_t command; /* 0: not started */
};

/* What the name of a socket of weir exec's own begins with; its process and `.sock` follow. Helpers
 * remove those of all processes that are killed. */
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

#endif
