/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The line: propagation. Holds packets from the instant when they enter until they are due at the
 * other end (delay.h has the model).
 *
 * A line that keeps order is a log of trains (train.h): due times do not decrease. A line uses a
 * wheel if it allows overtaking, or if its packets leave at a port where packets of other clouds
 * leave, too. A line that was changed while packets were on the way may have some in both.
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

/* The configuration of a line, prepared by control; the line takes it over as a whole. */
struct line_conf {
	simtime delay_ns;
	const struct jitter *jitter; /* a reference; NULL: none */
	bool scaled;                 /* deviations are multiplied by scale_q32 / 2^32 */
	bool allow_overtaking;       /* order allow */
	bool on_wheel;               /* packets may leave in another order than they are pushed */
	struct reorder_rule reorder;
	uint64_t scale_q32; /* at most 2^32 */
	uint64_t limit;     /* how many packets the cloud may hold; or LINE_UNLIMITED */
};

#define LINE_UNLIMITED UINT64_MAX

/* Statistics of a line with a jitter, since it was configured. */
struct line_moments {
	uint64_t packets;
	__int128 sum, square; /* of the times on the line, less delay_ns */
};

/* Packets that a line holds back to reorder them (engine/cloud_reorder.h). */
struct reorder_back {
	struct log packets;
	struct log notes; /* struct reorder_note, in records */
	uint64_t entered; /* packets that have entered under a `reorder` */
	simtime latest;   /* the latest due time of all packets that have one */
	/* None that is held back leaves before: the latest due time of the packets that passed
	 * them, and, with order keep, of those that were held back before them */
	simtime passed;
	simtime released; /* the latest due time of the packets that were held back */
	struct reorder_choice choice;
};

struct line {
	/* The fields that every packet on a shared wheel touches come first, in one cache line. */
	/* the engine's wheel, if the packets leave where those of other clouds do, or enter a
	 * cloud; NULL: the line is the cloud's own */
	struct wheel *shared;
	struct wheel *wheel; /* its own; NULL until it is needed */
	uint32_t cloud;      /* index, written into the records */
	/* packets from before the line was shared are still in its log, or on its own wheel */
	bool drains;
	bool reorders;    /* conf has a rule that reorders */
	bool limited;     /* conf has a limit: due times are noted in `in_flight` */
	simtime last_due; /* latest due time so far; with order keep, none is below it */
	uint64_t held;    /* packets on this line, in whatever structure */
	/* when the oldest packet of `back` leaves at the latest; SIMTIME_NEVER: there is none */
	simtime back_deadline;
	struct line_conf conf;
	struct log log;           /* of trains */
	struct prefetch prefetch; /* of `log` */
	struct draw_key key;
	uint64_t drawn;
	struct jitter_state jitter;
	struct reorder_back back;
	uint64_t waits, waited_ns; /* order keep: packets that waited for the one before */
	struct line_moments moments;
	struct in_flight *in_flight; /* NULL until it is needed */
	/* The times on a line with a jitter; cleared together with the moments. NULL until it is
	 * needed, and in a template. */
	struct histogram *spread;
};

_Static_assert(
        offsetof(struct line, conf.scaled) <= RTE_CACHE_LINE_SIZE,
        "what a packet of one of many clouds touches of its line is fetched ahead: one cache line");

/* Applies another configuration; `conf` receives the previous one. Control has checked both. */
void line_configure(struct line *line, struct line_conf *conf);

/* Clears the statistics: moments and spread. */
void line_forget(struct line *line);

/* Returns the histogram of the times on the line, or NULL if they are not counted. */
static inline struct histogram *line_spread(const struct line *line)
{
	return line->conf.jitter ? line->spread : NULL;
}

/* Computes when packets that enter at these instants are due. Returns how many overtake another.
 * The caller counts their times in line_spread. */
uint16_t line_due(struct line *line, const simtime *t_ns, uint16_t n, simtime *due_ns);

/* The same for packets that enter at one instant. Returns false, and changes nothing but *due, if
 * more than the constant delay decides. */
static inline bool line_due_as_one(struct line *line, simtime now, simtime *due)
{
	*due = now + line->conf.delay_ns;
	if (unlikely(line->wheel || line->conf.jitter || *due < line->last_due))
		return false;
	line->last_due = *due;
	return true;
}

/* The same for one packet, which is also counted in line_spread. */
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

/* Pushes n packets, from `from` on, with these due times; if `as_one`, all are due at due_ns[0].
 * Returns how many found memory, from the first on; the others remain the caller's. */
uint16_t line_push(struct line *line, struct holder *holder, const struct burst *burst,
                   uint16_t from, uint16_t n, const simtime *due_ns, bool as_one);
/* Pushes the first packet of the burst, which leaves at `now`, in order among the events of that
 * wheel. Returns false if there is no memory: the packet remains the caller's. */
bool line_push_event(struct line *line, struct wheel *events, struct holder *holder,
                     const struct burst *burst, simtime now);
/* The same as line_push for n packets in records, each with its own due time, and each a train of
 * one. The packets are
 * moved: the caller then removes the records without dropping them. */
uint16_t line_push_held(struct line *line, struct holder *holder, const struct held *const *held,
                        uint16_t n, const simtime *due_ns);

/* Returns the earliest instant at which a packet may be due: exact for a log (see wheel_next). */
static inline simtime line_next(const struct line *line)
{
	simtime next = train_next(&line->log);

	if (line->wheel)
		next = simtime_min(next, wheel_next(line->wheel));
	return next;
}

/* Describes the first packet that is due by `now` in *head, t_ns: when it is due. Returns false if
 * there is none. */
bool line_front(struct line *line, simtime now, struct held *head);

/* Returns true if line_pop may find a packet. */
static inline bool line_is_due(const struct line *line, simtime now)
{
	return train_next(&line->log) <= now || (line->wheel && line->wheel->records);
}

/* Returns true if there is nothing to pop. Packets on the shared wheel do not count. */
static inline bool line_is_empty(const struct line *line)
{
	return line->log.records == 0 && (!line->wheel || line->wheel->records == 0);
}

/* Moves up to `most` packets that are due by `now` into the outlet, in the order of due times, as
 * far as it has room; returns the sum of their lengths. If the pool has no mbufs, the rest stays.
 * Not for packets on a shared wheel. */
uint64_t line_pop(struct line *line, struct holder *holder, simtime now, struct outlet *outlet,
                  uint32_t most);
/* Drops the packet that line_front describes. */
void line_drop(struct line *line, struct holder *holder, simtime now);

/* Writes or reads the state of the line and its packets, except those on the shared wheel
 * (snapshot.h). All packets that are due by `now` have left. */
struct snapshot;
void line_snapshot(struct line *line, struct holder *holder, simtime now,
                   struct snapshot *snapshot);

/* Drops the packets in the log, held back, and on a wheel of its own; returns their number. */
uint64_t line_clear(struct line *line, struct holder *holder);

#endif
