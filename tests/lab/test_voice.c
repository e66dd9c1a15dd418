/* SPDX-License-Identifier: BSD-3-Clause */
/* Voice calls: how much they send. command.py measures that their load is as specified. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "lab/voice.h"
#include "runner/group.h"

static void a_talkspurt_is_as_many_datagrams_as_fit_rounded(void **state)
{
	static const struct {
		simtime talk_ms, every_ms;
		uint64_t datagrams;
	} cases[] = {{0, 20, 1},  {1, 20, 1},  {9, 20, 1},    {10, 20, 1},   {29, 20, 1},
	             {30, 20, 2}, {49, 20, 2}, {352, 20, 18}, {349, 20, 17}, {352, 352, 1}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(
		        voice_spurt(cases[i].talk_ms * SIMTIME_MS, cases[i].every_ms * SIMTIME_MS),
		        cases[i].datagrams);
}

GROUP(voice)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_talkspurt_is_as_many_datagrams_as_fit_rounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
