/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One worker of a recording that is run again (rerun.h): its entries, its engine, and the
 * departures that are not compared yet.
 *
 * Thread: the rerun's.
 */
#ifndef WEIR_RERUN_ENGINE_H
#define WEIR_RERUN_ENGINE_H

#include "offline/offline_engine.h"
#include "offline/offline_pool.h"
#include "record/recorded_file.h"
#include "record/rerun.h"
#include "record/tape.h"

/* A packet that has left. */
struct gone {
	simtime due_ns;
	uint32_t digest;
};

struct gone_queue {
	struct gone *list;
	uint32_t first, n, room;
	uint64_t passed; /* compared or skipped so far */
};

/* Called for each packet that leaves. Ownership: takes the mbuf. */
typedef int rerun_leave(void *argument, uint32_t port, struct rte_mbuf *mbuf, simtime due_ns,
                        uint32_t wire_bytes);

struct rerun_engine {
	const struct scenario *first; /* at the beginning */
	const struct rerun_options *options;
	struct rerun_result *result;
	struct mbuf_supply *supply;
	rerun_leave *leave;
	void *leave_argument;
	uint32_t worker, digested;
	bool owned[SCENARIO_PORTS_MAX];
	/* The earliest instant at which memory was short: in the run, which is repeated up to there
	 * (SIMTIME_NEVER also if it continues in any case), and in this engine. */
	simtime lacked_ns, starved_ns;
	struct offline_engine offline;
	bool *lasts; /* by cloud of the beginning: this engine has it still */
	struct recorded_reader *reader;
	struct recorded ahead;
	bool has_ahead;
	bool skipped; /* some digests are missing on the tape */
	struct gone_queue gone[SCENARIO_PORTS_MAX];
	/* for a flight */
	bool begun;      /* its snapshot has been read */
	bool turned_off; /* the other scenario is in force */
	struct tape_account account;
	uint8_t *parts; /* of that snapshot, as read so far */
	uint64_t parts_bytes, parts_done, parts_room;
	uint32_t n_ports;
};

int rerun_engine_open(struct rerun_engine *rerun, const struct scenario *scenario,
                      struct problem *problem);
void rerun_engine_close(struct rerun_engine *rerun);

/* Stores the reports of the clouds that this engine has had since the beginning. */
void rerun_engine_report(const struct rerun_engine *rerun);

/* Counts a packet that has left, and keeps it until its entry is compared. Returns 0 or -ENOMEM. */
int rerun_left(struct rerun_engine *rerun, uint32_t port, simtime due_ns, uint32_t digest);
/* Compares with an entry TAPE_DEPARTURES, TAPE_CHECK, TAPE_SUM or TAPE_END, and stores the first
 * difference in the result. */
void rerun_compare(struct rerun_engine *rerun, const struct recorded *recorded);

/* An instant as text, `+12.000345678 s`, on the caller's stack. */
struct instant {
	char text[40];
};
struct instant instant_of(simtime t_ns);

/* Returns the instant of the next entry, SIMTIME_NEVER at the end. */
static inline simtime rerun_engine_next(const struct rerun_engine *rerun)
{
	return rerun->has_ahead ? rerun->ahead.entry.t_ns : SIMTIME_NEVER;
}

/* Advances the engine to `now`, and passes what leaves to `leave`. If memory was short in the run
 * by then, advances it up to that, and ends its entries. Returns 0, or -errno with problem. */
int rerun_engine_advance(struct rerun_engine *rerun, simtime now, struct problem *problem);
/* Executes the next entry. The engine has advanced to its instant. `alone`: one packet at a time.
 * Returns 0, or -errno with problem. */
int rerun_engine_step(struct rerun_engine *rerun, bool alone, struct problem *problem);
/* Stores what is not known because memory was short in the run. `now`: where all engines end. */
void rerun_engine_finish(struct rerun_engine *rerun, simtime now);

#endif
