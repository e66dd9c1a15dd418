/* SPDX-License-Identifier: BSD-3-Clause */
#include "rewrite.h"

#include <errno.h>
#include <stdlib.h>

#include "cloud.h"
#include "copy.h"
#include "rewrite_field.h"
#include "rewrite_rule.h"
#include "rewrite_sums.h"

struct rewrite {
	struct stage stage;
	uint32_t n_rules;
	struct rewrite_rule *rules[CLOUD_CONFS_MAX]; /* by ascending number */
};

/* A packet on its way through the rules. */
struct passage {
	struct rewrite_view view;
	uint64_t index; /* of its draws */
	bool found;     /* the view is that of the packet as it is */
	bool changed;
};

/* ---- comparing ---- */

static inline uint64_t field_of(const struct rewrite_place *place, uint64_t bytes)
{
	return (bytes & place->mask) >> place->shift;
}

static bool compare(const struct rewrite_step *step, uint64_t value, uint64_t other)
{
	switch (step->op) {
	case REWRITE_EQUAL:
		return value == other;
	case REWRITE_UNEQUAL:
		return value != other;
	case REWRITE_LESS:
		return value < other;
	case REWRITE_MORE:
		return value > other;
	case REWRITE_NOT_MORE:
		return value <= other;
	default:
		return value >= other;
	}
}

static bool holds(const struct rewrite_view *view, const struct rewrite_step *step)
{
	uint64_t value;
	uint32_t at;

	if (!rewrite_place_find(view, &step->place, &at))
		return false;
	value = field_of(&step->place, rewrite_load(view->mbuf, at, step->place.width));
	if (likely(step->source.width == 0))
		return (value - step->value <= step->span) == (step->op == REWRITE_INSIDE);
	if (!rewrite_place_find(view, &step->source, &at))
		return false;
	return compare(step, value,
	               field_of(&step->source, rewrite_load(view->mbuf, at, step->source.width)));
}

/* ---- writing ---- */

static uint64_t random_value(const struct stage *stage, const struct passage *passage,
                             const struct rewrite_rule *rule, uint32_t i)
{
	const struct rewrite_step *step = &rule->step[i];
	uint64_t draw = draw_u64(stage->key, passage->index, rule->number << 8 | i);

	if (step->op == REWRITE_RANDOM)
		return draw;
	return step->value + draw_index(draw, step->span + 1);
}

static uint64_t result_of(const struct rewrite_step *step, uint64_t value, uint64_t operand)
{
	switch (step->op) {
	case REWRITE_MIN:
		return value < operand ? value : operand;
	case REWRITE_MAX:
		return value > operand ? value : operand;
	case REWRITE_ADD:
		return value + operand;
	default:
		return operand;
	}
}

/* False: the packet was dropped, because it could not be copied. */
static inline bool write_bytes(struct stage *stage, struct passage *passage,
                               const struct rewrite_step *step, uint32_t at, uint64_t before,
                               uint64_t after)
{
	uint32_t width = step->place.width;
	struct rewrite_view *view = &passage->view;

	if (!passage->changed) {
		view->mbuf = copy_writable(stage->cloud, view->mbuf);
		if (unlikely(!view->mbuf))
			return false;
		passage->changed = true;
	}
	rewrite_store(view->mbuf, at, width, after);
	if (step->summed)
		rewrite_sums(view, step->summed, at, width, before, after);
	return true;
}

/* Where the actions write, and what they take from elsewhere. */
struct places {
	uint32_t at[REWRITE_STEPS_MAX], source[REWRITE_STEPS_MAX];
};

static bool find_places(const struct rewrite_view *view, const struct rewrite_rule *rule,
                        struct places *places)
{
	for (uint32_t i = rule->n_terms; i < rule->n_steps; i++) {
		const struct rewrite_step *step = &rule->step[i];

		if (!rewrite_place_find(view, &step->place, &places->at[i]))
			return false;
		if (step->source.width &&
		    !rewrite_place_find(view, &step->source, &places->source[i]))
			return false;
	}
	return true;
}

static bool act(struct stage *stage, struct passage *passage, const struct rewrite_rule *rule,
                const struct places *places)
{
	for (uint32_t i = rule->n_terms; i < rule->n_steps; i++) {
		const struct rewrite_step *step = &rule->step[i];
		const struct rewrite_place *place = &step->place;
		uint32_t at = places->at[i];
		uint64_t before = rewrite_load(passage->view.mbuf, at, place->width), after;
		uint64_t operand = step->value;

		if (step->source.width)
			operand = field_of(&step->source,
			                   rewrite_load(passage->view.mbuf, places->source[i],
			                                step->source.width));
		else if (step->op >= REWRITE_RANDOM)
			operand = random_value(stage, passage, rule, i);
		operand = result_of(step, field_of(place, before), operand);
		after = (before & ~place->mask) | (operand << place->shift & place->mask);
		if (after != before && !write_bytes(stage, passage, step, at, before, after))
			return false;
	}
	return true;
}

static bool matches(const struct rewrite_view *view, const struct rewrite_rule *rule)
{
	for (uint32_t i = 0; i < rule->n_terms; i++) {
		if (!holds(view, &rule->step[i]))
			return false;
	}
	return true;
}

/* The packet, perhaps in another mbuf; NULL: it was dropped. */
static struct rte_mbuf *pass(struct rewrite *rewrite, struct rte_mbuf *mbuf, uint64_t index)
{
	struct passage passage = {.index = index};
	struct places places;

	passage.view.mbuf = mbuf;
	for (uint32_t i = 0; i < rewrite->n_rules; i++) {
		const struct rewrite_rule *rule = rewrite->rules[i];

		if (!passage.found)
			rewrite_view_open(&passage.view, passage.view.mbuf);
		passage.found = true;
		if (!matches(&passage.view, rule) || !find_places(&passage.view, rule, &places))
			continue;
		if (!act(&rewrite->stage, &passage, rule, &places))
			return NULL;
		passage.found = !rule->moves;
		if (rule->moves)
			headers_forget(passage.view.mbuf);
	}
	rewrite->stage.cloud->counters.rewritten += passage.changed;
	return passage.view.mbuf;
}

static uint16_t rewrite_process(struct stage *stage, struct rte_mbuf **packets, uint16_t n)
{
	struct rewrite *rewrite = (struct rewrite *)stage;
	uint64_t first = stage->drawn;
	uint16_t kept = 0;

	stage->drawn += n;
	for (uint16_t i = 0; i < n; i++) {
		struct rte_mbuf *mbuf = pass(rewrite, packets[i], first + i);

		if (likely(mbuf != NULL))
			packets[kept++] = mbuf;
	}
	return kept;
}

/* ---- making ---- */

static int rewrite_check(const struct conf *conf, const struct cloud_conf *cloud,
                         struct problem *problem)
{
	struct rewrite_rule *rule;
	int error = rewrite_rule_make(((const struct rewrite_conf *)conf)->rule, &rule, problem);

	(void)cloud;
	if (error == -ENOMEM)
		problem_set(problem, 0, "no memory for the rule");
	if (!error)
		free(rule);
	return error ? -EINVAL : 0;
}

static int rewrite_make(const struct conf *conf, struct stage **stage)
{
	struct rewrite *rewrite = calloc(1, sizeof(*rewrite));

	(void)conf;
	if (!rewrite)
		return -ENOMEM;
	rewrite->stage.process = rewrite_process;
	*stage = &rewrite->stage;
	return 0;
}

/* Called with each of the cloud's rules, in the order of their numbers. */
static int rewrite_ready(struct stage *stage, const struct conf *conf)
{
	struct rewrite *rewrite = (struct rewrite *)stage;
	struct problem problem;
	struct rewrite_rule *rule;
	int error = rewrite_rule_make(((const struct rewrite_conf *)conf)->rule, &rule, &problem);

	if (error)
		return error;
	rule->number = conf->number;
	rewrite->rules[rewrite->n_rules++] = rule;
	return 0;
}

static void rewrite_free(struct stage *stage)
{
	struct rewrite *rewrite = (struct rewrite *)stage;

	for (uint32_t i = 0; i < rewrite->n_rules; i++)
		free(rewrite->rules[i]);
	free(rewrite);
}

static const struct field rewrite_table[] = {
        {.name = "rule",
         .type = FIELD_TEXT,
         .flags = FIELD_POSITIONAL | FIELD_REQUIRED | FIELD_REST,
         .offset = offsetof(struct rewrite_conf, rule),
         .form = "[match FIELD[&MASK] COMPARE VALUE ...] set|min|max|add|random FIELD[&MASK] VALUE "
                 "...",
         .help = "COMPARE is =, !=, <, >, <= or >=; VALUE a number, an address or another FIELD; "
                 "`random` takes FROM..TO, or nothing"},
        FIELD_END,
};

static const struct statement_term rewrite_terms[] = {
        {"match", "begins the comparisons, all of which must hold"},
        {"set", "the field becomes the value"},
        {"min", "the field becomes the smaller of itself and the value"},
        {"max", "the field becomes the greater of both"},
        {"add", "the field becomes the sum, modulo its size; -1 subtracts"},
        {"random", "the field becomes any value, or one FROM..TO"},
#define X(name, layer, offset, width, mask, shift, help) {name, help},
        REWRITE_FIELDS(X)
#undef X
#define X(name, layer, offset, help) {name, help},
                REWRITE_PAIRS(X)
#undef X
#define X(name, layer, help) {name "+OFFSET:WIDTH", help},
                        REWRITE_LAYERS(X)
#undef X
#define X(name, layer, help) {name "TYPE+OFFSET:WIDTH", help},
                                REWRITE_OPTIONS(X)
#undef X
                                        {NULL, NULL},
};

const struct statement rewrite_statement = {
        .name = "rewrite",
        .help = "fields of packets that match are overwritten, and checksums made right",
        .role = ROLE_STAGE,
        .fields = rewrite_table,
        .terms = rewrite_terms,
        .number_max = REWRITE_NUMBER_MAX,
        .conf_bytes = sizeof(struct rewrite_conf),
        .check = rewrite_check,
        .make = rewrite_make,
        .ready = rewrite_ready,
        .free = rewrite_free,
};
