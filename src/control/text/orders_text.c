/* SPDX-License-Identifier: BSD-3-Clause */
#include "text/orders_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "scenario/scenario.h"
#include "statements.h"
#include "text/foreign_word.h"
#include "text/language_error.h"
#include "text/statement_text.h"
#include "text/value.h"

/* Returns the place of the next separator from `at` on, or the end of the words. */
static uint32_t part_end(const struct words *words, uint32_t at, const char *separator)
{
	while (at < words->n && !words_is(words, at, separator))
		at++;
	return at;
}

/* Returns a copy of the words that ends before word `end`, or NULL with error if there is no
 * memory. The texts still belong to `words`. */
static struct words *words_until(const struct words *words, uint32_t end,
                                 struct language_error *error)
{
	struct words *part = malloc(sizeof(*part));

	if (part == NULL) {
		language_error_set(error, ERROR_NO_MEMORY, "no memory for a line");
		return NULL;
	}
	memcpy(part, words, sizeof(*part));
	part->n = end;
	if (end < words->n)
		part->end_column = words->word[end].column;
	return part;
}

/* ---- orders ---- */

bool orders_can_change(const struct statement *row)
{
	return row->role != ROLE_SCHEDULE && row->role != ROLE_CLOUD && row->role != ROLE_CLASS &&
	       !row->generates;
}

/* Finds the row of the statement that words[at] names, and checks that it can be scheduled. */
static int find_row(const struct words *words, uint32_t at, const struct statement **row,
                    struct language_error *error)
{
	const struct word *word = at < words->n ? &words->word[at] : NULL;
	struct nearest nearest;

	error->column = words_column(words, at);
	if (word == NULL)
		return language_error_set(error, ERROR_MISSING_WORD,
		                          "the line ends too early; what must follow is a "
		                          "statement, like `rate 5mbit` or `no loss`");
	*row = word->quoted ? NULL : statement_named(word->text);
	if (*row != NULL && orders_can_change(*row))
		return 0;
	if (*row != NULL && (*row)->role == ROLE_SCHEDULE)
		return language_error_set(error, ERROR_UNKNOWN_WORD,
		                          "`%s` is a schedule, and cannot be scheduled itself; "
		                          "give it a line of its own",
		                          word->text);
	if (*row != NULL && (*row)->role == ROLE_CLASS)
		return language_error_set(error, ERROR_UNKNOWN_WORD,
		                          "`%s` says which queues the link has, and cannot change "
		                          "with time; what can change is the link they share, like "
		                          "`rate 5mbit`, or the whole path, like `delay 50ms`",
		                          word->text);
	if (*row != NULL && (*row)->generates)
		return language_error_set(
		        error, ERROR_UNKNOWN_WORD,
		        "`%s` makes packets of its own, which need their path from the beginning, "
		        "and cannot change with time; give it a line of its own",
		        word->text);
	if (*row != NULL)
		return language_error_set(error, ERROR_UNKNOWN_WORD,
		                          "`%s` belongs to the cloud itself and cannot change "
		                          "with time",
		                          word->text);
	if (!word->quoted && foreign_word_refused(foreign_word_find(FOREIGN_STATEMENT, word->text),
	                                          word->text, words_text(words, at + 1), "", error))
		return -EINVAL;
	nearest_start(&nearest, word->text);
	for (const struct statement *const *other = statements; *other; other++) {
		if (orders_can_change(*other))
			nearest_try(&nearest, (*other)->name);
	}
	if (!word->quoted && nearest_suggest(&nearest, error))
		return -EINVAL;
	return language_error_set(error, ERROR_UNKNOWN_WORD,
	                          "`%.*s` is not a statement; a statement is expected here, like "
	                          "`rate 5mbit` or `no loss`",
	                          SHOWN(word->text));
}

/* Parses one order: the words from `at` to part->n. */
static int parse_order(const struct words *part, uint32_t at, struct order *order,
                       struct language_error *error)
{
	bool no = words_is(part, at, "no"), off = statement_is_off(part, at);
	const struct statement *row = NULL;

	if (find_row(part, at + no, &row, error) != 0)
		return -EINVAL;
	order->name = row->clears != NULL ? row->clears : row->name;
	order->role = row->role;
	order->conf = NULL;
	if (!no && !off && row->clears == NULL)
		return statement_parse(part, at, &order->conf, error);
	if (at + no + 1 == part->n || (off && !no))
		return 0;
	return language_error_at(error, part->word[at + no + 1].column, ERROR_EXTRA_WORD,
	                         "`%.*s` is too much; `%s` ends before it",
	                         SHOWN(part->word[at + no + 1].text), part->word[at + no].text);
}

static int add_order(struct orders *orders, const struct words *words, uint32_t at, uint32_t end,
                     struct language_error *error)
{
	struct order *order = &orders->order[orders->n];
	struct words *part = words_until(words, end, error);
	int result;

	if (part == NULL)
		return -ENOMEM;
	result = parse_order(part, at, order, error);
	free(part);
	if (result != 0)
		return result;
	for (uint32_t i = 0; i < orders->n; i++) {
		if (strcmp(orders->order[i].name, order->name) != 0)
			continue;
		conf_free(order->conf);
		return language_error_at(error, words->word[at].column, ERROR_DUPLICATE_WORD,
		                         "`%s` was given already; give it once", order->name);
	}
	orders->n++;
	return 0;
}

int orders_parse(const struct words *words, uint32_t at, struct orders *orders,
                 struct language_error *error)
{
	uint32_t end;
	int result;

	*orders = (struct orders){0};
	orders->order = calloc(ORDERS_MAX, sizeof(*orders->order));
	if (orders->order == NULL)
		return language_error_set(error, ERROR_NO_MEMORY, "no memory for a statement");
	for (;; at = end + 1) {
		end = part_end(words, at, "and");
		if (orders->n == ORDERS_MAX) {
			error->column = words_column(words, at);
			result = language_error_set(error, ERROR_TOO_LONG,
			                            "at most %d statements change at once",
			                            ORDERS_MAX);
		} else {
			result = add_order(orders, words, at, end, error);
		}
		if (result != 0) {
			orders_clear(orders);
			return result;
		}
		if (end == words->n)
			return 0;
	}
}

void orders_print(FILE *out, const struct orders *orders)
{
	for (uint32_t i = 0; i < orders->n; i++) {
		const struct order *order = &orders->order[i];
		const struct statement *clearer = NULL;

		fputs(i == 0 ? "" : " and ", out);
		for (const struct statement *const *row = statements; *row; row++) {
			if ((*row)->clears != NULL && strcmp((*row)->clears, order->name) == 0)
				clearer = *row;
		}
		if (order->conf != NULL)
			statement_print(out, order->conf);
		else
			fprintf(out, "%s%s", clearer ? "" : "no ",
			        clearer ? clearer->name : order->name);
	}
}

/* ---- states ---- */

static int parse_name(const struct words *words, uint32_t at, char name[STATE_NAME_BYTES],
                      struct language_error *error)
{
	error->column = words_column(words, at);
	if (at >= words->n)
		return language_error_set(error, ERROR_MISSING_WORD,
		                          "the line ends too early; what must follow is a state: "
		                          "its name, how long it lasts on average, and what is in "
		                          "force in it, like: bad 500ms rate 1mbit");
	if (!word_is_name(words->word[at].text))
		return language_error_set(error, ERROR_BAD_NAME,
		                          "`%.*s` cannot be the name of a state; a name is 1 to "
		                          "%d letters, digits, `-`, `_` and `.`",
		                          SHOWN(words->word[at].text), STATE_NAME_BYTES - 1);
	strcpy(name, words->word[at].text);
	return 0;
}

static int parse_mean(const struct words *words, uint32_t at, struct state *state,
                      struct language_error *error)
{
	static const struct field mean = {.name = "the mean time in a state",
	                                  .type = FIELD_TIME,
	                                  .min = STATE_MEAN_MIN_NS,
	                                  .max = DELAY_MAX_NS};

	error->column = words_column(words, at);
	if (at >= words->n)
		return language_error_set(error, ERROR_MISSING_WORD,
		                          "state `%s` needs how long it lasts on average: a time, "
		                          "like 500ms",
		                          state->name);
	return value_parse(&mean, words->word[at].text, &state->mean_ns, error);
}

/* Parses `to NAME P NAME P...`, as long as the second word of a pair is a number. */
static int parse_to(const struct words *words, uint32_t *at, struct state *state,
                    struct language_error *error)
{
	static const struct field share = {.name = "the probability of a state",
	                                   .type = FIELD_PROBABILITY,
	                                   .max = PROBABILITY_ONE};

	do {
		const char *text = *at + 1 < words->n ? words->word[*at + 1].text : "";

		if (parse_name(words, *at, state->to[state->n_to].name, error) != 0)
			return -EINVAL;
		error->column = words_column(words, *at + 1);
		if (*text == 0)
			return language_error_set(
			        error, ERROR_MISSING_WORD,
			        "`%s` needs the probability with which state `%s` "
			        "leads there, like 90%%",
			        state->to[state->n_to].name, state->name);
		if (value_parse(&share, text, &state->to[state->n_to].share, error) != 0)
			return -EINVAL;
		state->n_to++;
		*at += 2;
	} while (state->n_to < STATES_MAX && *at + 1 < words->n && !words->word[*at + 1].quoted &&
	         strchr("0123456789.", words->word[*at + 1].text[0]) != NULL &&
	         (words->word[*at].quoted || statement_named(words->word[*at].text) == NULL));
	return 0;
}

static int parse_state(const struct words *part, uint32_t at, struct state *state,
                       struct language_error *error)
{
	if (parse_name(part, at, state->name, error) != 0 ||
	    parse_mean(part, at + 1, state, error) != 0)
		return -EINVAL;
	at += 2;
	if (words_is(part, at, "to")) {
		at++;
		if (parse_to(part, &at, state, error) != 0)
			return -EINVAL;
	}
	return at < part->n ? orders_parse(part, at, &state->orders, error) : 0;
}

static int add_state(struct states *states, const struct words *words, uint32_t at, uint32_t end,
                     struct language_error *error)
{
	struct words *part = words_until(words, end, error);
	int result;

	if (part == NULL)
		return -ENOMEM;
	result = parse_state(part, at, &states->state[states->n], error);
	free(part);
	states->n += result == 0;
	return result;
}

int states_parse(const struct words *words, uint32_t at, struct states *states,
                 struct language_error *error)
{
	uint32_t end;
	int result;

	*states = (struct states){0};
	states->state = calloc(STATES_MAX, sizeof(*states->state));
	if (states->state == NULL)
		return language_error_set(error, ERROR_NO_MEMORY, "no memory for a state");
	for (;; at = end + 1) {
		end = part_end(words, at, "then");
		if (states->n == STATES_MAX) {
			error->column = words_column(words, at);
			result = language_error_set(error, ERROR_TOO_LONG,
			                            "there are at most %d states", STATES_MAX);
		} else {
			result = add_state(states, words, at, end, error);
		}
		if (result != 0) {
			states_clear(states);
			return result;
		}
		if (end == words->n)
			return 0;
	}
}

/* Prints the name of a state, quoted if the parser would take it for `then` or a statement. */
static void print_name(FILE *out, const char *name)
{
	word_print(out, name, strcmp(name, "then") == 0 || statement_named(name) != NULL);
}

void states_print(FILE *out, const struct states *states)
{
	char text[48];

	for (uint32_t i = 0; i < states->n; i++) {
		const struct state *state = &states->state[i];

		value_print_number(FIELD_TIME, state->mean_ns, text, sizeof(text));
		fputs(i == 0 ? "" : " then ", out);
		print_name(out, state->name);
		fprintf(out, " %s%s", text, state->n_to ? " to" : "");
		for (uint32_t k = 0; k < state->n_to; k++) {
			value_print_number(FIELD_PROBABILITY, state->to[k].share, text,
			                   sizeof(text));
			fputc(' ', out);
			print_name(out, state->to[k].name);
			fprintf(out, " %s", text);
		}
		fputs(state->orders.n ? " " : "", out);
		orders_print(out, &state->orders);
	}
}
