/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The draws for web.h: what users of web traffic request, and when, with one model for each kind of
 * group. Each draw is a function of the group's key and of its session, page and object.
 *
 * Thread: the world's.
 */
#ifndef WEIR_LAB_WEB_DRAW_H
#define WEIR_LAB_WEB_DRAW_H

#include "lab/web.h"

enum web_lane {
	WEB_LANE_ARRIVAL,
	WEB_LANE_CLIENT,
	WEB_LANE_SERVER,
	WEB_LANE_PAGE_GAP,
	WEB_LANE_OBJECTS,
	WEB_LANE_OBJECT_GAP,
	WEB_LANE_SIZE,
	WEB_LANE_BOOT,
};

struct web_model {
	bool in_turn; /* an object is requested when the one before it is complete */
	uint32_t (*objects)(const struct web *web, uint64_t index); /* of a page, at least 1 */
	uint32_t (*packets)(const struct web *web, uint64_t index); /* of an object, at least 1 */
	simtime (*object_gap)(const struct web *web, uint64_t index);
	simtime (*page_gap)(const struct web *web, uint64_t index);
};

uint64_t web_index(uint32_t session, uint32_t page, uint32_t object);
/* Returns a draw in (0, 1). */
double web_uniform(const struct web *web, uint64_t index, enum web_lane lane);

/* Sets web->model and its parameters from web->conf. Returns 0, or -EINVAL with problem. */
int web_model_choose(struct web *web, struct problem *problem);

#endif
