/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A watch gets the events of a cloud in the order of time, so that it can measure the cloud
 * (header/meter.h). A stage brings it (stage.h), and it exists as long as the stage does. If
 * several stages bring one, only the first one's is called; behind it, every watch that is `beside`
 * is called, too.
 *
 * The statement of such a stage has `generates` set, so that its cloud is run in the order of time:
 * when a watch is called, all events of the cloud at earlier instants have been reported. Without a
 * watch, a cloud costs one comparison per packet.
 *
 * Thread: the worker that owns the cloud.
 */
#ifndef WEIR_CLOUD_WATCH_H
#define WEIR_CLOUD_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "simtime.h"

/* Packets that leave the link one after the other, with no other event there in between. */
struct watch_run {
	uint32_t n; /* at least 1 */
	const simtime *came, *left;
	const uint32_t *length; /* on the link */
	/* packets that wait before the first departure; each departure takes one off, unless it is
	 * 0 */
	uint64_t waiting;
};

/* A function that the watch does not need is NULL. */
struct cloud_watch {
	bool beside;              /* it is called even if another watch is */
	struct cloud_watch *next; /* called behind it; set by the engine */
	/* Something is about to happen at this instant: a packet arrives, or leaves the link. Until
	 * now the queue was as it is. Instants never decrease. Never NULL. */
	void (*before)(struct cloud_watch *watch, simtime now);
	/* Packets of one burst have passed the stages, with so many bytes on the wire in total, and
	 * are handed to the link, or to the line if there is no link. */
	void (*passed)(struct cloud_watch *watch, uint16_t packets, uint64_t wire_bytes);
	/* A packet that arrived at `t_in` leaves the link, with its length there; `before` has been
	 * called. */
	void (*left)(struct cloud_watch *watch, simtime t_in, simtime now, uint32_t bytes);
	/* Stands for `before` and `left` of each packet in turn. NULL: each packet has to be
	 * reported before the next one leaves. */
	void (*ran)(struct cloud_watch *watch, const struct watch_run *run);
	/* Stands for `left` of packets that arrived at this instant, too, with so many bytes on the
	 * link in total. NULL: the same. */
	void (*left_at_once)(struct cloud_watch *watch, simtime now, uint32_t packets,
	                     uint64_t bytes);
	/* The counters are about to be set to zero. */
	void (*cleared)(struct cloud_watch *watch);
};

/* The functions below call their namesake in each watch of the list. */
static inline void cloud_watch_before(struct cloud_watch *watch, simtime now)
{
	for (; watch; watch = watch->next)
		watch->before(watch, now);
}

static inline void cloud_watch_passed(struct cloud_watch *watch, uint16_t packets,
                                      uint64_t wire_bytes)
{
	for (; watch; watch = watch->next) {
		if (watch->passed)
			watch->passed(watch, packets, wire_bytes);
	}
}

static inline void cloud_watch_left(struct cloud_watch *watch, simtime t_in, simtime now,
                                    uint32_t bytes)
{
	for (; watch; watch = watch->next) {
		if (watch->left)
			watch->left(watch, t_in, now, bytes);
	}
}

/* Returns true if several packets may be reported at a time: there is no watch, or only one, and
 * that has the functions for it. */
static inline bool cloud_watch_runs(const struct cloud_watch *watch)
{
	return !watch || (watch->ran && watch->left_at_once && !watch->next);
}

static inline void cloud_watch_cleared(struct cloud_watch *watch)
{
	for (; watch; watch = watch->next) {
		if (watch->cleared)
			watch->cleared(watch);
	}
}

#endif
