/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the duplicators: the copies go between the packets.
 *
 * Model: a copy follows its original at once, at the same instant, with the same number. It has
 * PACKET_COPY, and a packet with that flag is not copied again, in this cloud or in a later one.
 * Without memory for a copy the original continues alone, and the copy counts as duplicated and as
 * dropped with the reason no-buffer.
 * Thread: the worker that owns the cloud.
 */
#ifndef WEIR_DUPLICATE_H
#define WEIR_DUPLICATE_H

#include <stdint.h>

struct cloud;
struct rte_mbuf;

/* Copies packet i where bit i of `which` is set; a packet that is a copy itself is not copied.
 * Returns how many packets there are then; n <= BURST_ROOM. */
uint16_t duplicate_packets(struct cloud *cloud, struct rte_mbuf **packets, uint16_t n,
                           uint64_t which);

#endif
