/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports to the service manager that has started weir: the protocol of sd_notify(3), datagrams to
 * the socket that $NOTIFY_SOCKET names. Without that variable nothing is sent.
 *
 * Thread: control.
 */
#ifndef WEIR_SUPERVISOR_H
#define WEIR_SUPERVISOR_H

#include <stdint.h>

/* Sends `READY=1`, `STOPPING=1`, `WATCHDOG=1`, `STATUS=...`, or several with newlines between.
 * Never waits: a message that the manager does not take is lost, and the manager acts as if it had
 * not been sent. */
void supervisor_tell(const char *state);
/* Returns the interval at which to send WATCHDOG=1: half of the time after which the manager takes
 * weir for hung ($WATCHDOG_USEC). Returns 0 if the manager does not watch. */
uint64_t supervisor_watchdog_ns(void);

#endif
