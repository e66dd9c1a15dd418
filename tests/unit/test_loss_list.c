/* SPDX-License-Identifier: BSD-3-Clause */
/* Losses from a list of packets, and from the log of an earlier run. */
#include "trial.h"
#include "runner/group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loss/loss_list.h"

#define LOG "packet,port,t_in_ns,cloud,fate,reason,t_out_ns,detail\n"

static struct file *file_of(const char *text)
{
	struct file *file = file_make("lost.txt", strlen(text));

	assert_non_null(file);
	memcpy(file->text, text, strlen(text));
	return file;
}

/* Reads the losses of the cloud x, or of the template x, from the text. Freed by
 * drop_table_release. */
static struct drop_table *table_of(const char *text, bool many)
{
	struct file *file = file_of(text);
	struct problem problem = {.text = ""};
	struct drop_table *table;

	if (drop_table_get(file, "x", many, &table, &problem) != 0)
		fail_msg("%s", problem.text);
	file_release(file);
	return table;
}

static void assert_refused(const char *text, bool many, const char *said)
{
	struct file *file = file_of(text);
	struct problem problem = {.text = ""};
	struct drop_table *table;

	assert_int_equal(drop_table_get(file, "x", many, &table, &problem), -22);
	assert_null(table);
	assert_string_equal(problem.text, said);
	assert_int_equal(problem.field, 0);
	file_release(file);
}

static bool has(struct drop_list *list, uint64_t number, uint8_t flags)
{
	return drop_list_has(list, number, flags);
}

static void a_list_has_the_numbers_that_stand_in_it(void **state)
{
	static const struct {
		const char *text;
		uint64_t lost[8];
	} rows[] = {
	        {"3\n1\n2\n", {1, 2, 3, 0}},
	        {"7", {7, 0}},
	        {"# lost on Tuesday\n\n  5 \r\n\t9\r\n\r\n", {5, 9, 0}},
	        {"5\n5\n5", {5, 0}},
	        {"9223372036854775807", {INT64_MAX, 0}},
	        {LOG "4,a,100,x,dropped,loss,,\n"
	             "5,a,100,x,delivered,,200,\n"
	             "6,a,100,y,dropped,loss,,\n"
	             "7,a,100,x,dropped,queue-full,,\n"
	             "8,a,100,x,dropped,loss,,generated\n"
	             "9,a,100,x,dropped,loss,,a new detail, with a comma\n",
	         {4, 9, 0}},
	        {LOG "1,a,100,x,delivered,,200,\n", {0}},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct drop_table *table = table_of(rows[i].text, false);
		struct drop_list list = drop_table_list(table, "x");
		const uint64_t *lost = rows[i].lost;

		for (uint64_t number = 1; number < 20; number++) {
			bool expected = *lost == number;

			lost += expected;
			assert_int_equal(has(&list, number, 0), expected);
			assert_false(has(&list, number, PACKET_GENERATED));
		}
		if (*lost)
			assert_true(has(&list, *lost, 0));
		/* Backwards, which the short cut does not handle. */
		for (uint64_t number = 19; number > 0; number--) {
			bool expected = false;

			for (lost = rows[i].lost; *lost; lost++)
				expected |= *lost == number;
			assert_int_equal(has(&list, number, 0), expected);
		}
		drop_table_release(table);
	}
}

static void each_cloud_of_a_template_has_the_losses_of_its_name(void **state)
{
	static const struct {
		const char *cloud;
		uint64_t lost[4];
	} rows[] = {
	        {"x/10.0.0.1", {4, 9, 0}}, {"x/10.0.0.10", {3, 7, 0}}, {"x/2001:db8::7", {5, 0}},
	        {"x/10.0.0.2", {0}},       {"x/10.0.0.3", {0}},        {"x/", {0}},
	        {"x/other", {11, 0}},
	};
	struct drop_table *table = table_of(LOG "9,a,100,x/10.0.0.1,dropped,loss,,\n"
	                                        "7,a,100,x/10.0.0.10,dropped,loss,,\n"
	                                        "5,a,100,x/2001:db8::7,dropped,loss,,\n"
	                                        "4,a,100,x/10.0.0.1,dropped,loss,,\n"
	                                        "3,a,100,x/10.0.0.10,dropped,loss,,\n"
	                                        "2,a,100,x/10.0.0.2,delivered,,200,\n"
	                                        "6,a,100,xx/10.0.0.1,dropped,loss,,\n"
	                                        "8,a,100,x,dropped,loss,,\n"
	                                        "10,a,100,x/10.0.0.1,dropped,police,,\n"
	                                        "11,a,100,x/other,dropped,loss,,\n",
	                                    true);

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct drop_list list = drop_table_list(table, rows[i].cloud);
		const uint64_t *lost = rows[i].lost;

		for (uint64_t number = 1; number < 20; number++) {
			bool expected = *lost == number;

			lost += expected;
			assert_int_equal(has(&list, number, 0), expected);
		}
	}
	drop_table_release(table);
}

static void a_template_takes_a_list_of_numbers_and_no_log_of_another(void **state)
{
	struct drop_table *table = table_of("5\n3\n", true);
	struct drop_list list = drop_table_list(table, "x/10.0.0.1");

	(void)state;
	assert_true(has(&list, 3, 0));
	assert_false(has(&list, 4, 0));
	assert_true(has(&list, 5, 0));
	drop_table_release(table);
	assert_refused(LOG "1,a,100,x,dropped,loss,,\n", true,
	               "lost.txt: the log has no packet in a cloud of the template `x`, whose "
	               "names begin with `x/`; it has `x`");
	assert_refused(LOG "1,a,100,x/10.0.0.1,dropped,loss,,\n", false,
	               "lost.txt: the log has no packet in a cloud `x`; it has `x/10.0.0.1`");
}

/* Otherwise each of 65,536 clouds would read it. */
static void a_file_is_read_once_for_all_that_ask_the_same_of_it(void **state)
{
	struct file *file = file_of(LOG "4,a,1,x/1,dropped,loss,,\n");
	struct drop_table *first, *second, *third;
	struct problem problem;

	(void)state;
	assert_int_equal(drop_table_get(file, "x", true, &first, &problem), 0);
	assert_int_equal(drop_table_get(file, "x", true, &second, &problem), 0);
	assert_ptr_equal(first, second);
	assert_int_equal(drop_table_get(file, "x/1", false, &third, &problem), 0);
	assert_ptr_not_equal(first, third);
	file_release(file);
	drop_table_release(first);
	drop_table_release(third);
	assert_int_equal(drop_table_list(second, "x/1").n, 1);
	drop_table_release(second);
}

static void a_copy_and_its_original_are_told_apart(void **state)
{
	struct drop_table *table =
	        table_of(LOG "4,a,1,x,dropped,loss,,copy\n5,a,1,x,dropped,loss,,\n", false);
	struct drop_list list = drop_table_list(table, "x");

	(void)state;
	assert_false(has(&list, 4, 0));
	assert_true(has(&list, 4, PACKET_COPY));
	assert_true(has(&list, 5, 0));
	assert_false(has(&list, 5, PACKET_COPY));
	drop_table_release(table);
}

static void what_cannot_be_understood_is_said_with_its_line(void **state)
{
	static const struct {
		const char *text, *problem;
	} rows[] = {
	        {"", "lost.txt: there is no packet number in it; write one in each line"},
	        {"# nothing\n",
	         "lost.txt: there is no packet number in it; write one in each line"},
	        {"1\n\nx2\n",
	         "lost.txt:3: `x2` is not the number of a packet; write a whole number from 1 on "
	         "in each line, or use the log of a `weir replay --log`"},
	        {"0", "lost.txt:1: `0` is not the number of a packet; write a whole number from 1 "
	              "on in each line, or use the log of a `weir replay --log`"},
	        {"9223372036854775808",
	         "lost.txt:1: `9223372036854775808` is not the number of a packet; write a whole "
	         "number from 1 on in each line, or use the log of a `weir replay --log`"},
	        {"packet,port\n", "lost.txt:1: this is not the first line of a log; the lines of a "
	                          "log are packet,port,t_in_ns,cloud,fate,reason,t_out_ns,detail"},
	        {LOG, "lost.txt: the log has no packets"},
	        {LOG "1,a,100,y,dropped,loss,,\n",
	         "lost.txt: the log has no packet in a cloud `x`; it has `y`"},
	        {LOG "1,a,100\n", "lost.txt:2: this is not a line of a log; the lines of a log are "
	                          "packet,port,t_in_ns,cloud,fate,reason,t_out_ns,detail"},
	        {LOG ",a,1,x,dropped,loss,,\n",
	         "lost.txt:2: the packet has no number; the lines of a log are "
	         "packet,port,t_in_ns,cloud,fate,reason,t_out_ns,detail"},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++)
		assert_refused(rows[i].text, false, rows[i].problem);
}

/* ---- the stage ---- */

static char path[] = "/tmp/weir-list-XXXXXX";

static void write_file(const char *text)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

static const char *statement(void)
{
	static char text[64];

	snprintf(text, sizeof(text), "loss list %s", path);
	return text;
}

static void the_packets_of_the_list_are_lost_and_no_others(void **state)
{
	static const uint64_t lost[] = {1, 33, 64, 1000, 0};
	struct trial *trial;

	(void)state;
	write_file("1000\n64\n33\n1\n5000\n");
	trial = trial_open(statement(), 1);
	trial_send(trial, 1500, 60);
	trial_assert_lost(trial, lost);
	trial_assert_bursts_agree(statement(), 1500, 60);
	/* The content that was read stays in force until the statement is given again. */
	write_file("1501\n");
	trial_send(trial, 1, 60);
	assert_int_equal(trial_count(trial, TRIAL_LOST), 4);
	write_file("1502\n");
	trial_set(trial, statement());
	trial_send(trial, 1, 60);
	assert_int_equal(trial_count(trial, TRIAL_LOST), 5);
	trial_close(trial);
}

static void what_happened_once_happens_again(void **state)
{
	struct trial *first = trial_open("loss gilbert-elliott p 2% r 20%", 3), *again;
	FILE *out = fopen(path, "w");

	(void)state;
	trial_send(first, 20000, 60);
	assert_non_null(out);
	fputs(LOG, out);
	for (uint64_t i = 1; i <= first->sent; i++)
		fprintf(out, "%lu,a,%lu,x,%s\n", i, i,
		        first->fate[i] & TRIAL_LOST ? "dropped,loss,," : "delivered,,5,");
	fclose(out);
	again = trial_open(statement(), 99);
	trial_send(again, 20000, 60);
	assert_memory_equal(again->fate, first->fate, 20001);
	trial_close(first);
	trial_close(again);
}

GROUP(loss_list)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_list_has_the_numbers_that_stand_in_it),
	        cmocka_unit_test(each_cloud_of_a_template_has_the_losses_of_its_name),
	        cmocka_unit_test(a_template_takes_a_list_of_numbers_and_no_log_of_another),
	        cmocka_unit_test(a_file_is_read_once_for_all_that_ask_the_same_of_it),
	        cmocka_unit_test(a_copy_and_its_original_are_told_apart),
	        cmocka_unit_test(what_cannot_be_understood_is_said_with_its_line),
	        cmocka_unit_test(the_packets_of_the_list_are_lost_and_no_others),
	        cmocka_unit_test(what_happened_once_happens_again),
	};
	int failed, fd = mkstemp(path);

	if (fd < 0)
		return 1;
	close(fd);
	failed = cmocka_run_group_tests_name("loss_list", tests, rig_group_setup,
	                                     rig_group_teardown);
	unlink(path);
	return failed;
}
