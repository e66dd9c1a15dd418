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
 * (Linux 6.18). The headers say it.
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

#include <linux/virtio_net.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include <rte_mbuf.h>

/*
 * The headers of a super-frame that depend on the length of its payload: what has a length, an
 * identification or a checksum. A frame that is cut out of the super-frame needs each of them anew.
 *
 *   plain    IPv4 or IPv6, TCP or UDP
 *   tunnel   IPv4 or IPv6; UDP (VXLAN, Geneve, GUE, FOU and others), GRE, or nothing (IPIP, 6in4,
 *            IPv6 tunnels, MPLS); then a plain packet, with or without Ethernet before it
 *
 * This is all that Linux makes: if an outer header is around a tunnel, it cuts before. MPLS labels
 * may precede either. What lies between the outer header and the inner packet (VXLAN's header, the
 * options of Geneve, the key of GRE, the inner Ethernet) is the same in all frames. So nothing
 * depends on port numbers: the inner IP header is the one that leads to the transport.
 *
 * A layer without a checksum (0 in UDP, no C bit in GRE) stays without.
 *
 * Cost: of layers_find, one pass over the headers; of layers_finish, the sum of each byte of the
 * headers for each layer that has one. Thread: any.
 */

/* Outer IP and UDP or GRE; inner IP and transport. */
#define LAYERS_MAX 4

#define LAYERS_TCP 6
#define LAYERS_UDP 17

enum layer_kind { LAYER_IPV4, LAYER_IPV6, LAYER_TCP, LAYER_UDP, LAYER_GRE };

struct layers {
	struct layer {
		enum layer_kind kind;
		uint32_t at; /* offset of the header */
	} layer[LAYERS_MAX]; /* the outermost first; the last two are the inner IP and transport */
	uint32_t n;
	uint32_t payload;    /* where the headers end */
	uint16_t pseudo_sum; /* of the transport's pseudo header, without the length */
};

/* Finds the layers of a frame. `protocol`: LAYERS_TCP or LAYERS_UDP; `transport`: where its header
 * begins, whose checksum field has the sum of the pseudo header (with a routing header, only the
 * sender knows that). 0: not known; then the frame is a plain one. Returns false if the headers
 * contradict that, or if there is one that weir cannot renew. */
bool layers_find(struct layers *layers, const uint8_t *bytes, uint32_t length, uint8_t protocol,
                 uint32_t transport);

/* Returns the layer of the inner IP header. */
static inline const struct layer *layers_ip(const struct layers *layers)
{
	return &layers->layer[layers->n - 2];
}

static inline const struct layer *layers_transport(const struct layers *layers)
{
	return &layers->layer[layers->n - 1];
}

/* Writes lengths, identifications and checksums into `head`, a copy of the headers, for frame
 * number `place`, with `n` bytes of payload. `payload_sum` is their sum (rte_raw_cksum). */
void layers_finish(const struct layers *layers, uint8_t *head, uint32_t n, uint16_t payload_sum,
                   uint16_t place);

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

/*
 * Frames of one flow that leave together and follow one another are handed to a kernel as the
 * super-frame that its own stack would have made of them (super_frame_take is the way back). A
 * kernel takes some 50 such frames for little more than the price of one.
 *
 * A flow is one of TCP, or of UDP to a tunnel's port (VXLAN, Geneve, GUE): a kernel at the end of a
 * tunnel, too, takes many datagrams for the price of a few, and joins the packets in them. A kernel
 * cannot be told of the tunnel, so frames of a tunnel are joined only if it is of
 * UDP with checksums.
 *
 * Joining cannot be observed: frames are joined only if, cut again, they are the same bytes. They
 * have the same headers except for what counts up, right checksums, and the same length except for
 * the last frame, which may be shorter and alone may have PSH. A frame that was corrupted on its
 * way is sent alone. So is one with CWR, which a kernel clears in all but the first.
 *
 * Ownership: the parts point into the mbufs, which must stay until the joined frame is sent.
 *
 * Thread: the worker's that owns the port's transmit queue.
 */

#define JOINED_FRAMES_MAX 64
#define JOINED_HEAD_MAX   192
/* The virtio header, the first frame's headers, then a part of each frame. */
#define JOINED_PARTS_MAX (2 + JOINED_FRAMES_MAX)

struct joined_frame {
	struct virtio_net_hdr header;
	uint8_t head[JOINED_HEAD_MAX];
	struct iovec parts[JOINED_PARTS_MAX];
	uint32_t n_parts;
	uint32_t bytes; /* without the virtio header */
	bool udp;       /* several datagrams: Linux before 6.2 refuses them with EINVAL */
};

/* Fills `joined` with the first of `mbufs`, n > 0, and the frames behind it that can be joined;
 * those of UDP only with `udp`. Returns how many, or 0 if the first frame has more mbufs than there
 * are parts. */
uint16_t joined_frame_make(struct joined_frame *joined, struct rte_mbuf *const *mbufs, uint16_t n,
                           bool udp);

#endif
