/* SPDX-License-Identifier: BSD-3-Clause */
#include "netem/netem.h"

#include <errno.h>
#include <string.h>

#include "netem/netem_parameter.h"
#include "text/foreign_word.h"
#include "text/nearest.h"

#define SHOWN(text) language_error_shown(text), text

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
	p->error->column = column;
	return language_error_set(p->error, ERROR_CONFLICT, "%s", text);
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
		size_t i = 0;

		while (netem_parameters[i].name &&
		       (word->text[0] == 0 ||
		        strncmp(netem_parameters[i].name, word->text, strlen(word->text)) != 0))
			i++;
		if (!netem_parameters[i].name)
			return unknown(&p);
		p.at++;
		if (netem_parameters[i].parse(&p, word->column) != 0)
			return -EINVAL;
	}
	return check(&p);
}
