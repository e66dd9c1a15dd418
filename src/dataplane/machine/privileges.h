/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a live process gives up once its ports are open: every capability that neither the ports nor
 * the end need (capabilities(7)), its bounding set, and the way to gain any by exec (no_new_privs).
 *
 * Capabilities belong to threads, and by then the EAL and drivers have made some. So every thread
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

/* Bits, 1 << CAP_..., of what a port on this device (a scenario's text) needs after it is open: to
 * put back at its end what it has set, or to go on. */
uint64_t privileges_of_device(const char *device);

/* Keeps what the ports of `scenario` need, and what it takes to remove the `sockets`, a list
 * ended by NULL, and to finish files that ports write, where root alone may not (CAP_DAC_OVERRIDE).
 * `sockets` NULL: none. 0, or -errno with problem: a thread keeps what it has. */
int privileges_give_up(const struct scenario *scenario, const char *const *sockets,
                       struct problem *problem);

#endif
