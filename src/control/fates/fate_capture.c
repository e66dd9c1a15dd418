/* SPDX-License-Identifier: BSD-3-Clause */
#include "fates/fate_capture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/pcapng.h"
#include "fates/fate_order.h"
#include "fates/fate_text.h"
#include "scenario/names.h"
#include "text/array.h"

/* The longest name is that of a flow of a template. */
#define NAME_BYTES 200

/* The name of a cloud, with the interface of each of its points. */
struct cloud_interfaces {
	char name[NAME_BYTES];
	int interface[POINT_COUNT]; /* -1: not added yet */
};

struct fate_capture {
	struct fate_capture_plan plan;
	struct pcapng *pcapng;
	struct fate_order *order;
	struct names index; /* of clouds, by name */
	uint32_t n_clouds;
	struct cloud_interfaces **clouds;
	uint32_t n_interfaces;
	size_t room, interfaces_room;
	uint64_t *lost;            /* at each interface, as reported */
	uint64_t said[FATE_KINDS]; /* losses reported so far, of each kind */
	uint64_t frames;
	int error; /* -errno if memory ran short, else 0 */
};

/* ---- interfaces ---- */

static int interface_add(struct fate_capture *capture, struct cloud_interfaces *cloud,
                         enum point point)
{
	char name[NAME_BYTES + 16];
	int interface;

	if (!array_fits(&capture->lost, &capture->interfaces_room, capture->n_interfaces + 1,
	                sizeof(*capture->lost)))
		return -ENOMEM;
	snprintf(name, sizeof(name), "%s:%s", cloud->name, point_name(point));
	interface = pcapng_interface_add(
	        capture->pcapng, &(struct pcapng_interface){.name = name,
	                                                    .description = point_help(point),
	                                                    .snap = capture->plan.snap});
	if (interface < 0)
		return interface;
	capture->lost[capture->n_interfaces++] = 0;
	cloud->interface[point] = interface;
	return interface;
}

static struct cloud_interfaces *cloud_add(struct fate_capture *capture, const char *name)
{
	struct cloud_interfaces *cloud = calloc(1, sizeof(*cloud));

	if (!cloud)
		return NULL;
	snprintf(cloud->name, sizeof(cloud->name), "%s", name);
	for (int i = 0; i < POINT_COUNT; i++)
		cloud->interface[i] = -1;
	if (!array_fits(&capture->clouds, &capture->room, capture->n_clouds + 1, sizeof(cloud)) ||
	    !names_add(&capture->index, cloud->name, capture->n_clouds))
		goto err_free;
	capture->clouds[capture->n_clouds++] = cloud;
	return cloud;

err_free:
	free(cloud);
	return NULL;
}

static int interface_of(struct fate_capture *capture, const char *name, enum point point)
{
	uint32_t at = names_find(&capture->index, name);
	struct cloud_interfaces *cloud =
	        at != NAMES_NONE ? capture->clouds[at] : cloud_add(capture, name);

	if (!cloud)
		return -ENOMEM;
	return cloud->interface[point] >= 0 ? cloud->interface[point]
	                                    : interface_add(capture, cloud, point);
}

/* ---- frames ---- */

static void write_frame(void *argument, const struct fate *fate, uint64_t lost)
{
	struct fate_capture *capture = argument;
	int interface = interface_of(capture, fate->cloud, point_of(fate->kind));
	char comment[FATE_TEXT_BYTES];

	if (interface < 0) {
		capture->error = interface;
		return;
	}
	capture->said[fate->kind] += lost;
	capture->lost[interface] += lost;
	fate_text(fate, comment, sizeof(comment));
	pcapng_write(capture->pcapng,
	             &(struct pcapng_frame){
	                     .interface = (uint32_t)interface,
	                     .t_ns = (simtime)((int64_t)fate->at_ns + capture->plan.wall_ns),
	                     .data = fate->frame.data,
	                     .bytes = fate->frame.bytes,
	                     .wire_bytes = fate->wire_bytes,
	                     .way = fate->kind == FATE_ARRIVED ? PCAPNG_INBOUND
	                            : fate->kind == FATE_LEFT || fate->kind == FATE_SENT
	                                    ? PCAPNG_OUTBOUND
	                                    : PCAPNG_NO_WAY,
	                     .packet = fate_id(fate),
	                     .lost = lost,
	                     .comment = comment});
	capture->frames++;
}

void fate_capture_put(struct fate_capture *capture, const struct fate *fate, uint64_t lost)
{
	const enum point point = point_of(fate->kind);

	if (point < POINT_COUNT && capture->plan.points & (1u << point) &&
	    !fate_order_put(capture->order, fate, lost))
		capture->error = -ENOMEM;
}

int fate_capture_settle(struct fate_capture *capture, simtime until, struct problem *problem)
{
	fate_order_until(capture->order, until, write_frame, capture);
	if (capture->error)
		problem_set(problem, -1, "no memory for the capture");
	return capture->error;
}

uint64_t fate_capture_frames(const struct fate_capture *capture)
{
	return capture->frames;
}

int fate_capture_flush(struct fate_capture *capture, struct problem *problem)
{
	return pcapng_flush(capture->pcapng, problem);
}

/* ---- the file ---- */

int fate_capture_open(const char *path, const struct fate_capture_plan *plan,
                      struct fate_capture **result, struct problem *problem)
{
	struct fate_capture *capture = calloc(1, sizeof(*capture));
	int rc = -ENOMEM;

	if (!capture)
		goto err_memory;
	capture->plan = *plan;
	capture->order = fate_order_make(plan->snap);
	if (!capture->order)
		goto err_memory;
	rc = pcapng_open(path, plan->comment, NULL, 0, &capture->pcapng, problem);
	if (rc < 0)
		goto err_discard;
	for (int i = 0; plan->cloud && i < POINT_COUNT; i++) {
		if (plan->points & (1u << i) &&
		    interface_of(capture, plan->cloud, (enum point)i) < 0) {
			rc = -ENOMEM;
			goto err_memory;
		}
	}
	*result = capture;
	return 0;

err_memory:
	problem_set(problem, -1, "%s: no memory to write it", path);
err_discard:
	fate_capture_discard(capture);
	return rc;
}

int fate_capture_finish(struct fate_capture *capture, const uint64_t missed[FATE_KINDS],
                        struct problem *problem)
{
	int rc = fate_capture_settle(capture, SIMTIME_NEVER, problem);

	if (rc < 0)
		return rc;
	/* Adds the losses that no frame has reported to the first interface of their point. If the
	 * capture is of one cloud, a point has only one. */
	for (int kind = FATE_ARRIVED; kind < FATE_KINDS + 1; kind++) {
		const int of = kind == FATE_KINDS ? FATE_DROPPED : kind;
		const enum point point = point_of((enum fate_kind)of);
		uint64_t rest = missed[of] > capture->said[of] ? missed[of] - capture->said[of] : 0;

		for (uint32_t i = 0; rest > 0 && i < capture->n_clouds; i++) {
			if (capture->clouds[i]->interface[point] < 0)
				continue;
			capture->lost[capture->clouds[i]->interface[point]] += rest;
			rest = 0;
		}
	}
	return pcapng_finish(capture->pcapng, capture->lost, problem);
}

int fate_capture_publish(struct fate_capture *capture, struct problem *problem)
{
	int rc = pcapng_publish(capture->pcapng, problem);

	capture->pcapng = NULL;
	fate_capture_discard(capture);
	return rc;
}

int fate_capture_keep(struct fate_capture *capture, struct problem *problem)
{
	int rc = pcapng_keep(capture->pcapng, problem);

	capture->pcapng = NULL;
	fate_capture_discard(capture);
	return rc;
}

void fate_capture_discard(struct fate_capture *capture)
{
	if (!capture)
		return;
	pcapng_discard(capture->pcapng);
	fate_order_free(capture->order);
	names_clear(&capture->index);
	for (uint32_t i = 0; i < capture->n_clouds; i++)
		free(capture->clouds[i]);
	free(capture->clouds);
	free(capture->lost);
	free(capture);
}
