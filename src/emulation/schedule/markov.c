/* SPDX-License-Identifier: BSD-3-Clause */
#include "schedule/markov.h"

#include <errno.h>
#include <stdlib.h>

#include "change/timeline_make.h"
#include "engine/engine.h"
#include "random/exponential.h"
#include "scenario/scenario.h"
#include "schedule/orders_check.h"
#include "snapshot/snapshot.h"

#define MARKOV_FIELD_STATES 0

/* Stays that are executed one by one, which takes some 5 ms. */
#define MARKOV_STAYS_MAX (UINT32_C(1) << 18)

struct stay {
	simtime mean_ns;
	uint32_t n_to; /* where it leads; `until`: the sum of the probabilities up to each */
	uint32_t to[STATES_MAX];
	probability_q63 until[STATES_MAX];
	uint32_t n;
	struct setting setting[ORDERS_MAX];
	simtime since_ns, left_ns; /* its last stay that is over */
};

struct markov {
	struct track track;
	struct draw_key key;
	uint64_t stays; /* number of those that are over */
	uint32_t state;
	uint32_t n;
	struct stay *stay;
	struct exponential exponential;
};

/* ---- worker ---- */

static void markov_put_on(struct track *track, struct cloud *cloud, simtime now)
{
	struct markov *markov = (struct markov *)track;
	struct stay *stay = &markov->stay[markov->state];

	(void)cloud;
	for (uint32_t i = 0; i < stay->n; i++)
		setting_apply(&stay->setting[i], now);
	track->on = true;
}

static void markov_take_off(struct track *track, struct cloud *cloud, simtime now)
{
	struct markov *markov = (struct markov *)track;
	struct stay *stay = &markov->stay[markov->state];

	(void)cloud;
	for (uint32_t i = stay->n; i-- > 0;)
		setting_apply(&stay->setting[i], now);
	track->on = false;
}

static bool markov_put_below(struct track *track, struct cloud *cloud, struct setting *setting,
                             simtime now)
{
	struct markov *markov = (struct markov *)track;
	struct stay *stay = &markov->stay[markov->state];

	(void)cloud;
	(void)now;
	return setting_put_below(setting, stay->setting, stay->n);
}

static simtime stay_ns(const struct markov *markov)
{
	return exponential_draw(&markov->exponential, draw_u64(markov->key, markov->stays, 0),
	                        markov->stay[markov->state].mean_ns);
}

/* Changes the state at track->next. */
static void go_on(struct markov *markov)
{
	const struct stay *stay = &markov->stay[markov->state];
	uint64_t draw = draw_u64(markov->key, markov->stays++, 1);
	uint32_t i = 0;

	while (i + 1 < stay->n_to && !draw_below(draw, stay->until[i]))
		i++;
	markov->state = stay->to[i];
	markov->track.next += stay_ns(markov);
}

/* Changes the state at most `most` times up to `until`. Returns how often; `last` is the latest
 * change, before and after. */
static uint32_t go_some(struct markov *markov, simtime until, uint32_t most, simtime *last)
{
	uint32_t n = 0;

	for (; n < most && markov->track.next <= until; n++) {
		struct stay *stay = &markov->stay[markov->state];

		stay->since_ns = *last;
		stay->left_ns = markov->track.next;
		*last = markov->track.next;
		go_on(markov);
	}
	return n;
}

/* Brings the path to `until`. Returns since when it has been in its state there. After
 * MARKOV_STAYS_MAX stays the path no longer depends on where it came from, so the rest of the time
 * is skipped. The path goes on for half the time that these stays took, to an instant rather than
 * to a change, because a long stay is more likely at an instant. Its state at that instant becomes
 * that at `until`. The rest of that stay is drawn anew. */
static simtime catch_up(struct markov *markov, simtime since, simtime until)
{
	struct track *track = &markov->track;
	simtime begin = track->next, last = since;

	if (likely(go_some(markov, until, MARKOV_STAYS_MAX, &last) < MARKOV_STAYS_MAX) ||
	    track->next > until)
		return last;
	(void)go_some(markov, simtime_min(until, track->next + (track->next - begin) / 2),
	              MARKOV_STAYS_MAX, &last);
	if (track->next > until)
		return last;
	markov->stays++;
	track->next = simtime_add(until, stay_ns(markov));
	return until;
}

static void markov_enter(struct track *track, struct cloud *cloud, simtime now)
{
	struct markov *markov = (struct markov *)track;

	markov->state = 0;
	markov->stays = 0;
	track->next = cloud->origin_ns + stay_ns(markov);
	(void)catch_up(markov, now, now);
	if (!track->waits)
		markov_put_on(track, cloud, now);
}

/* Returns the state whose last stay is the first that began at `since` or later, or n. */
static uint32_t stay_from(const struct markov *markov, simtime since)
{
	uint32_t found = markov->n;

	for (uint32_t s = 0; s < markov->n; s++) {
		if (markov->stay[s].since_ns >= since &&
		    (found == markov->n || markov->stay[s].since_ns < markov->stay[found].since_ns))
			found = s;
	}
	return found;
}

/* Executes the last stay in each state, of those that began at `since` or later and are over: what
 * they leave is what all of them leave (timeline.h). */
static void last_stays_execute(struct markov *markov, struct cloud *cloud, simtime since)
{
	const uint32_t state = markov->state;

	while ((markov->state = stay_from(markov, since)) < markov->n) {
		const struct stay *stay = &markov->stay[markov->state];

		markov_put_on(&markov->track, cloud, stay->since_ns);
		markov_take_off(&markov->track, cloud, stay->left_ns);
		since = stay->since_ns + 1;
	}
	markov->state = state;
}

static void markov_run(struct track *track, struct cloud *cloud, simtime until)
{
	struct markov *markov = (struct markov *)track;
	simtime now = track->next, last;

	if (track->on)
		markov_take_off(track, cloud, now);
	/* The stay that ends now is executed already. */
	last = catch_up(markov, 0, until);
	if (until > now)
		last_stays_execute(markov, cloud, now);
	markov_put_on(track, cloud, last);
}

static void markov_key(struct track *track, const struct cloud *cloud, uint64_t seed)
{
	struct markov *markov = (struct markov *)track;

	markov->key = draw_key_make(seed, cloud->name, "markov");
	for (uint32_t s = 0; s < markov->n; s++) {
		for (uint32_t i = 0; i < markov->stay[s].n; i++)
			setting_key(&markov->stay[s].setting[i], seed);
	}
}

/* The other engine is on the same path, unless either has skipped stays (catch_up). */
static void markov_snapshot(struct track *track, struct snapshot *snapshot)
{
	struct markov *markov = (struct markov *)track;
	const uint64_t stays = markov->stays;
	const uint32_t state = markov->state;

	snapshot_value(snapshot, markov->stays);
	snapshot_value(snapshot, markov->state);
	if (!snapshot_holds(snapshot, markov->stays == stays && markov->state == state)) {
		markov->stays = stays;
		markov->state = state;
	}
	for (uint32_t s = 0; s < markov->n; s++) {
		for (uint32_t i = 0; i < markov->stay[s].n; i++)
			setting_snapshot(&markov->stay[s].setting[i], snapshot);
	}
}

/* ---- control ---- */

static void markov_free(struct track *track)
{
	struct markov *markov = (struct markov *)track;

	for (uint32_t s = 0; s < markov->n; s++) {
		for (uint32_t i = 0; i < markov->stay[s].n; i++)
			setting_free(&markov->stay[s].setting[i]);
	}
	free(markov->stay);
	free(markov);
}

/* Returns STATES_MAX if there is no state of that name. */
static uint32_t find_state(const struct states *states, const char *name)
{
	for (uint32_t i = 0; i < states->n; i++) {
		if (strcmp(states->state[i].name, name) == 0)
			return i;
	}
	return STATES_MAX;
}

static void find_ways(struct stay *stay, const struct states *states, uint32_t own)
{
	const struct state *state = &states->state[own];
	probability_q63 sum = 0;

	for (uint32_t i = 0; i < state->n_to; i++) {
		sum += state->to[i].share;
		stay->to[i] = find_state(states, state->to[i].name);
		stay->until[i] = sum;
	}
	stay->n_to = state->n_to;
	for (uint32_t i = 0; state->n_to == 0 && i < states->n; i++) {
		if (i == own)
			continue;
		stay->to[stay->n_to++] = i;
		stay->until[stay->n_to - 1] = (probability_q63)((unsigned __int128)PROBABILITY_ONE *
		                                                stay->n_to / (states->n - 1));
	}
}

static int markov_plan(const struct conf *conf, struct timeline_plan *plan)
{
	const struct states *states = &((const struct markov_conf *)conf)->states;
	struct markov *markov = calloc(1, sizeof(*markov));
	int error = 0;

	if (!markov)
		return -ENOMEM;
	markov->track.enter = markov_enter;
	markov->track.run = markov_run;
	markov->track.take_off = markov_take_off;
	markov->track.put_below = markov_put_below;
	markov->track.key = markov_key;
	markov->track.snapshot = markov_snapshot;
	markov->track.free = markov_free;
	markov->key = draw_key_make(plan->setup->seed, plan->cloud->name, "markov");
	exponential_make(&markov->exponential);
	markov->stay = calloc(states->n, sizeof(*markov->stay));
	error = markov->stay ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < states->n && !error; i++) {
		struct stay *stay = &markov->stay[markov->n++];
		const struct orders *orders = &states->state[i].orders;

		stay->mean_ns = states->state[i].mean_ns;
		find_ways(stay, states, i);
		markov->track.places |= timeline_orders_places(plan->setup, orders);
		error = timeline_settings(plan, plan->conf, orders, stay->setting);
		stay->n = error ? 0 : orders->n;
	}
	if (error) {
		markov_free(&markov->track);
		return error;
	}
	return timeline_add(plan, &markov->track);
}

static int check_ways(const struct states *states, uint32_t own, struct problem *problem)
{
	const struct state *state = &states->state[own];
	probability_q63 sum = 0;

	for (uint32_t i = 0; i < state->n_to; i++) {
		const char *name = state->to[i].name;

		if (find_state(states, name) == STATES_MAX || strcmp(name, state->name) == 0)
			return problem_set(problem, MARKOV_FIELD_STATES,
			                   "state `%s` leads to `%s`, which is not another state",
			                   state->name, name);
		sum = RTE_MIN(sum, PROBABILITY_ONE) + state->to[i].share;
	}
	/* Fractions like 1/3 are rounded. */
	if (state->n_to == 0 || (sum + 64 > PROBABILITY_ONE && sum < PROBABILITY_ONE + 64))
		return 0;
	return problem_set(problem, MARKOV_FIELD_STATES,
	                   "the probabilities after `to` of state `%s` are %s 100%% together",
	                   state->name, sum < PROBABILITY_ONE ? "less than" : "more than");
}

static int markov_check(const struct conf *conf, const struct cloud_conf *cloud,
                        struct problem *problem)
{
	const struct states *states = &((const struct markov_conf *)conf)->states;
	int error = 0;

	if (states->n < 2)
		return problem_set(problem, MARKOV_FIELD_STATES,
		                   "it needs at least two states: add `then` and another one");
	for (uint32_t i = 0; i < states->n && !error; i++) {
		const struct state *state = &states->state[i];

		if (find_state(states, state->name) != i)
			return problem_set(problem, MARKOV_FIELD_STATES,
			                   "there are two states `%s`; give each its own name",
			                   state->name);
		error = check_ways(states, i, problem);
		if (!error)
			error = orders_check(&state->orders, cloud, MARKOV_FIELD_STATES, problem);
	}
	return error ? error : timeline_check(conf, cloud, problem);
}

static uint32_t markov_covers(const struct conf *conf, struct order *covers)
{
	const struct states *states = &((const struct markov_conf *)conf)->states;
	uint32_t n = 0;

	for (uint32_t s = 0; s < states->n; s++) {
		const struct orders *orders = &states->state[s].orders;

		for (uint32_t i = 0; i < orders->n; i++) {
			uint32_t known = 0;

			while (known < n && strcmp(covers[known].name, orders->order[i].name) != 0)
				known++;
			if (known == n && n < TIMELINE_ORDERS_MAX)
				covers[n++] = orders->order[i];
		}
	}
	return n;
}

static const struct field markov_fields[] = {
        [MARKOV_FIELD_STATES] = {FIELD(
                "states", FIELD_STATES, struct markov_conf, states,
                .flags = FIELD_POSITIONAL | FIELD_REQUIRED | FIELD_REST,
                .help = "each with its mean duration, the states that it leads "
                        "to, and the statements in force in it")},
        FIELD_END,
};

const struct statement markov_statement = {
        .name = "markov",
        .help = "goes from state to state by chance",
        .example = "good 3600s then bad 3600s",
        .role = ROLE_SCHEDULE,
        .fields = markov_fields,
        .conf_bytes = sizeof(struct markov_conf),
        .check = markov_check,
        .plan = markov_plan,
        .covers = markov_covers,
};
