/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A script: a random scenario, random traffic, and random changes in between, all a function of one
 * number. It is played on an engine in different ways, which must not make a difference.
 *
 * Instants, delays and rates are drawn from coarse grids half of the time, so that many events fall
 * upon the same instant: the order among those is what goes wrong first.
 */
#ifndef WEIR_SCRIPT_H
#define WEIR_SCRIPT_H

#include "match/keyed.h"
#include "rig.h"

#define SCRIPT_PACKETS_MAX 600
#define SCRIPT_STEPS_MAX   16
#define SCRIPT_CLOUDS      4

struct script_packet {
	simtime t;
	uint32_t port;
	uint32_t frame_bytes;
};

enum step_kind {
	STEP_ADD,
	STEP_REMOVE,
	STEP_DELAY,
	STEP_RATE,
	STEP_LOSS,
	STEP_UNSET,
	STEP_AT_RATE, /* at `when_ns`, permanently */
	STEP_AT_DELAY,
	STEP_EVERY_DELAY, /* `every_ns` for `for_ns` */
	STEP_FLAP,
	STEP_WAVE_RATE, /* a period of `every_ns`, from `rate_bps` to `limit` */
};

enum script_per { PER_SOURCE, PER_DESTINATION, PER_FLOW };

struct script_step {
	/* the packet before which it is applied, at that packet's instant or earlier */
	uint32_t before;
	simtime t;
	enum step_kind kind;
	uint32_t cloud; /* also its ingress port */
	uint32_t to;    /* STEP_ADD */
	uint32_t from;  /* STEP_ADD: the port that it comes from, unless from a cloud */
	uint32_t of;    /* STEP_ADD: it takes one packet in this many; 0: all */
	uint32_t rest;  /* which packet of these */
	uint64_t priority;
	uint32_t most; /* STEP_ADD: a template of at most this many clouds; 0: a cloud */
	enum script_per per;
	uint32_t after; /* STEP_ADD: the cloud that it comes from + 1; 0: from its port */
	uint64_t delay_ns, jitter_ns, delay_limit;
	enum delay_distribution distribution;
	enum delay_order order;
	uint64_t rate_bps, burst_bytes, limit;
	enum limit_unit unit;
	bool periodic;
	uint64_t loss;    /* a probability, or N of `every N` */
	enum keyed keyed; /* of a loss, or of a jitter */
	const char *statement;
	uint64_t link; /* bits that choose what the link has besides a rate; 0: nothing.
	                * STEP_AT_RATE: perhaps slots or a mark instead of the rate */
	simtime when_ns, every_ns, for_ns;
};

struct script {
	uint64_t seed;
	uint32_t hosts; /* as in rig_setup */
	simtime origin;
	uint32_t n_packets, n_steps;
	struct script_packet packets[SCRIPT_PACKETS_MAX];
	struct script_step steps[SCRIPT_STEPS_MAX + 6 * SCRIPT_CLOUDS];
};

/* What a script may contain. */
#define SCRIPT_SHARED      0x01 /* several clouds to one port */
#define SCRIPT_CHANGES     0x02 /* steps between packets, not only before them */
#define SCRIPT_LOSS        0x04
#define SCRIPT_JITTER      0x08
#define SCRIPT_KEEP        0x10  /* order keep only */
#define SCRIPT_CHAINS      0x20  /* clouds that come from clouds */
#define SCRIPT_CLASSIFIERS 0x40  /* several clouds from one place */
#define SCRIPT_LINKS       0x80  /* overhead, drop head, slots, classes, marks */
#define SCRIPT_TIMES       0x100 /* schedules */
#define SCRIPT_TEMPLATES   0x200 /* templates; and packets of several hosts */
#define SCRIPT_LIMITS      0x400 /* limits of delays */
#define SCRIPT_KEYED       0x800 /* losses and jitter by flow; and packets of several hosts */
#define SCRIPT_ALL         (SCRIPT_SHARED | SCRIPT_CHANGES | SCRIPT_LOSS | SCRIPT_JITTER)

void script_make(struct script *script, uint64_t seed, uint32_t what);
/* Prints the script on stderr, for people. */
void script_print(const struct script *script);

extern const char *const script_cloud_names[SCRIPT_CLOUDS];

#endif
