/* SPDX-License-Identifier: BSD-3-Clause */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_version.h>

#include "language/explain.h"
#include "language/manual.h"
#include "text/nearest.h"
#include "text/shortage.h"

static int command_help(int argc, char **argv);

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *usage;
	const char *help;
} commands[] = {
        {"run", command_run, "-c FILE [-s SOCKET] [--cores LIST] [-- EAL ARGS]",
         "runs a scenario live, between ports"},
        {"replay", command_replay,
         "-c FILE --in PORT=PCAP ... --out PORT=PCAP ... [--seed N] [--report FILE.json] [--log "
         "FILE.csv]",
         "passes captures through a scenario, in virtual time"},
        {"check", command_check, "-c FILE [-j]",
         "validates a scenario, and says what it needs and whether this machine has it"},
        {"ctl", command_ctl, "[-s SOCKET] [-j] [-f FILE] [COMMAND ...]",
         "one command to a running weir, or a shell"},
        {"bench", command_bench,
         "[PART ...] [-c FILE] [--frame N] [--seconds N] [-j] [--html FILE]",
         "cost, capacity and precision on this machine"},
        {"lab", command_lab,
         "list | run NAME|ROW|all [-j] [--seeds N] [--set NAME=VALUE] [--out DIR]",
         "the papers' experiments, in virtual time"},
        {"help", command_help, "[WORDS ...] | --man",
         "explains the scenario language: weir help cloud delay; --man: its manual page"},
        {NULL, NULL, NULL, NULL},
};

static void print_usage(FILE *out)
{
	fputs("weir: a network emulator. Packets enter at a port, cross a cloud, and leave at "
	      "another "
	      "port.\n\n",
	      out);
	for (int i = 0; commands[i].name != NULL; i++)
		fprintf(out, "  weir %s %s\n      %s\n", commands[i].name, commands[i].usage,
		        commands[i].help);
	fputs("  weir --version\n", out);
}

static int command_help(int argc, char **argv)
{
	struct language_error error;
	struct words *words;
	int result = 0;

	if (argc == 2 && strcmp(argv[1], "--man") == 0) {
		manual_print(stdout);
		return 0;
	}
	if (argc == 1)
		print_usage(stdout);
	words = calloc(1, sizeof(*words));
	if (words == NULL) {
		fputs("weir help: no memory\n", stderr);
		return 1;
	}
	for (int i = 1; i < argc && i <= LINE_WORDS_MAX; i++) {
		words->word[i - 1] = (struct word){.text = argv[i], .column = (uint32_t)i};
		words->n++;
	}
	if (argc == 1)
		fputs("\nThe scenario language, in files and on the control socket:\n\n", stdout);
	if (explain(stdout, words, 0, &error) != 0) {
		fprintf(stderr, "weir help: %s\n", error.text);
		result = 2;
	}
	free(words);
	return result;
}

static int unknown_command(const char *name)
{
	struct nearest nearest;

	nearest_start(&nearest, name);
	for (int i = 0; commands[i].name != NULL; i++)
		nearest_try(&nearest, commands[i].name);
	fprintf(stderr, "weir: unknown command `%.*s`; ", language_error_shown(name), name);
	if (nearest.best != NULL) {
		fprintf(stderr, "did you mean `%s`?\n", nearest.best);
		return 2;
	}
	fputs("there are", stderr);
	for (int i = 0; commands[i].name != NULL; i++)
		fprintf(stderr, "%s %s",
		        i == 0                         ? ""
		        : commands[i + 1].name != NULL ? ","
		                                       : " and",
		        commands[i].name);
	fputs("\n", stderr);
	return 2;
}

/* Nothing is taken for done of which a part could not be printed. */
static int whole(const char *name, int status)
{
	if (!shortage_taken())
		return status;
	fprintf(stderr,
	        "weir %s: no memory for all that was to be printed; some of it is missing\n", name);
	return status == 0 ? 1 : status;
}

int command_main(int argc, char **argv)
{
	shortage_watch_json();
	if (argc < 2) {
		print_usage(stderr);
		return 2;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		print_usage(stdout);
		return 0;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		printf("weir %s, with %s\n", WEIR_VERSION, rte_version());
		return 0;
	}
	for (int i = 0; commands[i].name != NULL; i++) {
		if (strcmp(commands[i].name, argv[1]) == 0)
			return whole(argv[1], commands[i].run(argc - 1, argv + 1));
	}
	return unknown_command(argv[1]);
}
