/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the packets of one capture in another one, taken at the other end of a path.
 *
 * A packet is known by its mark (packet_mark.h). Which parts of marks the path changes is found
 * from the first PAIRING_PROBE frames of both captures: if fewer packets are found with addresses
 * than without, there is a NAT, and addresses are not compared; likewise the identification, and
 * the payload, if one capture has less of it.
 *
 * Super-frames of TCP are cut into their packets, which are what is paired. Frames of more than
 * 1514 bytes are super-frames unless most of them have one length: then they are jumbo frames.
 *
 * Both captures are read in step, so memory is bounded: of each, up to `room` frames that have no
 * partner yet are kept. The frame with the earlier instant is read first; how far the clocks differ
 * follows from the latest pair, so it does not matter whether they agree, drift, or are set. If
 * several frames have one mark, as retransmissions may, the first of one side is paired with the
 * first of the other.
 *
 * What becomes of each frame is a row. A frame without a partner whose mark was paired shortly
 * before is a *copy*. Rows come in the order of decisions.
 *
 * Ownership: pairing_free frees it; the captures are the caller's.
 * Thread: one.
 */
#ifndef WEIR_PAIRING_H
#define WEIR_PAIRING_H

#include <stdbool.h>
#include <stdint.h>

#include "learn/flow_list.h"
#include "learn/packet_mark.h"

#define PAIRING_PROBE 65536u
#define PAIRING_ROOM  (1u << 19)
#define PAIRING_JUMBO 9000u /* no network has longer packets */
#define PAIRING_NEVER INT64_MIN
#define PAIRING_NONE  UINT32_MAX

enum pair_kind { PAIR_BOTH, PAIR_ONLY, PAIR_COPY };

/* As it is written into a file: 40 bytes without gaps, index 0 for the first capture. */
struct pair_row {
	int64_t t_ns[2];    /* PAIRING_NEVER: it is not in that capture */
	uint32_t number[2]; /* of the frame in its capture, from 0; PAIRING_NONE */
	uint32_t wire_bytes;
	uint16_t flow[2]; /* of the frame in each capture; FLOW_LIST_MAX: none, or another one */
	uint8_t ecn[2];
	uint8_t damaged; /* a bit for each capture */
	uint8_t kind;    /* enum pair_kind */
	uint8_t side;    /* of PAIR_ONLY and PAIR_COPY: the capture that has it */
	uint8_t fragment, unused[2];
};

/* Takes a row. Returns 0 or -errno, which ends the pairing. */
typedef int pair_row_take(void *argument, const struct pair_row *row);

struct pairing_counts {
	uint64_t frames[2], only[2], copies[2], damaged[2], fragments[2];
	uint64_t pairs;
	uint64_t alike; /* pairs that had another candidate */
	uint32_t longest[2];
	uint64_t cut[2]; /* super-frames */
	uint32_t parts;  /* of marks that were compared */
};

struct pairing;

/* `room` is a power of two. Returns NULL if there is no memory. */
struct pairing *pairing_make(uint32_t room, struct capture *const captures[2], pair_row_take *take,
                             void *argument);
void pairing_free(struct pairing *pairing); /* NULL is allowed */
/* Pairs everything. Returns 0, -ENOMEM, or what `take` has returned. */
int pairing_run(struct pairing *pairing);
const struct pairing_counts *pairing_counts(const struct pairing *pairing);
const struct flow_list *pairing_flows(const struct pairing *pairing);

#endif
