/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The inside of the engine, shared by engine.c and engine_shared.c (which run it) and by
 * change_*.c (which change it).
 *
 * Two ways to run a cloud. A *direct* cloud has nothing to do with others. *Shared* clouds meet, at
 * a port, or because one generates packets: what happens to them happens in the order of time, as
 * one wheel gives it, on which their links have timers.
 *
 * Two ways to leave it. If no other cloud leads to its port, a cloud's line is its *own*, shared or
 * not, and whole bursts leave it at once. Else its packets lie on that wheel, too. Nothing iterates
 * over clouds in a poll but over those with a line of their own, of which there is one a port at
 * most.
 */
#ifndef WEIR_ENGINE_STATE_H
#define WEIR_ENGINE_STATE_H

#include "engine/template.h"
#include "engine/cloud.h"
#include "engine/engine.h"

struct cloud_report;

struct engine_port {
	uint64_t no_cloud;
	uint64_t sent; /* has left its cloud: into the outlet, or `late` */
	struct outlet outlet;
	/* What shared clouds have let out when the outlet was full, in order. It stands behind what
	 * is in the outlet, and beside what is due on a line of its own (engine_late.c). */
	struct log late;
	struct log late_own; /* the same of the line of its own, when the engine was settled */
};

static inline uint64_t engine_port_late(const struct engine_port *port)
{
	return port->late.records + port->late_own.records;
}

/* Which clouds there are, as one object that a change replaces. */
struct cloud_table {
	struct cloud **slots; /* by cloud index; NULL: free */
	uint32_t n_slots;
	struct cloud *own[SCENARIO_PORTS_MAX]; /* those whose lines are their own */
	uint32_t n_own;
	struct cloud *own_at[SCENARIO_PORTS_MAX];  /* the one that leads to the port; or NULL */
	struct cloud *ingress[SCENARIO_PORTS_MAX]; /* the cloud that takes all; or NULL: */
	struct classifier *classified[SCENARIO_PORTS_MAX]; /* which of several does; or NULL */
	struct names index;             /* slots, by name: those that are not closing */
	struct classifier *classifiers; /* all of them */
};

/* Of the cloud for what no other cloud from that port takes. */
void engine_untouched_name(char name[SCENARIO_NAME_BYTES], uint32_t port);

/* Control: frees the changes that templates have made, or all. */
void owed_free(struct engine *engine, bool all);

/* Control: of a template, whose head it is, all of them. NULL is allowed. */
void engine_cloud_free(struct cloud *cloud);

/* Control. The clouds are not the cloud table's. */
void cloud_table_free(struct cloud_table *cloud_table);

struct engine {
	struct holder holder;
	struct cloud_table *cloud_table;
	struct wheel *wheel;    /* events of the shared clouds; NULL until there are some */
	struct cloud *draining; /* clouds with shared lines that have packets in their own still */
	struct cloud *timer_missing;  /* whose link has no timer, for there was no memory */
	struct template *unsettled;   /* templates whose clouds have still to make a change */
	struct template_change *owed; /* control's: those changes, to be freed when they are done */
	/* Clouds of many templates have to change, or to be told who follows them: a few in each
	 * engine_advance. */
	bool chores;
	bool following; /* slots from `followed` on have not been asked about */
	bool found;     /* of those before, one is told of its packets' way */
	bool tells;     /* of some cloud, perhaps */
	uint32_t followed;
	struct engine_follower follower;
	uint32_t left; /* put into outlets since engine_advance said so last */
	uint64_t late; /* packets in all ports' `late` and `late_own` */
	bool begun;    /* a scenario has come into force, at origin_ns */
	simtime origin_ns;
	struct engine_port ports[SCENARIO_PORTS_MAX];
	struct engine_setup setup;
	struct scenario *scenario; /* control's: what the cloud table was made from */
};

/* ---- reports: control ---- */

struct line_moments line_moments_read(const struct line *line);
/* What engine_report_queue says of a cloud; and of all of a template together, and what
 * engine_report says beside it. */
void cloud_report_queue(const struct cloud *cloud, struct cloud_report *report);
void template_report_queue(const struct template *template, struct cloud_report *sum);
void template_report_line(const struct template *template, struct cloud_report *sum);

/* ---- worker ---- */

/* Other clouds are there, or what is answered about them is another: asks about all. */
void engine_follow_again(struct engine *engine);
/* Executes the events of shared clouds up to and at `now`, one after the other. */
void engine_advance_shared(struct engine *engine, simtime now);
/* The same up to their instants, then packets come to a shared cloud. Other clouds may have to do
 * with each of them, and a burst must not differ from single packets: those go together of which it
 * cannot (cloud->burst_safe). */
void engine_shared_arrive(struct engine *engine, struct cloud *cloud, struct burst *burst);
/* The same with a packet of weir's own (cloud_insert). */
void engine_shared_insert(struct engine *engine, struct cloud *cloud, struct rte_mbuf *mbuf,
                          simtime now);
/* The outlet of this port is full, although room was asked for. */
bool engine_outlet_full(struct engine *engine, uint32_t port);

/* ---- packets that find no room: engine_late.c ---- */

/* Whether the next that leaves there has to wait in its cloud: there is neither room in the outlet
 * nor memory to keep it behind. */
bool engine_port_full(struct engine *engine, uint32_t port);
/* It leaves behind what waits; engine_port_full has just said that it may. */
void engine_late_put(struct engine *engine, uint32_t port, struct rte_mbuf *mbuf,
                     const struct held *head, bool named);
/* From there into the outlets, as far as there is room. False: for want of mbufs some stay although
 * there is room; nothing may leave ahead of them. */
bool engine_late_leave(struct engine *engine);
/* As engine_next, without the packets that have left their clouds and wait behind an outlet. */
simtime engine_next_event(const struct engine *engine);
/* When the first of them was due; SIMTIME_NEVER: there is none. */
simtime engine_late_next(const struct engine *engine);
void engine_late_drop(struct engine *engine);

/* Lets out what is due at a cloud with a line of its own, as far as there is room and there are
 * mbufs. */
void engine_advance_own(struct engine *engine, struct cloud *cloud, simtime now);

/* The link of a shared cloud needs a timer and has none. */
static inline void engine_starve(struct engine *engine, struct cloud *cloud)
{
	if (cloud->timer_missing)
		return;
	cloud->timer_missing = true;
	cloud->next_timer_missing = engine->timer_missing;
	engine->timer_missing = cloud;
}

#endif
