/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the boundaries of everything that has one: each field of each statement at its least and
 * its most, one below and one above, and packets of every length at which something changes.
 * engine_rig.h asserts its invariants after each step.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "engine_rig.h"
#include "statements.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define FIELDS_MAX    32
#define LINE_BYTES    1024

/* The most lines that are accepted in no context. */
#define WITHOUT_MAX 8

/* Boundaries of Ethernet, of the copy of small frames (hold.h), of an mbuf, of IP, of a capture. */
static const uint32_t lengths[] = {0,    1,    13,   14,    33,    34,    59,     60,
                                   61,   63,   64,   65,    255,   256,   257,    511,
                                   512,  513,  1513, 1514,  1515,  2047,  2048,   2049,
                                   9017, 9018, 9019, 65534, 65535, 65536, 262143, 262144};

static const uint8_t udp[42] = {2,    0, 0,   0,   0,   2, 2, 0, 0,  0,  0,    1,    8,   0,
                                0x45, 2, 0,   100, 0,   1, 0, 0, 64, 17, 0x50, 0x76, 192, 0,
                                2,    9, 198, 51,  100, 1, 4, 0, 0,  53, 0,    80,   0,   0};

/* Statements need other statements. Of each context the lines that are accepted are executed first,
 * and then the statement itself. */
static const char *const contexts[][5] = {
        {NULL},
        {"cloud x delay 1ms jitter 1ms"},
        {"cloud x rate 10mbit queue 100kB"},
        {"cloud x rate 10mbit queue 100kB", "cloud x red min 10kB max 20kB", "cloud x ecn on",
         "cloud x hop 192.0.2.1 2001:db8::1"},
        {"cloud x rate 10mbit queue 100kB", "cloud x class one match udp", "cloud x class rest"},
        {"cloud y from b to a", "cloud y feedback proxy strip"},
};

/* Returns a rig with the first context in which the line is accepted; NULL if there is none. */
static struct engine_rig *open_with(const char *line)
{
	for (size_t i = 0; i < LENGTH(contexts); i++) {
		struct engine_rig *rig = engine_rig_open(7);

		for (size_t k = 0; contexts[i][k]; k++)
			engine_rig_line(rig, contexts[i][k]);
		if (engine_rig_line(rig, line))
			return rig;
		engine_rig_close(rig);
	}
	return NULL;
}

static void send_lengths(struct engine_rig *rig, bool claims)
{
	for (size_t i = 0; i < LENGTH(lengths); i++) {
		uint32_t n = RTE_MIN(lengths[i], (uint32_t)sizeof(udp));

		engine_rig_send(rig, i % 8 ? 0 : 1, udp, n, lengths[i],
		                claims ? UINT32_MAX - (uint32_t)i : 0);
		engine_rig_pass(rig, i % 4 * 1000);
		engine_rig_check(rig);
	}
	engine_rig_run_out(rig, 200);
	engine_rig_close(rig);
}

static uint32_t count_fields(const struct statement *statement)
{
	uint32_t n = 0;

	while (statement->fields && statement->fields[n].name)
		n++;
	assert_in_range(n, 0, FIELDS_MAX);
	return n;
}

static void usual(const struct statement *statement, uint64_t *values)
{
	for (uint32_t i = 0; i < count_fields(statement); i++)
		values[i] = engine_rig_usual(&statement->fields[i]);
}

static void every_statement_takes_packets_of_every_length(void **state)
{
	uint32_t played = 0, without_file = 0;

	(void)state;
	for (uint32_t i = 0; statements[i]; i++) {
		for (int claims = 0; claims < 2; claims++) {
			uint64_t values[FIELDS_MAX];
			struct engine_rig *rig;
			char line[LINE_BYTES];

			usual(statements[i], values);
			if (!engine_rig_words(line, sizeof(line), "x", statements[i], 0, values))
				continue;
			without_file++;
			rig = open_with(line);
			if (!rig) {
				print_message("# refused: %s\n", line);
				continue;
			}
			played++;
			send_lengths(rig, claims);
		}
	}
	/* The lines refused need more than numbers; the output lists them. */
	assert_true(without_file - played <= WITHOUT_MAX);
}

/* Returns true for numbers that the language prints exactly. */
static bool has_limits(const struct field *field)
{
	if (field->min == 0 && field->max == 0)
		return false;
	return field->type == FIELD_TIME || field->type == FIELD_RATE ||
	       field->type == FIELD_BYTES || field->type == FIELD_COUNT;
}

static bool is_parsed(const char *line)
{
	static struct command command;
	struct language_error error = {.text = ""};

	if (language_parse(line, &command, &error) != 0) {
		assert_true(error.text[0] != 0);
		return false;
	}
	language_release(&command);
	return true;
}

/* Plays a field at a value, with the usual values of the others. Returns true if it was played. */
static bool play_at(const struct statement *statement, uint32_t at, uint64_t value)
{
	const struct field *field = &statement->fields[at];
	uint64_t values[FIELDS_MAX];
	struct engine_rig *rig;
	char line[LINE_BYTES];

	usual(statement, values);
	values[at] = value;
	if (!engine_rig_words(line, sizeof(line), "x", statement, UINT64_C(1) << at, values))
		return false;
	if (value < field->min || value > field->max) {
		if (is_parsed(line))
			fail_msg("accepted: %s", line);
		return false;
	}
	if (!is_parsed(line))
		fail_msg("not accepted: %s", line);
	rig = open_with(line);
	if (rig)
		send_lengths(rig, value & 1);
	return rig != NULL;
}

static void every_field_is_taken_from_its_least_to_its_most_and_no_further(void **state)
{
	uint32_t fields = 0, played = 0;

	(void)state;
	for (uint32_t i = 0; statements[i]; i++) {
		for (uint32_t k = 0; k < count_fields(statements[i]); k++) {
			const struct field *field = &statements[i]->fields[k];
			const uint64_t values[] = {field->min - 1, field->min, field->min + 1,
			                           field->max - 1, field->max, field->max + 1};

			if (!has_limits(field))
				continue;
			fields++;
			for (size_t v = field->min ? 0 : 1; v < LENGTH(values); v++)
				played += play_at(statements[i], k, values[v]);
		}
	}
	/* Some fields need another field's value besides; most do not. */
	assert_true(played >= 2 * fields);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(every_statement_takes_packets_of_every_length),
	        cmocka_unit_test(every_field_is_taken_from_its_least_to_its_most_and_no_further),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
