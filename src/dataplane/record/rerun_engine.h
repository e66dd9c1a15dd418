/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One worker of a recording that is run again (rerun.h): its entries, its engine, and what has left
 * that and is not compared yet.
 *
 * Thread: the rerun's.
 */
#ifndef WEIR_RERUN_ENGINE_H
#define WEIR_RERUN_ENGINE_H

#include "engine/engine.h"
#include "offline/mbuf_supply.h"
#include "record/recorded_file.h"
#include "record/rerun.h"
#include "record/tape.h"
#include "record/rerun_lacks.h"

/* A packet that has left. */
struct gone {
	simtime due_ns;
	uint32_t digest;
};

struct gone_queue {
	struct gone *list;
	uint32_t first, n, room;
	uint64_t passed; /* that have been compared, or passed over */
};

/* Told of each packet that leaves, whose mbuf passes. */
typedef int rerun_leave(void *argument, uint32_t port, struct rte_mbuf *mbuf, simtime due_ns,
                        uint32_t wire_bytes);

struct rerun_engine {
	const struct rerun_options *options;
	struct rerun_result *result;
	struct mbuf_supply *supply;
	rerun_leave *leave;
	void *leave_argument;
	uint32_t worker, digested;
	bool owned[SCENARIO_PORTS_MAX];
	struct rerun_scarcity scarcity;
	struct engine *engine;
	void *memory;
	size_t memory_bytes;
	struct recorded_reader *reader;
	struct recorded ahead;
	bool has_ahead;
	bool skipped; /* digests are missing on the tape */
	/* counters were cleared when a device had not taken all that was due: they count otherwise
	 * since then, and nothing else is another */
	bool counts_otherwise;
	int error; /* of leave */
	struct gone_queue gone[SCENARIO_PORTS_MAX];
	/* of a flight */
	bool begun;      /* its snapshot was read */
	bool turned_off; /* it is another run since then */
	struct tape_account account;
	uint8_t *parts; /* of that snapshot, so far */
	uint64_t parts_bytes, parts_done, parts_room;
	uint32_t n_ports;
};

int rerun_engine_open(struct rerun_engine *rerun_engine, const struct scenario *scenario,
                      struct problem *problem);
void rerun_engine_close(struct rerun_engine *rerun_engine);

/* `+12.000345678 s`, on the stack of the caller. */
struct instant {
	char text[40];
};
struct instant instant_of(simtime t_ns);
/* The repetition is not the run: the first difference counts. */
void rerun_engine_differ(struct rerun_engine *rerun_engine, const char *format, ...)
        __attribute__((format(printf, 2, 3)));

/* The instant of the next entry, SIMTIME_NEVER at the end. */
static inline simtime rerun_engine_next(const struct rerun_engine *rerun_engine)
{
	return rerun_engine->has_ahead ? rerun_engine->ahead.entry.t_ns : SIMTIME_NEVER;
}

/* Executes what happens up to `now`, and lets out what is due. 0 or -errno with problem. */
int rerun_engine_advance(struct rerun_engine *rerun_engine, simtime now, struct problem *problem);
/* The engine, which has advanced to its instant, meets the next entry. `alone`: packets one by one.
 * 0, or -errno with problem. */
int rerun_engine_step(struct rerun_engine *rerun_engine, bool alone, struct problem *problem);

#endif
