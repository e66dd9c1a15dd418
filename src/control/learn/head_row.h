/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the header of a captured packet tells of the path to one who sees only one end of it: of TCP
 * sequence numbers, time stamps (RFC 7323) and selective acknowledgements (RFC 2018), of QUIC the
 * spin bit (RFC 9000, 17.4).
 *
 * A UDP datagram is of QUIC, as far as one can see, if its first byte says so. Whether its flow is,
 * its long headers tell.
 *
 * A header that was cut off counts as absent, as does an option that contradicts itself.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_HEAD_ROW_H
#define WEIR_HEAD_ROW_H

#include <stdint.h>

#include "capture/capture.h"
#include "learn/packet_mark.h"

#define HEAD_BLOCKS 3u

enum head_what {
	HEAD_TCP = 1,
	HEAD_UDP = 2,
	HEAD_STAMPS = 4, /* stamp and echo are there */
	HEAD_QUIC_LONG = 8,
	HEAD_QUIC_SHORT = 16,
	HEAD_SPIN = 32,
	HEAD_DAMAGED = 64,
};

/* As it is written into a file: 64 bytes without gaps. */
struct head_row {
	int64_t t_ns;
	uint32_t wire_bytes;
	uint32_t sequence, acked;
	uint32_t payload_bytes;
	uint32_t stamp, echo;
	uint32_t blocks[HEAD_BLOCKS][2]; /* selectively acknowledged: from, to */
	uint16_t flow;
	uint8_t flags; /* of TCP */
	uint8_t what;  /* enum head_what */
	uint8_t n_blocks, unused[3];
};

/* Makes the row of a frame, but for its flow, and the ends and the digest of that. */
void head_row_make(struct head_row *row, struct packet_ends *ends, uint64_t *digest,
                   const struct capture_frame *frame);

#endif
