/* SPDX-License-Identifier: BSD-3-Clause */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_version.h>

#include "language/describe.h"
#include "language/language_export.h"
#include "machine/cpu_level.h"
#include "text/alloc_failure.h"
#include "text/foreign_word.h"
#include "text/language_error.h"
#include "text/statement_text.h"

static int command_help(int argc, char **argv);

struct help {
	bool man, json;
};

static const struct option_row help_rows[] = {
        {OPTION("--man", FIELD_FLAG, struct help, man,
                .help = "weir-scenario(5), the manual page of the scenario language")},
        {OPTION_JSON(struct help, "the tables of the scenario language, for programs")},
        OPTIONS_END,
};

static const struct options help_options = {
        .command = "help",
        .usage = "[COMMAND | scenarios | WORDS ... | --man | --json]",
        .does = "Explains a command, the scenarios that come with weir, or the scenario language: "
                "weir help cloud delay.",
        .rows = help_rows,
        .until_word = true,
};

static const struct {
	const struct options *options;
	int (*run)(int argc, char **argv);
	const struct python_command *python; /* in place of `run` */
} commands[] = {
        {&exec_options, command_exec, NULL},    {&on_options, command_on, NULL},
        {&run_options, command_run, NULL},      {&replay_options, command_replay, NULL},
        {&diff_options, NULL, &diff_command},   {&learn_options, NULL, &learn_command},
        {&check_options, command_check, NULL},  {&ctl_options, command_ctl, NULL},
        {&top_options, NULL, &top_command},     {&serve_options, NULL, &serve_command},
        {&bench_options, command_bench, NULL},  {&lab_options, NULL, &lab_command},
        {&setup_options, NULL, &setup_command}, {&help_options, command_help, NULL},
};
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void print_usage(FILE *out)
{
	fputs("weir: a network emulator. Packets enter at a port, cross a cloud, and leave at "
	      "another port.\n\n",
	      out);
	for (size_t i = 0; i < COMMANDS; i++) {
		options_print_usage(out, commands[i].options, "  ", "  ");
		fprintf(out, "      %s\n", commands[i].options->does);
	}
	fputs("  weir --version\n", out);
}

/* Prints help for a subcommand, or for words of the scenario language; without words, for both. */
static int command_help(int argc, char **argv)
{
	struct help help = {.man = false};
	struct language_error error;
	struct options_words given;
	struct words *words;
	int result = options_read(&help_options, argc, argv, &help, &given);

	if (result != OPTIONS_RUN)
		return result;
	if (help.man) {
		manual_print(stdout);
		return 0;
	}
	if (help.json)
		return language_json_print(stdout) == 0 ? 0 : 1;
	for (size_t i = 0; i < COMMANDS && given.n == 1; i++) {
		if (strcmp(given.word[0], commands[i].options->command) == 0) {
			options_print_help(stdout, commands[i].options);
			return 0;
		}
	}
	if (given.n == 1 && strcmp(given.word[0], "scenarios") == 0) {
		scenario_names_print(stdout);
		return 0;
	}
	words = calloc(1, sizeof(*words));
	if (words == NULL)
		return options_wrong(&help_options, "no memory");
	for (int i = 0; i < given.n && i < LINE_WORDS_MAX; i++) {
		words->word[i] = (struct word){.text = given.word[i], .column = (uint32_t)i + 1};
		words->n++;
	}
	if (given.n == 0) {
		print_usage(stdout);
		fputs("\nThe scenario language, in files and on the control socket:\n\n", stdout);
	}
	if (describe(stdout, words, 0, &error) == 0)
		result = 0;
	else
		result = options_wrong(&help_options, "%s", error.text);
	free(words);
	return result;
}

/* Suggests a command or statement of weir for a word that another tool has. Returns false if there
 * is none. */
static bool foreign_command(const char *name, const char *next,
                            const struct foreign_word *(*find)(enum foreign_place place,
                                                               const char *word))
{
	const struct foreign_word *row = find(FOREIGN_COMMAND, name);
	char text[FOREIGN_TEXT_BYTES];

	if (row != NULL) {
		fprintf(stderr, "weir: unknown command `%.*s`; in weir it is `%s`\n",
		        language_error_shown(name), name, row->write);
		return true;
	}
	row = find(FOREIGN_STATEMENT, name);
	if (row == NULL || strncmp(row->write, "cloud ", 6) == 0 ||
	    !foreign_word_write(row, next, text))
		return false;
	fprintf(stderr, "weir: unknown command `%.*s`; in weir it is `weir exec %s -- COMMAND`\n",
	        language_error_shown(name), name, text);
	return true;
}

static int unknown_command(const char *name, const char *next)
{
	struct nearest nearest;
	struct listing all;

	if (statement_named(name)) {
		fprintf(stderr,
		        "weir: `%s` is not a command but a statement; write: weir exec %s ... -- "
		        "COMMAND, or, for a running weir: weir ctl cloud NAME %s ...\n",
		        name, name, name);
		return 2;
	}
	if (foreign_command(name, next, foreign_word_find))
		return 2;
	nearest_start(&nearest, name);
	for (size_t i = 0; i < COMMANDS; i++)
		nearest_try(&nearest, commands[i].options->command);
	if (nearest.best == NULL && foreign_command(name, next, foreign_word_nearest))
		return 2;
	listing_start(&all, "and");
	for (size_t i = 0; i < COMMANDS; i++)
		listing_add_plain(&all, commands[i].options->command);
	fprintf(stderr, "weir: unknown command `%.*s`; ", language_error_shown(name), name);
	if (nearest.best != NULL)
		fprintf(stderr, "did you mean `%s`?\n", nearest.best);
	else
		fprintf(stderr, "there are %s\n", listing_end(&all));
	return 2;
}

/* Turns success into failure if part of the output could not be printed. */
static int whole(const char *name, int status)
{
	if (!alloc_failure_taken())
		return status;
	fprintf(stderr, "weir %s: out of memory: the output is incomplete\n", name);
	return status == 0 ? 1 : status;
}

int command_main(int argc, char **argv)
{
	alloc_failure_watch_json();
	if (argc < 2) {
		print_usage(stderr);
		return 2;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		print_usage(stdout);
		return 0;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		printf("weir %s for %s, with %s\n", WEIR_VERSION, cpu_level(), rte_version());
		return 0;
	}
	if (strcmp(argv[1], "--complete") == 0) {
		const struct options *all[COMMANDS + 1] = {NULL};

		for (size_t i = 0; i < COMMANDS; i++)
			all[i] = commands[i].options;
		command_complete(stdout, argc - 2, argv + 2, all);
		return 0;
	}
	/* `exec` may be left out; argv[0] is then the program's name instead. */
	if (command_exec_begins(argv[1]))
		return whole("exec", command_exec(argc, argv));
	for (size_t i = 0; i < COMMANDS; i++) {
		if (strcmp(commands[i].options->command, argv[1]) != 0)
			continue;
		return whole(argv[1], commands[i].run ? commands[i].run(argc - 1, argv + 1)
		                                      : python_command(commands[i].python, argc - 1,
		                                                       argv + 1));
	}
	return unknown_command(argv[1], argv[2]);
}
