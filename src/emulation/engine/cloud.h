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
#include "account/scarcity.h"
#include "line/line.h"
#include "link/link.h"
#include "scenario/scenario.h"
#include "stage/stage.h"
#include "stage/cloud_watch.h"
#include "account/witness.h"

struct timeline;
struct classifier;

/* Where the packets go that a cloud lets out: to the clouds that come from it, and what none of
 * them takes leaves at the port. */
struct cloud_exit {
	uint32_t port;
	struct classifier *classifier; /* the cloud table's; NULL: all leave at the port */
	struct cloud *back; /* into which goes what is generated (cloud_generate); NULL: it leaves
	                     * at from_port */
	simtime early_ns;   /* what leaves at the port is handed over so much before it is due there
	                     * (port_setting.h); 0 where it may enter another cloud */
};

struct template;

struct cloud {
	/* what a packet touches comes first: a line of cache for its way, and one for what counts
	 * it */
	bool closing; /* removed from the scenario: nothing comes in, what is held goes out */
	/* a statement of it may generate packets, now or in an earlier scenario: it is shared */
	bool generates;
	bool timer_missing; /* there was no memory for a timer of its link: in the engine's list */
	/* shared, but what comes at one instant may go through its stages in a burst */
	bool burst_safe;
	uint16_t n_stages;
	/* live, and a port has a latency or time stamps (port_setting.h) */
	bool compensates_latency;
	uint32_t index;
	uint32_t changed;        /* of a template: number of the last change that it has made */
	uint32_t from_port;      /* at which its packets came in, perhaps clouds before */
	struct cloud_exit *exit; /* its own, or its template's */
	/* The engine's wheel, if the cloud is shared: what happens to it has its place among the
	 * events of other clouds. NULL: it is direct. */
	struct wheel *events;
	simtime change; /* the timeline's next point; SIMTIME_NEVER: none */
	simtime wake; /* shared clouds: when the timer on the shared wheel goes off for the link */
	uint64_t latest_number; /* of the packets that came: near those that are held */
	struct holder *holder __rte_cache_aligned;
	struct witness *witness;
	struct cloud_watch *watch;  /* those that are told, the first of them; or NULL */
	struct histogram *delay_ns; /* a template's clouds have one together */
	struct counters counters;
	struct line line __rte_cache_aligned;
	struct link link __rte_cache_aligned;
	struct stage *stages[CLOUD_STAGES_MAX] __rte_cache_aligned;
	struct stage *answerer; /* if burst_safe: the only one that may generate; NULL: none does */
	simtime origin_ns; /* the run's beginning: when the first scenario came into force. Live it
	                    * is 0, in a replay the first packet of the captures */
	struct timeline *timeline; /* or NULL */
	/* if it compensates latency and keeps order: what has entered the line leaves by then */
	simtime latest_leaving;
	/* of stages, begun and ended: odd while one is under way (cloud_stages) */
	uint32_t exchanges;
	uint64_t drawn_most;    /* by a stage or an AQM that is not there any more */
	uint64_t wanted[WANTS]; /* with a scarcity: packets that asked for memory */
	struct cloud *next_timer_missing, *next_draining;
	struct cloud_exit own_exit;
	struct template *of; /* the template that it is one of; or NULL */
	const char *meets;   /* for a witness: the statement whose stage is under way; or NULL */
	const char *name;    /* `down`; of a template `down/10.0.3.4` */
};

/* A cloud in memory of the caller's; name and histogram stay the caller's too. */
void cloud_init(struct cloud *cloud, const char *name, uint32_t index, struct holder *holder,
                struct witness *witness, struct histogram *delay_ns);
/* Frees its stages, and what its line has. */
void cloud_release(struct cloud *cloud);
/* Its stages at one moment, for whoever is not the worker that exchanges them by a schedule: n
 * pointers, which are valid until control frees what a change has replaced. Not `whole`: the worker
 * is held up in the middle of an exchange; then a stage may be there twice or not at all.
 * Control. */
uint16_t cloud_stages(const struct cloud *cloud, const struct stage *stages[CLOUD_STAGES_MAX],
                      bool *whole);
/* NULL: no memory. */
struct cloud *cloud_make(const char *name, uint32_t index, struct holder *holder,
                         struct witness *witness);
/* Drops what it holds, and gives the memory back to the arena, which is the worker's: the worker's
 * last act. */
void cloud_clear(struct cloud *cloud);
/* The same, and frees it and its stages. Control, when no worker runs it, and while the worker runs
 * others only after cloud_clear. */
void cloud_free(struct cloud *cloud);

/* Packets arrive, n > 0 and at most BURST_MAX; takes them all. The burst is the cloud's from then
 * on: it is written over. */
void cloud_arrive(struct cloud *cloud, struct burst *burst);
/* What leaves the link up to and at `now` enters the line; what reordering holds back longest goes
 * when its time is up; what the timeline says happens in between, as long as something is held. */
void cloud_advance_link(struct cloud *cloud, simtime now);
struct outlet;
/* The same of a shared cloud at `now`, and then up to and at `limit`, as long as the shared wheel
 * is known to have nothing before. What leaves the link, and the line at that very instant, when
 * the wheel has nothing, goes straight into the outlet, that of the port where all leave, as far as
 * it has room. NULL: it does not. */
void cloud_run_link(struct cloud *cloud, simtime now, simtime limit, struct outlet *outlet);

/* As cloud_drop, at `now`, with a packet in a record, which the caller takes off its log. */
void cloud_drop_held(struct cloud *cloud, const struct held *held, enum reason reason, simtime now);

/*
 * A packet of weir's own that takes the way of the cloud's packets, as if it had come in at the
 * port: it meets the stages, the link and the line. It has no number, and the flags
 * PACKET_GENERATED and PACKET_FOREIGN, which stay on it from cloud to cloud. Counts as generated,
 * and not as received. Takes the mbuf, which the caller has filled in, of the holder's pool. For
 * engine_insert.
 */
void cloud_insert(struct cloud *cloud, struct rte_mbuf *mbuf, simtime t_ns);

/* The number of a packet that is held, or was a moment ago: its low half is in the record, and no
 * two packets of a cloud are 2^31 apart. */
static inline uint64_t cloud_number(const struct cloud *cloud, uint32_t flags, uint32_t low)
{
	if (unlikely(flags & PACKET_FOREIGN))
		return 0;
	return cloud->latest_number +
	       (uint64_t)(int64_t)(int32_t)(low - (uint32_t)cloud->latest_number);
}

/* Something is held whose way may still change. */
static inline bool cloud_is_busy(const struct cloud *cloud)
{
	return cloud->link.busy || cloud->line.back.packets.records != 0;
}

/* When cloud_advance_link has something to do. */
static inline simtime cloud_next(const struct cloud *cloud)
{
	simtime next = simtime_min(cloud->link.departure, cloud->line.back_deadline);

	if (unlikely(cloud->change < next) && cloud_is_busy(cloud))
		return cloud->change;
	return next;
}

/* When a packet that enters the line at `now` is to leave it, to be on time where it is due at
 * `due`; `age_ns` as in packet.h. */
static inline simtime cloud_leaves_at(struct cloud *cloud, simtime now, simtime due,
                                      uint32_t age_ns)
{
	simtime early;

	if (likely(!cloud->compensates_latency))
		return due;
	early = cloud->exit->classifier ? 0 : cloud->exit->early_ns + age_ns;
	due -= due > now ? simtime_min(early, due - now) : 0;
	/* Ages differ, and due times may not. */
	if (!cloud->line.conf.on_wheel && !cloud->line.reorders)
		cloud->latest_leaving = due = simtime_max(due, cloud->latest_leaving);
	return due;
}

static inline uint64_t cloud_held(const struct cloud *cloud)
{
	return cloud->line.held + link_held_packets(&cloud->link);
}

#endif
