/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers and units, as people read them. Those of weir.page are python/tests/test_page.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include "runner/group.h"
#include "unable.h"
#include "units/human_unit.h"

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

static void what_is_compared_is_written_in_one_unit(void **state)
{
	static const struct {
		enum human_unit unit;
		double most, value;
		const char *text;
	} rows[] = {
	        {HUMAN_NS, 9.9e9, 850e6, "850 ms"},
	        {HUMAN_NS, 9.9e9, 2500, "0.0025 ms"},
	        {HUMAN_NS, 9.9e9, 9.9e9, "9900 ms"},
	        {HUMAN_NS, 1e10, 850e6, "0.85 s"},
	        {HUMAN_NS, 999e3, 250, "0.25 µs"},
	        {HUMAN_NS, 900, 250, "250 ns"},
	        {HUMAN_BPS, 47.5e6, 1500, "0.0015 Mbit/s"},
	        {HUMAN_BPS, 1e9, 47.5e6, "0.0475 Gbit/s"},
	        {HUMAN_BYTES, 140e3, 60, "0.06 kB"},
	        {HUMAN_PERCENT, 1, 0.01, "1%"},
	};
	char text[HUMAN_UNIT_SIZE];

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		human_unit_format(text, sizeof(text), human_unit_one(rows[i].unit, rows[i].most),
		                  rows[i].value, 4);
		assert_string_equal(text, rows[i].text);
	}
}

static void numbers_are_written_with_their_unit(void **state)
{
	(void)state;
	static const struct {
		enum human_unit unit;
		double value;
		const char *text;
	} cases[] = {
	        {HUMAN_NS, 0, "0 ns"},
	        {HUMAN_NS, 0.25, "0.25 ns"},
	        {HUMAN_NS, 1500000, "1.5 ms"},
	        {HUMAN_NS, 999.4, "999 ns"},
	        {HUMAN_NS, 999.6, "1 µs"},
	        {HUMAN_NS, -40e6, "-40 ms"},
	        {HUMAN_NS, 3.6e12, "3600 s"},
	        {HUMAN_BPS, 1e10, "10 Gbit/s"},
	        {HUMAN_PPS, 14880952, "14.9 Mpps"},
	        {HUMAN_BYTES, 1518, "1.52 kB"},
	        {HUMAN_COUNT, 950, "950"},
	        {HUMAN_COUNT, 20000, "20k"},
	        {HUMAN_PERCENT, 0.001, "0.1%"},
	        {HUMAN_PERCENT, 1, "100%"},
	        {HUMAN_PLAIN, 0.002, "0.002"},
	        {HUMAN_PLAIN, 3e8, "3×10⁸"},
	        {HUMAN_PLAIN, 1e-6, "10⁻⁶"},
	        {HUMAN_PLAIN, NAN, "n/a"},
	        {HUMAN_NS, INFINITY, "n/a"},
	};
	for (size_t i = 0; i < LENGTH(cases); i++) {
		char text[HUMAN_UNIT_SIZE];
		human_unit_format(text, sizeof(text), cases[i].unit, cases[i].value, 3);
		assert_string_equal(text, cases[i].text);
	}
}

static void decimals_are_rounded_and_never_minus_zero(void **state)
{
	(void)state;
	static const struct {
		double value;
		unsigned decimals;
		const char *text;
	} cases[] = {
	        {0, 0, "0"},
	        {0, 2, "0.00"},
	        {-0.001, 2, "0.00"},
	        {-0.006, 2, "-0.01"},
	        {1.005, 1, "1.0"},
	        {0.96, 1, "1.0"},
	        {-12.5, 0, "-13"},
	        {123456789, 3, "123456789.000"},
	        {1e15, 2, "10¹⁵"},
	        {9.999e20, 2, "10²¹"},
	        {-2.5e20, 2, "-2.5×10²⁰"},
	        {-1e20, 0, "-1×10²⁰"},
	};
	for (size_t i = 0; i < LENGTH(cases); i++) {
		char text[DECIMAL_SIZE];
		decimal_fixed(text, sizeof(text), cases[i].value, cases[i].decimals);
		assert_string_equal(text, cases[i].text);
	}
}

static void a_locale_with_a_comma_does_not_change_them(void **state)
{
	static const char *const comma[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8",
	                                    "fr_FR.utf8",  "de_DE",      "fr_FR"};
	const char *found = NULL;

	(void)state;
	for (size_t i = 0; i < LENGTH(comma) && !found; i++)
		found = setlocale(LC_ALL, comma[i]);
	if (!found)
		UNABLE("no locale with a decimal comma is installed (locale-gen de_DE.UTF-8)");
	numbers_are_written_with_their_unit(NULL);
	setlocale(LC_ALL, "C");
}

GROUP(human_unit)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(what_is_compared_is_written_in_one_unit),
	        cmocka_unit_test(numbers_are_written_with_their_unit),
	        cmocka_unit_test(decimals_are_rounded_and_never_minus_zero),
	        cmocka_unit_test(a_locale_with_a_comma_does_not_change_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
