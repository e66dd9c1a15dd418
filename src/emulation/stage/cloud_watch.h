/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who watches a cloud: is told of what happens there in the order of time, so that it can measure
 * (header/meter.h). A stage brings it (stage.h), and it is there as long as the stage is. Of
 * several stages that bring one, the first's is told, and the others' are not; but those that are
 * `beside` are told behind it, each.
 *
 * The statement of such a stage has `generates` set, so that its cloud is run in the order of time:
 * when anything is told, all that happened to the cloud at earlier instants has been told. Without
 * a watch a cloud costs one comparison a packet.
 *
 * Thread: the worker that owns the cloud.
 */
#ifndef WEIR_CLOUD_WATCH_H
#define WEIR_CLOUD_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "simtime.h"

/* Packets that leave the link one after the other, while nothing else happens there. */
struct watch_run {
	uint32_t n; /* at least 1 */
	const simtime *came, *left;
	const uint32_t *length; /* on the link */
	/* packets, until the first leaves; with each it is one less, if there is one */
	uint64_t waiting;
};

/* What it does not want to be told is NULL. */
struct cloud_watch {
	bool beside;              /* it is told whoever else is */
	struct cloud_watch *next; /* who is told behind it; set by the engine */
	/* Something is about to happen at this instant: a packet arrives, or leaves the link. Until
	 * now the queue was what it is. Instants never go back. Never NULL. */
	void (*before)(struct cloud_watch *watch, simtime now);
	/* Packets of one burst have passed the stages, of so many bytes on the wire together, and
	 * are handed to the link, or to the line if there is none. */
	void (*passed)(struct cloud_watch *watch, uint16_t packets, uint64_t wire_bytes);
	/* One leaves the link that came at `t_in`, with its length there; `before` has been
	 * told. */
	void (*left)(struct cloud_watch *watch, simtime t_in, simtime now, uint32_t bytes);
	/* `before` and `left` of each of them, in turns. NULL: it has to be told of each when it is
	 * the only one that has left. */
	void (*ran)(struct cloud_watch *watch, const struct watch_run *run);
	/* `left` of packets that came at this instant, too, so many bytes on the link together.
	 * Likewise. */
	void (*left_at_once)(struct cloud_watch *watch, simtime now, uint32_t packets,
	                     uint64_t bytes);
	/* The counters are about to be set to zero. */
	void (*cleared)(struct cloud_watch *watch);
};

/* The same of all in the list, which is not empty. */
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

/* Whether nobody, or one who is alone, may be told of several at a time. */
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
