/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the control socket controls: the scenario in force and, behind a table of functions, the
 * emulator that runs it. A live server binds them to the runtime (control_ops_runtime); tests to a
 * fake.
 *
 * Ownership: `scenario` points at its owner's pointer; control_change replaces what it points at.
 * Thread: control's.
 */
#ifndef WEIR_CONTROL_H
#define WEIR_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "engine.h"
#include "runtime.h"
#include "scenario.h"

struct control_ops {
	/* Transactions: return when the workers have taken it. 0, or -errno with problem. */
	int (*change)(void *context, const struct scenario *next, struct problem *problem);
	int (*clear)(void *context);
	/* Packets of weir's own enter a cloud. 0, or -errno with problem. */
	int (*insert)(void *context, const struct insertion *insertion, struct problem *problem);
	/* false: there is no such cloud, port or worker */
	bool (*cloud)(void *context, const char *name, struct cloud_report *report);
	bool (*port)(void *context, uint32_t port, struct port_report *report);
	bool (*worker)(void *context, uint32_t worker, struct worker_report *report);
	uint32_t (*ports)(void *context);
	uint32_t (*workers)(void *context);
	uint64_t (*now_ns)(void *context); /* a monotone clock */
};

extern const struct control_ops control_ops_runtime; /* context: struct runtime */

/* What was seen of a cloud when somebody last looked, to tell the rate since then. */
#define CONTROL_LOOKS 64
struct control_look {
	char cloud[160]; /* the longest is that of a flow of a template */
	uint64_t now_ns, rx_bytes, tx_bytes;
};

struct control {
	const struct control_ops *ops;
	void *context;
	struct scenario **scenario;
	uint64_t changes;    /* made so far: who keeps a copy of the scenario sees that it is old */
	bool probing;        /* routers are being asked: probe.h */
	uint64_t cleared_ns; /* when counting began, on the clock of ops->now_ns */
	struct control_look looks[CONTROL_LOOKS];
	uint32_t next_look;
};

void control_init(struct control *control, const struct control_ops *ops, void *context,
                  struct scenario **scenario);
/* Puts `next` in force; on success it takes the place of the old scenario, which is freed; on
 * failure it stays the caller's. 0, or -errno with problem. */
int control_change(struct control *control, struct scenario *next, struct problem *problem);
int control_clear(struct control *control);
/* What is known of a cloud, by ops->cloud. The ages of a path count up to now, however long ago its last
 * packet came. */
bool control_cloud(struct control *control, const char *cloud, struct cloud_report *report);
/* Remembers what is seen now, and gives back what was seen before: false if nothing was, or if the
 * counters were cleared in between. */
bool control_look(struct control *control, const char *cloud, const struct cloud_report *report,
                  uint64_t now_ns, struct control_look *before);

#endif
