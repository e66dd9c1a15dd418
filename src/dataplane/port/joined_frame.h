/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames of one flow that leave together and follow one another are handed to a kernel as the
 * super-frame that its own stack would have made of them (super_frame.h is the way back). A kernel
 * takes some 50 such frames for little more than the price of one.
 *
 * A flow is one of TCP, or of UDP to a tunnel's port (VXLAN, Geneve, GUE): a kernel at the end of a
 * tunnel, too, takes many datagrams for the price of a few, and joins the packets in them. A kernel
 * cannot be told of the tunnel (super_frame.h), so frames of a tunnel are joined only if it is of
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
#ifndef WEIR_JOINED_FRAME_H
#define WEIR_JOINED_FRAME_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include <linux/virtio_net.h>
#include <rte_mbuf.h>

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
