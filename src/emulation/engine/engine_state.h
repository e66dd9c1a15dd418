/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The internals of the engine, shared by engine.c and engine_shared.c, which run it, and by
 * change_*.c, which change it.
 *
 * How a cloud is run: a *direct* cloud does not interact with other clouds. *Shared* clouds meet at
 * a port, or because one of them generates packets. Their events are in one order (events.h).
 *
 * How packets leave a cloud: if no other cloud leads to its port, its line is its *own*, whether
 * the cloud is shared or not, and whole bursts leave the line at once. Otherwise its packets lie on
 * the shared wheel, too. A poll iterates only over clouds with a line of their own, of which there
 * is at most one per port.
 */
#ifndef WEIR_ENGINE_STATE_H
#define WEIR_ENGINE_STATE_H

#include "engine/template.h"
#include "engine/cloud.h"
#include "engine/engine.h"
#include "engine/events.h"

struct cloud_report;

struct engine_port {
	uint64_t no_cloud;
	uint64_t sent; /* packets that left their clouds */
	struct outlet outlet;
	bool stalled; /* engine_stall */
};

/* All clouds, as one object that a change replaces. */
struct cloud_table {
	struct cloud **slots; /* by cloud index; NULL: free */
	uint32_t n_slots;
	struct cloud *own[SCENARIO_PORTS_MAX]; /* clouds with a line of their own */
	uint32_t n_own;
	struct cloud *own_at[SCENARIO_PORTS_MAX];  /* by port to which it leads; or NULL */
	struct cloud *ingress[SCENARIO_PORTS_MAX]; /* takes all packets of the port; or NULL */
	struct classifier *classified[SCENARIO_PORTS_MAX]; /* chooses among several; or NULL */
	struct names index;             /* of the slots, by name; without closing clouds */
	struct classifier *classifiers; /* list of all classifiers */
};

/* Returns the slot behind this one, passing over those of clouds that are not made (template.h). */
static inline uint32_t cloud_table_behind(const struct cloud_table *cloud_table, uint32_t slot)
{
	return slot + 1 + template_not_made(cloud_table->slots[slot]);
}

/* Returns true if the cloud is removed from the scenario. The clouds of a template close with their
 * head. */
static inline bool cloud_is_closed(const struct cloud *cloud)
{
	return (cloud->of ? cloud->of->head : cloud)->closing;
}

/* Returns true if the cloud has neither packets nor a timer. */
static inline bool cloud_is_at_rest(const struct cloud *cloud)
{
	return cloud_held(cloud) == 0 && cloud->wake == SIMTIME_NEVER;
}

/* Writes the name of the cloud that takes what no other cloud from that port takes: `untouched` and
 * the port's name, or its number if the name is too long. */
void engine_untouched_name(char name[SCENARIO_NAME_BYTES], const struct scenario *scenario,
                           uint32_t port);

/* Frees the changes that templates have completed, or all. Thread: control. */
void owed_free(struct engine *engine, bool all);

/* Frees a cloud, or, if it is the head of a template, the whole template. NULL is allowed.
 * Thread: control. */
void engine_cloud_free(struct cloud *cloud);

/* Frees the table, but not its clouds. Thread: control. */
void cloud_table_free(struct cloud_table *cloud_table);

struct engine {
	struct holder holder;
	struct cloud_table *cloud_table;
	struct events events;         /* of the shared clouds */
	struct template *unsettled;   /* templates with clouds that have not made a change yet */
	struct template_change *owed; /* control's: these changes, to be freed when they are done */
	/* Clouds of templates have a change to make, or clouds get a witness from the follower: a
	 * few in each engine_advance. */
	bool chores;
	bool following; /* the follower has yet to choose for the slots from `followed` on */
	bool found;     /* a cloud before `followed` has a witness with a `way` */
	bool tells;     /* some cloud may have such a witness */
	uint32_t followed;
	struct engine_follower follower;
	uint32_t left; /* packets put into outlets since engine_advance last returned */
	bool begun;    /* a scenario has come into force, at origin_ns */
	simtime origin_ns;
	struct engine_port ports[SCENARIO_PORTS_MAX];
	struct engine_setup setup;
	struct scenario *scenario; /* control's: the cloud table was made from it */
};

/* ---- reports: control ---- */

struct line_moments line_moments_read(const struct line *line);
/* Fill in what engine_report_queue reports of a cloud, the sums of it over all clouds of a
 * template, and what engine_report adds for a template. */
void cloud_report_queue(const struct cloud *cloud, struct cloud_report *report);
void template_report_queue(const struct template *template, struct cloud_report *sum);
void template_report_line(const struct template *template, struct cloud_report *sum);

/* ---- worker ---- */

/* Begins to call the follower for all clouds anew, after a change or with a new follower. */
void engine_follow_again(struct engine *engine);
/* Executes the events of shared clouds up to and including `now`, one after the other. */
void engine_advance_shared(struct engine *engine, simtime now);
/* Hands packets to a shared cloud, executing the events up to and including each instant first.
 * Other clouds may interact with each packet, and the result of a burst must equal that of single
 * packets: only packets for which this is certain go together (cloud->burst_safe). */
void engine_shared_arrive(struct engine *engine, struct cloud *cloud, struct burst *burst);

/* Returns the outlet of a port, with room for a packet at least. */
static inline struct outlet *engine_room(struct engine *engine, uint32_t port)
{
	struct outlet *outlet = &engine->ports[port].outlet;

	if (unlikely(outlet->n == OUTLET_ROOM))
		engine->setup.make_room(engine->setup.room_argument, port);
	return outlet;
}

/* Lets all packets that are due leave a cloud with a line of its own, as far as there are mbufs. */
void engine_advance_own(struct engine *engine, struct cloud *cloud, simtime now);

/* Returns when a shared cloud next has something to do: at its link, or, while its line drains, on
 * the line. */
static inline simtime cloud_wakes(const struct cloud *cloud)
{
	const simtime next = cloud_next(cloud);

	return likely(!cloud->line.drains) ? next : simtime_min(next, line_next(&cloud->line));
}

/* Sets the timer of a shared cloud, if it needs an earlier one. A timer that fires too early does
 * nothing but set the next one. What was on a line before it was shared precedes all else that is
 * due at its instant. */
static inline void engine_set_timer(struct engine *engine, struct cloud *cloud)
{
	const simtime next = cloud_wakes(cloud);
	const bool drains = unlikely(cloud->line.drains) && next < cloud_next(cloud);

	if (cloud->wake <= next)
		return;
	cloud->wake = next;
	timers_set(&engine->events.timers, cloud->index, next,
	           drains ? TIMERS_FIRST : engine->events.wheel->inserted++);
}

#endif
