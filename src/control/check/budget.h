/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computes what a scenario needs: how many packets its clouds hold at most, and the memory for
 * them.
 *
 * Model. A cloud is loaded with frames of one size as fast as they can arrive: at the rate of its
 * link, or, without one, at the speed of the port they come from (10 Gbit/s if it is unknown). The
 * line then holds rate x greatest delay, the link its queue. Two sizes are computed: 64 bytes, with
 * the most packets, which are copied into the engine's memory; and 1518 bytes, with the most mbufs,
 * since these frames stay in them. A live weir takes, at its start, the memory of the former and
 * the mbufs of the latter. Frames between the two that stay in mbufs, sent at full rate, need more
 * mbufs than that (513 bytes: 2.8 times): then packets are dropped as `no-buffer`, and counted as
 * such.
 *
 * The greatest delay is delay + jitter for a uniform jitter; for a normal one, whose deviations the
 * engine cuts at 6.4 times the spread, delay + 6.5 x jitter; for longer tails the delay that one
 * packet in 10,000 exceeds.
 *
 * A template is loaded as a whole. Its line holds what the links of all its clouds deliver, and no
 * more than its port does. Its queues hold what all of them can hold, and no more than the port
 * delivers in the time that a packet waits in a full one; each queue that holds anything has a
 * chunk of its own. The clouds themselves are not in the engine's memory: `own_bytes`.
 *
 * Frame sizes include the FCS, as RFC 2544 counts them: 4 bytes more than in the engine.
 *
 * Ownership: budget_release.
 * Thread: control.
 */
#ifndef WEIR_BUDGET_H
#define WEIR_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "link/class.h"
#include "link/overhead.h"
#include "scenario/scenario.h"

#define BUDGET_PORT_BPS UINT64_C(10000000000) /* assumed if the speed is unknown */

enum budget_frame { BUDGET_64, BUDGET_1518, BUDGET_FRAMES };

/* The need if frames of one size load a cloud fully. */
struct budget_load {
	uint64_t packets;      /* maximum, on the line and in the queue */
	uint64_t memory_bytes; /* of the engine's memory (engine_setup.memory) */
	uint64_t mbufs;        /* for held packets; ports and rings need more besides */
};

struct cloud_budget {
	const char *name;     /* owned by the scenario */
	uint32_t clouds;      /* of a template: maximum; else 1 */
	uint64_t own_bytes;   /* of a template: for its clouds, without their stages */
	uint64_t files_bytes; /* for the files that it names, and what is parsed from them */
	uint64_t rate_bps;    /* the rate at which packets enter the line */
	bool rate_is_ports;   /* no `rate`: the rate is the port's speed */
	uint64_t delay_ns;
	uint64_t delay_max_ns;
	uint64_t limit;         /* packets of one cloud, queued and on the line; LINE_UNLIMITED */
	uint64_t product_bytes; /* rate x delay */
	struct limit queue;     /* in force; LIMIT_NONE without a link */
	bool queue_given;
	uint32_t n_classes;
	uint32_t bands; /* of its queue's management (aqm.h), each with its own memory */
	struct limit classes[CLASSES_MAX]; /* their queues, instead of `queue` */
	struct overhead overhead;
	bool gathers;         /* slots without a budget: */
	uint64_t gathered_ns; /* what arrives in this time waits */
	struct budget_load load[BUDGET_FRAMES];
	uint64_t bytes; /* all memory of this cloud, with mbufs and files */
};

struct budget {
	uint32_t n_clouds;
	struct cloud_budget *clouds; /* in the order of the scenario */
	bool speed_assumed;          /* a rate is that of a port of unknown speed */
	uint64_t memory_bytes;       /* for engine_setup.memory, over all clouds */
	uint64_t mbufs;              /* to hold packets */
	uint64_t own_bytes;          /* of templates and files, besides both */
};

/* Computes the budget. `port_bps`: the speed of each port of the scenario, 0 if unknown; NULL: all
 * are unknown. Returns 0 or -ENOMEM. Numbers too large for 64 bits become UINT64_MAX. */
int budget_of(const struct scenario *scenario, const uint64_t *port_bps, struct budget *budget);
void budget_release(struct budget *budget);

struct budget_sums {
	uint64_t needed_bytes, there_bytes;
	uint64_t beside_bytes; /* the part of the need that is not for packets */
};
/* Sets a problem that says what is needed, what is available, which limit applies (`limit`, in
 * words; or ""), which cloud needs the most, and what would fit. memory_plan.h decides whether it
 * fits. */
void budget_refuse(const struct budget *budget, const struct budget_sums *sums, const char *limit,
                   struct problem *problem);
/* Formats that problem as a line `file:line:column: problem` (SCENARIO_FILE_ERROR), which points at
 * the delay, or else the rate, of the cloud that needs the most. */
void budget_complain(const struct budget *budget, const struct scenario *scenario, const char *path,
                     const struct problem *problem, char *message, size_t room);

/* Returns the bytes of all files that the scenario's statements name, once for each statement. */
uint64_t budget_files(const struct scenario *scenario);

#endif
