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

/* Parses the part of a line from word `at` to part->n, as the next of a list. */
typedef int part_take(void *list, const struct words *part, uint32_t at,
                      struct language_error *error);

/* Parses the words from `at` on, in parts with a separator between. The texts of a part belong to
 * `words`. */
static int parse_parts(const struct words *words, uint32_t at, const char *separator,
                       part_take *take, void *list, struct language_error *error)
{
	struct words *part = malloc(sizeof(*part));
	int result = 0;

	if (part == NULL)
		return language_error_set(error, ERROR_NO_MEMORY, "no memory for a line");
	for (uint32_t end = at; result == 0 && at <= words->n; at = ++end) {
		while (end < words->n && !words_is(words, end, separator))
			end++;
		memcpy(part, words, sizeof(*part));
		part->n = end;
		if (end < words->n)
			part->end_column = words->word[end].column;
		result = take(list, part, at, error);
	}
	free(part);
	return result;
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

static int take_order(void *list, const struct words *part, uint32_t at,
                      struct language_error *error)
{
	struct orders *orders = list;
	struct order *order = &orders->order[orders->n];
	int result;

	if (orders->n == ORDERS_MAX)
		return language_error_at(error, words_column(part, at), ERROR_TOO_LONG,
		                         "at most %d statements change at once", ORDERS_MAX);
	result = parse_order(part, at, order, error);
	for (uint32_t i = 0; i < orders->n && result == 0; i++) {
		if (strcmp(orders->order[i].name, order->name) != 0)
			continue;
		conf_free(order->conf);
		result = language_error_at(error, part->word[at].column, ERROR_DUPLICATE_WORD,
		                           "`%s` was given already; give it once", order->name);
	}
	orders->n += result == 0;
	return result;
}

int orders_parse(const struct words *words, uint32_t at, struct orders *orders,
                 struct language_error *error)
{
	int result;

	*orders = (struct orders){.order = calloc(ORDERS_MAX, sizeof(*orders->order))};
	if (orders->order == NULL)
		return language_error_set(error, ERROR_NO_MEMORY, "no memory for a statement");
	result = parse_parts(words, at, "and", take_order, orders, error);
	if (result != 0)
		orders_clear(orders);
	return result;
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

static int take_state(void *list, const struct words *part, uint32_t at,
                      struct language_error *error)
{
	struct states *states = list;
	struct state *state = &states->state[states->n];
	int result = 0;

	if (states->n == STATES_MAX)
		return language_error_at(error, words_column(part, at), ERROR_TOO_LONG,
		                         "there are at most %d states", STATES_MAX);
	if (parse_name(part, at, state->name, error) != 0 ||
	    parse_mean(part, at + 1, state, error) != 0)
		return -EINVAL;
	at += 2;
	if (words_is(part, at, "to")) {
		at++;
		if (parse_to(part, &at, state, error) != 0)
			return -EINVAL;
	}
	if (at < part->n)
		result = orders_parse(part, at, &state->orders, error);
	states->n += result == 0;
	return result;
}

int states_parse(const struct words *words, uint32_t at, struct states *states,
                 struct language_error *error)
{
	int result;

	*states = (struct states){.state = calloc(STATES_MAX, sizeof(*states->state))};
	if (states->state == NULL)
		return language_error_set(error, ERROR_NO_MEMORY, "no memory for a state");
	result = parse_parts(words, at, "then", take_state, states, error);
	if (result != 0)
		states_clear(states);
	return result;
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
