/* SPDX-License-Identifier: BSD-3-Clause */
#include "play.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aqm/mark.h"
#include "dice.h"
#include "engine/engine_report.h"
#include "engine/engine_snapshot.h"
#include "engine/engine_state.h"
#include "link/aqm.h"
#include "link/class.h"
#include "link/slots.h"
#include "match/selection.h"
#include "schedule/at.h"
#include "schedule/every.h"
#include "schedule/wave.h"

void (*play_scenario)(const struct scenario *scenario);

static void *conf_of(struct cloud_conf *cloud, const struct statement *statement, const char *scope)
{
	struct conf *conf = conf_make(statement);

	assert_non_null(conf);
	strcpy(conf->scope, scope);
	assert_int_equal(cloud_conf_put(cloud, conf), 0);
	return conf;
}

/* Returns the i-th management in the table of statements; NULL if there are no more. In a class are
 * only those without bands. */
static const struct statement *management(uint64_t i, bool in_class)
{
	for (const struct statement *const *row = statements; *row; row++) {
		if ((*row)->role == ROLE_AQM && !(in_class && (*row)->aqm->bands) && i-- == 0)
			return *row;
	}
	return NULL;
}

/* Gives a field a value so small that it matters within a script, or leaves the initial one; more
 * often if that is 0, which mostly means off. */
static void field_do(struct conf *conf, const struct field *field, uint64_t bits)
{
	void *at = (char *)conf + field->offset;
	uint64_t max = field->max ? field->max : UINT64_MAX, value;
	uint32_t words = 0;

	if (!(field->flags & FIELD_REQUIRED) && bits % 4 < (field->initial ? 1 : 2))
		return;
	bits >>= 2;
	switch (field->type) {
	case FIELD_TIME:
		value = RTE_MAX(field->min, SIMTIME_US) +
		        (bits >> 2 & UINT64_C(0xfffff) >> bits % 4 * 4);
		break;
	case FIELD_BYTES:
	case FIELD_COUNT:
		value = field->min + bits % 800 / (1 + bits % 30);
		break;
	case FIELD_FACTOR:
		value = bits & 1 ? RTE_MIN(max, 1000 * FACTOR_ONE) : field->initial;
		break;
	case FIELD_PROBABILITY:
		value = RTE_MAX(field->min, RTE_MIN(max, PROBABILITY_ONE) >> (bits & 7));
		break;
	case FIELD_LIMIT:
		*(struct limit *)at = (struct limit){.value = 1 + bits % 9, .unit = LIMIT_PACKETS};
		return;
	case FIELD_SWITCH:
	case FIELD_FLAG:
		*(bool *)at = bits & 1;
		return;
	case FIELD_WORD:
		while (field->words[words])
			words++;
		*(uint32_t *)at = bits % words;
		return;
	default:
		return;
	}
	*(uint64_t *)at = RTE_MIN(value, max);
}

/* Puts a management whose parameters are so short that it acts within a script; none, if its check
 * refuses all that is tried. */
static void management_do(struct cloud_conf *cloud, const char *scope, uint64_t bits)
{
	const struct statement *statement;
	struct problem problem;
	uint64_t n = 0;

	while (management(n, scope[0]))
		n++;
	statement = management(bits % n, scope[0]);
	for (uint64_t tries = 0; tries < 16; tries++) {
		struct conf *conf = conf_make(statement);

		assert_non_null(conf);
		strcpy(conf->scope, scope);
		for (uint32_t i = 0; statement->fields[i].name; i++)
			field_do(conf, &statement->fields[i],
			         draw_u64((struct draw_key){{5, tries}}, bits, i));
		if (statement->check(conf, cloud, &problem) == 0) {
			assert_int_equal(cloud_conf_put(cloud, conf), 0);
			return;
		}
		conf_free(conf);
	}
}

static void classes_do(struct cloud_conf *cloud, uint64_t bits)
{
	static const char *const names[] = {"p", "q", "r"};
	uint32_t n = 1 + bits % 3;

	for (uint32_t i = 0; i < n; i++) {
		struct class_conf *class = conf_of(cloud, &class_statement, names[i]);

		class->weight = (struct ratio){.digits = 1 + (bits >> i) % 7, .places = 1};
		class->queue = (struct limit){.value = 1 + (bits >> i) % 30, .unit = LIMIT_PACKETS};
		class->drop = (bits >> i) & 1;
		class->conf.given = 1 << 2;
		if (i + 1 < n) {
			class->match = strdup(i == 0 ? "0 of 3" : "1 of 3");
			assert_non_null(class->match);
		}
		if (bits >> (4 + i) & 1)
			management_do(cloud, names[i], bits >> i);
	}
	if (bits >> 7 & 1) {
		struct scheduler_conf *scheduler = conf_of(cloud, &scheduler_statement, "");

		scheduler->algorithm = bits >> 8 & 1 ? SCHEDULER_DRR : SCHEDULER_PRIORITY;
	}
}

/* Sets what the link has besides its rate, as the bits say; removes what it had before. */
static void link_do(struct cloud_conf *cloud, uint64_t bits)
{
	static const char *const overheads[] = {"layer1", "layer3", "atm", "-100"};
	struct rate_conf *rate =
	        (struct rate_conf *)(uintptr_t)cloud_conf_get(cloud, rate_statement.name);

	for (uint32_t i = cloud->n_confs; i-- > 0;) {
		if (i < cloud->n_confs && cloud->confs[i]->scope[0])
			cloud_conf_remove_scope(cloud, cloud->confs[i]->scope);
	}
	cloud_conf_remove(cloud, "slots");
	for (uint64_t i = 0; management(i, false); i++)
		cloud_conf_remove(cloud, management(i, false)->name);
	cloud_conf_remove(cloud, "scheduler");
	if (bits == 0)
		return;
	if (bits >> 1 & 1) {
		rate->overhead = strdup(overheads[bits >> 2 & 3]);
		assert_non_null(rate->overhead);
	}
	rate->drop = bits >> 4 & 1;
	if (bits >> 5 & 1) {
		struct slots_conf *slots = conf_of(cloud, &slots_statement, "");

		slots->min_ns = bits >> 6 & 0xffff;
		slots->max_ns = slots->min_ns + (bits >> 12 & 0xfffff);
		slots->packets = bits >> 7 & 3;
		slots->bytes = bits >> 9 & 1 ? 3000 : 0;
	}
	if (bits >> 10 & 1 && !(bits >> 20 & 1)) {
		classes_do(cloud, bits >> 11);
	} else if (bits >> 10 & 7) {
		if (bits >> 20 & 1)
			rate->drop = RATE_DROP_TAIL;
		management_do(cloud, "", bits >> 13);
	}
}

/* Makes slots, or a mark, as the bits say; NULL: neither. */
static struct conf *link_part(uint64_t bits)
{
	struct conf *conf = NULL;

	if ((bits & 7) == 1) {
		struct slots_conf *slots =
		        (struct slots_conf *)(conf = conf_make(&slots_statement));

		slots->min_ns = bits >> 6 & 0xffff;
		slots->max_ns = slots->min_ns + (bits >> 12 & 0xfffff);
		slots->packets = bits >> 7 & 3;
	} else if ((bits & 7) == 3) {
		struct mark_conf *mark = (struct mark_conf *)(conf = conf_make(&mark_statement));

		mark->above = (struct limit){.value = 1 + (bits >> 6 & 7), .unit = LIMIT_PACKETS};
	}
	return conf;
}

static struct limit limit_of(const struct script_step *step)
{
	return (struct limit){.value = step->delay_limit,
	                      .unit = step->delay_limit ? LIMIT_PACKETS : LIMIT_NONE};
}

/* Makes an order of a schedule from a step of the script. */
static void order_of(const struct script_step *step, struct orders *orders)
{
	struct conf *part = step->kind == STEP_AT_RATE ? link_part(step->link) : NULL;
	bool is_rate = step->kind == STEP_AT_RATE && !part;
	struct conf *conf = part ? part : conf_make(is_rate ? &rate_statement : &delay_statement);

	orders->n = 1;
	orders->order = calloc(1, sizeof(*orders->order));
	assert_true(conf && orders->order);
	orders->order[0].name = conf->statement->name;
	orders->order[0].role = conf->statement->role;
	orders->order[0].conf = conf;
	if (is_rate) {
		struct rate_conf *rate = (struct rate_conf *)conf;

		rate->rate_bps = step->rate_bps;
		rate->burst_bytes = step->burst_bytes;
		rate->algorithm = step->burst_bytes ? RATE_TOKEN_BUCKET : RATE_LEAKY_BUCKET;
		rate->queue = (struct limit){.value = step->limit, .unit = step->unit};
	} else if (!part) {
		struct delay_conf *delay = (struct delay_conf *)conf;

		delay->delay_ns = step->delay_ns;
		delay->jitter_ns = step->jitter_ns;
		delay->distribution = step->distribution;
		delay->order = step->order;
		delay->limit = limit_of(step);
		delay->keyed = step->keyed;
	}
}

static struct conf *schedule_of(const struct script_step *step)
{
	bool at = step->kind == STEP_AT_RATE || step->kind == STEP_AT_DELAY;
	struct conf *conf = conf_make(at                               ? &at_statement
	                              : step->kind == STEP_WAVE_RATE   ? &wave_rate_statement
	                              : step->kind == STEP_EVERY_DELAY ? &every_statement
	                                                               : &flap_statement);

	assert_non_null(conf);
	if (at) {
		((struct at_conf *)conf)->at_ns = step->when_ns;
		order_of(step, &((struct at_conf *)conf)->orders);
	} else if (step->kind == STEP_WAVE_RATE) {
		struct wave_conf *wave = (struct wave_conf *)conf;

		wave->values = (struct range){step->rate_bps, step->limit};
		wave->period_ns = step->every_ns;
		wave->shape = step->loss % 3;
	} else {
		struct every_conf *every = (struct every_conf *)conf;

		every->every_ns = step->every_ns;
		every->for_ns = step->for_ns;
		every->from_ns = step->when_ns;
		conf->given |= 4; /* from */
		if (step->kind == STEP_EVERY_DELAY)
			order_of(step, &every->orders);
	}
	return conf;
}

static void select_do(struct rig *rig, const char *name, const struct script_step *step)
{
	struct cloud_conf *cloud = rig->scenario->clouds[scenario_find_cloud(rig->scenario, name)];
	struct selection_conf *per;
	char match[32];

	snprintf(match, sizeof(match), "%u of %u", step->rest, step->of);
	if (!step->most) {
		if (step->of)
			rig_match(rig, name, match, step->priority);
		return;
	}
	per = (struct selection_conf *)conf_make(&selection_per_statement);
	assert_non_null(per);
	per->flow = step->per == PER_FLOW;
	if (step->per == PER_SOURCE)
		per->source = strdup("192.0.2.0/24");
	if (step->per == PER_DESTINATION)
		per->destination = strdup("198.51.100.0/24");
	per->match = step->of ? strdup(match) : NULL;
	per->priority = step->priority;
	per->most = step->most;
	cloud->many = true;
	cloud->selection = &per->conf;
}

static struct conf *put_of(struct rig *rig, int cloud, const char *statement)
{
	return (struct conf *)(uintptr_t)cloud_conf_get(rig->scenario->clouds[cloud], statement);
}

static void step_do(struct rig *rig, const struct script_step *step)
{
	const char *name = script_cloud_names[step->cloud];
	int cloud = scenario_find_cloud(rig->scenario, name);
	struct conf *conf;

	if (step->kind == STEP_ADD) {
		if (step->after)
			rig_chain(rig, name, script_cloud_names[step->after - 1], step->to);
		else
			rig_cloud(rig, name, step->from, step->to);
		select_do(rig, name, step);
		return;
	}
	assert_true(cloud >= 0);
	switch (step->kind) {
	case STEP_REMOVE:
		rig_remove(rig, name);
		break;
	case STEP_DELAY:
		rig_delay(rig, name, step->delay_ns, step->jitter_ns, step->distribution,
		          step->order);
		conf = put_of(rig, cloud, "delay");
		((struct delay_conf *)conf)->limit = limit_of(step);
		((struct delay_conf *)conf)->keyed = step->keyed;
		break;
	case STEP_RATE:
		rig_rate(rig, name, step->rate_bps, step->burst_bytes, step->unit, step->limit);
		link_do(rig->scenario->clouds[cloud], step->link);
		break;
	case STEP_LOSS:
		if (step->periodic)
			rig_loss_every(rig, name, step->loss, 2);
		else
			rig_loss(rig, name, step->loss);
		conf = put_of(rig, cloud, "loss");
		if (step->periodic)
			((struct loss_every_conf *)conf)->keyed = step->keyed;
		else
			((struct loss_random_conf *)conf)->keyed = step->keyed;
		break;
	case STEP_UNSET:
		if (cloud_conf_get(rig->scenario->clouds[cloud], step->statement))
			rig_unset(rig, name, step->statement);
		break;
	case STEP_AT_RATE:
	case STEP_AT_DELAY:
	case STEP_EVERY_DELAY:
	case STEP_FLAP:
	case STEP_WAVE_RATE:
		assert_int_equal(cloud_conf_put(rig->scenario->clouds[cloud], schedule_of(step)),
		                 0);
		break;
	case STEP_ADD:
		break;
	}
}

/* Applies the steps before packet `at`; steps of one instant are one change. */
static uint32_t steps_do(struct rig *rig, const struct script *script, uint32_t done, uint32_t at)
{
	while (done < script->n_steps && script->steps[done].before <= at) {
		simtime t = script->steps[done].t;

		while (done < script->n_steps && script->steps[done].before <= at &&
		       script->steps[done].t == t)
			step_do(rig, &script->steps[done++]);
		if (play_scenario)
			play_scenario(rig->scenario);
		rig_apply(rig, t);
	}
	return done;
}

/* Sums up counters of the clouds that exist at the end. */
static void count(struct rig *rig, struct played *played)
{
	for (uint32_t i = 0; i < rig->scenario->n_clouds; i++) {
		const struct cloud_report *report = rig_report(rig, rig->scenario->clouds[i]->name);

		played->limited += report->counters.drops[REASON_LIMIT];
		played->without_cloud += report->counters.drops[REASON_CLOUDS_FULL];
		played->of_templates += report->clouds;
	}
}

static void finish(struct rig *rig, struct played *played)
{
	rig_run_out(rig);
	count(rig, played);
	while (rig->scenario->n_clouds)
		rig_remove(rig, rig->scenario->clouds[0]->name);
	rig_apply(rig, rig->now);
	rig_apply(rig, rig->now);
	/* the shared wheel's chunks go back when time leaves its slots */
	rig_advance(rig, rig->now + DELAY_MAX_NS);
	assert_int_equal(engine_held_packets(rig->engine), 0);
	assert_int_equal(engine_memory_used(rig->engine), 0);
}

/* Returns how many packets from `at` on can form one burst. */
static uint32_t run_of(const struct script *script, uint32_t done, uint32_t at, uint32_t most,
                       bool one_instant)
{
	uint32_t n = 1;

	while (n < most && at + n < script->n_packets &&
	       script->packets[at + n].port == script->packets[at].port &&
	       !(done < script->n_steps && script->steps[done].before <= at + n) &&
	       (!one_instant || script->packets[at + n].t == script->packets[at].t))
		n++;
	return n;
}

/* ---- another engine takes over ---- */

#define SNAPSHOT_BYTES (UINT64_C(8) << 20)

static struct rig *rig_for(const struct script *script, uint64_t engine_seed, bool on_demand)
{
	return rig_open(&(struct rig_setup){
	        .seed = engine_seed, .hosts = script->hosts, .clouds_on_demand = on_demand});
}

/* Returns the drops of the clouds that are closing: the other engine may not have these clouds. */
static uint64_t dropped_by_closing(const struct engine *engine)
{
	const struct cloud_table *cloud_table = engine->cloud_table;
	uint64_t dropped = 0;

	for (uint32_t i = 0; i < cloud_table->n_slots; i = cloud_table_behind(cloud_table, i)) {
		const struct cloud *cloud = cloud_table->slots[i];
		const struct cloud *head = cloud && cloud->of ? cloud->of->head : cloud;

		if (head && head->closing)
			dropped += counters_drops(&cloud->counters);
	}
	return dropped;
}

/* Makes another engine, which gets the changes and no packets, and restores a snapshot in it. */
static struct rig *taken_over(struct rig *rig, const struct script *script, uint32_t done,
                              uint64_t engine_seed, struct played *played)
{
	/* Not allocated: glibc would fill it each time under MALLOC_PERTURB_, which meson sets. */
	static uint8_t bytes[SNAPSHOT_BYTES];
	struct snapshot written = {.at = bytes, .end = bytes + SNAPSHOT_BYTES}, read;
	struct snapshot measured = {.measures = true};
	struct rig *other = rig_for(script, engine_seed, played->taken_over % 2 == 0);
	const simtime now = rig->now;

	engine_snapshot(rig->engine, now, &written);
	assert_false(written.failed);
	engine_snapshot(rig->engine, now, &measured);
	assert_int_equal(measured.measured, written.at - bytes);
	for (uint32_t again = 0; again < done;)
		again = steps_do(other, script, again, script->steps[again].before);
	rig_advance(other, now);
	read = (struct snapshot){.at = bytes, .end = written.at, .restores = true};
	engine_snapshot(other->engine, now, &read);
	assert_false(read.failed);
	assert_ptr_equal(read.at, read.end);
	assert_int_equal(engine_held_packets(other->engine), engine_held_packets(rig->engine));
	played->taken_over++;
	played->held += engine_held_packets(rig->engine);

	other->sent = rig->sent;
	memcpy(other->received, rig->received, sizeof(rig->received));
	other->dropped = rig->dropped + dropped_by_closing(rig->engine);
	other->n_departures = other->room = rig->n_departures;
	other->departures = malloc((rig->n_departures + 1) * sizeof(*rig->departures));
	assert_non_null(other->departures);
	if (rig->n_departures > 0)
		memcpy(other->departures, rig->departures,
		       rig->n_departures * sizeof(*rig->departures));
	rig_check(other);
	rig_close(rig);
	return other;
}

struct played script_play(const struct script *script, enum play_way way, uint32_t burst,
                          uint64_t engine_seed)
{
	struct rig *rig = rig_for(script, engine_seed, way == PLAY_LAZY);
	struct dice dice = {.key = draw_key_make(script->seed, "play", "chance")};
	struct played played = {.n = 0};
	uint32_t done = 0, n;

	for (uint32_t at = 0; at < script->n_packets; at += n) {
		struct rte_mbuf *mbufs[BURST_MAX];
		uint32_t port = script->packets[at].port;

		done = steps_do(rig, script, done, at);
		n = run_of(script, done, at,
		           way == PLAY_LIVE ? 1 + (uint32_t)roll(&dice, BURST_MAX) : burst,
		           way == PLAY_LIVE);
		for (uint32_t i = 0; i < n; i++)
			mbufs[i] = rig_packet(rig, RIG_PLAIN, port, at + i + 1,
			                      script->packets[at + i].frame_bytes, 0,
			                      script->packets[at + i].t);
		if (way == PLAY_LIVE) {
			simtime t = script->packets[at].t;

			for (uint64_t extra = roll(&dice, 3); extra > 0; extra--)
				rig_advance(rig, rig->now + roll(&dice, t - rig->now + 1));
			/* Poisons struct packet: the engine must not read it. */
			for (uint32_t i = 0; i < n; i++)
				memset(packet_of(mbufs[i]), 0xee, sizeof(struct packet));
			rig->sent += n;
			rig->now = t;
			rig_receive(rig, port, mbufs, (uint16_t)n, t);
			rig_check(rig);
			if (roll(&dice, 2))
				rig_advance(rig, t);
		} else {
			rig_ingress(rig, mbufs, (uint16_t)n);
			if (way != PLAY_LAZY)
				rig_advance(rig, rig->now);
			if (way == PLAY_SNAPSHOTS && roll(&dice, 8) == 0 &&
			    !engine_snapshot_waits(rig->engine))
				rig = taken_over(rig, script, done, engine_seed, &played);
		}
	}
	finish(rig, &played);
	played.departures = rig->departures;
	played.n = rig->n_departures;
	rig->departures = malloc(sizeof(*rig->departures));
	rig->n_departures = 0;
	rig->sent = rig->dropped;
	for (uint32_t port = 0; port < RIG_PORTS; port++)
		rig->sent += engine_no_cloud(rig->engine, port);
	rig_close(rig);
	return played;
}

void played_free(struct played *played)
{
	free(played->departures);
	played->departures = NULL;
}

/* ---- comparing ---- */

/* Returns the next departure at a port at or after `from`. */
static uint32_t next_at(const struct played *played, uint32_t port, uint32_t from)
{
	while (from < played->n && played->departures[from].port != port)
		from++;
	return from;
}

static bool find_difference(const struct played *a, const struct played *b, uint32_t *i,
                            uint32_t *j)
{
	for (uint32_t port = 0; port < RIG_PORTS; port++) {
		for (*i = *j = 0;; (*i)++, (*j)++) {
			const struct departure *x, *y;

			*i = next_at(a, port, *i);
			*j = next_at(b, port, *j);
			if (*i == a->n || *j == b->n) {
				if (*i != a->n || *j != b->n)
					return true;
				break;
			}
			x = &a->departures[*i];
			y = &b->departures[*j];
			if (x->due_ns != y->due_ns || x->number != y->number ||
			    x->frame_bytes != y->frame_bytes || x->wire_bytes != y->wire_bytes ||
			    !x->intact || !y->intact)
				return true;
		}
	}
	return false;
}

bool played_equal(const struct played *a, const struct played *b)
{
	uint32_t i, j;

	return !find_difference(a, b, &i, &j);
}

static void departure_print(const struct played *played, uint32_t i)
{
	const struct departure *departure = &played->departures[i];

	if (i == played->n)
		fprintf(stderr, "  nothing more\n");
	else
		fprintf(stderr, "  packet %lu at port %u, %lu ns, %u bytes (%u on the wire)%s\n",
		        departure->number, departure->port, departure->due_ns,
		        departure->frame_bytes, departure->wire_bytes,
		        departure->intact ? "" : ", altered");
}

void played_print_difference(const struct played *a, const struct played *b)
{
	uint32_t i, j;

	if (find_difference(a, b, &i, &j)) {
		departure_print(a, i);
		departure_print(b, j);
	}
}

/* ---- cases ---- */

static uint64_t case_seed;

uint64_t property_cases(uint64_t normal)
{
	const char *text = getenv("WEIR_PROPERTY_CASES");

	return text ? strtoull(text, NULL, 10) : normal;
}

void property_begin(uint64_t seed)
{
	case_seed = seed;
}

int property_teardown(void **state)
{
	(void)state;
	if (case_seed)
		fprintf(stderr, "# the last case was seed %lu\n", case_seed);
	case_seed = 0;
	return 0;
}
