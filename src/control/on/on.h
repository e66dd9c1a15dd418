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
	uint64_t for_ns; /* 0: not given */
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

/*
 * The interface: two taps, and the detour through them (detour.h). The taps are in the interface's
 * network namespace, where `ip link` shows them as weir-h7 and weir-w7, 7 being the index of the
 * interface, in hexadecimal digits. They have no addresses, and the kernel sends nothing of its own
 * there.
 *
 * The names keep a second weir away: two detours at one interface would feed each other for ever.
 */

struct on_interface {
	int socket; /* in the interface's namespace */
	struct interface_look look;
	struct path_end ends[PATH_ENDS]; /* near: the host's */
	struct detour detour;
};

extern const struct on_interface on_interface_none;

/* Finds the interface and makes the taps. Packets still go their usual way. Returns 0, or -errno
 * with problem: there is no such interface, it cannot be taken, weir is on it already. */
int on_interface_open(const char *name, struct on_interface *interface, struct problem *problem);
/* Begins the detour, when the ports on the taps are open. Returns 0, or -errno with problem. */
int on_interface_begin(struct on_interface *interface, struct problem *problem);
/* Gives the interface back. */
void on_interface_end(struct on_interface *interface);
void on_interface_close(struct on_interface *interface);
/* Returns true if the interface is still there; the name may have changed. */
bool on_interface_is_there(const struct on_interface *interface);

#endif
