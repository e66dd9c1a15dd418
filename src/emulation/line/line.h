/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The line: propagation. Holds packets from the instant when they enter to the instant when they
 * are due at the other end (delay.h has the model).
 *
 * A line that keeps order is a log of trains (train.h): due times do not decrease. A line that
 * allows overtaking, or whose packets leave at a port where other clouds' packets leave too, puts
 * them on a wheel. A line that was changed while packets are on the way may have some in both.
 *
 * Thread: the worker that owns the cloud.
 */
#ifndef WEIR_LINE_H
#define WEIR_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "account/histogram.h"
#include "holding/hold.h"
#include "holding/train.h"
#include "holding/wheel.h"
#include "line/jitter.h"
#include "line/in_flight.h"
#include "line/reorder.h"
#include "random/draw.h"

/* What control prepares for a line; the line takes it over as a whole. */
struct line_conf {
	simtime delay_ns;
	const struct jitter *jitter; /* a reference; NULL: none */
	bool scaled;                 /* its deviations are multiplied by scale_q32 / 2^32 */
	bool allow_overtaking;       /* order allow */
	bool on_wheel;               /* packets leave in another order than they are pushed */
	struct reorder_rule reorder;
	uint64_t scale_q32; /* at most 2^32 */
	uint64_t limit;     /* packets that the cloud may hold; LINE_UNLIMITED */
};

#define LINE_UNLIMITED UINT64_MAX

/* What a line with a jitter has done since it was configured so. */
struct line_moments {
	uint64_t packets;
	__int128 sum, square; /* of their time on the line, less delay_ns */
};

/* What a line holds back to reorder it; when that is, engine/cloud_reorder.h says. */
struct reorder_back {
	struct log packets;
	struct log notes; /* struct reorder_note, in records */
	uint64_t entered; /* packets that came since the rule did */
	simtime latest;   /* the latest due time of all that have one */
	simtime passed;   /* the latest of those that passed what is held back */
	simtime released; /* the latest of those that were held back */
	struct reorder_choice choice;
};

struct line {
	/* what every packet on a shared wheel touches comes first, in one cache line */
	/* the engine's, where packets go if they leave where those of other clouds do, or enter a
	 * cloud; NULL: the line is the cloud's own */
	struct wheel *shared;
	struct wheel *wheel; /* its own; NULL as long as it was not needed */
	uint32_t cloud;      /* index, written into the records */
	bool reorders;       /* conf has a rule that picks packets out */
	bool limited;        /* conf has a limit: what is pushed is noted in `in_flight` */
	simtime last_due;    /* the latest due time so far: order keep never goes below it */
	uint64_t held;       /* packets on this line, wherever they are */
	/* when the oldest of `back` goes at the latest; SIMTIME_NEVER: it is empty */
	simtime back_deadline;
	struct line_conf conf;
	struct log log;           /* of trains */
	struct prefetch prefetch; /* in the log */
	struct draw_key key;
	uint64_t drawn;
	struct jitter_state jitter;
	struct reorder_back back;
	uint64_t waits, waited_ns; /* order keep: packets that had to wait for the one ahead */
	struct line_moments moments;
	struct in_flight *in_flight; /* NULL as long as it was not needed */
	/* Of the times on a line with a jitter. Begins anew with the moments. NULL as long as it
	 * was not needed, and in a template. */
	struct histogram *spread;
};

_Static_assert(
        offsetof(struct line, conf.scaled) <= RTE_CACHE_LINE_SIZE,
        "what a packet of one of many clouds touches of its line is fetched ahead: one cache line");

/* Another configuration; `conf` gets the one that was in force. Control has checked both. */
void line_configure(struct line *line, struct line_conf *conf);

/* What it has done so far, its moments and spread, is forgotten. */
void line_forget(struct line *line);

/* The histogram that counts the times on the line; NULL: they are not counted. */
static inline struct histogram *line_spread(const struct line *line)
{
	return line->conf.jitter ? line->spread : NULL;
}

/* When packets that enter at these instants are due. Returns how many overtake another. The caller
 * counts their times in line_spread. */
uint16_t line_due(struct line *line, const simtime *t_ns, uint16_t n, simtime *due_ns);

/* The same of packets that enter at one instant, if nothing but the delay has to be known; else
 * false. */
static inline bool line_due_as_one(struct line *line, simtime now, simtime *due)
{
	*due = now + line->conf.delay_ns;
	if (unlikely(line->wheel || line->conf.jitter || *due < line->last_due))
		return false;
	line->last_due = *due;
	return true;
}

/* The same of one packet, which is counted. */
static inline uint16_t line_due_one(struct line *line, simtime now, simtime *due)
{
	uint16_t overtaking;

	if (line_due_as_one(line, now, due))
		return 0;
	overtaking = line_due(line, &now, 1, due);
	if (unlikely(line_spread(line) != NULL))
		histogram_add(line_spread(line), *due - now, 1);
	return overtaking;
}

/* Takes n packets, from `from` on, due then: all at due_ns[0] if `as_one`. Returns how many there
 * was memory for: the first ones; the others are still the caller's. */
uint16_t line_push(struct line *line, struct holder *holder, const struct burst *burst,
                   uint16_t from, uint16_t n, const simtime *due_ns, bool as_one);
/* A packet that leaves at this instant, in its order among the events of that wheel; false: no
 * memory, it is still the caller's. */
bool line_push_event(struct line *line, struct wheel *events, struct holder *holder,
                     const struct burst *burst, simtime now);
/* The same as line_push with n packets in records, each due at its instant; the records may be
 * passed over then. */
uint16_t line_push_held(struct line *line, struct holder *holder, const struct held *const *held,
                        uint16_t n, const simtime *due_ns);

/* The earliest instant at which something may be due: exact for a log (see wheel_next). */
static inline simtime line_next(const struct line *line)
{
	simtime next = train_next(&line->log);

	if (line->wheel)
		next = simtime_min(next, wheel_next(line->wheel));
	return next;
}

/* When the first packet is due, exactly, if that is at `now` or before; else later than `now`. */
simtime line_first(struct line *line, simtime now);

/* Whether line_pop may find anything. */
static inline bool line_is_due(const struct line *line, simtime now)
{
	return train_next(&line->log) <= now || (line->wheel && line->wheel->records);
}

/* Whether there is anything here to pop: not on the shared wheel. */
static inline bool line_is_empty(const struct line *line)
{
	return line->log.records == 0 && (!line->wheel || line->wheel->records == 0);
}

/* Packets that are due at `now` or before, in the order of due times, into the outlet, as far as it
 * has room; returns their lengths together. Fewer when the pool has no mbufs: the rest stays. Not
 * for packets on a shared wheel. */
uint64_t line_pop(struct line *line, struct holder *holder, simtime now, struct outlet *outlet);
/* The same of one, and what its record says of it. NULL: none is due, or there is no mbuf. */
struct rte_mbuf *line_pop_one(struct line *line, struct holder *holder, simtime now,
                              struct held *head);

/* What it remembers and holds but on the shared wheel, at `now`, up to which all has left
 * (snapshot.h). */
struct snapshot;
void line_snapshot(struct line *line, struct holder *holder, simtime now,
                   struct snapshot *snapshot);

/* Drops everything in the log, held back, and on a wheel of its own; returns how many packets that
 * were. */
uint64_t line_clear(struct line *line, struct holder *holder);

#endif
