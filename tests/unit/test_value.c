/* SPDX-License-Identifier: BSD-3-Clause */
/* The values of the scenario language: text to number and number to text, for every type. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "text/language_error.h"
#include "text/value.h"
#include "random/draw.h"
#include "runner/group.h"

#define ROWS(array) (sizeof(array) / sizeof((array)[0]))

/* A configuration with one field of any type. */
struct box {
	union {
		uint64_t number;
		struct limit limit;
		uint32_t word;
		bool on;
		uint32_t ipv4;
		uint8_t ipv6[16];
		char *text;
	};
};

static const char *const colours[] = {"red", "green", "blue", NULL};

static struct field field_of(enum field_type type)
{
	return (struct field){.name = "it", .type = type, .words = colours};
}

/* Returns the output of value_print. The caller frees it. */
static char *printed(const struct field *field, const struct box *box)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	value_print(out, field, box);
	fclose(out);
	return text;
}

static void parses_and_prints(enum field_type type, const char *text, uint64_t value,
                              const char *canonical)
{
	struct field field = field_of(type);
	struct language_error error = {.text = ""};
	struct box box = {.number = 77}, again = {.number = 77};
	char *back;

	if (value_parse(&field, text, &box, &error) != 0)
		fail_msg("%s: %s", text, error.text);
	if (box.number != value)
		fail_msg("%s is %llu", text, (unsigned long long)box.number);
	back = printed(&field, &box);
	assert_string_equal(back, canonical);
	assert_int_equal(value_parse(&field, back, &again, &error), 0);
	assert_int_equal(again.number, value);
	free(back);
}

struct row {
	const char *text;
	uint64_t value;
	const char *canonical;
};

static void times_are_whole_nanoseconds(void **state)
{
	static const struct row rows[] = {
	        {"40ms", 40000000, "40ms"},
	        {"1.5us", 1500, "1.5us"},
	        {"1500ns", 1500, "1.5us"},
	        {"0.5s", 500000000, "500ms"},
	        {"0.1s", 100000000, "100ms"},
	        {"1000ms", 1000000000, "1s"},
	        {"1500ms", 1500000000, "1.5s"},
	        {"0ms", 0, "0s"},
	        {"0ns", 0, "0s"},
	        {"1ns", 1, "1ns"},
	        {"0.000000001s", 1, "1ns"},
	        {"0.1000000000000000000000000000us", 100, "100ns"},
	        {"1234567ns", 1234567, "1234567ns"},
	        {"1.234567ms", 1234567, "1234567ns"},
	        {"86400s", 86400000000000, "86400s"},
	        {"007ms", 7000000, "7ms"},
	        {"18446744073709551615ns", UINT64_MAX, "18446744073709551615ns"},
	        {"18446744073.709551615s", UINT64_MAX, "18446744073709551615ns"},
	        {"10min", 600000000000, "600s"},
	        {"1.5h", 5400000000000, "5400s"},
	};

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++)
		parses_and_prints(FIELD_TIME, rows[i].text, rows[i].value, rows[i].canonical);
}

static void rates_are_decimal(void **state)
{
	static const struct row rows[] = {
	        {"10mbit", 10000000, "10mbit"},
	        {"2.5gbit", 2500000000, "2.5gbit"},
	        {"400gbit", 400000000000, "400gbit"},
	        {"1500bit", 1500, "1500bit"},
	        {"1.5kbit", 1500, "1500bit"},
	        {"0.064mbit", 64000, "64kbit"},
	        {"1bit", 1, "1bit"},
	        {"0gbit", 0, "0bit"},
	};

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++)
		parses_and_prints(FIELD_RATE, rows[i].text, rows[i].value, rows[i].canonical);
}

static void sizes_are_decimal_or_binary(void **state)
{
	static const struct row rows[] = {
	        {"15kB", 15000, "15kB"},      {"64KiB", 65536, "64KiB"},
	        {"65536B", 65536, "64KiB"},   {"1500B", 1500, "1500B"},
	        {"1.5kB", 1500, "1500B"},     {"1MiB", 1048576, "1MiB"},
	        {"1MB", 1000000, "1MB"},      {"1.5KiB", 1536, "1536B"},
	        {"128000B", 128000, "128kB"}, {"1514B", 1514, "1514B"},
	        {"0.5KiB", 512, "512B"},      {"0.00000095367431640625MiB", 1, "1B"},
	};

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++)
		parses_and_prints(FIELD_BYTES, rows[i].text, rows[i].value, rows[i].canonical);
}

static void counts_are_bare_numbers(void **state)
{
	static const struct row rows[] = {
	        {"0", 0, "0"},
	        {"1000", 1000, "1000"},
	        {"18446744073709551615", UINT64_MAX, "18446744073709551615"},
	};

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++)
		parses_and_prints(FIELD_COUNT, rows[i].text, rows[i].value, rows[i].canonical);
}

static void factors_are_whole_millionths(void **state)
{
	static const struct row rows[] = {
	        {"0", 0, "0"},
	        {"0.125", 125000, "0.125"},
	        {"3.2", 3200000, "3.2"},
	        {"3.20", 3200000, "3.2"},
	        {"32", 32 * FACTOR_ONE, "32"},
	        {"0.000001", 1, "0.000001"},
	        {"18446744073709.551615", UINT64_MAX, "18446744073709.551615"},
	};

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++)
		parses_and_prints(FIELD_FACTOR, rows[i].text, rows[i].value, rows[i].canonical);
}

static void probabilities_are_the_nearest_multiple_of_2_to_the_minus_63(void **state)
{
	static const struct row rows[] = {
	        {"0", 0, "0%"},
	        {"0%", 0, "0%"},
	        {"100%", PROBABILITY_ONE, "100%"},
	        {"100.000%", PROBABILITY_ONE, "100%"},
	        {"0.5", PROBABILITY_ONE / 2, "50%"},
	        {"50%", PROBABILITY_ONE / 2, "50%"},
	        {"25%", PROBABILITY_ONE / 4, "25%"},
	        {"12.5%", PROBABILITY_ONE / 8, "12.5%"},
	        /* 2^63 / 1000 = 9223372036854775.808 */
	        {"0.1%", 9223372036854776, "0.1%"},
	        {"0.001", 9223372036854776, "0.1%"},
	        {"1e-3", 9223372036854776, "0.1%"},
	        {"10e-4", 9223372036854776, "0.1%"},
	        /* 2^63 / 3 = 3074457345618258602.67 */
	        {"0.3333333333333333333", 3074457345618258602, "33.33333333333333333%"},
	        {"0.0001%", 9223372036855, "0.0001%"},
	        {"1e-9", 9223372037, "1e-9"},
	        {"0.0000001%", 9223372037, "1e-9"},
	        {"1.5E-9", 13835058055, "1.5e-9"},
	        {"2e-19", 2, "2e-19"},
	        {"1e-19", 1, "1e-19"},
	        {"99.99999999999999999%", PROBABILITY_ONE - 1, "99.99999999999999999%"},
	};

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++)
		parses_and_prints(FIELD_PROBABILITY, rows[i].text, rows[i].value,
		                  rows[i].canonical);
}

/* 200,000 values spread over all magnitudes, with a fixed seed: every one is exact. */
static void every_value_prints_so_that_it_parses_back(void **state)
{
	static const enum field_type types[] = {FIELD_TIME,  FIELD_RATE,   FIELD_BYTES,
	                                        FIELD_COUNT, FIELD_FACTOR, FIELD_PROBABILITY};
	struct draw_key key = draw_key_make(1, "test_value", "round trip");

	(void)state;
	for (uint64_t i = 0; i < 200000; i++) {
		struct field field = field_of(types[i % ROWS(types)]);
		uint64_t value = draw_u64(key, i, 0) >> (draw_u64(key, i, 1) & 63);
		struct language_error error;
		struct box box = {.number = 0};
		char text[48];

		if (field.type == FIELD_PROBABILITY)
			value >>= 1;
		value_print_number(field.type, value, text, sizeof(text));
		if (value_parse(&field, text, &box, &error) != 0)
			fail_msg("%s: %s", text, error.text);
		if (box.number != value)
			fail_msg("%s is %llu", text, (unsigned long long)box.number);
	}
}

static void limits_know_in_what_they_count(void **state)
{
	static const struct {
		const char *text;
		struct limit limit;
		const char *canonical;
	} rows[] = {
	        {"90kB", {90000, LIMIT_BYTES}, "90kB"},
	        {"100pkt", {100, LIMIT_PACKETS}, "100pkt"},
	        {"50ms", {50000000, LIMIT_TIME}, "50ms"},
	        {"0.05s", {50000000, LIMIT_TIME}, "50ms"},
	        {"1MiB", {1048576, LIMIT_BYTES}, "1MiB"},
	};
	struct field field = field_of(FIELD_LIMIT);

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct language_error error;
		struct box box = {.number = 0};
		char *text;

		assert_int_equal(value_parse(&field, rows[i].text, &box, &error), 0);
		assert_int_equal(box.limit.value, rows[i].limit.value);
		assert_int_equal(box.limit.unit, rows[i].limit.unit);
		text = printed(&field, &box);
		assert_string_equal(text, rows[i].canonical);
		free(text);
	}
}

static void words_switches_and_addresses_print_as_they_were_written(void **state)
{
	static const struct {
		enum field_type type;
		const char *text, *canonical;
	} rows[] = {
	        {FIELD_WORD, "red", "red"},
	        {FIELD_WORD, "blue", "blue"},
	        {FIELD_SWITCH, "on", "on"},
	        {FIELD_SWITCH, "off", "off"},
	        {FIELD_IPV4, "192.0.2.1", "192.0.2.1"},
	        {FIELD_IPV6, "2001:db8::1", "2001:db8::1"},
	        {FIELD_IPV6, "2001:0DB8:0:0::0001", "2001:db8::1"},
	        {FIELD_IPV6, "::", "::"},
	};

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct field field = field_of(rows[i].type);
		struct language_error error;
		struct box box;
		char *text;

		memset(&box, 0, sizeof(box));
		if (value_parse(&field, rows[i].text, &box, &error) != 0)
			fail_msg("%s: %s", rows[i].text, error.text);
		text = printed(&field, &box);
		assert_string_equal(text, rows[i].canonical);
		free(text);
	}
}

static void an_ipv4_address_lies_in_network_order(void **state)
{
	struct field field = field_of(FIELD_IPV4);
	struct language_error error;
	struct box box = {.number = 0};

	(void)state;
	assert_int_equal(value_parse(&field, "192.0.2.1", &box, &error), 0);
	assert_memory_equal(&box.ipv4, "\xc0\x00\x02\x01", 4);
}

static void texts_are_quoted_where_they_must_be(void **state)
{
	static const struct {
		const char *text, *canonical;
	} rows[] = {
	        {"file.csv", "file.csv"},
	        {"my file", "\"my file\""},
	        {"", "\"\""},
	        {"#1", "\"#1\""},
	        {"a#1", "a#1"},
	        {"C:\\x", "C:\\x"},
	        {"C:\\my x", "\"C:\\\\my x\""},
	        {"say \"hi\"", "\"say \\\"hi\\\"\""},
	        {"\xc3\xa4", "\xc3\xa4"},
	};
	struct field field = field_of(FIELD_TEXT);

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct language_error error;
		struct box box = {.text = NULL};
		char *text;

		assert_int_equal(value_parse(&field, rows[i].text, &box, &error), 0);
		assert_string_equal(box.text, rows[i].text);
		text = printed(&field, &box);
		assert_string_equal(text, rows[i].canonical);
		free(text);
		free(box.text);
	}
}

static void what_is_wrong_with_a_value_is_said_with_what_would_be_right(void **state)
{
	static const struct {
		enum field_type type;
		uint64_t min, max;
		const char *text, *name, *message;
	} rows[] = {
	        {FIELD_TIME, 0, 0, "40", ERROR_MISSING_UNIT,
	         "it `40` has no unit; a time is written with ns, us, ms or s, like 40ms"},
	        {FIELD_TIME, 0, 0, "0", ERROR_MISSING_UNIT,
	         "it `0` has no unit; a time is written with ns, us, ms or s, like 0ms"},
	        {FIELD_RATE, 0, 0, "10", ERROR_MISSING_UNIT,
	         "it `10` has no unit; a rate is written with bit, kbit, mbit or gbit, like "
	         "10mbit"},
	        {FIELD_BYTES, 0, 0, "15", ERROR_MISSING_UNIT,
	         "it `15` has no unit; a size is written with B, kB, MB, KiB or MiB, like 15kB"},
	        {FIELD_LIMIT, 0, 0, "15", ERROR_MISSING_UNIT,
	         "it `15` has no unit; a limit is written with B, kB, MB, KiB or MiB, pkt, or ns, "
	         "us, ms "
	         "or s, like 15kB"},
	        {FIELD_RATE, 0, 0, "10mbti", ERROR_UNKNOWN_UNIT,
	         "it `10mbti` has the unknown unit `mbti`; did you mean `mbit`?"},
	        {FIELD_TIME, 0, 0, "10mins", ERROR_UNKNOWN_UNIT,
	         "it `10mins` has the unknown unit `mins`; write 600s"},
	        {FIELD_TIME, 0, 0, "5,5ms", ERROR_BAD_VALUE,
	         "it `5,5ms` has a comma; a decimal point is written as in 5.5ms"},
	        {FIELD_RATE, 0, 0, "1,5mbit", ERROR_BAD_VALUE,
	         "it `1,5mbit` has a comma; a decimal point is written as in 1.5mbit"},
	        {FIELD_TIME, 0, 0, "10parsec", ERROR_UNKNOWN_UNIT,
	         "it `10parsec` has the unknown unit `parsec`; a time is written with ns, us, ms "
	         "or s"},
	        {FIELD_TIME, 0, 0, "fast", ERROR_BAD_VALUE,
	         "it `fast` is not a time; write a decimal number and one of the units ns, us, ms "
	         "or s, "
	         "like 10ms"},
	        {FIELD_TIME, 0, 0, ".5ms", ERROR_BAD_VALUE, NULL},
	        {FIELD_TIME, 0, 0, "5.ms", ERROR_BAD_VALUE, NULL},
	        {FIELD_TIME, 0, 0, "1,5ms", ERROR_BAD_VALUE, NULL},
	        {FIELD_TIME, 0, 0, "5 ms", ERROR_UNKNOWN_UNIT, NULL},
	        {FIELD_TIME, 0, 0, "", ERROR_BAD_VALUE, NULL},
	        {FIELD_TIME, 0, 0, "-5ms", ERROR_OUT_OF_RANGE,
	         "it `-5ms` is negative; it is a number from 0 on"},
	        {FIELD_TIME, 0, 86400000000000, "86401s", ERROR_OUT_OF_RANGE,
	         "it `86401s` is out of range; it goes from 0s to 86400s"},
	        {FIELD_RATE, 1, 400000000000, "0bit", ERROR_OUT_OF_RANGE,
	         "it `0bit` is out of range; it goes from 1bit to 400gbit"},
	        {FIELD_RATE, 1, 400000000000, "401gbit", ERROR_OUT_OF_RANGE,
	         "it `401gbit` is out of range; it goes from 1bit to 400gbit"},
	        {FIELD_TIME, 0, 0, "18446744073709551616ns", ERROR_OUT_OF_RANGE, NULL},
	        {FIELD_TIME, 0, 0, "18446744074s", ERROR_OUT_OF_RANGE, NULL},
	        {FIELD_LIMIT, 1, 0, "0pkt", ERROR_OUT_OF_RANGE,
	         "it `0pkt` is out of range; it is at least 1pkt"},
	        {FIELD_TIME, 0, 0, "1.5ns", ERROR_TOO_FINE,
	         "it `1.5ns` is finer than 1ns; it is a whole number of ns"},
	        {FIELD_TIME, 0, 0, "0.0000000001s", ERROR_TOO_FINE, NULL},
	        {FIELD_TIME, 0, 0, "0.00000000000000000000000001s", ERROR_TOO_FINE, NULL},
	        {FIELD_BYTES, 0, 0, "0.3KiB", ERROR_TOO_FINE,
	         "it `0.3KiB` is finer than 1B; it is a whole number of B"},
	        {FIELD_LIMIT, 0, 0, "0.5pkt", ERROR_TOO_FINE,
	         "it `0.5pkt` is finer than 1pkt; it is a whole number of pkt"},
	        {FIELD_PROBABILITY, 0, 0, "101%", ERROR_OUT_OF_RANGE,
	         "it `101%` is out of range; it goes from 0% to 100%"},
	        {FIELD_PROBABILITY, 0, 0, "1.0000000000000000001", ERROR_OUT_OF_RANGE, NULL},
	        {FIELD_PROBABILITY, 0, 0, "1e5", ERROR_OUT_OF_RANGE, NULL},
	        {FIELD_PROBABILITY, 0, 0, "1", ERROR_BAD_VALUE,
	         "it `1` has two readings: as a fraction it is 100%, in netem 1%; write 100% or "
	         "1%"},
	        {FIELD_PROBABILITY, 0, 0, "1.000", ERROR_BAD_VALUE, NULL},
	        {FIELD_PROBABILITY, 0, 0, "10e-1", ERROR_BAD_VALUE, NULL},
	        {FIELD_RATIO, 0, 0, "1", ERROR_BAD_VALUE, NULL},
	        {FIELD_PROBABILITIES, 0, 0, "0..1", ERROR_BAD_VALUE, NULL},
	        {FIELD_PROBABILITY, 0, 0, "5", ERROR_OUT_OF_RANGE,
	         "it `5` is out of range; it goes from 0% to 100%, and percent are written 5%"},
	        {FIELD_PROBABILITY, 0, 0, "101", ERROR_OUT_OF_RANGE,
	         "it `101` is out of range; it goes from 0% to 100%"},
	        {FIELD_PROBABILITY, 0, 0, "-1%", ERROR_OUT_OF_RANGE, NULL},
	        {FIELD_PROBABILITY, 0, 0, "1e-20", ERROR_TOO_FINE, NULL},
	        {FIELD_PROBABILITY, 0, 0, "1e-999999999999", ERROR_TOO_FINE, NULL},
	        {FIELD_PROBABILITY, 0, 0, "often", ERROR_BAD_VALUE,
	         "it `often` is not a probability; write percent like 0.1% or a fraction like "
	         "0.001"},
	        {FIELD_PROBABILITY, 0, 0, "1 %", ERROR_BAD_VALUE, NULL},
	        {FIELD_PROBABILITY, 0, 0, "1e", ERROR_BAD_VALUE, NULL},
	        {FIELD_PROBABILITY, 0, 0, "1%%", ERROR_BAD_VALUE, NULL},
	        {FIELD_FACTOR, 1, 32 * FACTOR_ONE, "32.5", ERROR_OUT_OF_RANGE,
	         "it `32.5` is out of range; it goes from 0.000001 to 32"},
	        {FIELD_FACTOR, 0, 0, "-1", ERROR_OUT_OF_RANGE, NULL},
	        {FIELD_FACTOR, 0, 0, "1.25Hz", ERROR_BAD_VALUE,
	         "it `1.25Hz` is not a number; write a decimal number without a unit, like 0.125"},
	        {FIELD_FACTOR, 0, 0, "0.1234567", ERROR_TOO_FINE,
	         "it `0.1234567` is finer than a millionth; it has at most 6 digits after the "
	         "decimal point"},
	        {FIELD_COUNT, 1, 1000, "0", ERROR_OUT_OF_RANGE,
	         "it `0` is out of range; it goes from 1 to 1000"},
	        {FIELD_COUNT, 0, 0, "-1", ERROR_OUT_OF_RANGE, NULL},
	        {FIELD_COUNT, 0, 0, "1.5", ERROR_BAD_VALUE,
	         "it `1.5` is not a count; write a whole number without a unit, like 1000"},
	        {FIELD_COUNT, 0, 0, "1.0", ERROR_BAD_VALUE, NULL},
	        {FIELD_COUNT, 0, 0, "18446744073709551616", ERROR_OUT_OF_RANGE, NULL},
	        {FIELD_WORD, 0, 0, "gren", ERROR_UNKNOWN_WORD,
	         "it `gren` is unknown; did you mean `green`?"},
	        {FIELD_WORD, 0, 0, "yellow", ERROR_UNKNOWN_WORD,
	         "it `yellow` is unknown; it is `red`, `green` or `blue`"},
	        {FIELD_SWITCH, 0, 0, "yes", ERROR_UNKNOWN_WORD,
	         "it `yes` is unknown; did you mean `on`?"},
	        {FIELD_SWITCH, 0, 0, "maybe", ERROR_UNKNOWN_WORD,
	         "it `maybe` is unknown; it is `off` or `on`"},
	        {FIELD_IPV4, 0, 0, "192.0.2.256", ERROR_BAD_VALUE,
	         "it `192.0.2.256` is not an IPv4 address; write four numbers from 0 to 255, like "
	         "192.0.2.1"},
	        {FIELD_IPV6, 0, 0, "192.0.2.1", ERROR_BAD_VALUE, NULL},
	};

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct field field = field_of(rows[i].type);
		struct language_error error = {.text = ""};
		struct box box = {.number = 77};

		field.min = rows[i].min;
		field.max = rows[i].max;
		if (value_parse(&field, rows[i].text, &box, &error) != -EINVAL)
			fail_msg("%s was taken", rows[i].text);
		if (strcmp(error.name, rows[i].name) != 0)
			fail_msg("%s: %s: %s", rows[i].text, error.name, error.text);
		if (rows[i].message != NULL)
			assert_string_equal(error.text, rows[i].message);
		assert_int_equal(box.number, 77);
	}
}

/* A limit that takes only some of the units suggests these. */
static void the_units_of_a_limit_are_those_that_its_form_names(void **state)
{
	static const struct {
		const char *form, *message;
	} rows[] = {
	        {"Npkt", "it `15` has no unit; a limit is written with pkt, like 15pkt"},
	        {"Npkt|TIME",
	         "it `15` has no unit; a limit is written with pkt, or ns, us, ms or s, like "
	         "15pkt"},
	        {"TIME|SIZE", "it `15` has no unit; a limit is written with ns, us, ms or s, or B, "
	                      "kB, MB, KiB or MiB, like 15s"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct field field = {.name = "it", .type = FIELD_LIMIT, .form = rows[i].form};
		struct language_error error;
		struct limit limit;

		assert_int_equal(value_parse(&field, "15", &limit, &error), -EINVAL);
		assert_string_equal(error.text, rows[i].message);
	}
}

static void an_endless_value_is_cut_in_the_message(void **state)
{
	struct field field = field_of(FIELD_TIME);
	struct language_error error;
	struct box box;
	char text[2001];

	(void)state;
	for (int i = 0; i < 2000; i += 2)
		memcpy(text + i, "\xc3\xa4", 2);
	text[2000] = 0;
	assert_int_equal(value_parse(&field, text, &box, &error), -EINVAL);
	assert_true(strlen(error.text) < 250);
	assert_int_equal(language_error_shown(text), 60);
	assert_int_equal(language_error_shown(text + 1), 59);
}

static void the_nearest_word_is_found_by_edits(void **state)
{
	static const struct {
		const char *a, *b;
		uint32_t distance; /* twice the number of edits */
	} rows[] = {
	        {"delay", "delay", 0}, {"dealy", "delay", 2}, {"delya", "delay", 2},
	        {"dlay", "delay", 2},  {"Delay", "delay", 1}, {"loss", "delay", 10},
	        {"", "abc", 6},        {"rtae", "rate", 2},   {"jiter", "jitter", 2},
	};
	struct nearest nearest;

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++)
		assert_int_equal(nearest_distance(rows[i].a, rows[i].b), rows[i].distance);
	nearest_start(&nearest, "dealy");
	nearest_try(&nearest, "rate");
	nearest_try(&nearest, NULL);
	nearest_try(&nearest, "delay");
	nearest_try(&nearest, "decay");
	assert_string_equal(nearest.best, "delay");
	nearest_start(&nearest, "xyzzy");
	nearest_try(&nearest, "delay");
	assert_null(nearest.best);
}

GROUP(value)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(times_are_whole_nanoseconds),
	        cmocka_unit_test(rates_are_decimal),
	        cmocka_unit_test(sizes_are_decimal_or_binary),
	        cmocka_unit_test(counts_are_bare_numbers),
	        cmocka_unit_test(factors_are_whole_millionths),
	        cmocka_unit_test(probabilities_are_the_nearest_multiple_of_2_to_the_minus_63),
	        cmocka_unit_test(every_value_prints_so_that_it_parses_back),
	        cmocka_unit_test(limits_know_in_what_they_count),
	        cmocka_unit_test(words_switches_and_addresses_print_as_they_were_written),
	        cmocka_unit_test(an_ipv4_address_lies_in_network_order),
	        cmocka_unit_test(texts_are_quoted_where_they_must_be),
	        cmocka_unit_test(what_is_wrong_with_a_value_is_said_with_what_would_be_right),
	        cmocka_unit_test(the_units_of_a_limit_are_those_that_its_form_names),
	        cmocka_unit_test(an_endless_value_is_cut_in_the_message),
	        cmocka_unit_test(the_nearest_word_is_found_by_edits),
	};

	return cmocka_run_group_tests_name("value", tests, NULL, NULL);
}
