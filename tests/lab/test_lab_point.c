/* SPDX-License-Identifier: BSD-3-Clause */
/* Points of an experiment: what can be built, and the messages for what cannot. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "lab/lab.h"
#include "runner/group.h"

#define LINES_MAX 8

/* Builds the point of these lines, the first of which is line 1. */
static int build(const char *text, struct lab_error *error)
{
	struct lab_line lines[LINES_MAX];
	struct lab_point point = {.lines = lines,
	                          .duration = "500s",
	                          .warmup = "100s",
	                          .sample = "10ms",
	                          .ties = "departure-first"};
	char copy[512], *rest = copy;

	assert_true(strlen(text) < sizeof(copy));
	strcpy(copy, text);
	while (rest) {
		assert_true(point.n_lines < LINES_MAX);
		lines[point.n_lines] = (struct lab_line){strsep(&rest, "\n"), point.n_lines + 1};
		point.n_lines++;
	}
	*error = (struct lab_error){0};
	return lab_point_run(&point, NULL, error);
}

static void what_cannot_be_built_is_said_with_its_line(void **state)
{
	static const struct {
		const char *text;
		uint32_t line;
		const char *message;
	} cases[] = {
	        {"link l from a to a", 1,
	         "link `l`: a name has 1 to 26 bytes, and its two switches must differ"},
	        {"link l from a to b\ncloud l rate 10", 0, "`cloud l rate 10`:"},
	        {"link l from a to b\nftp f 1 from a to b response vegas", 2, ""},
	        {"link l from a to b\nset f 1", 2, "`set` is no line of a point"},
	        {"link l from a to b\n", 2, "`` is no line of a point"},
	        /* names of measures */
	        {"link l from a to b\nftp o 3 from a to b\nvoice o 5 from a to b", 3,
	         "there is a group `o` already; give this one another name"},
	        {"link l from a to b\nftp l 3 from a to b", 2,
	         "there is a cloud `l`; give the group another name"},
	        {"link l from a to b\nftp l.back 3 from a to b", 2,
	         "there is a cloud `l.back`; give the group another name"},
	        {"web l.back 3 from a to b\nlink l from a to b", 2,
	         "there is a group `l.back`; give the link another name"},
	        {"link l from a to b\nftp all 3 from a to b", 2,
	         "`all` stands for all groups; give the group another name"},
	        {"link l from a to b\nftp o 3 from a to b\nsurge o 5 from a to b", 3,
	         "there is a group `o` already; give this one another name"},
	};
	struct lab_error error;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_not_equal(build(cases[i].text, &error), 0);
		assert_int_equal(error.line, cases[i].line);
		assert_memory_equal(error.text, cases[i].message, strlen(cases[i].message));
		assert_true(error.text[0] != 0);
	}
}

static void a_group_may_have_a_name_that_begins_like_that_of_a_link(void **state)
{
	struct lab_error error;

	(void)state;
	if (build("link l from a to b\nftp l.backbone 1 from a to b\nvoice o 3 from a to b",
	          &error))
		fail_msg("%s", error.text);
}

GROUP(lab_point)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(what_cannot_be_built_is_said_with_its_line),
	        cmocka_unit_test(a_group_may_have_a_name_that_begins_like_that_of_a_link),
	};

	return cmocka_run_group_tests_name("lab-point", tests, NULL, NULL);
}
