/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The teller of a story (story.h): it goes through the moments of the client, in the order of time,
 * and divides them into phases. handshake.c has the first ones, turn.c those behind.
 *
 * Thread: one at a time.
 */
#ifndef WEIR_TELLER_H
#define WEIR_TELLER_H

#include <stdbool.h>

#include "explain/flow.h"
#include "explain/verdict.h"
#include "explain/walk.h"

struct teller {
	struct flow *flow;
	struct verdict *verdict;
	struct story *story;
	struct ground ground;
	bool failed;
};

/* An instant of the client: it sends a packet, or gets one. */
struct moment {
	int way;
	uint32_t number;
	simtime t_ns;
	const struct passage *passage;
};

struct moment teller_moment(const struct teller *teller, int way, uint32_t number);

/* Begins a phase. Returns NULL, and notes it, if there is no memory. */
struct verdict_phase *teller_begin(struct teller *teller, enum phase kind, const char *detail);
struct verdict_phase *teller_last(const struct teller *teller);
/* Extends the last phase to a moment, and explains the time since it was extended last. */
void teller_extend(struct teller *teller, const struct moment *moment);
/* The same, and the phase is over; if there is one. */
void teller_end(struct teller *teller, const struct moment *moment);

/* Returns true if the moment belongs to the opening of a TCP connection. */
bool teller_opens(struct teller *teller, const struct moment *moment);
/* Returns true if the moment belongs to the handshake of TLS or QUIC. */
bool teller_shakes_hands(struct teller *teller, const struct moment *moment);
/* Takes a moment behind them. */
void teller_take_turn(struct teller *teller, const struct moment *moment);
/* Extends the present turn to its last packet so far. `over`: nothing more comes. */
void teller_end_turn(struct teller *teller, bool over);

#endif
