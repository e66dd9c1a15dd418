/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The manager of services that has started weir and wants to be told how it is: the protocol of
 * sd_notify(3), datagrams to the socket that $NOTIFY_SOCKET names. Without that all of this does
 * nothing.
 *
 * Thread: control.
 */
#ifndef WEIR_SUPERVISOR_H
#define WEIR_SUPERVISOR_H

#include <stdint.h>

/* `READY=1`, `STOPPING=1`, `WATCHDOG=1`, `STATUS=...`; several with new lines between. Never waits:
 * what a manager does not take is lost, and it will draw its conclusions. */
void supervisor_tell(const char *state);
/* How often it is to be told WATCHDOG=1: half of the time after which it takes weir for hung
 * ($WATCHDOG_USEC). 0: it does not watch. */
uint64_t supervisor_watchdog_ns(void);

#endif
