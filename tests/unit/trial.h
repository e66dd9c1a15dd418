/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One cloud with one statement, written as in a scenario, and the fate of every packet sent through
 * it. It uses the rig (rig.h), so conservation and the mempools are asserted, too.
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

#define TRIAL_LOST      0x1 /* trial->reason is that of the last one */
#define TRIAL_DELIVERED 0x2
#define TRIAL_COPY      0x4 /* a copy of it was delivered as well */
#define TRIAL_COPY_LOST 0x8

struct trial {
	struct witness witness; /* must be first: the witness is the trial */
	struct rig *rig;
	uint16_t burst; /* packets in a burst: BURST_MAX */
	enum rig_shape shape;
	uint32_t wire_bytes; /* as if a capture had truncated the packets; 0: their own length */
	simtime now, gap_ns; /* of the next packet; from it to the following one, 1 us */
	uint64_t sent, room;
	uint8_t *fate; /* by packet number, from 1 */
	enum reason reason;
	simtime dropped_ns; /* when the last loss was */
	/* Called for each delivered packet, in order, with its struct packet; or NULL. To be set
	 * before any is sent. */
	void (*look)(void *argument, struct rte_mbuf *mbuf);
	void *argument;
	struct trial_told *told; /* packets reported as delivered that have not left yet */
};

struct trial *trial_open(const char *statement, uint64_t seed);
/* The same, with a run that begins at `now` instead of 0. */
struct trial *trial_open_at(const char *statement, uint64_t seed, simtime now);
void trial_close(struct trial *trial);

/* Implements the witness of a trial; a witness that replaces it calls this. */
void trial_tell(struct witness *witness, const struct fate *fate);

/* Sets another statement, or the same with other values, as of now. */
void trial_set(struct trial *trial, const char *statement);
/* Sends n packets of `bytes` bytes. */
void trial_send(struct trial *trial, uint64_t n, uint32_t bytes);
/* Send this frame; once, or n times. */
void trial_send_frame(struct trial *trial, const uint8_t *frame, uint32_t bytes);
void trial_send_frames(struct trial *trial, uint64_t n, const uint8_t *frame, uint32_t bytes);
/* Advances from event to event until nothing is held. */
void trial_run_out(struct trial *trial);

/* Returns how many packets have one of the marks. */
uint64_t trial_count(const struct trial *trial, uint8_t marks);
const struct counters *trial_counters(const struct trial *trial);

/* Makes a statement's configuration from its text; the caller frees it by conf_free. */
struct conf *trial_conf(const char *statement);
/* Returns the problem that check() finds in the statement in a cloud called x; "" if none. Valid
 * until the next call. */
const char *trial_problem(const char *statement);

/* Asserts that the fates do not depend on the size of bursts; sends n packets for each size. */
void trial_assert_bursts_agree(const char *statement, uint64_t n, uint32_t bytes);

/* Asserts that exactly the packets with these numbers (ended by 0) are lost. */
void trial_assert_lost(const struct trial *trial, const uint64_t *numbers);

#endif
