/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A live run without threads: drives engines as workers do, at instants, with traffic and messages
 * chosen by dice; records it on tapes; and runs it again. The dice are seeded, so a run is the same
 * each time.
 *
 * The recording is the folder R of the current one.
 */
#ifndef WEIR_RECORDED_RIG_H
#define WEIR_RECORDED_RIG_H

#include "record/recording.h"
#include "record/rerun.h"

#define RECORDED_RIG_WORKERS 2
#define RECORDED_RIG_CHANGES 64
#define RECORDED_RIG_NO_PORT SCENARIO_PORTS_MAX

struct recorded_rig_conf {
	const char *const *texts; /* scenarios: the first is in force at first, changes pick any */
	uint32_t n_texts;
	uint32_t workers, ports; /* worker w has the ports w, w + workers, ... */
	uint64_t memory_bytes;   /* of each engine */
	uint32_t burst_most;     /* the most packets in a burst, up to BURST_MAX */
	bool spread;             /* each at its own instant, as if from another worker */
	uint32_t aged_port;      /* its device stamps some packets; RECORDED_RIG_NO_PORT: none */
	bool segmented;          /* some frames lie in two mbufs */
	bool stalls;             /* now and then a worker does not poll for a while */
	bool messages;           /* changes, clearings and insertions are posted */
	uint32_t snap;
	bool flight; /* kept in memory, and dumped at the end */
	bool ideal;  /* the repetition goes on where memory was short */
};

/* The argument of an engine's make_room. */
struct recorded_rig_room {
	struct recorded_rig *rig;
	uint32_t worker;
};

struct recorded_rig {
	struct recorded_rig_conf conf;
	struct recording *recording;
	struct scenario *scenarios[RECORDED_RIG_CHANGES]; /* [0]: at the start */
	uint32_t changes, taken[RECORDED_RIG_WORKERS];
	struct engine *engines[RECORDED_RIG_WORKERS];
	struct recorded_rig_room rooms[RECORDED_RIG_WORKERS];
	void *memories[RECORDED_RIG_WORKERS];
	uint32_t emulator[SCENARIO_PORTS_MAX];
	uint64_t numbers[SCENARIO_PORTS_MAX], departed, overdue;
	simtime now[RECORDED_RIG_WORKERS];
	/* The first poll that counted a packet without memory: the instants before and after it,
	 * and how many departures its worker had recorded before. SIMTIME_NEVER: there was none. */
	struct {
		simtime after, by;
		uint64_t recorded;
	} lacked[RECORDED_RIG_WORKERS];
};

/* Returns a number from 0 to sides - 1. */
uint32_t dice(uint32_t sides);
void dice_seed(uint64_t seed);

/* Fixtures of a group: frames have mbufs of a pool, which the teardown asserts to be complete. */
int recorded_rig_setup(void **state);
int recorded_rig_teardown(void **state);
struct rte_mempool *recorded_rig_pool(void);
/* Returns a frame of random bytes after an IPv4 header that is valid only at first sight; NULL if
 * there is no mbuf. */
struct rte_mbuf *recorded_rig_frame(uint32_t bytes, bool segmented);

/* Runs `polls` polls of the workers, recorded to the end. */
void recorded_rig_play(struct recorded_rig *rig, const struct recorded_rig_conf *conf,
                       uint32_t polls);
void recorded_rig_again(struct recorded_rig *rig, struct rerun_result *result);
/* Frees the rig, and removes the recording. */
void recorded_rig_forget(struct recorded_rig *rig);

#endif
