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

#include "learn/packet_mark.h"

/*
 * The flows of two captures, numbered in the order in which they are first seen. Beyond
 * FLOW_LIST_MAX, flows share the last number, so that memory is bounded.
 *
 * Thread: one.
 */

#define FLOW_LIST_MAX 65535u

struct flow_list {
	struct packet_ends *ends; /* by number */
	uint64_t *digests;
	uint32_t *slots; /* number + 1 by digest; 0: free */
	uint32_t n;
};

int flow_list_make(struct flow_list *list); /* Returns 0 or -ENOMEM. */
void flow_list_free(struct flow_list *list);
/* Returns the number of a flow; `digest` is that of its ends. */
uint16_t flow_list_number(struct flow_list *list, const struct packet_ends *ends, uint64_t digest);

/*
 * Frames of one capture that wait for their partner, found by their key, the oldest first.
 *
 * At most `room` frames wait: one more pushes out the oldest. A table takes 72 bytes for each.
 * Looking for a key passes at most PAIRING_LOOKS frames, whatever the captures have.
 *
 * Thread: one.
 */

#define PAIRING_LOOKS 64u

struct waiting_frame {
	uint64_t key;
	int64_t t_ns;
	uint32_t number, wire_bytes;
	uint16_t flow;
	uint8_t ecn;
	bool damaged, fragment;
	bool waits;
	/* The pair of an earlier frame with the same key: this one is its copy, unless a partner
	 * comes. */
	bool copy;
	uint16_t copy_flow;
	uint32_t copy_number;
	int64_t copy_t_ns;
	uint32_t behind; /* the next one of its chain, as a place + 1 */
};

struct pairing_table {
	struct waiting_frame *ring;
	uint32_t *first, *last; /* of each chain, as a place + 1; 0: empty */
	uint32_t mask;
	uint32_t begin, end; /* positions; place = position & mask */
	uint32_t n;          /* frames that wait */
};

/* `room` is a power of two. Returns 0 or -ENOMEM. */
int pairing_table_make(struct pairing_table *table, uint32_t room);
void pairing_table_free(struct pairing_table *table);
/* Adds a frame to a table that is not full (pairing_table_oldest). */
void pairing_table_add(struct pairing_table *table, const struct waiting_frame *frame);
/* Takes out the oldest frame with this key, and sets *alike to another one of the table, or NULL.
 * Returns false if there is none. */
bool pairing_table_take(struct pairing_table *table, uint64_t key, struct waiting_frame *frame,
                        struct waiting_frame **alike);
/* Takes out the oldest frame, if the table is full or `any`. Returns false if there is nothing to
 * take. */
bool pairing_table_oldest(struct pairing_table *table, bool any, struct waiting_frame *frame);

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
