/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Leftovers of killed weirs: folders and files with weir's names whose process is gone, and which
 * no process holds, are removed. Everything else stays, whatever its name.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "folder.h"
#include "machine/eal.h"
#include "runner/group.h"

static pid_t dead; /* a process that is gone */

static int start(void **state)
{
	if (enter_folder(state) < 0)
		return -1;
	dead = fork();
	if (dead == 0)
		_exit(0);
	if (waitpid(dead, NULL, 0) != dead)
		return -1;
	return mkdir("run", 0700) < 0 || mkdir("huge", 0700) < 0 || mkdir("other", 0700) < 0 ||
	                       mkdir("proc", 0700) < 0 || mkdir("proc/self", 0700) < 0
	               ? -1
	               : 0;
}

static void put(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void put(const char *format, ...)
{
	va_list arguments;
	char path[200];
	FILE *file;

	va_start(arguments, format);
	vsnprintf(path, sizeof(path), format, arguments);
	va_end(arguments);
	if (path[strlen(path) - 1] == '/') {
		assert_int_equal(mkdir(path, 0700), 0);
		return;
	}
	file = fopen(path, "w");
	assert_non_null(file);
	fclose(file);
}

static bool is_there(const char *format, ...) __attribute__((format(printf, 1, 2)));
static bool is_there(const char *format, ...)
{
	va_list arguments;
	char path[200];

	va_start(arguments, format);
	vsnprintf(path, sizeof(path), format, arguments);
	va_end(arguments);
	return access(path, F_OK) == 0;
}

static void mount_at(const char *name)
{
	FILE *file = fopen("proc/self/mountinfo", "w");

	assert_non_null(file);
	fprintf(file,
	        "31 23 0:28 / /other rw - tmpfs tmpfs rw,mode=755\n"
	        "32 23 0:29 / %s rw,relatime shared:4 - hugetlbfs hugetlbfs rw,pagesize=2M\n",
	        name);
	fclose(file);
}

static void the_folder_of_a_dead_process_goes_with_what_is_in_it(void **state)
{
	(void)state;
	put("run/weir-%d-0123abcd/", dead);
	put("run/weir-%d-0123abcd/config", dead);
	put("run/weir-%d-0123abcd/mp_socket", dead);
	put("run/weir-%d-00000000/", dead);
	assert_int_equal(leftovers_remove(folder, "run", NULL), 2);
	assert_false(is_there("run/weir-%d-0123abcd", dead));
	assert_false(is_there("run/weir-%d-00000000", dead));
	assert_true(is_there("run"));
}

static void what_is_not_weirs_or_alive_or_held_stays(void **state)
{
	char held[100];
	int hold;
	(void)state;

	put("run/rte/");
	put("run/weir/");
	put("run/weir-%d/", dead);
	put("run/weir-%d-0123abc/", dead);
	put("run/weir-%d-0123abcde/", dead);
	put("run/weir-%d-0123abcd.old/", dead);
	put("run/weir--1-0123abcd/");
	put("run/weir-x-0123abcd/");
	put("run/my-weir-%d-0123abcd/", dead);
	put("run/weir-%d-0123abcd/", (int)getpid());
	put("run/weir-1-0123abcd/");
	put("run/weir-%d-11111111/", dead);
	snprintf(held, sizeof(held), "run/weir-%d-11111111", dead);
	hold = leftovers_hold("run", strrchr(held, '/') + 1);
	assert_true(hold >= 0);
	assert_int_equal(leftovers_remove(folder, "run", NULL), 0);
	leftovers_release(hold);
	assert_int_equal(leftovers_remove(folder, "run", NULL), 1);
	assert_false(is_there("%s", held));
}

/* Another process, which does not see this one, removes what it takes for leftovers meanwhile. */
static void a_folder_that_is_just_being_made_stays(void **state)
{
	char path[100];
	pid_t other;
	(void)state;

	other = fork();
	if (other == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (other == 0)
		leftovers_remove(folder, "run", NULL);
	for (int i = 0; i < 4000; i++) {
		int hold;

		snprintf(path, sizeof(path), "run/weir-%d-%08x", dead, i);
		hold = leftovers_hold("run", strrchr(path, '/') + 1);
		assert_true(hold >= 0);
		assert_true(is_there("%s", path));
		leftovers_release(hold);
	}
	kill(other, SIGKILL);
	assert_int_equal(waitpid(other, NULL, 0), other);
}

/* DPDK waits for a lock on it if the run has a shared configuration. */
static void a_folder_that_is_held_can_be_locked_by_dpdk(void **state)
{
	char name[40];
	int hold, fd;
	(void)state;

	snprintf(name, sizeof(name), "weir-%d-22222222", dead);
	hold = leftovers_hold("run", name);
	assert_true(hold >= 0);
	fd = openat(hold, ".", O_RDONLY | O_DIRECTORY);
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
	close(fd);
	assert_int_equal(leftovers_remove(folder, "run", NULL), 0);
	leftovers_release(hold);
	assert_int_equal(leftovers_remove(folder, "run", NULL), 1);
}

/* A link could lead anywhere: neither the link nor its target is touched. */
static void a_link_is_not_followed(void **state)
{
	char name[100];
	(void)state;

	put("other/precious");
	snprintf(name, sizeof(name), "run/weir-%d-0123abcd", dead);
	assert_int_equal(symlink("../other", name), 0);
	assert_int_equal(leftovers_remove(folder, "run", NULL), 0);
	assert_true(is_there("other/precious"));
}

static void huge_pages_of_a_dead_process_are_given_back(void **state)
{
	char held[100];
	int fd;
	(void)state;

	mount_at("/huge");
	put("huge/weir-%d-0123abcdmap_0", dead);
	put("huge/weir-%d-0123abcdmap_17", dead);
	put("huge/weir-%d-0123abcdmap_0", (int)getpid());
	put("huge/rtemap_0");
	put("huge/weir-%d-0123abcd", dead);
	put("other/weir-%d-0123abcdmap_0", dead);
	put("huge/weir-%d-11111111map_0", dead);
	snprintf(held, sizeof(held), "huge/weir-%d-11111111map_0", dead);
	fd = open(held, O_RDONLY | O_CLOEXEC);
	assert_int_equal(flock(fd, LOCK_SH), 0); /* as DPDK does at run time */
	assert_int_equal(leftovers_remove(folder, "run", NULL), 2);
	close(fd);
	assert_true(is_there("%s", held));
	assert_true(is_there("huge/weir-%d-0123abcdmap_0", (int)getpid()));
	assert_true(is_there("huge/rtemap_0"));
	assert_true(is_there("other/weir-%d-0123abcdmap_0", dead));
}

static void at_the_end_a_run_removes_its_own(void **state)
{
	char prefix[64];
	(void)state;

	mount_at("/huge");
	snprintf(prefix, sizeof(prefix), "weir-%d-0123abcd", (int)getpid());
	put("run/%s/", prefix);
	put("run/%s/config", prefix);
	put("huge/%smap_0", prefix);
	put("run/weir-%d-22222222/", (int)getpid());
	put("run/weir-%d-22222222/config", (int)getpid());
	assert_int_equal(leftovers_remove(folder, "run", prefix), 2);
	assert_false(is_there("run/%s", prefix));
	assert_false(is_there("huge/%smap_0", prefix));
	assert_true(is_there("run/weir-%d-22222222/config", (int)getpid()));
}

static void without_folders_there_is_nothing_to_do(void **state)
{
	(void)state;
	assert_int_equal(leftovers_remove("/nowhere", "/nowhere", NULL), 0);
	assert_int_equal(leftovers_remove(folder, "", NULL), 0);
	assert_int_equal(leftovers_hold("/nowhere", "run"), -1);
	leftovers_release(-1);
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, start, leave_folder)

GROUP(leftovers)
{
	const struct CMUnitTest tests[] = {
	        CLAIM(the_folder_of_a_dead_process_goes_with_what_is_in_it),
	        CLAIM(what_is_not_weirs_or_alive_or_held_stays),
	        CLAIM(a_folder_that_is_held_can_be_locked_by_dpdk),
	        CLAIM(a_folder_that_is_just_being_made_stays),
	        CLAIM(a_link_is_not_followed),
	        CLAIM(huge_pages_of_a_dead_process_are_given_back),
	        CLAIM(at_the_end_a_run_removes_its_own),
	        CLAIM(without_folders_there_is_nothing_to_do),
	};

	return cmocka_run_group_tests_name("leftovers", tests, NULL, NULL);
}
