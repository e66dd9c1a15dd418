/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Putting bytes between the IP header and what follows, and taking them out.
 *
 * The total length (IPv4) or payload length (IPv6) and the protocol, or the last Next Header,
 * become those of the new packet, the IPv4 header checksum is corrected incrementally (RFC 1624):
 * one that was wrong stays wrong. Nothing else changes; taking out what was put in gives the same
 * bytes again. What lies behind the end of the IP packet, padding, stays there.
 *
 * Thread: the worker that owns the packet.
 */
#ifndef WEIR_HEADER_ROOM_H
#define WEIR_HEADER_ROOM_H

#include <stdbool.h>
#include <stdint.h>

#include "packet/burst.h"

/* Whether so many bytes can be put in: there is a transport header, the packet is whole (a
 * fragment's parts would not fit together again), has no authentication header (it covers what
 * would change), a length of its own, and not too large a one then, nor the frame, whose padding
 * counts (packet_may_grow), and the mbuf, as it will be when it is writable, has the headroom. */
bool header_room_fits(const struct headers *headers, const struct burst *burst, uint32_t i,
                      uint32_t bytes);
/* Whether a header of so many bytes at the transport's place can be taken out. */
bool header_room_spares(const struct headers *headers, const struct rte_mbuf *mbuf, uint32_t bytes);

/* Packet i is writable. `protocol`: of what is put in. Where it begins: bytes that are to be filled
 * in. */
uint8_t *header_room_make(const struct headers *headers, struct burst *burst, uint32_t i,
                          uint32_t bytes, uint8_t protocol);
/* `protocol`: of what follows it. */
void header_room_close(const struct headers *headers, struct burst *burst, uint32_t i,
                       uint32_t bytes, uint8_t protocol);

#endif
