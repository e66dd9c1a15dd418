/* SPDX-License-Identifier: BSD-3-Clause */
#include "netem/netem.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "netem/netem_value.h"
#include "text/foreign_word.h"
#include "text/language_error.h"

/*
 * The parameters of a netem line (netem.h), one by one: the values behind each word, in tc's units.
 */

struct netem_parser {
	const struct words *words;
	uint32_t at; /* the next word */
	const struct netem_parameter *parameter;
	struct netem *netem;
	struct language_error *error;
};

struct netem_parameter {
	const char *name;
	size_t column; /* the member of struct netem that gets the column of the word */
	/* Parses what follows the word; NULL: nothing does. Returns 0, or -EINVAL with error and
	 * column. */
	int (*parse)(struct netem_parser *p);
};

static const struct word *here(const struct netem_parser *p)
{
	return p->at < p->words->n ? &p->words->word[p->at] : NULL;
}

/* Returns true if tc takes the next word as another value of the parameter. */
static bool number_follows(const struct netem_parser *p, bool negative)
{
	const struct word *word = here(p);

	return word &&
	       (isdigit((unsigned char)word->text[0]) || (negative && word->text[0] == '-'));
}

static int wrong(struct netem_parser *p, const char *what, const char *right)
{
	const struct word *word = here(p);

	p->error->column = word ? word->column : p->words->end_column;
	if (!word)
		return language_error_set(
		        p->error, ERROR_MISSING_WORD,
		        "the netem line ends too early; what must follow is %s: %s", what, right);
	return language_error_set(p->error, ERROR_BAD_VALUE, "%s `%.*s` is not %s", what,
	                          SHOWN(word->text), right);
}

/* ---- values; each function moves p->at behind its words ---- */

static int take_time(struct netem_parser *p, const char *what, uint64_t bare_ns, uint64_t *ns)
{
	const struct word *word = here(p);

	if (!word || !netem_unit_time(word->text, bare_ns, ns))
		return wrong(p, what,
		             bare_ns == 1 ? "a time as in tc, at most a day: 5ms, 800us, or "
		                            "nanoseconds without a unit"
		                          : "a time as in tc, at most a day: 10ms, 1.5s, or "
		                            "microseconds without a unit");
	p->at++;
	return 0;
}

static int take_percent(struct netem_parser *p, const char *what, probability_q63 *share)
{
	const struct word *word = here(p);

	if (!word || !netem_unit_percent(word->text, share))
		return wrong(p, what, "a percentage, 0 to 100, like 1% or 0.3");
	p->at++;
	return 0;
}

static int take_whole(struct netem_parser *p, const char *what, int64_t min, int64_t *value)
{
	const struct word *word = here(p);
	char right[96];

	snprintf(right, sizeof(right), "a whole number, %" PRId64 " to %d", min, INT32_MAX);
	if (!word || !netem_unit_whole(word->text, min, INT32_MAX, value))
		return wrong(p, what, right);
	p->at++;
	return 0;
}

static int take_size(struct netem_parser *p, const char *what, int64_t *value)
{
	const struct word *word = here(p);
	uint64_t size;

	if (!word || !netem_unit_size(word->text, &size))
		return wrong(p, what, "a number as in tc, like 1000 or 10k (of 1024)");
	*value = (int64_t)size;
	p->at++;
	return 0;
}

/* Takes PERCENT [CORRELATION]. */
static int take_share(struct netem_parser *p, const char *what, struct netem_share_of *of)
{
	of->correlation = 0;
	if (take_percent(p, what, &of->share) != 0)
		return -EINVAL;
	return number_follows(p, false) ? take_percent(p, "the correlation", &of->correlation) : 0;
}

/* ---- parameters; p->at is behind the word itself ---- */

static int parse_limit(struct netem_parser *p)
{
	return take_size(p, "limit", &p->netem->limit);
}

/* A delay that is given again without a jitter keeps the previous jitter, as in tc. */
static int parse_delay(struct netem_parser *p)
{
	struct netem *netem = p->netem;

	if (take_time(p, "delay", 1000, &netem->delay_ns) != 0)
		return -EINVAL;
	if (!number_follows(p, false))
		return 0;
	if (take_time(p, "jitter", 1000, &netem->jitter_ns) != 0)
		return -EINVAL;
	if (!number_follows(p, false))
		return 0;
	return take_percent(p, "the correlation", &netem->delay_correlation);
}

static int take_name(struct netem_parser *p, const char **name)
{
	const struct word *word = here(p);

	if (!word || word->text[0] == 0)
		return wrong(p, "distribution",
		             "uniform, normal, pareto, paretonormal, or the name of a table");
	*name = word->text;
	p->at++;
	return 0;
}

static int parse_distribution(struct netem_parser *p)
{
	return take_name(p, &p->netem->distribution);
}

/* Takes the transitions of a chain: all but the first may be missing. */
static int take_transitions(struct netem_parser *p, const char *const *names, uint32_t n)
{
	probability_q63 *to = p->netem->transition;

	for (uint32_t i = 0; i < n; i++) {
		if (i > 0 && !number_follows(p, false))
			return 0;
		if (take_percent(p, names[i], &to[i]) != 0)
			return -EINVAL;
		if (i == 0) /* tc's initial value */
			to[1] = PROBABILITY_ONE - to[0];
	}
	return 0;
}

static int parse_loss(struct netem_parser *p)
{
	static const char *const states[] = {"p13", "p31", "p32", "p23", "p14"};
	static const char *const gemodel[] = {"p", "r", "1-h", "1-k"};
	struct netem *netem = p->netem;
	const struct word *word = here(p);

	if (netem->loss_model != NETEM_LOSS_NONE)
		return language_error_at(p->error, netem->loss_column, ERROR_DUPLICATE_WORD,
		                         "a loss was given already; netem has only one");
	if (word && strcmp(word->text, "state") == 0) {
		p->at++;
		netem->loss_model = NETEM_LOSS_STATE;
		netem->transition[3] = PROBABILITY_ONE;
		return take_transitions(p, states, 5);
	}
	if (word && strcmp(word->text, "gemodel") == 0) {
		p->at++;
		netem->loss_model = NETEM_LOSS_GEMODEL;
		netem->transition[2] = PROBABILITY_ONE;
		return take_transitions(p, gemodel, 4);
	}
	if (word && strcmp(word->text, "random") == 0)
		p->at++;
	else if (!number_follows(p, false))
		return wrong(p, "loss", "a percentage, `random`, `state` or `gemodel`");
	netem->loss_model = NETEM_LOSS_RANDOM;
	netem->loss.column = netem->loss_column;
	return take_share(p, "loss", &netem->loss);
}

/* Of struct netem_share_of, the column is the first member. */
static int parse_share(struct netem_parser *p)
{
	void *of = (char *)p->netem + p->parameter->column;

	return take_share(p, p->parameter->name, of);
}

static int parse_gap(struct netem_parser *p)
{
	return take_whole(p, "gap", 0, &p->netem->gap);
}

static int parse_rate(struct netem_parser *p)
{
	struct netem *netem = p->netem;
	const struct word *word = here(p);

	netem->overhead = netem->cell_bytes = netem->cell_overhead = 0;
	if (word && strchr(word->text, '%') != NULL)
		return wrong(p, "rate",
		             "a rate; a share of the device's speed has no meaning here: write "
		             "it out, like 10mbit");
	if (!word || !netem_unit_rate(word->text, &netem->rate_bps))
		return wrong(p, "rate",
		             "a rate as in tc, like 10mbit, 5kbit, 1mbps (bytes) or 1000");
	p->at++;
	if (number_follows(p, true) &&
	    take_whole(p, "the packet overhead", INT32_MIN, &netem->overhead) != 0)
		return -EINVAL;
	if (number_follows(p, false) && take_whole(p, "the cell size", 0, &netem->cell_bytes) != 0)
		return -EINVAL;
	if (number_follows(p, true))
		return take_whole(p, "the cell overhead", INT32_MIN, &netem->cell_overhead);
	return 0;
}

/* Passes the next word and returns true if it is `what`, or an abbreviation of it. */
static bool short_word(struct netem_parser *p, const char *what)
{
	const struct word *word = here(p);

	if (!word || word->text[0] == 0 || strncmp(what, word->text, strlen(word->text)) != 0)
		return false;
	p->at++;
	return true;
}

static int take_slot_times(struct netem_parser *p)
{
	struct netem *netem = p->netem;
	const struct word *word = here(p);

	netem->slot_distribution = NULL;
	if (word && strcmp(word->text, "distribution") == 0) {
		p->at++;
		if (take_name(p, &netem->slot_distribution) != 0 ||
		    take_time(p, "the slot's delay", 1, &netem->slot_min_ns) != 0)
			return -EINVAL;
		return take_time(p, "the slot's jitter", 1, &netem->slot_max_ns);
	}
	if (!number_follows(p, false))
		return wrong(p, "slot", "a time, or `distribution`, a name and two times");
	if (take_time(p, "slot", 1, &netem->slot_min_ns) != 0)
		return -EINVAL;
	netem->slot_max_ns = netem->slot_min_ns;
	if (!number_follows(p, false))
		return 0;
	if (take_time(p, "the slot's maximum", 1, &netem->slot_max_ns) != 0)
		return -EINVAL;
	if (netem->slot_max_ns >= netem->slot_min_ns)
		return 0;
	p->at--;
	return wrong(p, "the slot's maximum", "at least its minimum");
}

static int parse_slot(struct netem_parser *p)
{
	struct netem *netem = p->netem;

	netem->slot_packets = netem->slot_bytes = 0;
	if (take_slot_times(p) != 0)
		return -EINVAL;
	if (short_word(p, "packets") && take_whole(p, "packets", 0, &netem->slot_packets) != 0)
		return -EINVAL;
	if (short_word(p, "bytes"))
		return take_size(p, "bytes", &netem->slot_bytes);
	return 0;
}

static int parse_seed(struct netem_parser *p)
{
	const struct word *word = here(p);
	char *end = NULL;

	errno = 0;
	if (word && isdigit((unsigned char)word->text[0]))
		p->netem->seed = strtoull(word->text, &end, 0);
	if (!end || *end != 0 || errno != 0)
		return wrong(p, "seed", "a whole number, 0 to 2^64-1");
	p->at++;
	return 0;
}

/* In the order in which tc compares them, ended by NULL. */
static const struct netem_parameter netem_parameters[] = {
#define AT(member) offsetof(struct netem, member)
        {"limit", AT(limit_column), parse_limit},
        {"latency", AT(delay_column), parse_delay},
        {"delay", AT(delay_column), parse_delay},
        {"loss", AT(loss_column), parse_loss},
        {"drop", AT(loss_column), parse_loss},
        {"ecn", AT(ecn_column), NULL},
        {"reorder", AT(reorder), parse_share},
        {"corrupt", AT(corrupt), parse_share},
        {"gap", AT(gap_column), parse_gap},
        {"duplicate", AT(duplicate), parse_share},
        {"distribution", AT(distribution_column), parse_distribution},
        {"rate", AT(rate_column), parse_rate},
        {"slot", AT(slot_column), parse_slot},
        {"seed", AT(seed_column), parse_seed},
        {NULL, 0, NULL},
#undef AT
};

const char *const netem_words[] = {
        "limit",   "delay", "distribution", "loss", "ecn",  "corrupt", "duplicate",
        "reorder", "gap",   "rate",         "slot", "seed", NULL};

void netem_explain(FILE *out)
{
	fputs("cloud NAME netem LINE\n"
	      "cloud NAME netem-exact LINE\n"
	      "  a line as given to tc qdisc ... netem; `exact` keeps netem's recurrence\n"
	      "\n  limit PACKETS\n"
	      "  delay TIME [JITTER [CORRELATION]] [distribution NAME]\n"
	      "  loss [random] PERCENT [CORRELATION] [ecn]\n"
	      "  loss state P13 [P31 [P32 [P23 [P14]]]] [ecn]\n"
	      "  loss gemodel P [R [1-H [1-K]]] [ecn]\n"
	      "  corrupt PERCENT [CORRELATION]\n"
	      "  duplicate PERCENT [CORRELATION]\n"
	      "  reorder PERCENT [CORRELATION] [gap DISTANCE]\n"
	      "  rate RATE [PACKETOVERHEAD [CELLSIZE [CELLOVERHEAD]]]\n"
	      "  slot MIN [MAX] [packets N] [bytes N]\n"
	      "  slot distribution NAME DELAY JITTER [packets N] [bytes N]\n"
	      "  seed N\n",
	      out);
}

/* Returns the parameter that another tool's word means, such as `bandwidth`; NULL if there is
 * none. */
static const char *foreign(const char *word)
{
	const struct foreign_word *row = foreign_word_find(FOREIGN_STATEMENT, word);

	for (size_t i = 0; row && netem_parameters[i].name; i++) {
		if (strcmp(netem_parameters[i].name, row->write) == 0)
			return row->write;
	}
	return NULL;
}

static int unknown(struct netem_parser *p)
{
	const struct word *word = &p->words->word[p->at];
	const char *meant = foreign(word->text);
	struct nearest nearest;
	struct listing listing;

	nearest_start(&nearest, word->text);
	listing_start(&listing, "and");
	for (size_t i = 0; netem_parameters[i].name; i++) {
		nearest_try(&nearest, netem_parameters[i].name);
		listing_add(&listing, netem_parameters[i].name);
	}
	p->error->column = word->column;
	if (meant || nearest.best)
		return language_error_set(p->error, ERROR_UNKNOWN_WORD,
		                          "netem does not know `%.*s`; did you mean `%s`?",
		                          SHOWN(word->text), meant ? meant : nearest.best);
	return language_error_set(p->error, ERROR_UNKNOWN_WORD,
	                          "netem does not know `%.*s`; it knows %s", SHOWN(word->text),
	                          listing_end(&listing));
}

static int contradiction(struct netem_parser *p, uint32_t column, const char *text)
{
	return language_error_at(p->error, column, ERROR_CONFLICT, "%s", text);
}

/* Checks what tc refuses in a line as a whole, and what could have no effect. */
static int check(struct netem_parser *p)
{
	const struct netem *netem = p->netem;

	if (netem->reorder.share > 0 && netem->delay_ns == 0)
		return contradiction(p, netem->reorder.column,
		                     "packets that are sent at once overtake those that are "
		                     "delayed: a reorder needs a delay, like `delay 10ms`");
	if (netem->gap > 0 && netem->reorder.share == 0)
		return contradiction(p, netem->gap_column,
		                     "a gap lies between packets that are reordered: add `reorder` "
		                     "and a percentage");
	if (netem->ecn_column &&
	    (netem->loss_model == NETEM_LOSS_NONE ||
	     (netem->loss_model == NETEM_LOSS_RANDOM && netem->loss.share == 0)))
		return contradiction(
		        p, netem->ecn_column,
		        "ecn marks packets that a loss has chosen: add `loss` and a percentage");
	if (netem->distribution && (netem->delay_ns == 0 || netem->jitter_ns == 0))
		return contradiction(p, netem->distribution_column,
		                     "a distribution needs a delay and a jitter, like `delay 40ms "
		                     "5ms`");
	if (netem->slot_distribution && netem->slot_max_ns == 0)
		return contradiction(p, netem->slot_column,
		                     "the jitter of slots with a distribution must be more than 0");
	return 0;
}

int netem_parse(const struct words *words, uint32_t at, struct netem *netem,
                struct language_error *error)
{
	struct netem_parser p = {.words = words, .at = at, .netem = netem, .error = error};

	memset(netem, 0, sizeof(*netem));
	while (p.at < words->n) {
		const struct word *word = &words->word[p.at];

		p.parameter = netem_parameters;
		while (p.parameter->name &&
		       (word->text[0] == 0 ||
		        strncmp(p.parameter->name, word->text, strlen(word->text)) != 0))
			p.parameter++;
		if (!p.parameter->name)
			return unknown(&p);
		p.at++;
		memcpy((char *)netem + p.parameter->column, &word->column, sizeof(word->column));
		if (p.parameter->parse && p.parameter->parse(&p) != 0)
			return -EINVAL;
	}
	return check(&p);
}
