/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inserts bytes between the IP header and what follows, and removes them.
 *
 * The total length (IPv4) or payload length (IPv6) and the protocol, or the last Next Header,
 * become those of the new packet. The IPv4 header checksum is corrected incrementally (RFC 1624),
 * so a wrong one stays wrong. Nothing else changes; removing what was inserted restores the same
 * bytes. Padding behind the end of the IP packet stays there.
 *
 * Thread: the worker that owns the packet.
 */
#ifndef WEIR_HEADER_ROOM_H
#define WEIR_HEADER_ROOM_H

#include <stdbool.h>
#include <stdint.h>

#include "packet/burst.h"

/* Returns true if so many bytes can be inserted. The packet must have a transport header, be whole
 * (the fragments would not fit together again), have no authentication header (it covers what would
 * change), and state its length. The longer packet must not exceed IP's length, nor the longer
 * frame, padding included, its limit (packet_may_grow). The mbuf, as it will be when it is
 * writable, must have the headroom. */
bool header_room_fits(const struct headers *headers, const struct burst *burst, uint32_t i,
                      uint32_t bytes);
/* Returns true if a header of so many bytes at the place of the transport can be removed. */
bool header_room_spares(const struct headers *headers, const struct rte_mbuf *mbuf, uint32_t bytes);

/* Inserts `bytes` into packet i, which is writable. `protocol`: of what is inserted. Returns where
 * the bytes begin, which the caller fills in. */
uint8_t *header_room_make(const struct headers *headers, struct burst *burst, uint32_t i,
                          uint32_t bytes, uint8_t protocol);
/* Removes the bytes. `protocol`: of what follows them. */
void header_room_close(const struct headers *headers, struct burst *burst, uint32_t i,
                       uint32_t bytes, uint8_t protocol);

#endif
