/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a live process gives up once its ports are open: every capability that neither the ports nor
 * the end of the run needs (capabilities(7)), its bounding set, and the way to gain capabilities by
 * exec (no_new_privs).
 *
 * Capabilities belong to threads, and the EAL and drivers have made some by then. So every thread
 * of the process gets a signal, and drops its own capabilities in the handler; /proc/self/task
 * shows whether all have. A thread that blocks SIGRTMIN cannot; the error names it.
 *
 * Without capabilities nothing happens: a process that is not root's keeps what it has.
 *
 * Thread: control, once, when the ports are open and the workers run.
 */
#ifndef WEIR_PRIVILEGES_H
#define WEIR_PRIVILEGES_H

#include <stddef.h>
#include <stdint.h>

#include "scenario/scenario.h"
#include "scenario/problem.h"

/* Returns the capabilities, as bits 1 << CAP_..., that a port on this device (a scenario's text)
 * needs after it is open: to restore at its end what it has changed, or to go on. */
uint64_t privileges_of_device(const char *device);

/* Keeps the capabilities of `others`, and those that the ports of `scenario` need. Keeps those to
 * write files of others (CAP_DAC_OVERRIDE, CAP_FOWNER), too, if the process needs them to make,
 * write or remove the `files`, a list ended by NULL, or to finish files that ports write. `files`
 * may be NULL. Returns 0, or -errno with problem if a thread has kept its capabilities. */
int privileges_give_up(const struct scenario *scenario, uint64_t others, const char *const *files,
                       struct problem *problem);

#endif
