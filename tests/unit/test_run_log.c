/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The log of a running weir: if standard error leads to the journal, it goes there, as fields;
 * otherwise to standard error. The journal is a socket of the test.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cmocka.h>
#include <rte_log.h>

#include "folder.h"
#include "machine/eal.h"
#include "machine/run_log.h"
#include "runner/group.h"
#include "said.h"

#define SOCKET "journal"

static int journal = -1;
static char said[20000];

static int start(void **state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = SOCKET};

	if (enter_folder(state) < 0)
		return -1;
	unsetenv("JOURNAL_STREAM");
	journal = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	return bind(journal, (const struct sockaddr *)&address, sizeof(address));
}

static int finish(void **state)
{
	unsetenv("JOURNAL_STREAM");
	close(journal);
	return leave_folder(state);
}

/* Makes standard error lead to a file, which is the journal's or not. */
static void begin(enum run_log_level most, bool is_journal)
{
	struct stat status;
	char text[80];

	said_begin(stderr);
	assert_int_equal(fstat(STDERR_FILENO, &status), 0);
	snprintf(text, sizeof(text), "%llu:%llu", (unsigned long long)status.st_dev,
	         (unsigned long long)status.st_ino + !is_journal);
	setenv("JOURNAL_STREAM", text, 1);
	run_log_begin("run", most, SOCKET);
}

static const char *end(void)
{
	run_log_end();
	said_end(stderr, said, sizeof(said));
	return said;
}

/* Reads the next entry, and appends a 0. Returns its length, or 0 if there is none. */
static size_t entry(char bytes[JOURNAL_BYTES_MAX + 1])
{
	ssize_t n = recv(journal, bytes, JOURNAL_BYTES_MAX, 0);

	bytes[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

static void expect_entry(const char *expected)
{
	char bytes[JOURNAL_BYTES_MAX + 1];

	assert_true(entry(bytes) > 0);
	assert_string_equal(bytes, expected);
}

static void expect_no_entry(void)
{
	char bytes[JOURNAL_BYTES_MAX + 1];

	assert_int_equal(entry(bytes), 0);
}

static void without_a_journal_a_line_goes_to_standard_error(void **state)
{
	(void)state;
	begin(RUN_LOG_NOTICE, false);
	run_log(RUN_LOG_NOTICE, "port %s: link %s", "b", "down");
	assert_string_equal(end(), "weir run: port b: link down\n");
	expect_no_entry();
}

static void an_entry_of_the_journal_has_the_level_the_command_and_the_fields(void **state)
{
	static const struct journal_field fields[] = {{"WEIR_CLOUD", "down"},
	                                              {"WEIR_REASON", "no-buffer"}};
	(void)state;
	begin(RUN_LOG_NOTICE, true);
	run_log_with(RUN_LOG_WARNING, fields, 2, "cloud %s", "down");
	assert_string_equal(end(), "");
	expect_entry("MESSAGE=cloud down\nPRIORITY=4\nSYSLOG_IDENTIFIER=weir\nWEIR_COMMAND=run\n"
	             "WEIR_CLOUD=down\nWEIR_REASON=no-buffer\n");
	expect_no_entry();
}

static void a_value_of_several_lines_goes_with_its_length(void **state)
{
	static const char expected[] = "MESSAGE\n\7\0\0\0\0\0\0\0one\ntwo\nPRIORITY=3\n";
	char bytes[JOURNAL_BYTES_MAX + 1];
	(void)state;

	begin(RUN_LOG_ERROR, true);
	run_log(RUN_LOG_ERROR, "one\ntwo");
	end();
	assert_true(entry(bytes) > sizeof(expected));
	assert_memory_equal(bytes, expected, sizeof(expected) - 1);
}

static void each_level_says_what_is_as_important_and_more(void **state)
{
	(void)state;
	for (int most = RUN_LOG_ERROR; most <= RUN_LOG_DEBUG; most++) {
		char expected[200] = "";

		begin((enum run_log_level)most, false);
		for (int level = RUN_LOG_ERROR; level <= RUN_LOG_DEBUG; level++) {
			run_log((enum run_log_level)level, "%s", run_log_levels[level]);
			if (level <= most)
				sprintf(expected + strlen(expected), "weir run: %s\n",
				        run_log_levels[level]);
		}
		assert_string_equal(end(), expected);
	}
	assert_null(run_log_levels[RUN_LOG_DEBUG + 1]);
}

/* The socket takes as many datagrams as the kernel allows. Then nothing waits, and all losses are
 * reported. */
static void a_journal_that_stands_still_holds_nothing_up_and_what_it_misses_is_counted(void **state)
{
	enum { LINES = 20000 };
	char bytes[JOURNAL_BYTES_MAX + 1];
	unsigned taken = 0, missing = 0;
	(void)state;

	begin(RUN_LOG_NOTICE, true);
	for (int i = 0; i < LINES; i++)
		run_log(RUN_LOG_NOTICE, "line %d", i);
	for (char line[40]; entry(bytes) > 0; taken++) {
		sprintf(line, "MESSAGE=line %u\n", taken);
		assert_memory_equal(bytes, line, strlen(line));
	}
	assert_true(taken > 0 && taken < LINES);
	run_log(RUN_LOG_NOTICE, "it reads again");
	assert_true(entry(bytes) > 0);
	assert_int_equal(sscanf(bytes, "MESSAGE=%u lines are missing here", &missing), 1);
	assert_int_equal(missing, LINES - taken);
	assert_non_null(strstr(bytes, "\nPRIORITY=4\n"));
	assert_true(entry(bytes) > 0);
	assert_ptr_equal(strstr(bytes, "MESSAGE=it reads again\n"), bytes);
	assert_string_equal(end(), "");
}

static void lines_that_are_missing_at_the_end_are_told_on_standard_error(void **state)
{
	(void)state;
	begin(RUN_LOG_NOTICE, true);
	for (int i = 0; i < 20000; i++)
		run_log(RUN_LOG_NOTICE, "line %d", i);
	assert_string_equal(
	        end(),
	        "weir run: lines are missing at the end: the journal was not accepting messages\n");
}

static void a_journal_that_has_gone_is_replaced_by_standard_error(void **state)
{
	(void)state;
	begin(RUN_LOG_NOTICE, true);
	assert_int_equal(unlink(SOCKET), 0);
	run_log(RUN_LOG_NOTICE, "no socket");
	assert_string_equal(end(), "weir run: no socket\n");
}

static void what_is_too_long_for_an_entry_goes_to_standard_error(void **state)
{
	static char value[JOURNAL_BYTES_MAX];
	const struct journal_field field = {"WEIR_CLOUD", value};
	(void)state;

	memset(value, 'x', sizeof(value) - 1);
	begin(RUN_LOG_NOTICE, true);
	run_log_with(RUN_LOG_NOTICE, &field, 1, "long");
	assert_string_equal(end(), "weir run: long\n");
	expect_no_entry();
}

/* Only the file of standard error counts: a program that started weir may have had the journal, and
 * weir a file. */
static void what_the_environment_says_of_another_file_does_not_count(void **state)
{
	static const char *const texts[] = {"", "1", "1:", "1:2x", "1:2:3", "x:y"};
	(void)state;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		setenv("JOURNAL_STREAM", texts[i], 1);
		assert_false(journal_is_behind(STDERR_FILENO));
	}
	unsetenv("JOURNAL_STREAM");
	assert_false(journal_is_behind(STDERR_FILENO));
}

/* Lets DPDK log an error and a notice, with this level of weir's log. Returns what was logged. */
static const char *said_by_dpdk(enum run_log_level most, bool asked)
{
	begin(most, false);
	eal_log_start(asked);
	rte_log(RTE_LOG_ERR, RTE_LOGTYPE_USER1, "PMD: no\tsuch device\n");
	rte_log(RTE_LOG_NOTICE, RTE_LOGTYPE_USER1, "PMD: a notice\n");
	eal_log_stop();
	return end();
}

static void dpdk_says_its_lines_in_the_log_of_weir(void **state)
{
	(void)state;
	assert_string_equal(said_by_dpdk(RUN_LOG_NOTICE, false), "");
	assert_string_equal(eal_log_cause(), "PMD: no such device");
	assert_string_equal(said_by_dpdk(RUN_LOG_INFO, false),
	                    "weir run: DPDK: PMD: no such device\n");
	assert_string_equal(said_by_dpdk(RUN_LOG_DEBUG, false),
	                    "weir run: DPDK: PMD: no such device\nweir run: DPDK: PMD: a notice\n");
	assert_string_equal(said_by_dpdk(RUN_LOG_NOTICE, true),
	                    "weir run: DPDK: PMD: no such device\nweir run: DPDK: PMD: a notice\n");
	assert_string_equal(eal_log_cause(), "PMD: no such device");
	assert_string_equal(eal_log_cause(), "");
}

GROUP(run_log)
{
#define CLAIM(name) cmocka_unit_test_setup_teardown(name, start, finish)
	const struct CMUnitTest tests[] = {
	        CLAIM(without_a_journal_a_line_goes_to_standard_error),
	        CLAIM(an_entry_of_the_journal_has_the_level_the_command_and_the_fields),
	        CLAIM(a_value_of_several_lines_goes_with_its_length),
	        CLAIM(each_level_says_what_is_as_important_and_more),
	        CLAIM(a_journal_that_stands_still_holds_nothing_up_and_what_it_misses_is_counted),
	        CLAIM(lines_that_are_missing_at_the_end_are_told_on_standard_error),
	        CLAIM(a_journal_that_has_gone_is_replaced_by_standard_error),
	        CLAIM(what_is_too_long_for_an_entry_goes_to_standard_error),
	        CLAIM(what_the_environment_says_of_another_file_does_not_count),
	        CLAIM(dpdk_says_its_lines_in_the_log_of_weir),
	};

	return cmocka_run_group_tests_name("run-log", tests, NULL, NULL);
}
