/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Namespaces of the kernel (namespaces(7)) that nothing but descriptors and processes hold: they
 * have no names, and with the last of these they are gone, however the processes end.
 *
 * A network namespace belongs to a thread. What is to be made in another one is made by a thread
 * that goes there and ends, so the caller stays where it is: an ordinary user could not come back.
 *
 * Ownership: descriptors are the caller's to close.
 * Thread: namespace_enter_user while the process has one thread; the rest any.
 */
#ifndef WEIR_NAMESPACE_H
#define WEIR_NAMESPACE_H

#include <stdint.h>

#include "scenario/problem.h"

/* Where this process has no right to make network namespaces, it enters a user namespace of its
 * own, with the same user and group, where it has. 0, or -errno with problem. */
int namespace_enter_user(struct problem *problem);

/* A new network namespace, with `lo` up. Its descriptor, or -errno with problem. */
int namespace_make_net(struct problem *problem);

/* Calls work(argument) in a network namespace, and returns what it returns; or -errno: it is not
 * possible to go there. */
int namespace_run(int net, int (*work)(void *argument), void *argument);
/* A socket that belongs to a network namespace, may use addresses which are not this machine's
 * (IP_TRANSPARENT), and may send where netlink_silence_icmp has been called; or -errno. */
int namespace_socket_any_address(int net, int family, int type, int protocol);
/* A tap as tap_port.h wants it, with TCP's and UDP's offloads. Its index is returned in `index`.
 * The descriptor, or -errno with problem. */
int namespace_tap(int net, const char *name, int *index, struct problem *problem);

#endif
