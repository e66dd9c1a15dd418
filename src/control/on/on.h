/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of `weir on`: its command line, and the place of the interface whose packets cross
 * weir. The interface itself is around.h; what it shares with `weir exec` is in path/path.h.
 */
#ifndef WEIR_ON_H
#define WEIR_ON_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/filter.h"
#include "path/path.h"
#include "port/around.h"
#include "scenario/problem.h"

/* The command line; docs/man/weir-on.1 describes it. */

#define ON_CONTAINERS_MAX 16

struct on_arguments {
	struct path_arguments path; /* first */
	const char *interface;      /* NULL: the one that its network has */
	const char *match;          /* NULL: all packets */
	const char *netns;          /* a name of `ip netns`, or a path; NULL: not given */
	const char *container[ON_CONTAINERS_MAX]; /* names or ids */
	uint32_t n_containers;
	uint64_t pid;    /* 0: not given */
	uint64_t for_ns; /* 0: not given */
	bool between;    /* only packets between the first container and the second */
	bool wait;
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
 * may be connected through the interface; and a line that says so. With --for or --yes, and in a
 * container or another network, where nobody works: false. */
bool on_cuts_off(const struct on_arguments *arguments, const struct scenario *scenario,
                 char *message, size_t room);

/*
 * The place: a network namespace, and the interface there. It is this process's namespace, or that
 * of a name, of a process or of a container.
 *
 * Ownership: on_place_close closes the descriptors.
 */

struct on_place {
	int net;
	int process; /* readable when the process whose network it is has ended; -1: none */
	const char *container; /* NULL: it is none */
	char interface[IFNAMSIZ];
	char match[FILTER_BYTES_MAX + 1]; /* "": all packets */
};

/* Finds the place; `container`: one of the arguments, or NULL. Returns 0, or -errno with problem:
 * -ENOENT if the container does not run. */
int on_place_open(const struct on_arguments *arguments, const char *container,
                  struct on_place *place, struct problem *problem);
void on_place_close(struct on_place *place);
/* Returns true if the process whose network it is has ended. */
bool on_place_is_gone(const struct on_place *place);

/* Asks the programs that run containers for the process of one: docker, podman, nerdctl, crictl.
 * Returns 0; or -errno with problem: -ENOENT if it does not run. */
int on_container_process(const char *name, uint64_t *pid, struct problem *problem);

/*
 * Several containers, and --wait: each container has a process of its own, a child, with its own
 * path. This process starts them, waits, and passes on what ends weir. It keeps its rights, and
 * touches no packet.
 *
 * `run` is called in a child; its result is the exit status of the child. ON_IS_GONE: the container
 * has ended. Returns the exit status of weir.
 */

#define ON_IS_GONE 3

int on_containers_keep(const struct on_arguments *arguments,
                       int (*run)(const struct on_arguments *arguments, const char *container));

#endif
