/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values of several parts, decimal fractions and files: from text, to text, in a statement, and
 * through the life of a configuration.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "language/complete.h"
#include "text/file_read.h"
#include "text/statement_text.h"
#include "text/value.h"
#include "random/draw.h"
#include "runner/group.h"
#include "scenario/file.h"
#include "scenario/scenario.h"

#define ROWS(array) (sizeof(array) / sizeof((array)[0]))

static const char *const sums[] = {"ip", "tcp", "udp", NULL};

/* A configuration with a field of each of these types. */
struct box {
	struct conf conf;
	struct ratio ratio;
	struct range range;
	struct numbers numbers;
	uint32_t words;
	struct file *file;
};

enum { RATIO, RANGE, NUMBERS, WORDS, NAME };

static const struct field fields[] = {
        [RATIO] = {.name = "ber", .type = FIELD_RATIO, .offset = offsetof(struct box, ratio)},
        [RANGE] = {.name = "length",
                   .type = FIELD_RANGE,
                   .offset = offsetof(struct box, range),
                   .min = 1,
                   .max = 100},
        [NUMBERS] = {.name = "packets",
                     .type = FIELD_NUMBERS,
                     .offset = offsetof(struct box, numbers),
                     .min = 1,
                     .max = 1000},
        [WORDS] = {.name = "sums",
                   .type = FIELD_WORDS,
                   .offset = offsetof(struct box, words),
                   .words = sums},
        [NAME] = {.name = "file", .type = FIELD_FILE, .offset = offsetof(struct box, file)},
        FIELD_END,
};

static const struct statement box_statement = {
        .name = "box", .fields = fields, .conf_bytes = sizeof(struct box)};

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

struct row {
	int field;
	const char *text, *right; /* canonical; or the error */
};

static void values_are_printed_so_that_they_can_be_read_again(void **state)
{
	static const struct row rows[] = {
	        {RATIO, "1e-18", "1e-18"},
	        {RATIO, "0.000000000000000001", "1e-18"},
	        {RATIO, "1.5e-9", "1.5e-9"},
	        {RATIO, "0", "0%"},
	        {RATIO, "100%", "100%"},
	        {RATIO, "0.10", "10%"},
	        {RATIO, "12.5%", "12.5%"},
	        {RATIO, "1e-38", "1e-38"},
	        {RATIO, "1234567890123456789e-38", "1.234567890123456789e-20"},
	        {RANGE, "2..16", "2..16"},
	        {RANGE, "7", "7"},
	        {RANGE, "7..7", "7"},
	        {RANGE, "1..100", "1..100"},
	        {NUMBERS, "3", "3"},
	        {NUMBERS, "3,4,5", "3,4,5"},
	        {NUMBERS, "5, 3,  4", "5,3,4"},
	        {NUMBERS, "007,8", "7,8"},
	        {WORDS, "tcp", "tcp"},
	        {WORDS, "udp,ip", "ip,udp"},
	        {WORDS, "udp, tcp, ip", "ip,tcp,udp"},
	};

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		const struct field *field = &fields[rows[i].field];
		struct box *box = (struct box *)conf_make(&box_statement);
		struct box *again = (struct box *)conf_make(&box_statement);
		struct language_error error = {.text = ""};
		char *text;

		if (value_parse(field, rows[i].text, box, &error) != 0)
			fail_msg("%s: %s", rows[i].text, error.text);
		text = printed(field, box);
		assert_string_equal(text, rows[i].right);
		assert_int_equal(value_parse(field, text, again, &error), 0);
		assert_true(conf_equal(&box->conf, &again->conf));
		free(text);
		conf_free(&box->conf);
		conf_free(&again->conf);
	}
}

static void what_is_wrong_with_a_part_is_said_of_that_part(void **state)
{
	static const struct row rows[] = {
	        {RATIO, "1.1",
	         "ber `1.1` is out of range; it goes from 0% to 100%, and percent are written "
	         "1.1%"},
	        {RATIO, "101%", "ber `101%` is out of range; it goes from 0% to 100%"},
	        {RATIO, "-1", "ber `-1` is out of range; it goes from 0% to 100%"},
	        {RATIO, "often",
	         "ber `often` is not a probability; write a fraction like 1e-9 or "
	         "percent like 0.1%"},
	        {RATIO, "1e-39",
	         "ber `1e-39` is too fine: at most 19 digits, none beyond "
	         "decimal place 38"},
	        {RANGE, "16..2", "length `16..2` goes down; write the smaller number first"},
	        {RANGE, "0..2", "length `0` is out of range; it goes from 1 to 100"},
	        {RANGE, "1..101", "length `101` is out of range; it goes from 1 to 100"},
	        {RANGE, "1...4",
	         "length `.4` is not a count; write a whole number without a unit, like 1000"},
	        {RANGE, "..4",
	         "length `` is not a count; write a whole number without a unit, like "
	         "1000"},
	        {NUMBERS, "1,x,3",
	         "packets `x` is not a count; write a whole number without a unit, like 1000"},
	        {NUMBERS, "1,2,",
	         "packets `` is not a count; write a whole number without a unit, like 1000"},
	        {NUMBERS, "1,1001", "packets `1001` is out of range; it goes from 1 to 1000"},
	        {WORDS, "ip,tpc", "sums `tpc` is unknown; did you mean `tcp`?"},
	        {WORDS, "ip,tcp,ip", "sums has `ip` twice; give it once"},
	        {WORDS, "", "sums `` is unknown; it is `ip`, `tcp` or `udp`"},
	};

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct box *box = (struct box *)conf_make(&box_statement);
		struct language_error error = {.text = ""};

		assert_int_equal(value_parse(&fields[rows[i].field], rows[i].text, box, &error),
		                 -EINVAL);
		assert_string_equal(error.text, rows[i].right);
		assert_int_equal(box->ratio.digits, 0);
		assert_int_equal(box->range.from, 0);
		assert_int_equal(box->numbers.n, 0);
		assert_int_equal(box->words, 0);
		conf_free(&box->conf);
	}
}

/* ---- statements ---- */

static struct conf *parsed(const char *line, struct language_error *error)
{
	struct words *words = malloc(sizeof(*words));
	struct conf *conf = NULL;

	assert_non_null(words);
	*error = (struct language_error){.text = ""};
	assert_int_equal(words_split(line, words, error), 0);
	if (statement_parse(words, 0, &conf, error) != 0)
		conf = NULL;
	free(words);
	return conf;
}

static void a_list_may_have_blanks_after_its_commas(void **state)
{
	static const char *const rows[][2] = {
	        {"loss pattern 3,4,5 of 7", "loss pattern 3,4,5 of 7"},
	        {"loss pattern 3, 4,  5 of 7", "loss pattern 3,4,5 of 7"},
	        {"corrupt checksum ip, tcp, udp", "corrupt checksum ip,tcp,udp"},
	        {"corrupt checksum tcp, ip probability 5%",
	         "corrupt checksum ip,tcp probability 5%"},
	        {"loss burst 0.1% length 2..16", "loss burst 0.1% length 2..16"},
	        {"loss bit-error 1e-18", "loss bit-error 1e-18"},
	};

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct language_error error;
		struct conf *conf = parsed(rows[i][0], &error);
		char *text = NULL;
		size_t bytes;
		FILE *out = open_memstream(&text, &bytes);

		if (conf == NULL)
			fail_msg("%s: %s", rows[i][0], error.text);
		statement_print(out, conf);
		fclose(out);
		assert_string_equal(text, rows[i][1]);
		free(text);
		conf_free(conf);
	}
}

static void an_error_in_a_list_points_at_its_beginning(void **state)
{
	static const struct {
		const char *line, *text;
		uint32_t column;
	} rows[] = {
	        {"loss pattern 3, x, 5 of 7",
	         "packets `x` is not a count; write a whole number without a unit, like 1000", 14},
	        {"loss pattern 3, of 7",
	         "packets `of` is not a count; write a whole number without a unit, like 1000", 14},
	        {"loss pattern 3 4 of 7",
	         "unknown word `4`; what may follow here is `of` or `keyed`", 16},
	        {"loss pattern of 7", "`loss` needs `packets`: N,N...", 14},
	        {"corrupt checksum ip, probability 5%",
	         "checksums `probability` is unknown; it is `ip`, `tcp`, `udp` or `icmp`", 18},
	        {"loss burst 1%", "`loss` needs `length`: N..N", 15},
	};

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct language_error error;

		assert_null(parsed(rows[i].line, &error));
		assert_string_equal(error.text, rows[i].text);
		assert_int_equal(error.column, rows[i].column);
	}
}

static void lists_of_words_are_completed_part_by_part(void **state)
{
	static const struct {
		const char *line, *offered; /* between blanks */
	} rows[] = {
	        {"cloud x corrupt checksum ", "icmp ip tcp udp "},
	        {"cloud x corrupt checksum t", "tcp "},
	        {"cloud x corrupt checksum ip,t", "ip,tcp "},
	        {"cloud x corrupt checksum ip, t", "tcp "},
	        {"cloud x corrupt checksum ip, tcp ", "keyed probability "},
	        {"cloud x loss pattern 3, 4, ", ""},
	        {"cloud x loss pattern 3, 4 ", "keyed of "},
	        {"cloud x loss bit-error 1", "1% "},
	        {"cloud x loss 1", "1% "},
	        {"cloud x loss 1% c", "correlation "},
	};

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct completion completion;
		char offered[256] = "";

		assert_int_equal(complete(rows[i].line, NULL, &completion), 0);
		for (uint32_t n = 0; n < completion.n; n++) {
			strcat(offered, completion.words[n]);
			strcat(offered, " ");
		}
		assert_string_equal(offered, rows[i].offered);
		complete_release(&completion);
	}
}

/* ---- files ---- */

static char path[] = "/tmp/weir-value-XXXXXX";

static void write_file(const char *text)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

static void a_file_is_read_when_it_is_named_and_shared_by_copies(void **state)
{
	struct box *box = (struct box *)conf_make(&box_statement), *copy, *later;
	struct language_error error;

	(void)state;
	write_file("one\ntwo");
	assert_int_equal(value_parse(&fields[NAME], path, box, &error), 0);
	assert_int_equal(value_parse(&fields[NUMBERS], "1,2", box, &error), 0);
	assert_int_equal(box->file->bytes, 7);
	assert_string_equal(box->file->text, "one\ntwo");
	copy = (struct box *)conf_copy(&box->conf);
	assert_non_null(copy);
	assert_ptr_equal(copy->file, box->file);
	assert_ptr_not_equal(copy->numbers.value, box->numbers.value);
	assert_true(conf_equal(&copy->conf, &box->conf));
	/* Another content makes another configuration. */
	write_file("one\ntwo\n");
	later = (struct box *)conf_copy(&box->conf);
	assert_int_equal(value_parse(&fields[NAME], path, later, &error), 0);
	assert_false(conf_equal(&later->conf, &box->conf));
	conf_free(&box->conf);
	assert_string_equal(copy->file->text, "one\ntwo");
	conf_free(&copy->conf);
	conf_free(&later->conf);
}

static void a_file_that_cannot_be_read_is_said(void **state)
{
	static const char *const rows[][2] = {
	        {"/no-such-file",
	         "the file `/no-such-file` cannot be read: No such file or directory"},
	        {"/", "the file `/` cannot be read: it is not an ordinary file"},
	        {"/dev/null", "the file `/dev/null` cannot be read: it is not an ordinary file"},
	};

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct language_error error;
		struct file *file;

		assert_int_equal(file_read(rows[i][0], &file, &error), -EINVAL);
		assert_string_equal(error.name, ERROR_BAD_FILE);
		assert_string_equal(error.text, rows[i][1]);
	}
}

static void lines_end_with_lf_cr_lf_or_the_file(void **state)
{
	static const struct {
		const char *text;
		const char *line[6];
	} rows[] = {
	        {"", {NULL}},
	        {"\n", {"", NULL}},
	        {"a", {"a", NULL}},
	        {"a\n", {"a", NULL}},
	        {"a\r\nbc\r\n", {"a", "bc", NULL}},
	        {"a\n\n\r\nb\r", {"a", "", "", "b", NULL}},
	        {"a\rb\n", {"a\rb", NULL}},
	};

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct file *file = file_make("f", strlen(rows[i].text));
		struct file_line line = {0};
		uint64_t n = 0;

		assert_non_null(file);
		memcpy(file->text, rows[i].text, strlen(rows[i].text));
		for (; file_next_line(file, &line); n++) {
			assert_non_null(rows[i].line[n]);
			assert_int_equal(line.number, n + 1);
			assert_int_equal(line.bytes, strlen(rows[i].line[n]));
			assert_memory_equal(line.text, rows[i].line[n], line.bytes);
		}
		assert_null(rows[i].line[n]);
		file_release(file);
	}
}

GROUP(value_list)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(values_are_printed_so_that_they_can_be_read_again),
	        cmocka_unit_test(what_is_wrong_with_a_part_is_said_of_that_part),
	        cmocka_unit_test(a_list_may_have_blanks_after_its_commas),
	        cmocka_unit_test(an_error_in_a_list_points_at_its_beginning),
	        cmocka_unit_test(lists_of_words_are_completed_part_by_part),
	        cmocka_unit_test(a_file_is_read_when_it_is_named_and_shared_by_copies),
	        cmocka_unit_test(a_file_that_cannot_be_read_is_said),
	        cmocka_unit_test(lines_end_with_lf_cr_lf_or_the_file),
	};
	int failed, fd = mkstemp(path);

	if (fd < 0)
		return 1;
	close(fd);
	failed = cmocka_run_group_tests_name("value-list", tests, NULL, NULL);
	unlink(path);
	return failed;
}
