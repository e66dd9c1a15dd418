/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line as a table: parsing, errors and help; and the tables of the subcommands. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "command.h"
#include "runner/group.h"
#include "said.h"

#define WORDS_MAX 12
#define SAID      8192

struct heard {
	const char *config, *first, *second;
	bool quiet;
	uint64_t count, memory_bytes;
	uint32_t layout;
};

static int take_pair(const struct field *option, char *text, void *to, struct language_error *error)
{
	struct heard *heard = to;
	char *equals = strchr(text, '=');

	if (!equals)
		return language_error_set(error, ERROR_BAD_VALUE, "%s `%s`: write A=B",
		                          option->name, text);
	*equals = '\0';
	heard->first = text;
	heard->second = equals + 1;
	return 0;
}

static const struct option_row rows[] = {
        {OPTION_CONFIG(struct heard, "a file")},
        {OPTION_QUIET(struct heard, "nothing is said")},
        {OPTION("--count", FIELD_COUNT, struct heard, count, .min = 1, .max = 32, .initial = 7,
                .help = "how many")},
        {OPTION_LAYOUT(struct heard)},
        {OPTION_MEMORY(struct heard, UINT64_C(4) << 20, 0, "how much")},
        {OPTION("--pair", FIELD_TEXT, struct heard, first, .form = "A=B", .help = "both"),
         .take = take_pair},
        OPTIONS_END,
};

static const struct options table = {
        .command = "try", .usage = "-c FILE [options]\nWORD", .does = "Tries.", .rows = rows};
static const struct options table_until_word = {
        .command = "try", .usage = "", .does = "Tries.", .rows = rows, .until_word = true};

static char said[SAID];

/* Reads a line; stores the output on `stream` in `said`. */
static int read_line(const struct options *options, const char *line, FILE *stream,
                     struct heard *heard, struct options_words *words)
{
	static char text[300];
	static char *argv[WORDS_MAX + 1];
	int argc = 0, status;
	char *rest;

	snprintf(text, sizeof(text), "try %s", line);
	for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		argv[argc++] = word;
	argv[argc] = NULL;
	*heard = (struct heard){.config = NULL};
	said_begin(stream);
	status = options_read(options, argc, argv, heard, words);
	said_end(stream, said, sizeof(said));
	return status;
}

static void each_way_to_write_an_option_is_read(void **state)
{
	static const char *const lines[] = {
	        "-c f -q --count 3 --layout pipeline --memory 8MiB --pair a=b",
	        "--config=f --quiet --count=3 --layout=pipeline --memory=8MiB --pair=a=b",
	        "-qcf --cou 3 --lay pipeline --mem 8192KiB --pair a=b",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct options_words words;
		struct heard heard;

		assert_int_equal(read_line(&table, lines[i], stderr, &heard, &words), OPTIONS_RUN);
		assert_string_equal(said, "");
		assert_string_equal(heard.config, "f");
		assert_true(heard.quiet);
		assert_int_equal(heard.count, 3);
		assert_int_equal(heard.layout, 1);
		assert_int_equal(heard.memory_bytes, 8 << 20);
		assert_string_equal(heard.first, "a");
		assert_string_equal(heard.second, "b");
		assert_int_equal(words.n, 0);
	}
}

static void what_is_not_given_is_what_the_table_says(void **state)
{
	struct options_words words;
	struct heard heard;

	(void)state;
	assert_int_equal(read_line(&table, "", stderr, &heard, &words), OPTIONS_RUN);
	assert_int_equal(heard.count, 7);
	assert_int_equal(heard.memory_bytes, 0);
	assert_false(options_given(&table, &words, "--count"));
	assert_int_equal(read_line(&table, "--count 7", stderr, &heard, &words), OPTIONS_RUN);
	assert_true(options_given(&table, &words, "--count"));
	assert_false(options_given(&table, &words, "--config"));
}

static void words_stand_among_options_or_end_them(void **state)
{
	struct options_words words;
	struct heard heard;

	(void)state;
	assert_int_equal(read_line(&table, "one -q two", stderr, &heard, &words), OPTIONS_RUN);
	assert_true(heard.quiet);
	assert_int_equal(words.n, 2);
	assert_string_equal(words.word[1], "two");
	assert_false(words.apart);
	assert_int_equal(read_line(&table_until_word, "one -q", stderr, &heard, &words),
	                 OPTIONS_RUN);
	assert_false(heard.quiet);
	assert_int_equal(words.n, 2);
	assert_int_equal(read_line(&table_until_word, "-q -- -l 3", stderr, &heard, &words),
	                 OPTIONS_RUN);
	assert_true(words.apart);
	assert_int_equal(words.n, 2);
	assert_string_equal(words.word[0], "-l");
}

static void what_is_wrong_is_said_in_one_wording(void **state)
{
	static const struct {
		const char *line, *says;
	} wrong[] = {
	        {"--cuont 3", "weir try: no such option --cuont; did you mean --count?\n"},
	        {"--xyzzy", "weir try: no such option --xyzzy; weir try --help lists them\n"},
	        {"--cuont=3", "weir try: no such option --cuont; did you mean --count?\n"},
	        {"-x", "weir try: no such option -x; weir try --help lists them\n"},
	        {"-qx", "weir try: no such option -x; weir try --help lists them\n"},
	        {"--c 3", "weir try: no such option --c; weir try --help lists them\n"},
	        {"--count", "weir try: --count needs a value; weir try --help\n"},
	        {"-c", "weir try: --config needs a value; weir try --help\n"},
	        {"--quiet=1", "weir try: --quiet takes no value\n"},
	        {"--help=1", "weir try: --help takes no value\n"},
	        {"--count 33", "weir try: --count `33` is out of range; it goes from 1 to 32\n"},
	        {"--layout pipelin",
	         "weir try: --layout `pipelin` is unknown; did you mean `pipeline`?\n"},
	        {"--pair a", "weir try: --pair `a`: write A=B\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct options_words words;
		struct heard heard;

		assert_int_equal(read_line(&table, wrong[i].line, stderr, &heard, &words),
		                 OPTIONS_WRONG);
		assert_string_equal(said, wrong[i].says);
	}
}

static void help_has_each_row_with_its_range_and_is_80_columns_wide(void **state)
{
	struct options_words words;
	struct heard heard;

	(void)state;
	assert_int_equal(read_line(&table, "-q --help --count 99", stdout, &heard, &words),
	                 OPTIONS_HELP);
	assert_string_equal(said,
	                    "usage: weir try -c FILE [options]\n"
	                    "       weir try WORD\n"
	                    "\n"
	                    "Tries.\n"
	                    "\n"
	                    "  -c, --config FILE|NAME  a file\n"
	                    "  -q, --quiet             nothing is said\n"
	                    "      --count N           how many; 1 to 32; 7 if not given\n"
	                    "      --layout LAYOUT     run-to-completion: each worker receives, "
	                    "emulates and\n"
	                    "                          sends; pipeline: separate workers for each "
	                    "of these, 3\n"
	                    "                          or more; run-to-completion if not given\n"
	                    "      --memory SIZE       how much; 4MiB to 16777216MiB\n"
	                    "      --pair A=B          both\n"
	                    "  -h, --help\n");
}

static void the_tables_of_the_subcommands_hold_together(void **state)
{
	static const struct options *const all[] = {&exec_options,  &run_options, &replay_options,
	                                            &check_options, &ctl_options, &bench_options,
	                                            &lab_options};

	(void)state;
	for (size_t t = 0; t < sizeof(all) / sizeof(all[0]); t++) {
		uint32_t n = 0;

		for (const struct option_row *row = all[t]->rows; row->field.name; row++, n++) {
			assert_memory_equal(row->field.name, "--", 2);
			assert_non_null(row->field.help);
			assert_true(row->letter != 'h' && strcmp(row->field.name, "--help") != 0);
			for (const struct option_row *other = all[t]->rows; other < row; other++) {
				assert_string_not_equal(row->field.name, other->field.name);
				assert_true(!row->letter || row->letter != other->letter);
			}
		}
		assert_true(n > 0 && n <= OPTIONS_MAX);
		/* a line of help for each option, none cut short */
		said_begin(stdout);
		options_print_help(stdout, all[t]);
		said_end(stdout, said, sizeof(said));
		assert_true(strlen(said) < sizeof(said) - 1);
		for (const struct option_row *row = all[t]->rows; row->field.name; row++) {
			char head[60];

			snprintf(head, sizeof(head), " %s%s%s", row->field.name,
			         row->field.form ? " " : "",
			         row->field.form ? row->field.form : "");
			assert_non_null(strstr(said, head));
		}
	}
}

GROUP(options)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(each_way_to_write_an_option_is_read),
	        cmocka_unit_test(what_is_not_given_is_what_the_table_says),
	        cmocka_unit_test(words_stand_among_options_or_end_them),
	        cmocka_unit_test(what_is_wrong_is_said_in_one_wording),
	        cmocka_unit_test(help_has_each_row_with_its_range_and_is_80_columns_wide),
	        cmocka_unit_test(the_tables_of_the_subcommands_hold_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
