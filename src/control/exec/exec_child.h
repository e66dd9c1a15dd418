/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command of `weir exec`, and the process between it and weir.
 *
 * That process is forked before weir has threads, waits until the path is there, and starts the
 * command in its network namespace, with its own /etc/hosts and /etc/resolv.conf where they are to
 * be others. From then on it waits, and reaps what the command leaves behind
 * (PR_SET_CHILD_SUBREAPER). When the command has ended, or weir has, in whatever way, it kills all
 * that is left of it.
 *
 * Job control: the command is in weir's process group, so the terminal's ^C, ^Z and changes of size
 * reach it. weir takes none of these for itself, and stops when the command has stopped.
 *
 * Ownership: exec_child_end frees. Thread: the main thread.
 */
#ifndef WEIR_EXEC_CHILD_H
#define WEIR_EXEC_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "scenario/problem.h"

#define EXEC_HOSTS_BYTES    512
#define EXEC_RESOLVER_BYTES 4096

struct exec_child {
	int fd; /* becomes readable when there is something to hear */
	pid_t helper;
	pid_t command; /* 0: not started */
};

/* What the command finds. */
struct exec_surroundings {
	char hosts[EXEC_HOSTS_BYTES];       /* lines beside those of /etc/hosts; "": none */
	char resolver[EXEC_RESOLVER_BYTES]; /* instead of /etc/resolv.conf; "": that one */
};

enum exec_event {
	EXEC_NOTHING,
	EXEC_STARTED,
	EXEC_STOPPED, /* value: by which signal */
	EXEC_ENDED,   /* value: as of waitpid */
	EXEC_FAILED,  /* it could not be started; value: errno */
	/* its /etc/hosts or /etc/resolv.conf could not be made; value: errno */
	EXEC_UNNAMED,
};

/* Forks. `argv` of the command. `others`: those made before. 0, or -errno with problem. */
int exec_child_make(char *const *argv, const struct exec_child *others, unsigned n_others,
                    struct exec_child *child, struct problem *problem);
/* Starts the command in the network namespace `net`. 0 or -errno. */
int exec_child_start(struct exec_child *child, int net, const struct exec_surroundings *around);
/* Does not wait. */
enum exec_event exec_child_hear(struct exec_child *child, int *value);
void exec_child_signal(const struct exec_child *child, int number);
/* Kills what is left, and waits for it. All zero is allowed. */
void exec_child_end(struct exec_child *child);
/* Behind the last exec_child_end: what has come down to weir itself because somebody has killed the
 * process between. */
void exec_children_end(void);

#endif
