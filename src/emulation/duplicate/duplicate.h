/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts copies between the packets, for all duplicators.
 *
 * Model: a copy follows its original directly, at the same instant, with the same number. It has
 * PACKET_COPY, and a packet with that flag is not copied again, in this cloud or in a later one. If
 * there is no memory for a copy, the original continues alone, and the copy counts as duplicated
 * and as dropped with the reason no-buffer.
 *
 * Thread: the worker that owns the cloud.
 */
#ifndef WEIR_DUPLICATE_H
#define WEIR_DUPLICATE_H

#include <stdint.h>

struct cloud;
struct burst;

/* Copies packet i if bit i of `which` is set, unless the packet is a copy itself. */
void duplicate_packets(struct cloud *cloud, struct burst *burst, uint64_t which);

#endif
