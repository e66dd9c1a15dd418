/* SPDX-License-Identifier: BSD-3-Clause */
#include "rewrite/rewrite.h"

#include <errno.h>
#include <stdlib.h>

#include "packet/copy.h"
#include "rewrite/rewrite_field.h"
#include "rewrite/rewrite_rule.h"
#include "rewrite/rewrite_sums.h"
#include "scenario/scenario.h"
#include "stage/stage.h"

struct rewrite {
	struct stage stage;
	uint32_t n_rules;
	struct rewrite_rule *rules[CLOUD_CONFS_MAX]; /* by ascending number */
};

/* A packet on its way through the rules. */
struct passage {
	struct rewrite_view view;
	uint64_t index; /* index of its draws */
	bool changed;
	uint32_t writes;
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

static __attribute__((noinline)) uint64_t random_value(const struct stage *stage,
                                                       const struct passage *passage,
                                                       const struct rewrite_rule *rule, uint32_t i)
{
	const struct rewrite_step *step = &rule->step[i];
	uint64_t draw = draw_u64(stage->key, passage->index, rule->number << 8 | i);

	if (step->op == REWRITE_RANDOM)
		return draw;
	return step->value + draw_index(draw, step->span + 1);
}

static inline uint64_t result_of(const struct rewrite_step *step, uint64_t value, uint64_t operand)
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

/* Returns false if the packet was dropped because it could not be copied. */
static inline bool write_bytes(struct stage *stage, struct passage *passage,
                               const struct rewrite_step *step, uint32_t at, uint64_t before,
                               uint64_t after)
{
	uint32_t width = step->place.width;
	struct rewrite_view *view = &passage->view;

	if (!passage->changed) {
		if (unlikely(!cloud_writable(stage->cloud, view->burst, view->i)))
			return false;
		view->mbuf = view->burst->mbuf[view->i];
		passage->changed = true;
	}
	passage->writes++;
	rewrite_store(view->mbuf, at, width, after);
	rewrite_sums(view, step->summed, at, width, before, after);
	return true;
}

/* Where an action writes, and where it reads its operand. */
struct target {
	uint32_t at, source;
};

static inline bool find_target(const struct rewrite_view *view, const struct rewrite_step *step,
                               struct target *target)
{
	return rewrite_place_find(view, &step->place, &target->at) &&
	       (likely(step->source.width == 0) ||
	        rewrite_place_find(view, &step->source, &target->source));
}

/* Executes step i, an action. Returns false if the packet was dropped. */
static inline bool act(struct stage *stage, struct passage *passage,
                       const struct rewrite_rule *rule, uint32_t i, const struct target *target)
{
	const struct rewrite_step *step = &rule->step[i];
	const struct rewrite_place *place = &step->place;
	uint64_t before = rewrite_load(passage->view.mbuf, target->at, place->width), after;
	uint64_t operand = step->value;

	if (unlikely(step->source.width != 0))
		operand = field_of(&step->source, rewrite_load(passage->view.mbuf, target->source,
		                                               step->source.width));
	else if (unlikely(step->op >= REWRITE_RANDOM))
		operand = random_value(stage, passage, rule, i);
	operand = result_of(step, field_of(place, before), operand);
	after = (before & ~place->mask) | (operand << place->shift & place->mask);
	return after == before || write_bytes(stage, passage, step, target->at, before, after);
}

enum applied { LEFT_ALONE, APPLIED, DROPPED };

/* Applies a rule of several actions. All places must be there before anything is written. */
static __attribute__((noinline)) enum applied
apply_several(struct stage *stage, struct passage *passage, const struct rewrite_rule *rule)
{
	struct target targets[REWRITE_STEPS_MAX];

	for (uint32_t i = rule->n_terms; i < rule->n_steps; i++) {
		if (!find_target(&passage->view, &rule->step[i], &targets[i]))
			return LEFT_ALONE;
	}
	for (uint32_t i = rule->n_terms; i < rule->n_steps; i++) {
		if (!act(stage, passage, rule, i, &targets[i]))
			return DROPPED;
	}
	return APPLIED;
}

/* Applies a rule to a packet that fits it. */
static inline enum applied apply(struct stage *stage, struct passage *passage,
                                 const struct rewrite_rule *rule)
{
	uint32_t first = rule->n_terms;
	struct target target;

	if (rule->n_steps - first > 1)
		return apply_several(stage, passage, rule);
	if (!find_target(&passage->view, &rule->step[first], &target))
		return LEFT_ALONE;
	return act(stage, passage, rule, first, &target) ? APPLIED : DROPPED;
}

static bool matches(const struct rewrite_view *view, const struct rewrite_rule *rule)
{
	for (uint32_t i = 0; i < rule->n_terms; i++) {
		if (!holds(view, &rule->step[i]))
			return false;
	}
	return true;
}

static inline void pass(struct rewrite *rewrite, struct burst *burst, uint16_t i, uint64_t index)
{
	struct passage passage;

	passage.index = index;
	passage.changed = false;
	passage.writes = 0;
	rewrite_view_open(&passage.view, burst, i);
	for (uint32_t k = 0; k < rewrite->n_rules; k++) {
		const struct rewrite_rule *rule = rewrite->rules[k];
		const uint32_t writes = passage.writes;
		enum applied applied;

		if (!matches(&passage.view, rule))
			continue;
		applied = apply(&rewrite->stage, &passage, rule);
		if (rule->tally)
			rule->tally->acted += passage.writes != writes;
		if (unlikely(applied == DROPPED))
			return;
		if (unlikely(rule->moves) && applied == APPLIED) {
			burst_headers_forget(burst, i);
			rewrite_view_open(&passage.view, burst, i);
		}
	}
	if (passage.changed)
		cloud_counters(rewrite->stage.cloud)->rewritten++;
}

/* Words of headers and the headers' checksums, gathered from a burst so that the compiler
 * vectorises the loop over them. They keep the byte order of the packet: sums in one's complement
 * come out the same in either order. */
struct words {
	uint8_t *ip[BURST_ROOM];
	uint16_t word[BURST_ROOM], sum[BURST_ROOM];
};

/* Gathers the packets from `from` on, up to the first that is not usual (burst_usual). In usual
 * packets no place has to be searched for. Returns their number. */
static inline uint16_t gather(struct words *words, uint32_t at, struct burst *burst, uint16_t from)
{
	uint16_t n = 0;

	for (; from + n < burst->n; n++) {
		uint8_t *ip = burst_frame(burst, from + n) + HEADERS_USUAL_IP;

		if (unlikely(!burst_usual(burst, from + n)))
			break;
		words->ip[n] = ip;
		memcpy(&words->word[n], ip + at, sizeof(words->word[n]));
		memcpy(&words->sum[n], ip + REWRITE_IPV4_SUM, sizeof(words->sum[n]));
	}
	return n;
}

/* Sets the word in n headers. Returns how many words have changed. */
static inline uint64_t set(const struct rewrite_word *word, struct words *words, uint16_t n)
{
	const uint16_t kept = (uint16_t)~rte_cpu_to_be_16(word->mask),
	               value = rte_cpu_to_be_16(word->value);
	uint32_t others = 0;

	for (uint16_t i = 0; i < n; i++) {
		uint16_t before = words->word[i], after = (before & kept) | value,
		         sum = checksum_grown(words->sum[i], checksum_growth_word(before, after));

		others += after != before;
		words->word[i] = after;
		words->sum[i] = after != before ? sum : words->sum[i];
	}
	return others;
}

/* If the only rule is one of a single word, applies it to the packets from `from` on, up to the
 * first that is not usual. Returns their number. */
static uint16_t set_words(struct rewrite *rewrite, struct burst *burst, uint16_t from)
{
	const struct rewrite_word word =
	        rewrite->n_rules == 1 ? rewrite->rules[0]->word : (struct rewrite_word){0};
	struct words words;
	uint64_t changed;
	uint16_t n;

	if (!word.mask)
		return 0;
	n = gather(&words, word.at, burst, from);
	changed = set(&word, &words, n);
	cloud_counters(rewrite->stage.cloud)->rewritten += changed;
	if (rewrite->rules[0]->tally)
		rewrite->rules[0]->tally->acted += changed;
	for (uint16_t i = 0; i < n; i++) {
		memcpy(words.ip[i] + word.at, &words.word[i], sizeof(words.word[i]));
		memcpy(words.ip[i] + REWRITE_IPV4_SUM, &words.sum[i], sizeof(words.sum[i]));
	}
	return n;
}

static void rewrite_process(struct stage *stage, struct burst *burst)
{
	struct rewrite *rewrite = (struct rewrite *)stage;
	uint64_t first = stage->drawn;

	stage->drawn += burst->n;
	for (uint32_t k = 0; k < rewrite->n_rules; k++) {
		if (rewrite->rules[k]->tally)
			rewrite->rules[k]->tally->came += burst->n;
	}
	for (uint16_t i = 0; i < burst->n; i++) {
		i += set_words(rewrite, burst, i);
		if (i < burst->n)
			pass(rewrite, burst, i, first + i);
	}
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

/* Called for each of the cloud's rules, in the order of their numbers. */
static int rewrite_ready(struct stage *stage, const struct conf *conf)
{
	struct rewrite *rewrite = (struct rewrite *)stage;
	struct problem problem;
	struct rewrite_rule *rule;
	int error = rewrite_rule_make(((const struct rewrite_conf *)conf)->rule, &rule, &problem);

	if (error)
		return error;
	rule->number = conf->number;
	rule->tally = tally_hold(conf->tally);
	rewrite->rules[rewrite->n_rules++] = rule;
	return 0;
}

static void rewrite_free(struct stage *stage)
{
	struct rewrite *rewrite = (struct rewrite *)stage;

	for (uint32_t i = 0; i < rewrite->n_rules; i++) {
		tally_release(rewrite->rules[i]->tally);
		free(rewrite->rules[i]);
	}
	free(rewrite);
}

static const struct field rewrite_table[] = {
        {FIELD("rule", FIELD_TEXT, struct rewrite_conf, rule,
               .flags = FIELD_POSITIONAL | FIELD_REQUIRED | FIELD_REST,
               .form = "[match FIELD[&MASK] COMPARE VALUE ...] set|min|max|add|random FIELD[&MASK] "
                       "VALUE "
                       "...",
               .help = "COMPARE is =, !=, <, >, <= or >=; VALUE a number, an address or another "
                       "FIELD; "
                       "`random` takes FROM..TO, or nothing")},
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
        .help = "fields of packets that match are overwritten, and checksums corrected",
        .example = "set ip.dscp 46",
        .role = ROLE_STAGE,
        .beyond = "its rules may name any byte of a packet",
        .fields = rewrite_table,
        .terms = rewrite_terms,
        .number_max = REWRITE_NUMBER_MAX,
        .acts = {COUNTER(rewritten)},
        .conf_bytes = sizeof(struct rewrite_conf),
        .check = rewrite_check,
        .make = rewrite_make,
        .ready = rewrite_ready,
        .free = rewrite_free,
};
