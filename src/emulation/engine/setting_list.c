/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/setting_list.h"

#include <stdlib.h>

#include "engine/timeline.h"

void timeline_exchange(struct timeline_change *item, simtime now)
{
	struct timeline *old = item->cloud->timeline;

	item->cloud->timeline = item->timeline;
	item->timeline = old;
	timeline_begin(item->cloud, now);
}

void setting_list_free(struct setting_list *list)
{
	for (uint32_t i = 0; i < list->n_settings; i++)
		setting_free(&list->settings[i]);
	for (uint32_t i = 0; i < list->n_timelines; i++)
		timeline_free(list->timelines[i].timeline);
	free(list->settings);
	free(list->timelines);
}
