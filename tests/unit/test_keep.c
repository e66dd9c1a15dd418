/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeping the scenario in force, and the order of the steps. tests/control/keep.py tests the weir
 * that continues with it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fake_control.h"
#include "runner/group.h"
#include "socket/keep.h"

#define SCENARIO "seed 42\nport a\nport b\ncloud down from a to b\ncloud up from b to a\n"

struct place {
	struct fake fake;
	struct keep_file file;
	char folder[32], config[64], kept[64];
};

static void put(const char *path, const char *text, int64_t written_s)
{
	const struct timespec times[2] = {{.tv_sec = written_s}, {.tv_sec = written_s}};
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static int place_make(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	if (place == NULL || !fake_start(&place->fake, SCENARIO))
		return -1;
	strcpy(place->folder, "/tmp/weir-keep-XXXXXX");
	if (mkdtemp(place->folder) == NULL)
		return -1;
	snprintf(place->config, sizeof(place->config), "%s/config", place->folder);
	snprintf(place->kept, sizeof(place->kept), "%s/kept", place->folder);
	put(place->config, SCENARIO, 1000);
	keep_file_note(&place->file, place->kept, place->config);
	*state = place;
	return 0;
}

static int place_leave(void **state)
{
	struct place *place = *state;

	fake_stop(&place->fake);
	unlink(place->kept);
	unlink(place->config);
	assert_int_equal(rmdir(place->folder), 0);
	free(place);
	return 0;
}

/* Returns 1 and sets *scenario if a weir that starts now continues with the kept scenario,
 * otherwise 0. */
static int begun_again(const struct place *place, struct scenario **scenario)
{
	char message[SCENARIO_FILE_ERROR];
	struct keep_file file;

	keep_file_note(&file, place->kept, place->config);
	return keep_load(&file, scenario, message, sizeof(message));
}

static bool goes_on(const struct place *place)
{
	struct scenario *scenario;
	int result = begun_again(place, &scenario);

	if (result == 1)
		scenario_free(scenario);
	return result == 1;
}

/* The writing thread starts, and the end comes at once. 200 rounds, since chance decides which is
 * first. */
static void what_is_still_being_written_at_the_end_becomes_no_file(void **state)
{
	struct place *place = *state;
	struct keep keep;

	fake_use_threads(&place->fake);
	for (int i = 0; i < 200; i++) {
		keep_init(&keep, &place->fake.control, &place->file);
		assert_int_equal(keep_start(&keep), 0);
		keep_end(&keep, true);
		control_wake(&place->fake.control);
		assert_true(control_join(&place->fake.control, 60 * SIMTIME_S));
		assert_int_equal(access(place->kept, F_OK), -1);
	}
}

/* Only the thread touches the disk. Here it does not come to that. */
static void the_end_waits_for_no_disk(void **state)
{
	struct place *place = *state;
	struct keep keep;

	keep_init(&keep, &place->fake.control, &place->file);
	keep_write(&keep);
	keep.runs = true;
	keep_end(&keep, true);
	assert_int_equal(access(place->kept, F_OK), 0);
	assert_false(keep_write(&keep));
}

static void without_an_orderly_end_it_stays(void **state)
{
	struct place *place = *state;
	struct keep keep;

	keep_init(&keep, &place->fake.control, &place->file);
	assert_true(keep_write(&keep));
	assert_false(keep_write(&keep));
	keep_end(&keep, false);
	assert_true(goes_on(place));
}

/* SIGHUP: the file of 1000 s is in force, while that of 2000 s is being read. */
static void while_the_scenario_file_is_read_again_what_was_in_force_is_not_its(void **state)
{
	struct place *place = *state;
	struct keep keep;

	keep_init(&keep, &place->fake.control, &place->file);
	keep_write(&keep);
	assert_true(goes_on(place));
	put(place->config, SCENARIO "cloud up delay 5ms\n", 2000);
	keep_read(&keep);
	assert_false(keep_write(&keep));
	assert_false(goes_on(place));
	/* The file is in force now, or was wrong: the scenario in force belongs to it either
	 * way. */
	keep_was_read(&keep);
	assert_true(keep_write(&keep));
	assert_true(goes_on(place));
	keep_end(&keep, true);
	assert_false(goes_on(place));
}

static void a_scenario_file_that_is_written_after_it_was_read_counts(void **state)
{
	struct place *place = *state;
	struct keep keep;

	/* Between reading the file and the first write, weir starts DPDK and its ports. */
	put(place->config, SCENARIO "cloud up delay 5ms\n", 2000);
	keep_init(&keep, &place->fake.control, &place->file);
	keep_write(&keep);
	assert_int_equal(access(place->kept, F_OK), 0);
	assert_false(goes_on(place));
	keep_end(&keep, true);
}

#define TEST(claim) cmocka_unit_test_setup_teardown(claim, place_make, place_leave)

GROUP(keep)
{
	const struct CMUnitTest tests[] = {
	        TEST(what_is_still_being_written_at_the_end_becomes_no_file),
	        TEST(the_end_waits_for_no_disk),
	        TEST(without_an_orderly_end_it_stays),
	        TEST(while_the_scenario_file_is_read_again_what_was_in_force_is_not_its),
	        TEST(a_scenario_file_that_is_written_after_it_was_read_counts),
	};

	return cmocka_run_group_tests_name("keep", tests, NULL, NULL);
}
