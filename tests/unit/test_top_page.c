/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of a text that `weir top` shows of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "runner/group.h"
#include "top/top.h"

#define TEXT "a\n\nb\nc\n\nd\n" /* six lines, of which two are blank */

/* Writes the first characters of the lines that are shown; `.` is a blank line. */
static const char *shown(const struct top_page *page, char *text)
{
	for (int i = 0; i < page->rows; i++) {
		const char *line = top_page_line(page, TEXT, page->from + i);

		assert_non_null(line);
		text[i] = *line == '\n' ? '.' : *line;
	}
	text[page->rows] = '\0';
	return text;
}

static void blank_lines_go_first_and_then_the_text_scrolls(void **state)
{
	static const struct {
		int roomy, room, from;
		const char *shown;
		int below;
	} cases[] = {
	        {6, 9, 0, "a.bc.d", 0}, {6, 6, 0, "a.bc.d", 0},  {5, 6, 0, "abcd", 0},
	        {5, 4, 0, "abcd", 0},   {0, 3, 0, "abc", 1},     {0, 3, 1, "bcd", 0},
	        {0, 3, 99, "bcd", 0},   {6, 9, 99, "a.bc.d", 0}, {0, 1, 2, "c", 1},
	        {-3, 0, 0, "", 4},      {6, 4, 1, ".bc.", 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct top_page page =
		        top_page_make(TEXT, cases[i].roomy, cases[i].room, cases[i].from);
		char text[16];

		assert_string_equal(shown(&page, text), cases[i].shown);
		assert_int_equal(page.below, cases[i].below);
	}
}

static void an_empty_text_has_no_line(void **state)
{
	struct top_page page = top_page_make("", 5, 5, 3);

	(void)state;
	assert_int_equal(page.rows, 0);
	assert_int_equal(page.from, 0);
	assert_int_equal(page.below, 0);
	assert_null(top_page_line(&page, "", 0));
}

GROUP(top_page)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(blank_lines_go_first_and_then_the_text_scrolls),
	        cmocka_unit_test(an_empty_text_has_no_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
