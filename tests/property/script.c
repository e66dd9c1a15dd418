/* SPDX-License-Identifier: BSD-3-Clause */
#include "script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dice.h"

#define HOSTS 6

const char *const script_cloud_names[SCRIPT_CLOUDS] = {"w", "x", "y", "z"};

/* Returns up to 2^bits; every order of magnitude is equally likely. */
static uint64_t roll_magnitude(struct dice *dice, uint32_t bits)
{
	uint64_t most = UINT64_C(1) << roll(dice, bits + 1);

	return roll(dice, most) + (roll(dice, 4) == 0 ? most : 0);
}

static uint64_t on_grid(struct dice *dice, uint64_t value)
{
	static const uint64_t grids[] = {1, 1, 1, 100, 256, 1000, 65536, 1000000};
	uint64_t grid = grids[roll(dice, LENGTH(grids))];

	return value / grid * grid;
}

/* ---- making ---- */

static void step_delay(struct script_step *step, struct dice *dice, uint32_t what)
{
	step->kind = STEP_DELAY;
	step->delay_ns = on_grid(dice, roll_magnitude(dice, roll(dice, 8) ? 24 : 34));
	step->jitter_ns = 0;
	if (what & SCRIPT_JITTER && roll(dice, 2))
		step->jitter_ns = roll_magnitude(dice, 22);
	step->distribution = (enum delay_distribution)roll(dice, 2);
	step->order = what & SCRIPT_KEEP ? ORDER_KEEP : (enum delay_order)roll(dice, 2);
	step->delay_limit = what & SCRIPT_LIMITS && roll(dice, 4) ? 1 + roll(dice, 20) : 0;
	step->keyed = KEYED_CLOUD;
	if (what & SCRIPT_KEYED && step->jitter_ns && step->order == ORDER_ALLOW)
		step->keyed = (enum keyed)roll(dice, KEYED_CONNECTION + 1);
}

static void step_rate(struct script_step *step, struct dice *dice)
{
	static const uint64_t even[] = {8000000, 80000000, 1000000000, UINT64_C(8000000000)};

	step->kind = STEP_RATE;
	step->rate_bps =
	        roll(dice, 2) ? even[roll(dice, LENGTH(even))] : 1000000 + roll_magnitude(dice, 36);
	step->burst_bytes = roll(dice, 3) ? 0 : 1 + roll_magnitude(dice, 16);
	step->unit = (enum limit_unit)roll(dice, 4);
	switch (step->unit) {
	case LIMIT_BYTES:
		step->limit = 1 + roll_magnitude(dice, 17);
		break;
	case LIMIT_PACKETS:
		step->limit = 1 + roll(dice, 40);
		break;
	case LIMIT_TIME:
		step->limit = 1 + roll_magnitude(dice, 26);
		break;
	case LIMIT_NONE:
		step->limit = 0;
		break;
	}
}

static void step_loss(struct script_step *step, struct dice *dice, uint32_t what)
{
	step->kind = STEP_LOSS;
	step->periodic = roll(dice, 2);
	step->loss =
	        step->periodic ? 1 + roll(dice, 20) : PROBABILITY_ONE / 100 * (1 + roll(dice, 60));
	step->keyed =
	        what & SCRIPT_KEYED ? (enum keyed)roll(dice, KEYED_CONNECTION + 1) : KEYED_CLOUD;
}

static void step_schedule(struct script_step *step, struct dice *dice, uint32_t what)
{
	enum step_kind kind = STEP_AT_RATE + (enum step_kind)roll(dice, 5);

	if (kind == STEP_AT_DELAY || kind == STEP_EVERY_DELAY)
		step_delay(step, dice, what);
	else
		step_rate(step, dice);
	step->kind = kind;
	step->when_ns = on_grid(dice, roll_magnitude(dice, 24));
	step->every_ns = 10000 + on_grid(dice, roll_magnitude(dice, 22));
	step->for_ns = 1 + roll(dice, step->every_ns - 1);
	step->loss = roll(dice, 3); /* the shape of a wave */
	if (kind == STEP_WAVE_RATE)
		step->every_ns += SIMTIME_MS;
	if (kind == STEP_WAVE_RATE)
		step->limit = 1000000 + roll_magnitude(dice, 36);
}

static void step_setting(struct script_step *step, struct dice *dice, uint32_t what)
{
	static const char *const names[] = {"delay", "rate", "loss"};
	static const char *const schedules[] = {"at", "every", "flap", "wave"};

	if (what & SCRIPT_TIMES && roll(dice, 3) == 0) {
		step_schedule(step, dice, what);
		if (roll(dice, 4) == 0) {
			step->kind = STEP_UNSET;
			step->statement = schedules[roll(dice, 4)];
		}
		return;
	}

	switch (roll(dice, 8)) {
	case 0:
		step->kind = STEP_UNSET;
		step->statement = names[roll(dice, what & SCRIPT_LOSS ? 3 : 2)];
		break;
	case 1:
		if (what & SCRIPT_LOSS) {
			step_loss(step, dice, what);
			break;
		}
		/* fall through */
	case 2:
	case 3:
	case 4:
		step_rate(step, dice);
		break;
	default:
		step_delay(step, dice, what);
		break;
	}
}

/* The state of a cloud while a script is made. */
struct standing {
	bool there;
	bool all;       /* it takes all packets that the others leave */
	uint32_t place; /* where it comes from: a port, or RIG_PORTS + a cloud */
};

static uint32_t place_behind(uint32_t cloud)
{
	return RIG_PORTS + cloud;
}

static bool is_parent(const struct standing *clouds, uint32_t cloud)
{
	for (uint32_t i = 0; i < SCRIPT_CLOUDS; i++) {
		if (clouds[i].there && clouds[i].place == place_behind(cloud))
			return true;
	}
	return false;
}

static bool is_taken(const struct standing *clouds, uint32_t place)
{
	for (uint32_t i = 0; i < SCRIPT_CLOUDS; i++) {
		if (clouds[i].there && clouds[i].all && clouds[i].place == place)
			return true;
	}
	return false;
}

/* Returns true if the cloud takes all packets that others leave, which only one cloud of each place
 * may. A template with a prefix does not: it selects by that. */
static bool takes_all(const struct script_step *step)
{
	return step->of == 0 && (step->most == 0 || step->per == PER_FLOW);
}

/* Makes a step that adds a cloud. */
static void step_add(struct script_step *step, struct dice *dice, uint32_t what,
                     struct standing *clouds)
{
	struct standing *cloud = &clouds[step->cloud];
	uint32_t after = what & SCRIPT_CHAINS ? (uint32_t)roll(dice, 1 + SCRIPT_CLOUDS) : 0;

	step->kind = STEP_ADD;
	step->to = 4 + (what & SCRIPT_SHARED ? (uint32_t)roll(dice, 2) : step->cloud);
	step->from = what & SCRIPT_CLASSIFIERS ? (uint32_t)roll(dice, 2) : step->cloud;
	step->of = what & SCRIPT_CLASSIFIERS ? (uint32_t)roll(dice, 4) : 0;
	step->rest = step->of ? (uint32_t)roll(dice, step->of) : 0;
	step->priority = step->of ? roll(dice, 3) : 0;
	if (what & SCRIPT_TEMPLATES && roll(dice, 4)) {
		step->most = 1 + (uint32_t)roll(dice, 2 * HOSTS);
		step->per = (enum script_per)roll(dice, 3);
	}
	if (after && clouds[after - 1].there &&
	    (!takes_all(step) || !is_taken(clouds, place_behind(after - 1))))
		step->after = after;
	cloud->place = step->after ? place_behind(after - 1) : step->from;
	/* Each place has one cloud at most that takes all. */
	if (takes_all(step) && is_taken(clouds, cloud->place))
		step->of = 2;
	cloud->there = true;
	cloud->all = takes_all(step);
}

/* Adds the clouds, each with some of the statements, at the origin. */
static void make_scenario(struct script *script, struct dice *dice, uint32_t what,
                          struct standing *clouds)
{
	uint32_t n = 1 + (uint32_t)roll(dice, SCRIPT_CLOUDS);
	struct script_step *step = script->steps;

	for (uint32_t cloud = 0; cloud < n; cloud++) {
		*step = (struct script_step){.cloud = cloud};
		step_add(step++, dice, what, clouds);
		for (uint32_t i = 0; i < (what & SCRIPT_TIMES ? 5 : 3); i++) {
			*step = (struct script_step){.cloud = cloud};
			if (i == 0)
				step_delay(step, dice, what);
			else if (i == 1)
				step_rate(step, dice);
			else if (i >= 3)
				step_schedule(step, dice, what);
			else if (what & SCRIPT_LOSS)
				step_loss(step, dice, what);
			else
				continue;
			step += roll(dice, 3) > 0;
		}
	}
	script->n_steps = (uint32_t)(step - script->steps);
	for (uint32_t i = 0; i < script->n_steps; i++)
		script->steps[i].t = script->origin;
}

static void make_packets(struct script *script, struct dice *dice)
{
	static const uint32_t lengths[] = {60,  60,  60,  64,   100,  125,
	                                   511, 512, 513, 1000, 1250, 1514};
	uint64_t gap_bits = 4 + roll(dice, 18), grid = roll(dice, 3);
	simtime t = script->origin;

	script->n_packets = 1 + (uint32_t)roll(dice, roll(dice, 20) ? 200 : SCRIPT_PACKETS_MAX);
	for (uint32_t i = 0; i < script->n_packets; i++) {
		struct script_packet *packet = &script->packets[i];

		if (roll(dice, 3))
			t += roll_magnitude(dice, (uint32_t)gap_bits);
		if (grid)
			t = RTE_MAX(script->origin,
			            t / (grid == 1 ? 256 : 1000) * (grid == 1 ? 256 : 1000));
		if (i > 0)
			t = RTE_MAX(t, script->packets[i - 1].t);
		packet->t = t;
		packet->port = (uint32_t)roll(dice, SCRIPT_CLOUDS);
		packet->frame_bytes = lengths[roll(dice, LENGTH(lengths))];
		if (roll(dice, 50) == 0)
			packet->frame_bytes = 8 + (uint32_t)roll(dice, 5000);
	}
}

static void make_changes(struct script *script, struct dice *dice, uint32_t what,
                         struct standing *clouds)
{
	uint32_t n = (uint32_t)roll(dice, SCRIPT_STEPS_MAX);
	uint32_t at = 0;

	for (uint32_t i = 0; i < n && at < script->n_packets; i++) {
		struct script_step *step = &script->steps[script->n_steps++];
		simtime from;

		*step = (struct script_step){.cloud = (uint32_t)roll(dice, SCRIPT_CLOUDS)};
		at += (uint32_t)roll(dice, 1 + 2 * script->n_packets / SCRIPT_STEPS_MAX);
		if (at >= script->n_packets)
			at = script->n_packets - 1;
		from = at ? script->packets[at - 1].t : script->origin;
		if (from < script->steps[script->n_steps - 2].t)
			from = script->steps[script->n_steps - 2].t;
		step->before = at;
		step->t = from + roll(dice, script->packets[at].t - from + 1);
		if (!clouds[step->cloud].there) {
			step_add(step, dice, what, clouds);
		} else if (roll(dice, 6) == 0 && !is_parent(clouds, step->cloud)) {
			step->kind = STEP_REMOVE;
			clouds[step->cloud].there = false;
		} else {
			step_setting(step, dice, what);
		}
	}
}

void script_make(struct script *script, uint64_t seed, uint32_t what)
{
	static const simtime origins[] = {0, 0, UINT64_C(1700000000123456789),
	                                  (UINT64_C(1) << 52) - 3 * SIMTIME_MS,
	                                  (UINT64_C(1) << 40) - 100 * SIMTIME_US};
	struct dice dice = {.key = draw_key_make(seed, "script", "chance")};
	struct standing clouds[SCRIPT_CLOUDS] = {{0}};

	memset(script, 0, sizeof(*script));
	script->seed = seed;
	script->hosts = what & (SCRIPT_TEMPLATES | SCRIPT_KEYED) ? HOSTS : 0;
	script->origin = origins[roll(&dice, LENGTH(origins))];
	make_scenario(script, &dice, what, clouds);
	make_packets(script, &dice);
	if (what & SCRIPT_CHANGES)
		make_changes(script, &dice, what, clouds);
	for (uint32_t i = 0; what & SCRIPT_LINKS && i < script->n_steps; i++) {
		if ((script->steps[i].kind == STEP_RATE || script->steps[i].kind == STEP_AT_RATE) &&
		    roll(&dice, 8))
			script->steps[i].link = 1 | roll(&dice, UINT32_MAX);
	}
}

static void step_print(const struct script_step *step, simtime origin)
{
	static const char *const pers[] = {"source", "destination", "flow"};

	fprintf(stderr, "  +%lu before packet %u: %s ", step->t - origin, step->before + 1,
	        script_cloud_names[step->cloud]);
	switch (step->kind) {
	case STEP_ADD:
		if (step->after)
			fprintf(stderr, "from %s to %u", script_cloud_names[step->after - 1],
			        step->to);
		else
			fprintf(stderr, "from %u to %u", step->from, step->to);
		if (step->of)
			fprintf(stderr, " priority %lu match %u of %u", step->priority, step->rest,
			        step->of);
		if (step->most)
			fprintf(stderr, " per %s most %u", pers[step->per], step->most);
		fputc('\n', stderr);
		break;
	case STEP_REMOVE:
		fprintf(stderr, "removed\n");
		break;
	case STEP_DELAY:
		fprintf(stderr, "delay %lu jitter %lu %s order %s limit %lu keyed %s\n",
		        step->delay_ns, step->jitter_ns, step->distribution ? "normal" : "uniform",
		        step->order ? "allow" : "keep", step->delay_limit,
		        keyed_words[step->keyed]);
		break;
	case STEP_RATE:
		fprintf(stderr, "rate %lu burst %lu queue %lu of unit %d\n", step->rate_bps,
		        step->burst_bytes, step->limit, (int)step->unit);
		break;
	case STEP_LOSS:
		fprintf(stderr, "loss %s %lu keyed %s\n", step->periodic ? "every" : "random",
		        step->loss, keyed_words[step->keyed]);
		break;
	case STEP_AT_RATE:
	case STEP_AT_DELAY:
		fprintf(stderr, "at %lu %s\n", step->when_ns,
		        step->kind == STEP_AT_RATE ? "rate" : "delay");
		break;
	case STEP_EVERY_DELAY:
	case STEP_FLAP:
		fprintf(stderr, "every %lu for %lu from %lu %s\n", step->every_ns, step->for_ns,
		        step->when_ns, step->kind == STEP_FLAP ? "down" : "delay");
		break;
	case STEP_WAVE_RATE:
		fprintf(stderr, "wave rate %lu..%lu period %lu\n", step->rate_bps, step->limit,
		        step->every_ns);
		break;
	case STEP_UNSET:
		fprintf(stderr, "no %s\n", step->statement);
		break;
	}
}

void script_print(const struct script *script)
{
	fprintf(stderr, "script %lu, origin %lu\n", script->seed, script->origin);
	for (uint32_t i = 0; i < script->n_steps; i++)
		step_print(&script->steps[i], script->origin);
	for (uint32_t i = 0; i < script->n_packets; i++)
		fprintf(stderr, "  packet %u: +%lu port %u, %u bytes\n", i + 1,
		        script->packets[i].t - script->origin, script->packets[i].port,
		        script->packets[i].frame_bytes);
}
