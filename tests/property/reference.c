/* SPDX-License-Identifier: BSD-3-Clause */
#include "reference.h"

#include <stdlib.h>

typedef unsigned __int128 ticks; /* 1 / R ns */

#define WORK(bytes) ((ticks)(bytes)*8 * 1000000000)

static uint64_t instant_of(ticks time, uint64_t rate)
{
	return (uint64_t)((time + rate - 1) / rate);
}

static ticks later(ticks a, ticks b)
{
	return a > b ? a : b;
}

/* Returns true if there is room for a packet. The link contains every earlier packet that was
 * accepted and leaves later. With a leaky bucket the first of them is being sent, and does not
 * wait. */
static bool has_room(const struct reference_cloud *cloud, const struct reference_packet *packets,
                     const uint64_t *left, uint32_t i)
{
	uint64_t n = 0, bytes = 0;
	bool first = true;

	for (uint32_t k = 0; k < i; k++) {
		if (packets[k].cloud != packets[i].cloud || packets[k].lost ||
		    left[k] <= packets[i].t)
			continue;
		if (!first || cloud->depth_bytes > 0) {
			n++;
			bytes += packets[k].bytes;
		}
		first = false;
	}
	if (first)
		return true;
	switch (cloud->unit) {
	case REFERENCE_BYTES:
		return bytes + packets[i].bytes <= cloud->limit;
	case REFERENCE_PACKETS:
		return n + 1 <= cloud->limit;
	case REFERENCE_NS:
		return WORK(bytes + packets[i].bytes) <= (ticks)cloud->limit * cloud->rate_bps;
	case REFERENCE_NONE:
		break;
	}
	return true;
}

static void cloud_run(const struct reference_cloud *cloud, uint32_t index,
                      struct reference_packet *packets, uint64_t *left, uint32_t n)
{
	ticks arrival_limit = 0; /* the theoretical arrival time: when all work so far is done */
	uint64_t before = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct reference_packet *packet = &packets[i];

		if (packet->cloud != index)
			continue;
		left[i] = packet->t;
		if (cloud->rate_bps) {
			ticks arrival = (ticks)packet->t * cloud->rate_bps;
			ticks send;

			packet->lost = !has_room(cloud, packets, left, i);
			if (packet->lost)
				continue;
			arrival_limit = later(arrival_limit, arrival) + WORK(packet->bytes);
			send = arrival_limit > WORK(cloud->depth_bytes)
			               ? arrival_limit - WORK(cloud->depth_bytes)
			               : 0;
			left[i] = instant_of(later(arrival, send), cloud->rate_bps);
			if (left[i] < before)
				left[i] = before;
			before = left[i];
		}
		packet->entered = left[i];
		packet->due = left[i] + cloud->delay_ns;
	}
}

void reference_run(const struct reference_cloud *clouds, uint32_t n_clouds,
                   struct reference_packet *packets, uint32_t n)
{
	uint64_t *left = calloc(n + 1, sizeof(*left)); /* when each packet leaves the link */

	if (!left)
		abort();
	for (uint32_t i = 0; i < n_clouds; i++)
		cloud_run(&clouds[i], i, packets, left, n);
	free(left);
}

static int leaves_before(const void *a, const void *b)
{
	const struct reference_packet *x = a, *y = b;

	if (x->due != y->due)
		return x->due < y->due ? -1 : 1;
	if (x->entered != y->entered)
		return x->entered < y->entered ? -1 : 1;
	if (x->cloud != y->cloud)
		return x->cloud < y->cloud ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

void reference_sort(struct reference_packet *packets, uint32_t n)
{
	qsort(packets, n, sizeof(*packets), leaves_before);
}
