/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of statements itself: the properties of every row that the language relies on. Whoever
 * adds a row learns here what is wrong with it.
 */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "language/scenario_file.h"
#include "random/draw.h"
#include "rig.h"
#include "runner/group.h"
#include "scenario/scenario.h"
#include "schedule_rig.h"
#include "statements.h"
#include "text/statement_text.h"
#include "text/value.h"

/* The value of every field that names a file. */
static char file_path[] = "/tmp/weir-test-statements-XXXXXX";

static int make_file(void **state)
{
	int file = mkstemp(file_path);

	if (rig_group_setup(state) != 0)
		return -1;
	return file < 0 || write(file, "1\n", 2) != 2 || close(file) != 0 ? -1 : 0;
}

static int remove_file(void **state)
{
	return rig_group_teardown(state) | unlink(file_path);
}

static bool is_positional(const struct field *field)
{
	return field->flags & FIELD_POSITIONAL;
}

static bool is_word(const char *text)
{
	return text[0] != 0 &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(text);
}

static void names_are_words_in_lower_case(void **state)
{
	(void)state;
	for (const struct statement *const *row = statements; *row; row++) {
		assert_true(is_word((*row)->name));
		assert_true((*row)->variant == NULL || is_word((*row)->variant));
		assert_string_not_equal((*row)->name, "from");
		assert_non_null((*row)->help);
		for (const struct field *field = (*row)->fields; field->name; field++) {
			assert_true(is_word(field->name));
			assert_non_null(field->help);
			assert_true(field->help[strlen(field->help) - 1] != '.');
		}
	}
}

static void each_row_is_found_by_its_name_and_variant(void **state)
{
	(void)state;
	for (const struct statement *const *row = statements; *row; row++)
		assert_ptr_equal(statement_find((*row)->name, (*row)->variant), *row);
}

/* If there are a row without a variant and rows with one, the first value of the former must not
 * read like a variant. */
static void variants_are_not_mistaken_for_fields(void **state)
{
	(void)state;
	for (const struct statement *const *row = statements; *row; row++) {
		for (const struct statement *const *other = statements; *other; other++) {
			if ((*row)->variant != NULL || (*other)->variant == NULL ||
			    strcmp((*row)->name, (*other)->name) != 0)
				continue;
			for (const struct field *field = (*row)->fields; field->name; field++)
				assert_string_not_equal(field->name, (*other)->variant);
		}
	}
}

static void fields_follow_the_rules_of_the_parser(void **state)
{
	(void)state;
	for (const struct statement *const *row = statements; *row; row++) {
		bool optional = false, rest = false;
		size_t n = 0;

		for (const struct field *field = (*row)->fields; field->name; field++, n++) {
			/* nothing may follow the rest of the line, not even a keyword */
			assert_false(rest);
			rest = field->flags & FIELD_REST;
			assert_true(!rest || field->type == FIELD_TEXT ||
			            (is_positional(field) && statement_is_inner(field)));
			assert_true(rest || !statement_is_inner(field));
			/* a flag is its name; a value that may be left out comes last */
			assert_true(!is_positional(field) || field->type != FIELD_FLAG);
			if (is_positional(field)) {
				assert_false(optional && field->flags & FIELD_REQUIRED);
				optional |= !(field->flags & FIELD_REQUIRED);
			}
			assert_true(field->offset >= sizeof(struct conf));
			assert_true(field->offset < (*row)->conf_bytes);
			assert_true(field->max == 0 || field->min <= field->max);
			assert_true((field->type == FIELD_WORD || field->type == FIELD_WORDS) ==
			            (field->words != NULL));
		}
		assert_true(n <= 64); /* bits of conf.given */
	}
}

/* The text of a default is what a user would type for it, in figures that a person would write. */
static void expect_round(const struct statement *row, const struct field *field, uint64_t value)
{
	bool span = field->type == FIELD_RATES || field->type == FIELD_TIMES ||
	            field->type == FIELD_PROBABILITIES;
	enum field_type type = span ? value_span_of(field->type) : field->type;
	const struct field alone = {.name = field->name, .type = type, .offset = 0};
	struct language_error error;
	uint64_t again = 0;
	char text[48];
	size_t figures = 0;

	if (type != FIELD_TIME && type != FIELD_RATE && type != FIELD_BYTES &&
	    type != FIELD_PROBABILITY && type != FIELD_COUNT && type != FIELD_FACTOR)
		return;
	value_print_number(type, value, text, sizeof(text));
	if (value_parse(&alone, text, &again, &error) != 0)
		fail_msg("%s %s: %s: %s", row->name, field->name, text, error.text);
	if (again != value)
		fail_msg("%s %s: %s is another value", row->name, field->name, text);
	for (const char *at = text + strspn(text, "0."); *at && *at != 'e'; at++)
		figures += *at >= '0' && *at <= '9';
	if (type == FIELD_PROBABILITY && figures > 3)
		fail_msg("%s %s: %s is no round figure: PROBABILITY_OF (draw.h) gives one",
		         row->name, field->name, text);
}

static void defaults_and_bounds_are_what_their_texts_say(void **state)
{
	(void)state;
	for (const struct statement *const *row = statements; *row; row++) {
		for (const struct field *field = (*row)->fields; field->name; field++) {
			expect_round(*row, field, field->initial);
			expect_round(*row, field, field->min);
			expect_round(*row, field, field->max);
		}
	}
}

static int parsed(const char *text)
{
	struct language_error error = {.text = ""};
	struct words *words = malloc(sizeof(*words));
	struct conf *conf = NULL;
	int result;

	assert_non_null(words);
	assert_int_equal(words_split(text, words, &error), 0);
	result = statement_parse(words, 0, &conf, &error);
	if (result == 0)
		conf_free(conf);
	free(words);
	return result;
}

/* Table 1 and section 3.1 of Nakauchi and Kobayashi: its ranges are covered to their ends, within
 * weir's limits. */
static void the_ranges_of_the_ixp2400_emulator_are_those_of_the_language(void **state)
{
	static const struct {
		const char *text;
		int result;
	} rows[] = {
	        {"loss every 1", 0},
	        {"loss every 1073741824", 0},
	        {"loss every 1073741825", -EINVAL},
	        {"loss every 1 burst 2147483647", 0},
	        {"loss every 1 burst 2147483648", -EINVAL},
	        {"duplicate every 1", 0},
	        {"duplicate every 2147483647", 0},
	        {"duplicate every 2147483648", -EINVAL},
	        {"reorder every 1", 0},
	        {"reorder every 2147483647", 0},
	        {"reorder every 2147483648", -EINVAL},
	        {"delay 1us", 0},
	        {"delay 500001us", 0},
	        {"delay 100ms jitter 1us distribution normal", 0},
	        {"rate 1gbit algorithm leaky-bucket", 0},
	        {"rate 1gbit algorithm token-bucket burst 8kB", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (parsed(rows[i].text) != rows[i].result)
			fail_msg("%s: %s", rows[i].text, rows[i].result ? "accepted" : "refused");
}

/* If a value may be left out, a word that is a value must not be a keyword of the same
 * statement. */
static void words_are_not_keywords(void **state)
{
	(void)state;
	for (const struct statement *const *row = statements; *row; row++) {
		for (const struct field *field = (*row)->fields; field->name; field++) {
			if (field->type != FIELD_WORD || !is_positional(field))
				continue;
			for (uint32_t i = 0; field->words[i] != NULL; i++) {
				const struct word word = {.text = field->words[i]};

				assert_null(statement_keyword((*row)->fields, &word));
			}
		}
	}
}

/* Prints a random value of the field: least, greatest, or in between. */
static void print_some_value(FILE *out, const struct field *field, uint64_t draw)
{
	static const char *const limits[] = {"1pkt", "15kB", "50ms", "64KiB"};
	static const char *const orders[] = {"rate 5mbit", "no loss and delay 5ms order allow",
	                                     "down", "up and rewrite 3 set ip.ttl 7"};
	static const char *const states[] = {
	        "good 10s then bad 500ms rate 1mbit and loss random 2%", "a 1ms then b 1ms down",
	        "a 1s to b 90% c 10% then b 1s no loss then c 1s to a 100% rate 1mbit"};
	static const char *const ratios[] = {"1e-18", "0.1%", "100%", "0"};
	uint64_t max = field->max ? field->max : UINT64_MAX, value;
	uint32_t words = 0;
	char text[48];

	switch (field->type) {
	case FIELD_WORD:
		while (field->words[words] != NULL)
			words++;
		fputs(field->words[draw % words], out);
		return;
	case FIELD_SWITCH:
		fputs(draw & 1 ? "on" : "off", out);
		return;
	case FIELD_LIMIT:
		fputs(limits[draw % 4], out);
		return;
	case FIELD_IPV4:
		fputs("192.0.2.1", out);
		return;
	case FIELD_IPV6:
		fputs("2001:db8::1", out);
		return;
	case FIELD_TEXT:
		fputs(draw & 1 ? "file" : "\"my file\"", out);
		return;
	case FIELD_RATIO:
		fputs(ratios[draw % 4], out);
		return;
	case FIELD_RANGE:
		fprintf(out, "%" PRIu64 "..%" PRIu64, field->min, field->min + draw % 8);
		return;
	case FIELD_NUMBERS:
		fprintf(out, "%" PRIu64 ",%" PRIu64, field->min, field->min + 1 + draw % 8);
		return;
	case FIELD_WORDS:
		while (field->words[words] != NULL)
			words++;
		fprintf(out, "%s,%s", field->words[0], field->words[words - 1]);
		return;
	case FIELD_FILE:
		fputs(file_path, out);
		return;
	case FIELD_RATES:
		fputs(draw & 1 ? "5mbit..20mbit" : "20mbit..5mbit", out);
		return;
	case FIELD_TIMES:
		fputs("10ms..80ms", out);
		return;
	case FIELD_PROBABILITIES:
		fputs("0%..5%", out);
		return;
	case FIELD_ORDERS:
		fputs(orders[draw % 4], out);
		return;
	case FIELD_STATES:
		fputs(states[draw % 3], out);
		return;
	default:
		break;
	}
	if (field->type == FIELD_PROBABILITY && max > PROBABILITY_ONE)
		max = PROBABILITY_ONE;
	value = draw >> (draw & 63);
	if (value > max)
		value = max;
	if (value < field->min)
		value = field->min;
	value_print_number(field->type, value, text, sizeof(text));
	fputs(text, out);
}

/* `distribution table FILE`: a word that is the name of the next field is already its keyword. */
static bool says(FILE *out, char **line, const char *keyword)
{
	const char *word;

	fflush(out);
	word = strrchr(*line, ' ');
	return word && strcmp(word + 1, keyword) == 0;
}

/* Returns a line with all required fields and some of the others. */
static char *some_line(const struct statement *statement, struct draw_key key, uint64_t round)
{
	char *line = NULL;
	size_t bytes;
	FILE *out = open_memstream(&line, &bytes);
	uint32_t lane = 0;
	bool skipped = false;

	assert_non_null(out);
	fprintf(out, "%s%s%s%s", statement->name, statement->variant ? " " : "",
	        statement->variant ? statement->variant : "", statement->scoped ? " voice" : "");
	for (int keywords = 0; keywords < 2; keywords++) {
		for (const struct field *field = statement->fields; field->name; field++) {
			uint64_t draw = draw_u64(key, round, lane++);
			bool said = says(out, &line, field->name);

			if ((is_positional(field) && !statement_is_inner(field)) == keywords)
				continue;
			if (!said && !(field->flags & FIELD_REQUIRED) &&
			    (draw >> 63 || (is_positional(field) && skipped))) {
				skipped |= is_positional(field);
				continue;
			}
			if (!is_positional(field) && !said)
				fprintf(out, " %s", field->name);
			if (field->type != FIELD_FLAG) {
				fputc(' ', out);
				print_some_value(out, field, draw_u64(key, round, lane++));
			}
		}
	}
	fclose(out);
	return line;
}

static char *print_again(const struct conf *conf)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	statement_print(out, conf);
	fclose(out);
	return text;
}

/* 500 lines of every statement, with a fixed seed. */
static void every_statement_prints_what_it_parsed(void **state)
{
	static struct words words;

	(void)state;
	for (const struct statement *const *row = statements; *row; row++) {
		struct draw_key key = draw_key_make(1, (*row)->name, (*row)->variant ?: "");

		for (uint64_t round = 0; round < 500; round++) {
			char *line = some_line(*row, key, round), *text, *again;
			struct language_error error = {.text = ""};
			struct conf *conf, *copy;

			assert_int_equal(words_split(line, &words, &error), 0);
			if (statement_parse(&words, 0, &conf, &error) != 0)
				fail_msg("%s: %s", line, error.text);
			text = print_again(conf);
			assert_int_equal(words_split(text, &words, &error), 0);
			assert_int_equal(statement_parse(&words, 0, &copy, &error), 0);
			assert_true(conf_equal(conf, copy));
			assert_int_equal(conf->given, copy->given);
			again = print_again(copy);
			assert_string_equal(again, text);
			conf_free(conf);
			conf_free(copy);
			free(line);
			free(text);
			free(again);
		}
	}
}

/* Such a name is in quotes; without them, the line means something else, or nothing. */
static void a_state_may_have_a_name_that_is_a_word_of_the_language(void **state)
{
	static const char *const lines[] = {
	        "markov \"then\" 10s to b 100% then b 1s to \"then\" 100% down",
	        "markov \"loss\" 10s to b 50% \"delay\" 50% then b 1s then \"delay\" 2s down",
	};
	static struct words words;

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct language_error error = {.text = ""};
		char *text, *again;
		struct conf *conf, *copy;

		assert_int_equal(words_split(lines[i], &words, &error), 0);
		if (statement_parse(&words, 0, &conf, &error) != 0)
			fail_msg("%s: %s", lines[i], error.text);
		text = print_again(conf);
		assert_int_equal(words_split(text, &words, &error), 0);
		if (statement_parse(&words, 0, &copy, &error) != 0)
			fail_msg("%s: %s", text, error.text);
		assert_true(conf_equal(conf, copy));
		again = print_again(copy);
		assert_string_equal(again, text);
		conf_free(conf);
		conf_free(copy);
		free(text);
		free(again);
	}
}

/* Returns the offset from which on the example of a stage leaves all frames unchanged. A frame
 * whose number was overwritten says nothing. */
static uint32_t writes_up_to(const struct statement *row)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 7, .hosts = 4});
	char words[160];
	uint32_t up_to = 0;

	rig_cloud(rig, "x", 0, 1);
	snprintf(words, sizeof(words), "%s %s", row->name, row->example);
	schedule_set(rig, words);
	rig_apply(rig, 0);
	for (simtime t = 0; t < 5000; t++) {
		rig_send(rig, 0, 400, t);
		rig_advance(rig, t);
	}
	rig_run_out(rig);
	for (uint32_t i = 0; i < rig->n_departures; i++) {
		const struct departure *departure = &rig->departures[i];

		if (departure->number >= 1 && departure->number <= rig->sent &&
		    departure->frame_bytes == 400 && departure->unchanged_from > up_to)
			up_to = departure->unchanged_from;
	}
	rig_close(rig);
	return up_to;
}

/* A recording of the first 96 bytes warns of it (statement.h: beyond). The frames have headers of
 * 42 bytes; 5,000 of them meet an example of 0.1 % five times. */
static void what_writes_behind_the_headers_says_so(void **state)
{
	uint32_t tried = 0;

	(void)state;
	for (const struct statement *const *row = statements; *row; row++) {
		uint32_t up_to;

		if (!(*row)->make || !(*row)->example || (*row)->beside[0] ||
		    strstr((*row)->example, "FILE"))
			continue;
		tried++;
		up_to = writes_up_to(*row);
		if (up_to > 42 && !(*row)->beyond)
			fail_msg("%s %s has written byte %" PRIu32 " of a packet: say so in "
			         "`beyond`",
			         (*row)->name, (*row)->example, up_to - 1);
	}
	assert_true(tried > 5);
}

GROUP(statements)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_ranges_of_the_ixp2400_emulator_are_those_of_the_language),
	        cmocka_unit_test(names_are_words_in_lower_case),
	        cmocka_unit_test(each_row_is_found_by_its_name_and_variant),
	        cmocka_unit_test(variants_are_not_mistaken_for_fields),
	        cmocka_unit_test(fields_follow_the_rules_of_the_parser),
	        cmocka_unit_test(defaults_and_bounds_are_what_their_texts_say),
	        cmocka_unit_test(words_are_not_keywords),
	        cmocka_unit_test(every_statement_prints_what_it_parsed),
	        cmocka_unit_test(a_state_may_have_a_name_that_is_a_word_of_the_language),
	        cmocka_unit_test(what_writes_behind_the_headers_says_so),
	};

	return cmocka_run_group_tests_name("statements", tests, make_file, remove_file);
}
