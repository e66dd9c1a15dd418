/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Captures without Ethernet headers, as frames of Ethernet, and back. The engine knows Ethernet
 * only, so in front of each packet comes an Ethernet header of weir's own when it is read, and goes
 * again when it is written. What leaves has the link type of what came in, and the same bytes.
 *
 *   link type                       in the capture ahead of each packet
 *   EN10MB                          Ethernet: passed on as it is
 *   RAW, IPV4, IPV6                 nothing: IPv4 or IPv6
 *   LINUX_SLL, LINUX_SLL2           16 or 20 bytes: Linux cooked, of `tcpdump -i any`
 *
 * Model: the packet counts as if it had crossed an Ethernet, 14 bytes more than what is behind the
 * link header, so the same traffic meets the same fate however it was captured. The addresses of
 * the Ethernet header are none that anybody has: they say which link header the packet had. So what
 * asks for link-layer addresses (a filter `ether host`, `rewrite eth.dst`) cannot be had, and is
 * refused (offline/link_fields.h). The protocol of the link header is the type of the Ethernet
 * header, and is taken from there again. An answer that weir makes itself, with the addresses of
 * its cause exchanged, gets the link header of its cause, of which `sent by us` and `sent to us`
 * are exchanged.
 *
 * The number of the link header stands in the addresses four times, and three of them decide, bit
 * by bit: errors of `corrupt` change the packet, not the link header.
 *
 * Memory: of a cooked capture each distinct link header (interface, direction, address of the
 * sender) is kept once, LINK_LAYER_HEADERS_MAX at most. More of them are damage.
 *
 * Ownership: the captures and outputs of one replay share one. Thread: one.
 */
#ifndef WEIR_LINK_LAYER_H
#define WEIR_LINK_LAYER_H

#include <stdbool.h>
#include <stdint.h>

/* The longest link header. */
#define LINK_LAYER_BYTES_MAX   20
#define LINK_LAYER_HEADERS_MAX 65536u
/* What a frame has in the engine instead of its link header. */
#define LINK_LAYER_ETHERNET_BYTES 14

struct link_layer;

/* `link`: of libpcap, a DLT_. NULL: no memory. */
struct link_layer *link_layer_make(int link);
void link_layer_free(struct link_layer *link_layer); /* NULL is allowed */

bool link_layer_known(int link);
int link_layer_link(const struct link_layer *link_layer);
/* Nothing is changed of a frame. */
bool link_layer_is_ethernet(const struct link_layer *link_layer);
/* Whether link headers say who sent the packet. */
bool link_layer_has_sender(const struct link_layer *link_layer);
/* Bytes of a link header in the capture. */
uint32_t link_layer_bytes(const struct link_layer *link_layer);

/* The Ethernet header of a frame that begins with `bytes` bytes at `data`; NULL, or what is wrong.
 * `sender` gets the place of the sender's 6 bytes of address in `data`, or NULL. */
const char *link_layer_enter(struct link_layer *link_layer, const uint8_t *data, uint32_t bytes,
                             uint8_t ethernet[LINK_LAYER_ETHERNET_BYTES], const uint8_t **sender);
/* The link header that goes in the place of the Ethernet header. */
void link_layer_leave(const struct link_layer *link_layer,
                      const uint8_t ethernet[LINK_LAYER_ETHERNET_BYTES],
                      uint8_t header[LINK_LAYER_BYTES_MAX]);

#endif
