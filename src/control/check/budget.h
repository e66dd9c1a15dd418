/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a scenario needs: how many packets its clouds hold at most, and how much memory that takes.
 *
 * Model. A cloud is loaded with frames of one size as fast as they can come: at the rate of its
 * link, or, without one, at the speed of the port they come from (10 Gbit/s where it is unknown).
 * The line then holds rate x greatest delay, the link its queue. Two sizes are looked at: 64 bytes,
 * with the most packets, which are copied into the engine's memory; and 1518 bytes, with the most
 * mbufs, since these frames stay in them. What a live weir takes at its start is the memory of the
 * former and the mbufs of the latter. Frames between the two that stay in mbufs, sent at full rate,
 * need more mbufs than that (513 bytes: 2.8 times): then packets are dropped as `no-buffer`, and
 * counted as such.
 *
 * The greatest delay is delay + jitter for a uniform jitter; for a normal one, whose deviations the
 * engine cuts at 6.4 times the spread, delay + 6.5 x jitter; of longer tails what one packet in
 * 10,000 exceeds.
 *
 * A template is loaded as a whole. Its line holds what all its clouds' links bring, and no more
 * than its port does. In its queues lies what they all hold, and no more than the port brings in
 * the time that a packet waits in one that is full; each queue that holds anything has a chunk of
 * its own. The clouds themselves lie beside the engine's memory: `own_bytes`.
 *
 * Frame sizes include the FCS, as RFC 2544 counts them: 4 bytes more than the engine sees.
 *
 * Ownership: budget_release. Thread: control.
 */
#ifndef WEIR_BUDGET_H
#define WEIR_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "link/class.h"
#include "link/overhead.h"
#include "scenario/scenario.h"

#define BUDGET_PORT_BPS UINT64_C(10000000000) /* a port of unknown speed */

enum budget_frame { BUDGET_64, BUDGET_1518, BUDGET_FRAMES };

/* What frames of one size need when they load a cloud fully. */
struct budget_load {
	uint64_t packets;      /* held at most: on the line and in the queue */
	uint64_t memory_bytes; /* of the engine's memory (engine_setup.memory) */
	uint64_t mbufs;        /* that hold packets; what ports and rings need comes on top */
};

struct cloud_budget {
	const char *name;     /* the scenario's */
	uint32_t clouds;      /* of a template: at most; else 1 */
	uint64_t own_bytes;   /* of a template: for its clouds, without their stages */
	uint64_t files_bytes; /* of the files that it names, and of what is read out of them */
	uint64_t rate_bps;    /* at which packets enter the line */
	bool rate_is_ports;   /* it has no `rate`: the port's speed */
	uint64_t delay_ns;
	uint64_t delay_max_ns;
	uint64_t limit;         /* packets of one cloud, queued and on their way; LINE_UNLIMITED */
	uint64_t product_bytes; /* rate x delay */
	struct limit queue;     /* in force; LIMIT_NONE without a link */
	bool queue_given;
	uint32_t n_classes;
	uint32_t bands; /* of its queue's management (aqm.h), each with memory of its own */
	struct limit classes[CLASSES_MAX]; /* their queues, in the place of `queue` */
	struct overhead overhead;
	bool gathers;         /* slots without a budget: */
	uint64_t gathered_ns; /* all that comes in this time waits */
	struct budget_load load[BUDGET_FRAMES];
	uint64_t bytes; /* as `bytes` below, of this cloud alone */
};

struct budget {
	uint32_t n_clouds;
	struct cloud_budget *clouds; /* in the order of the scenario */
	bool speed_assumed;    /* some cloud's rate is that of a port whose speed is not known */
	uint64_t memory_bytes; /* for engine_setup.memory, over all clouds */
	uint64_t mbufs;        /* to hold packets */
	uint64_t own_bytes;    /* of templates and of files, beside both */
};

/* `port_bps`: speed of each port of the scenario, 0 where it is unknown; NULL: of all. 0 or
 * -ENOMEM. Numbers too large for 64 bits become UINT64_MAX. */
int budget_of(const struct scenario *scenario, const uint64_t *port_bps, struct budget *budget);
void budget_release(struct budget *budget);

struct budget_sums {
	uint64_t needed_bytes, there_bytes;
	uint64_t beside_bytes; /* of the need: what packets do not take */
};
/* A problem that says: so much is needed, so much is there, by which limit (in words; or ""), which
 * cloud needs most of it, and what would fit. Whether it fits: memory_plan.h. */
void budget_refuse(const struct budget *budget, const struct budget_sums *sums, const char *limit,
                   struct problem *problem);
/* That problem as a line `file:line:column: problem` (SCENARIO_FILE_ERROR): where the file that the
 * scenario is from says how long the cloud that needs most holds packets. */
void budget_complain(const struct budget *budget, const struct scenario *scenario, const char *path,
                     const struct problem *problem, char *message, size_t room);

/* Bytes of all files that the scenario's statements name, once for each statement. */
uint64_t budget_files(const struct scenario *scenario);

#endif
