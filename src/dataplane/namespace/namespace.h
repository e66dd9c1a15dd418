/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Namespaces of the kernel (namespaces(7)) that are held only by descriptors and processes. They
 * have no names, and disappear with the last of these, however the processes end.
 *
 * A network namespace belongs to a thread. Things in another namespace are made by a thread that
 * enters it and ends. So the caller stays in its own namespace, to which an ordinary user could not
 * return.
 *
 * Ownership: descriptors are the caller's to close.
 * Thread: namespace_enter_user: while the process has one thread; the rest: any.
 */
#ifndef WEIR_NAMESPACE_H
#define WEIR_NAMESPACE_H

#include <stddef.h>
#include <stdint.h>

#include "scenario/problem.h"

/* If this process has no right to make network namespaces, enters a user namespace of its own in
 * which it has, with the same user and group. Returns 0, or -errno with problem. */
int namespace_enter_user(struct problem *problem);

/* Makes a network namespace, with `lo` up. Returns its descriptor, or -errno with problem. */
int namespace_make_net(struct problem *problem);

/* Calls work(argument) in a network namespace. Returns what `work` returns, or -errno if the
 * namespace cannot be entered. */
int namespace_run(int net, int (*work)(void *argument), void *argument);
/* Read and write a parameter of the network namespace of the calling thread: `name` is a path below
 * /proc/sys/net. A value that cannot be read is "". One that cannot be written stays: a container
 * may have /proc/sys read-only. */
void namespace_sysctl_read(const char *name, char *value, size_t room);
void namespace_sysctl_write(const char *name, const char *value);
/* Returns a socket in a network namespace, or -errno. It may use addresses that are not this
 * machine's (IP_TRANSPARENT), and may send where netlink_silence_icmp has been called. */
int namespace_socket_any_address(int net, int family, int type, int protocol);
/* Makes a tap for tap_port.h, with the offloads of TCP and UDP, and sets *index to its index.
 * Returns the descriptor, or -errno with problem. */
int namespace_tap(int net, const char *name, int *index, struct problem *problem);

#endif
