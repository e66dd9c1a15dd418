/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Watches the counters of drops, and tells (event.h):
 *
 *   loss       the first of each reason in each cloud, since counting began
 *   real-loss  what weir has lost since it said so last: of a cloud, or of a port; once a second at
 *              most for each
 *
 * A template is one cloud here. Cost: LOSS_WATCH_AT_ONCE clouds are looked at in a step, and
 * LOSS_WATCH_EVENTS are told; the next step goes on from there. So a loss of one of 65,536 clouds
 * is told within 7 s, of few clouds at the next step. Reading takes no lock, and the workers do not
 * notice.
 *
 * Thread: control's.
 */
#ifndef WEIR_LOSS_WATCH_H
#define WEIR_LOSS_WATCH_H

#include "account/reason.h"
#include "service/control.h"
#include "service/roll.h"

#define LOSS_WATCH_AT_ONCE 1024
#define LOSS_WATCH_EVENTS  16
/* What a cloud costs in memory, with its part of the roll and of what finds it again. */
#define LOSS_WATCH_CLOUD_BYTES (sizeof(struct loss_watched) + ROLL_CLOUD_BYTES + 16)

struct loss_watched {
	uint32_t told;   /* reasons, a bit each */
	uint32_t second; /* of the run, from 1, when real losses were told last */
	uint64_t real;   /* how many had been told by then */
};

/* All 0 at first. */
struct loss_watch {
	struct roll roll;
	struct loss_watched *clouds;
	uint64_t changes, cleared_ns;
	bool begun;
	uint32_t cloud, from; /* the next to look at; of a template, the next of its clouds */
	uint64_t drops[REASON_COUNT]; /* of a template, so far */
	uint32_t port;
	struct loss_watched ports[SCENARIO_PORTS_MAX];
};

/* About every 100 ms. */
void loss_watch_step(struct loss_watch *watch, struct control *control);
void loss_watch_release(struct loss_watch *watch);

#endif
