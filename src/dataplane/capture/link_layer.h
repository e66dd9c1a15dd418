/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Converts captures without Ethernet headers to frames of Ethernet, and back. The engine knows only
 * Ethernet, so each packet gets an Ethernet header of weir's own when it is read, and loses it when
 * it is written. What leaves has the link type of what came in, and the same bytes.
 *
 *   link type                       in the capture ahead of each packet
 *   EN10MB                          Ethernet: passed on as it is
 *   RAW, IPV4, IPV6                 nothing: IPv4 or IPv6
 *   LINUX_SLL, LINUX_SLL2           16 or 20 bytes: Linux cooked, of `tcpdump -i any`
 *   NULL, LOOP                      4 bytes: the family of the address, of BSD's loopback
 *   PPP, PPP_SERIAL, PPP_PPPD,      the header of PPP, 1 to 4 bytes; with a direction or the header
 *   PPP_WITH_DIR, PPP_ETHER         of PPPoE ahead of it
 *
 * Model: the packet counts as if it had crossed an Ethernet, with 14 bytes more than what follows
 * the link header. So the same traffic has the same fate however it was captured. The addresses of
 * the Ethernet header belong to no host: they contain the number of the packet's link header. So
 * statements that need link-layer addresses (a filter `ether host`, `rewrite eth.dst`) are refused
 * (offline/intake.h). The protocol of the link header becomes the type of the Ethernet header;
 * that of a cooked header is restored from there. An answer that weir makes itself, with the
 * addresses of its cause exchanged, gets the link header of its cause, in which `sent by us` and
 * `sent to us` are exchanged. The length in a header of PPPoE follows that of the packet.
 *
 * The addresses contain the number of the link header four times. Three of them are compared, and
 * the majority decides each bit: errors of `corrupt` change the packet, but not the link header.
 *
 * Memory: each distinct link header (of a cooked capture: interface, direction, address of the
 * sender) is kept once, LINK_LAYER_HEADERS_MAX at most. A capture with more of them counts as
 * damaged.
 *
 * Ownership: the captures and outputs of one replay share one link layer.
 * Thread: one.
 */
#ifndef WEIR_LINK_LAYER_H
#define WEIR_LINK_LAYER_H

#include <stdbool.h>
#include <stdint.h>

/* The length of the longest link header. */
#define LINK_LAYER_BYTES_MAX   20
#define LINK_LAYER_HEADERS_MAX 65536u
/* The length of the Ethernet header that replaces the link header in the engine. */
#define LINK_LAYER_ETHERNET_BYTES 14

struct link_layer;

/* Returns NULL if there is no memory. `link` is a DLT_ value of libpcap. */
struct link_layer *link_layer_make(int link);
void link_layer_free(struct link_layer *link_layer); /* NULL is allowed */

bool link_layer_known(int link);
/* Finds a link type that is known by its name, in any case: libpcap's, or `ethernet`. */
bool link_layer_find(const char *name, int *link);
int link_layer_link(const struct link_layer *link_layer);
/* Returns true if frames pass unchanged. */
bool link_layer_is_ethernet(const struct link_layer *link_layer);
/* Returns true if link headers contain the sender's address. */
bool link_layer_has_sender(const struct link_layer *link_layer);

/* Writes the Ethernet header for a frame with `bytes` bytes at `data`, its link header first, and
 * `wire_bytes` on the wire. Returns NULL, or what is wrong with the frame. Sets *link_bytes to the
 * length of the link header, and *sender to the sender's 6-byte address within `data`, or to
 * NULL. */
const char *link_layer_enter(struct link_layer *link_layer, const uint8_t *data, uint32_t bytes,
                             uint32_t wire_bytes, uint8_t ethernet[LINK_LAYER_ETHERNET_BYTES],
                             uint32_t *link_bytes, const uint8_t **sender);
/* Writes the link header that replaces the Ethernet header of a packet with `payload_bytes` behind
 * it on the wire. Returns its length. */
uint32_t link_layer_leave(const struct link_layer *link_layer,
                          const uint8_t ethernet[LINK_LAYER_ETHERNET_BYTES], uint32_t payload_bytes,
                          uint8_t header[LINK_LAYER_BYTES_MAX]);

#endif
