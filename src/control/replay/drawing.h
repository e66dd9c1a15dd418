/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of a replay's picture, written into a page: a cloud with its table and charts, and the
 * scenario. picture.h draws the whole.
 *
 * Thread: one.
 */
#ifndef WEIR_DRAWING_H
#define WEIR_DRAWING_H

#include "offline/replay.h"
#include "replay/samples.h"
#include "report/page.h"
#include "scenario/scenario.h"

#define TRACK_REASON_KINDS 3 /* of enum reason_kind */

/* The decisions of a cloud. */
struct track {
	const char *name; /* the engine's, as in the last fate: compared by address first */
	bool has_link;
	simtime sent_ns; /* when its link had sent the latest packet */
	struct samples delay, queue, average, lost[TRACK_REASON_KINDS];
	struct throughput throughput; /* of its link, or, without one, of the packets that pass */
};

/* Errors of writing are kept in the page. */
struct drawing {
	struct page page;
	const struct scenario *scenario;
	const struct replay_result *result;
	double duration_ns;
	/* One unit for each quantity, in every chart and table of the page (human_unit_one). */
	enum human_unit time_unit, delay_unit, rate_unit, queue_unit;
};

/* Called first: chooses the units, by the greatest values of all clouds. */
void drawing_choose_units(struct drawing *drawing, const struct track *tracks, uint32_t n);

/* Draws the table and the charts of a cloud of the scenario. Changes the track: instants count from
 * the start of the replay, those of the queue are sorted. */
void drawing_cloud(struct drawing *drawing, uint32_t cloud, struct track *track);
void drawing_scenario(struct drawing *drawing);

#endif
