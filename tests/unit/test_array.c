/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "runner/group.h"
#include "text/array.h"

#define MANY 10000

static void elements_stay_as_an_array_grows(void **state)
{
	uint64_t *numbers = NULL;
	size_t room = 0, grown = 0;

	(void)state;
	for (uint64_t n = 0; n < MANY; n++) {
		size_t before = room;

		assert_true(array_fits(&numbers, &room, n + 1, sizeof(*numbers)));
		assert_true(room > n);
		if (room != before) {
			assert_true(room >= 2 * before);
			grown++;
		}
		numbers[n] = n * n;
	}
	for (uint64_t n = 0; n < MANY; n++)
		assert_int_equal(numbers[n], n * n);
	assert_true(grown < 16);
	free(numbers);
}

static void many_elements_fit_at_once(void **state)
{
	char *bytes = NULL;
	size_t room = 0;

	(void)state;
	assert_true(array_fits(&bytes, &room, MANY, 1));
	assert_true(room >= MANY);
	bytes[MANY - 1] = 'x';
	free(bytes);
}

/* A sanitizer ends a program that asks for so much. */
#ifndef __SANITIZE_ADDRESS__
static void without_memory_an_array_is_as_it_was(void **state)
{
	int *numbers = NULL, *before;
	size_t room = 0, had;

	(void)state;
	assert_true(array_fits(&numbers, &room, 1, sizeof(*numbers)));
	before = numbers;
	had = room;
	numbers[0] = 7;
	assert_false(array_fits(&numbers, &room, SIZE_MAX / 8, sizeof(*numbers)));
	assert_ptr_equal(numbers, before);
	assert_int_equal(room, had);
	assert_int_equal(numbers[0], 7);
	free(numbers);
}
#endif

GROUP(array)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(elements_stay_as_an_array_grows),
	        cmocka_unit_test(many_elements_fit_at_once),
#ifndef __SANITIZE_ADDRESS__
	        cmocka_unit_test(without_memory_an_array_is_as_it_was),
#endif
	};

	return cmocka_run_group_tests_name("array", tests, NULL, NULL);
}
