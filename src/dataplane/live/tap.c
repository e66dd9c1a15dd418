/* SPDX-License-Identifier: BSD-3-Clause */
#include "live/tap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/filter.h"

/* ---- the worker's side ---- */

/* A cloud of a template is called TEMPLATE/ADDRESS. No name contains a `/`. */
static bool is_named(const char *cloud, const char *target)
{
	size_t n = strlen(target);

	return strncmp(cloud, target, n) == 0 && (cloud[n] == '\0' || cloud[n] == '/');
}

static bool is_of_port(const struct fate *fate)
{
	return fate->kind == FATE_SENT ||
	       (fate->kind == FATE_DROPPED && fate->reason == REASON_TX_FULL);
}

static bool asks_of(const struct tap_plan *plan, const struct fate *fate)
{
	if (!(plan->kinds & (1u << fate->kind)))
		return false;
	if (plan->port)
		return fate->port == plan->port_index || fate->to_port == plan->port_index;
	return !plan->target[0] || (!is_of_port(fate) && is_named(fate->cloud, plan->target));
}

static bool filter_fits(const struct tap *tap, const struct fate *fate)
{
	struct rte_mbuf mbuf;
	struct burst burst;

	memset(&mbuf, 0, sizeof(mbuf));
	mbuf.buf_addr = (void *)(uintptr_t)fate->frame.data;
	mbuf.data_len = (uint16_t)RTE_MIN(fate->frame.bytes, (uint32_t)UINT16_MAX);
	mbuf.pkt_len = mbuf.data_len;
	mbuf.nb_segs = 1;
	burst.n = 1;
	burst.whole = false;
	burst.mbuf[0] = &mbuf;
	burst.wire_bytes[0] = fate->wire_bytes;
	return filters.fits(tap->filter, &burst, 0);
}

static bool fits(const struct tap *tap, const struct fate *fate)
{
	struct packet_key key;

	/* The line has taken the bytes of a delivery already (cloud_tell.c). */
	if (!tap->plan.match || fate->kind == FATE_DELIVERED)
		return true;
	if (fate->frame.bytes == 0)
		return false;
	if (!tap->exact)
		return filter_fits(tap, fate);
	packet_key_of(fate->frame.data, fate->frame.bytes, fate->wire_bytes, &key);
	for (uint32_t i = 0; i < tap->rows.n; i++) {
		if (match_row_fits(&tap->rows.rows[i], &key))
			return true;
	}
	return false;
}

/* A packet that a port loses has already had its fate in its cloud: only a witness that follows
 * packets to the device gets that. */
static bool is_for(const struct witness *beside, const struct fate *fate)
{
	if (is_of_port(fate))
		return beside->way & (1u << FATE_SENT);
	return fate->kind <= FATE_DROPPED || beside->way & (1u << fate->kind);
}

static void tell(struct witness *witness, const struct fate *fate)
{
	struct worker_tap *worker_tap = (struct worker_tap *)witness;
	const struct tap_set *set = worker_tap->set;

	if (worker_tap->beside && is_for(worker_tap->beside, fate))
		worker_tap->beside->tell(worker_tap->beside, fate);
	for (uint32_t i = 0; i < set->n; i++) {
		struct tap *tap = set->taps[i];

		if (asks_of(&tap->plan, fate) && fits(tap, fate))
			fate_ring_put(&tap->rings[worker_tap->worker], fate,
			              tap->plan.bare & 1u << fate->kind ? 0 : tap->plan.snap,
			              *worker_tap->poll_ns);
	}
}

static bool asks_of_cloud(const struct tap_plan *plan, const struct engine_followed *cloud)
{
	if (plan->port)
		return cloud->from_port == plan->port_index || cloud->to_port == plan->port_index;
	return !plan->target[0] || strcmp(cloud->name, plan->target) == 0;
}

static struct witness *choose(void *argument, const struct engine_followed *cloud)
{
	struct worker_tap *worker_tap = argument;
	const struct tap_set *set = worker_tap->set;

	for (uint32_t i = 0; i < set->n; i++) {
		if (asks_of_cloud(&set->taps[i]->plan, cloud))
			return &worker_tap->witness;
	}
	return worker_tap->beside;
}

void worker_tap_init(struct worker_tap *worker_tap, uint32_t worker, const simtime *poll_ns,
                     struct witness *beside)
{
	static const struct tap_set none;

	*worker_tap =
	        (struct worker_tap){.witness = {.tell = tell, .way = beside ? beside->way : 0},
	                            .worker = worker,
	                            .set = &none,
	                            .poll_ns = poll_ns,
	                            .beside = beside};
}

/* Clouds that were looked at before, and are not now, pass fates to the witness until engine_follow
 * has reached them. No tap of the new set takes these fates. */
void worker_tap_take(struct worker_tap *worker_tap, struct engine *engine,
                     const struct tap_set *set)
{
	const struct engine_follower follower = {.choose = set->n > 0 ? choose : NULL,
	                                         .argument = worker_tap};

	worker_tap->set = set;
	worker_tap->witness.way = set->kinds & ~((1u << FATE_DELIVERED) | (1u << FATE_DROPPED));
	if (set->kinds & (1u << FATE_SENT))
		worker_tap->witness.way |= 1u << FATE_LEFT;
	if (worker_tap->beside)
		worker_tap->witness.way |= worker_tap->beside->way;
	if (engine)
		engine_follow(engine, &follower);
}

/* ---- control's side ---- */

static int make_match(struct tap *tap, struct problem *problem)
{
	const char *words = tap->plan.match;
	int rc;

	if (!words)
		return 0;
	tap->exact = match_parse(words, &tap->rows);
	if (tap->exact)
		return 0;
	if (match_own_word(words) >= 0)
		return problem_set(
		        problem, -1,
		        "`match %s`: weir's own words can be joined by `and` only, and only to "
		        "exact conditions (weir help match)",
		        words);
	rc = filter_check(words, problem);
	return rc < 0 ? rc : filters.make(words, &tap->filter, problem);
}

int tap_make(const struct tap_plan *plan, uint32_t workers, int fd, struct tap **result,
             struct problem *problem)
{
	struct tap *tap = calloc(1, sizeof(*tap));
	int rc = -ENOMEM;

	problem_set(problem, -1, "no memory");
	if (!tap)
		return rc;
	tap->plan = *plan;
	tap->plan.match = plan->match ? strdup(plan->match) : NULL;
	tap->rings = calloc(workers, sizeof(*tap->rings));
	tap->n_rings = workers;
	if (!tap->rings || (plan->match && !tap->plan.match))
		goto err_free;
	rc = make_match(tap, problem);
	if (rc == 0)
		rc = fate_memory_take(fd, workers, tap->rings, &tap->memory, &tap->bytes, problem);
	if (rc < 0)
		goto err_free;
	*result = tap;
	return 0;

err_free:
	tap_free(tap);
	return rc;
}

void tap_free(struct tap *tap)
{
	if (!tap)
		return;
	if (tap->memory)
		fate_memory_leave(tap->memory, tap->bytes);
	if (tap->filter)
		filters.free(tap->filter);
	free(tap->plan.match);
	free(tap->rings);
	free(tap);
}
