/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One cloud with one statement, written as in a scenario, and the fate of every packet sent through
 * it. On the rig (rig.h), so that conservation and the mempools are asserted too.
 *
 *   struct trial *trial = trial_open("loss random 1%", 7);
 *   trial_send(trial, 1000000, 100);
 *   ... trial_count(trial, TRIAL_LOST) ...
 *   trial_close(trial);
 */
#ifndef WEIR_TRIAL_H
#define WEIR_TRIAL_H

#include "account/witness.h"
#include "rig.h"

#define TRIAL_LOST      0x1 /* with the reason of the last one in trial->reason */
#define TRIAL_DELIVERED 0x2
#define TRIAL_COPY      0x4 /* a copy of it was delivered as well */
#define TRIAL_COPY_LOST 0x8

struct trial {
	struct witness witness; /* first: the witness is the trial */
	struct rig *rig;
	uint16_t burst; /* packets handed over at once: BURST_MAX */
	enum rig_shape shape;
	uint32_t wire_bytes; /* as if a capture had cut the packets; 0: their own length */
	simtime now, gap_ns; /* of the next packet; to the one after it, 1 us */
	uint64_t sent, room;
	uint8_t *fate; /* by packet number, from 1 */
	enum reason reason;
	simtime dropped_ns; /* when that was */
	/* Sees what is delivered, in order, with its struct packet; or NULL. Set before any is
	 * sent. */
	void (*look)(void *argument, struct rte_mbuf *mbuf);
	void *argument;
	struct trial_told *told; /* to leave, and not gone */
};

struct trial *trial_open(const char *statement, uint64_t seed);
/* The run begins at this instant; else at 0. */
struct trial *trial_open_at(const char *statement, uint64_t seed, simtime now);
void trial_close(struct trial *trial);

/* The trial as a witness; a witness in its place calls it. */
void trial_tell(struct witness *witness, const struct fate *fate);

/* Another statement, or the same with other values, takes effect now. */
void trial_set(struct trial *trial, const char *statement);
/* Sends so many packets of this length. */
void trial_send(struct trial *trial, uint64_t n, uint32_t bytes);
/* Sends one of these bytes; so many of them. */
void trial_send_frame(struct trial *trial, const uint8_t *frame, uint32_t bytes);
void trial_send_frames(struct trial *trial, uint64_t n, const uint8_t *frame, uint32_t bytes);
/* From event to event until nothing is held. */
void trial_run_out(struct trial *trial);

/* How many packets have one of the marks. */
uint64_t trial_count(const struct trial *trial, uint8_t marks);
const struct counters *trial_counters(const struct trial *trial);

/* A statement's configuration from its text; conf_free. */
struct conf *trial_conf(const char *statement);
/* What is wrong with it, as check() says in a cloud called x; "" if nothing. Valid until the next.
 */
const char *trial_problem(const char *statement);

/* Two bitmaps of fates are the same whatever the size of bursts; sends n packets for each. */
void trial_assert_bursts_agree(const char *statement, uint64_t n, uint32_t bytes);

/* Asserts that the packets whose numbers stand in `numbers` (ended by 0) are lost, and no
 * others. */
void trial_assert_lost(const struct trial *trial, const uint64_t *numbers);

#endif
