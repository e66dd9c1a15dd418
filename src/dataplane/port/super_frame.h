/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finishes frames that a kernel hands over unfinished: a checksum that nobody has computed yet, or
 * a super-frame of up to 512 KiB that stands for many frames of one flow (TSO, USO, GRO, BIG TCP),
 * in a tunnel or not. A network device would finish them. Between two veth ends, or at a tap, there
 * is none, so weir does it.
 *
 * The header of virtio-net (OASIS VIRTIO 1.2, 5.1.6) says what is left to do. The kernel puts it
 * before each frame of a packet socket (PACKET_VNET_HDR) and of a tap (IFF_VNET_HDR).
 *
 *   VIRTIO_NET_HDR_F_NEEDS_CSUM   the sum from csum_start to the end belongs at csum_offset behind
 *                                 csum_start; SCTP: the CRC32c (RFC 9260, 6.8)
 *   gso_type TCPV4, TCPV6, UDP_L4 cut into frames of gso_size bytes of payload each
 *   GSO_ECN                       CWR means what RFC 3168 says
 *
 * In a tunnel, gso_type and csum_start are those of the inner packet, and nothing says that there
 * is a tunnel: the tunnel bits of gso_type exist only between virtual machines and their host
 * (Linux 6.18). The headers say it (layers.h).
 *
 * A frame that is cut out of a super-frame is what the sender's own kernel would have made of it
 * (RFC 9293, RFC 768): lengths, IPv4 identifications that count up, sequence numbers; FIN and PSH
 * in the last; right checksums, inside and outside. CWR is in the first with GSO_ECN (RFC 3168,
 * 6.1.2), and in all without: there it is a part of AccECN's counter (RFC 9768, 3.2.2). The option
 * for lengths above 64 KiB (RFC 2675), which IPv6 super-frames have, is taken out.
 *
 * Cost: each byte is read twice, for its sum and its copy. Nothing is allocated but mbufs.
 *
 * Ownership: the frame's bytes are the caller's, and stay until the last part is taken.
 *
 * Thread: the worker's that owns the port.
 */
#ifndef WEIR_SUPER_FRAME_H
#define WEIR_SUPER_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/virtio_net.h>
#include <rte_mbuf.h>

#include "port/layers.h"

/* Linux's GSO_MAX_SIZE, and what precedes the IP packet. */
#define SUPER_FRAME_BYTES_MAX (8 * 65535 + 64)

struct super_frame {
	uint8_t *bytes;
	uint32_t length;
	/* of a super-frame; part_bytes 0: it is a single frame */
	uint32_t part_bytes; /* of payload, in each frame but the last */
	struct layers layers;
	uint32_t taken; /* bytes of payload already put into frames */
	uint16_t parts; /* frames cut so far; the identifications of IPv4 wrap likewise */
	bool tcp;
	bool keeps_cwr;
	bool open; /* something is left to take */
};

/* Computes a checksum that is missing in `bytes`, and finds where to cut. Returns false if the
 * header contradicts the frame, or requests what weir cannot do; then nothing is written. */
bool super_frame_open(struct super_frame *frame, const struct virtio_net_hdr *header,
                      uint8_t *bytes, uint32_t length);

/* Takes the next frame, in as many mbufs as it needs; frame->open is false after the last. Returns
 * NULL, and changes nothing, if there is no mbuf. */
struct rte_mbuf *super_frame_take(struct super_frame *frame, struct rte_mempool *pool);

/* Returns how many frames are left to take. */
uint32_t super_frame_left(const struct super_frame *frame);

#endif
