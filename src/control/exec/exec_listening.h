/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether a process has begun to serve: whether a TCP socket listens, or a UDP socket is bound, in
 * its network namespace.
 *
 * Thread: control.
 */
#ifndef WEIR_EXEC_LISTENING_H
#define WEIR_EXEC_LISTENING_H

#include <stdbool.h>
#include <sys/types.h>

bool exec_is_listening(pid_t process);

#endif
