/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a change has for clouds: settings, and timelines for those that have schedules.
 *
 * Ownership: control frees what is in it; after the change is in force that is what was replaced.
 */
#ifndef WEIR_SETTING_LIST_H
#define WEIR_SETTING_LIST_H

#include "engine/setting.h"

/* Another timeline, or none; after the exchange the one that was there. */
struct timeline_change {
	struct cloud *cloud;
	struct timeline *timeline;
};

struct setting_list {
	uint32_t n_settings, settings_room;
	struct setting *settings;
	uint32_t n_timelines, timelines_room;
	struct timeline_change *timelines;
};

/* Control. */
void setting_list_free(struct setting_list *list);

/* Worker: the timeline in the place of the cloud's, which is taken up at `now`. */
void timeline_exchange(struct timeline_change *item, simtime now);

#endif
