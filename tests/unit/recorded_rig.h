/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A run by hand: engines as workers drive them, at instants, with traffic and between messages that
 * dice choose, recorded on tapes; and its repetition. Dice are seeded, so a run is the same each
 * time.
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
	const char *const *texts; /* scenarios: the first is in force first, changes take any */
	uint32_t n_texts;
	uint32_t workers, ports; /* worker w has the ports w, w + workers ... */
	uint64_t memory_bytes;   /* of an engine */
	uint32_t burst_most;     /* packets that come together, up to BURST_MAX */
	bool spread;             /* each at its own instant, as those that crossed to a worker */
	uint32_t aged_port;      /* whose device stamps some; RECORDED_RIG_NO_PORT: none */
	bool segmented;          /* some frames lie in two mbufs */
	bool sticks;             /* now and then devices take nothing for a while */
	bool messages;           /* changes, clearings and insertions come */
	uint32_t snap;
};

struct recorded_rig {
	struct recorded_rig_conf conf;
	struct recording *recording;
	struct scenario *scenarios[RECORDED_RIG_CHANGES]; /* [0]: of the beginning */
	uint32_t changes, taken[RECORDED_RIG_WORKERS];
	struct engine *engines[RECORDED_RIG_WORKERS];
	void *memories[RECORDED_RIG_WORKERS];
	uint32_t emulator[SCENARIO_PORTS_MAX];
	uint64_t numbers[SCENARIO_PORTS_MAX], departed, most_late;
	bool stuck; /* devices take nothing */
	simtime now[RECORDED_RIG_WORKERS];
};

/* Of so many sides, from 0. */
uint32_t dice(uint32_t sides);
void dice_seed(uint64_t seed);

/* Of a group: frames have mbufs of a pool, which has all of them again in the end. */
int recorded_rig_setup(void **state);
int recorded_rig_teardown(void **state);
struct rte_mempool *recorded_rig_pool(void);
/* Random bytes behind a header of IPv4 that is none but at first sight; NULL: there is no mbuf. */
struct rte_mbuf *recorded_rig_frame(uint32_t bytes, bool segmented);

/* So many polls of workers, recorded to the end. */
void recorded_rig_play(struct recorded_rig *rig, const struct recorded_rig_conf *conf,
                       uint32_t polls);
void recorded_rig_again(struct recorded_rig *rig, struct rerun_result *result);
/* The recording is gone, too. */
void recorded_rig_forget(struct recorded_rig *rig);

#endif
