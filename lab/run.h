/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One run: the links and groups of a plan in a world, for a duration, with a seed; and the measures
 * taken after the warm-up.
 *
 * Measures. Of each cloud, NAME being its name:
 *   NAME.arrived, .dropped, .marked, .quenches    packets
 *   NAME.loss, .marking   of what arrived, %
 *   NAME.utilisation      bytes sent, of what its rate could have sent, %
 *   NAME.queue, .queue.sigma, .queue.cv   bytes that wait: mean and standard deviation of samples,
 *                         and the latter divided by the former
 *   NAME.CLASS.queue, .queue.sigma, .queue.cv   the same of a class
 *   NAME.average, .average.max   bytes: of the AQM's average
 *   NAME.isq              quenches that it sent, of all packets that left in the opposite
 *                         direction, %
 * Of each group:
 *   NAME.goodput          data packets in order, whole length, Mbit/s: of all its flows
 *   NAME.sent, .resent, .timeouts, .quenches   packets, and events
 *   NAME.loss             of what its senders sent, %: what never arrived. What is in flight at
 *                         the end arrives, in as much time as the run took, while hosts are silent
 *   NAME.marking          of what arrived, %
 *   NAME.window           packets: mean of its flows' congestion windows at the end
 *   NAME.flows            number of flows
 *   NAME.fairness         Jain's index of its flows' goodputs
 *   all.fairness          of all flows
 * Of voice calls:
 *   NAME.sent, .arrived, .refused   datagrams, and calls
 *   NAME.loss             of what was sent, %
 *   NAME.goodput          whole datagrams that arrived, Mbit/s
 * Of web traffic: for answers, NAME.goodput, .sent, .resent, .loss, .marking as above, and
 *   NAME.objects          requested and complete
 *   NAME.unfinished       requested and not complete
 *   NAME.delay            s, the mean from request to the last acknowledgement
 *   NAME.delay.fairness   Jain's index of the delays
 *   all.broken            segments that arrived with a wrong checksum
 *   all.strangers         frames without a listener, or without a way
 *   all.frames            sent by hosts
 *
 * Units: as given.
 * Determinism: the result depends on plan and seed.
 * Thread: one.
 */
#ifndef WEIR_LAB_RUN_H
#define WEIR_LAB_RUN_H

#include "lab/group.h"
#include "lab/results.h"
#include "lab/voice.h"
#include "lab/web.h"
#include "lab/world.h"

#define PLAN_GROUPS_MAX 16

struct plan_group {
	const char *name;
	const struct group_conf *conf;
};

struct plan_voice {
	const char *name;
	const struct voice_conf *conf;
};

struct plan_web {
	const char *name;
	const struct web_conf *conf;
};

/* Receives the clouds' queues at every sample; members may be NULL. */
struct run_watch {
	void (*sample)(void *argument, const char *cloud, simtime now, double queue_bytes,
	               double average_bytes);
	/* the window of a flow, at every sample */
	void (*window)(void *argument, const char *group, uint32_t flow, simtime now, double cwnd);
	/* bytes that the applications of a group have received so far, at every sample */
	void (*goodput)(void *argument, const char *group, simtime now, double bytes);
	void *argument;
};

struct plan {
	const char *name;
	const struct network *network; /* routed, without hosts */
	struct scenario *scenario;     /* lab_run takes ownership */
	struct plan_group groups[PLAN_GROUPS_MAX];
	uint32_t n_groups;
	struct plan_voice voices[PLAN_GROUPS_MAX];
	uint32_t n_voices;
	struct plan_web webs[PLAN_GROUPS_MAX];
	uint32_t n_webs;
	simtime duration_ns, warmup_ns, sample_ns;
	bool arrivals_first; /* world.h */
	uint64_t seed;
	const struct run_watch *watch; /* or NULL */
	void (*tap)(void *argument, uint32_t port, const struct rte_mbuf *mbuf, simtime now);
	void *tap_argument;
};

/* Returns 0, or -errno with problem: no way between switches, or no memory or ports. */
int lab_run(const struct plan *plan, const struct platform *platform, struct results *results,
            struct problem *problem);

#endif
