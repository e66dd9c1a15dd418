/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A cloud: one direction of one emulated network. Ingress stages, then the link, then the line.
 *
 * Thread: made and freed by control, run by the worker that owns it. Counters and histogram are
 * read by others a moment old.
 */
#ifndef WEIR_CLOUD_H
#define WEIR_CLOUD_H

#include "account/counters.h"
#include "account/histogram.h"
#include "line/line.h"
#include "link/link.h"
#include "scenario/scenario.h"
#include "stage/stage.h"
#include "stage/cloud_watch.h"
#include "account/witness.h"

struct events;
struct flows;
struct tallies;
struct timeline;
struct classifier;

/* Where packets go that leave a cloud: into one of the clouds that come from it, or, if none of
 * these takes them, out at the port. */
struct cloud_exit {
	uint32_t port;
	struct classifier *classifier; /* owned by the cloud table; NULL: all leave at the port */
	struct cloud *back; /* the cloud that generated packets enter; NULL: they leave at
	                     * from_port */
	simtime early_ns;   /* how much earlier than it is due a packet is handed to the port
	                     * (port_setting.h); 0 if it may enter another cloud */
};

struct template;

struct cloud {
	/* the fields that a packet touches come first: one cache line for its arrival, one for
	 * arrival and departure */
	bool closing; /* removed from the scenario: takes no packets, delivers those it holds */
	/* one of its statements may generate packets, or could in an earlier scenario: it is
	 * shared */
	bool generates;
	/* shared, but packets of one instant may pass its stages as a burst */
	bool burst_safe;
	uint16_t n_stages;
	/* live, and a port has a latency or time stamps (port_setting.h) */
	bool compensates_latency;
	bool counts_flows; /* a stage is keyed: arriving packets are counted in `flows` */
	uint32_t index;
	uint32_t changed;          /* in a template: number of the latest change that it has made */
	uint32_t from_port;        /* where its packets came in, perhaps several clouds before */
	struct cloud_watch *watch; /* the first of the watches that are called; or NULL */
	/* The engine's if the cloud is shared: its events are ordered with those of other
	 * clouds. NULL if it is direct. */
	struct events *events;
	simtime change;         /* next point of the timeline; SIMTIME_NEVER: none */
	simtime wake;           /* shared clouds: when the timer fires; SIMTIME_NEVER: not set */
	uint64_t latest_number; /* of the latest arrival; those of held packets are close to it */
	struct holder *holder __rte_cache_aligned;
	struct witness *witness;
	struct cloud_exit *exit;    /* its own, or its template's */
	struct histogram *delay_ns; /* all clouds of a template share one */
	struct counters counters;
	struct line line __rte_cache_aligned;
	struct link link __rte_cache_aligned;
	struct stage *stages[CLOUD_STAGES_MAX] __rte_cache_aligned;
	struct stage *answerer; /* if burst_safe: the only stage that may generate; or NULL */
	simtime origin_ns; /* beginning of the run: when the first scenario came into force. 0 live;
	                    * in a replay, the first packet of the captures */
	struct timeline *timeline; /* or NULL */
	struct tallies *tallies;   /* tallies.h; of a template, its head has them; or NULL */
	/* if it compensates latency and keeps order: all that has entered the line leaves by
	 * then */
	simtime latest_leaving;
	/* of stages, begun and ended: odd while one is in progress (cloud_stages) */
	uint32_t exchanges;
	uint64_t drawn_most; /* most draws of a stage or an AQM that was replaced or removed */
	/* of the packets that arrive, and of those that enter the line; each NULL until a statement
	 * that is `keyed flow` needs it */
	struct flows *flows, *line_flows;
	struct cloud *next_woken;
	struct cloud_exit own_exit;
	struct template *of; /* the template that it belongs to; or NULL */
	const char *meets;   /* for a witness: statement of the stage that is running; or NULL */
	const char *name;    /* `down`; in a template `down/10.0.3.4` */
};

/* Initializes a cloud in the caller's memory. Name and histogram remain the caller's. */
void cloud_init(struct cloud *cloud, const char *name, uint32_t index, struct holder *holder,
                struct witness *witness, struct histogram *delay_ns);
/* Frees the cloud's stages, timeline, AQM and classes, and what its line owns. */
void cloud_release(struct cloud *cloud);
/* Reads the cloud's stages at one moment, while the worker may exchange them by a schedule. Returns
 * their number n. The n pointers are valid until control frees what a change has replaced. Sets
 * `whole` to false if the worker is held up in the middle of an exchange: then a stage may appear
 * twice or not at all. Thread: control. */
uint16_t cloud_stages(const struct cloud *cloud, const struct stage *stages[CLOUD_STAGES_MAX],
                      bool *whole);
/* Creates a cloud. Returns NULL if there is no memory. */
struct cloud *cloud_make(const char *name, uint32_t index, struct holder *holder,
                         struct witness *witness);
/* Drops all packets that the cloud holds, and returns their memory to the worker's arena. The
 * worker's last act on the cloud. */
void cloud_clear(struct cloud *cloud);
/* Does the same, then frees the cloud and its stages. Thread: control, when no worker runs the
 * cloud; while the worker runs other clouds, only after cloud_clear. */
void cloud_free(struct cloud *cloud);

/* Takes arriving packets, n > 0 and at most BURST_MAX. Takes ownership of all, and overwrites the
 * burst. */
void cloud_arrive(struct cloud *cloud, struct burst *burst);
/* Executes the cloud's events up to and including `now`: heads leave the link and enter the line,
 * packets that reordering holds back are released at their deadline, and, as long as something is
 * held, the timeline's changes take effect in between. */
void cloud_advance_link(struct cloud *cloud, simtime now);
struct outlet;
/* Does the same for a shared cloud at `now`, and then up to and including `limit`, as long as the
 * shared wheel is known to have no earlier event. A packet that leaves the link and the line at the
 * same instant goes straight into `outlet`, if the wheel has nothing before and the outlet has
 * room. `outlet` belongs to the port where all packets of the cloud leave. NULL: no packet does
 * so. */
void cloud_run_link(struct cloud *cloud, simtime now, simtime limit, struct outlet *outlet);

/* Drops a packet in a record at `now`, as cloud_drop does. The caller removes the record from its
 * log. */
void cloud_drop_held(struct cloud *cloud, const struct held *held, enum reason reason, simtime now);

/* Returns the number of a packet that is held, or was a moment ago. The record has its low half,
 * which is sufficient: no two packets of a cloud are 2^31 apart. */
static inline uint64_t cloud_number(const struct cloud *cloud, uint32_t flags, uint32_t low)
{
	if (unlikely(flags & PACKET_FOREIGN))
		return 0;
	return cloud->latest_number +
	       (uint64_t)(int64_t)(int32_t)(low - (uint32_t)cloud->latest_number);
}

/* Returns true if the link or the reordering holds packets: their path may still change. */
static inline bool cloud_is_busy(const struct cloud *cloud)
{
	return cloud->link.busy || cloud->line.back.packets.records != 0;
}

/* Returns when cloud_advance_link next has something to do. */
static inline simtime cloud_next(const struct cloud *cloud)
{
	return simtime_min(simtime_min(cloud->link.departure, cloud->line.back_deadline),
	                   unlikely(cloud->change < SIMTIME_NEVER) && cloud_is_busy(cloud)
	                           ? cloud->change
	                           : SIMTIME_NEVER);
}

/* Returns when a packet that enters the line at `now` must leave it to be on time at its
 * destination, where it is due at `due`. `age_ns` as in packet.h. */
static inline simtime cloud_leaves_at(struct cloud *cloud, simtime now, simtime due,
                                      uint32_t age_ns)
{
	simtime early;

	if (likely(!cloud->compensates_latency))
		return due;
	early = cloud->exit->classifier ? 0 : cloud->exit->early_ns + age_ns;
	due -= due > now ? simtime_min(early, due - now) : 0;
	/* Ages differ, but departures from a line that keeps order must not decrease. */
	if (!cloud->line.conf.on_wheel)
		cloud->latest_leaving = due = simtime_max(due, cloud->latest_leaving);
	return due;
}

static inline uint64_t cloud_held(const struct cloud *cloud)
{
	return cloud->line.held + link_held_packets(&cloud->link);
}

/* Writes or reads all that a cloud remembers and holds at `now`, up to which it has been advanced
 * (snapshot.h). The engine handles its packets on the shared wheel. */
struct snapshot;
void cloud_snapshot(struct cloud *cloud, simtime now, struct snapshot *snapshot);

#endif
