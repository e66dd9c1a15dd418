/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion for the shells: lists what the last word of a command line may become. The scripts of
 * bash, zsh and fish (contrib/completion/) call the program, as
 *
 *   weir --complete ctl cloud down del
 *
 * so they always match it: commands, their options and the values of these come from the tables of
 * options.h, the scenario language from complete.h, and for `ctl` the ports and clouds of the
 * running weir.
 *
 * Each candidate is a line, which stands for the whole last word. The line `/` means that file
 * names are possible, too, and `/a=` that they are possible behind `a=`, which the word begins
 * with.
 */
#include "command.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/ctl_link.h"
#include "language/complete.h"
#include "language/scenario_file.h"
#include "text/alloc_failure.h"
#include "text/word.h"

/* How long a shell waits for a weir that does not answer. */
#define PATIENCE_S 2

struct typed {
	FILE *out;
	const char *last; /* the last word, without its head */
	const char *head; /* what stands before, like `--config=`: `head_n` bytes */
	int head_n;
	const struct options *options;
	char **word; /* those before the last that are neither options nor their values */
	int n;
	const char *socket;
	bool apart; /* behind `--` */
};

static void offer(const struct typed *typed, const char *word)
{
	if (strncmp(word, typed->last, strlen(typed->last)) == 0)
		fprintf(typed->out, "%.*s%s\n", typed->head_n, typed->head, word);
}

static void offer_files(const struct typed *typed)
{
	fprintf(typed->out, "/%.*s\n", typed->head_n, typed->head);
}

/* Adds to the head of the last word what it has up to its first `=`, if it has one. */
static void pass_equals(struct typed *typed)
{
	const char *equals = strchr(typed->last, '=');

	if (!equals)
		return;
	typed->head_n += (int)(equals + 1 - typed->last);
	typed->last = equals + 1;
}

/* ---- options ---- */

static const struct option_row *row_of(const struct options *options, const char *word)
{
	for (const struct option_row *row = options->rows; row->field.name; row++)
		if (strcmp(row->field.name, word) == 0 ||
		    (word[1] == row->letter && row->letter && word[2] == '\0'))
			return row;
	return NULL;
}

static void offer_value(struct typed *typed, const struct option_row *row)
{
	static const char *const files[] = {"FILE", "FILE|NAME", "PATH", "PORT=PCAP", "DIR", NULL};

	if (row->field.form && strcmp(row->field.form, "PORT=PCAP") == 0)
		pass_equals(typed);
	for (const char *const *word = row->field.type == FIELD_WORD ? row->field.words : NULL;
	     word && *word; word++)
		offer(typed, *word);
	for (const char *const *form = files; row->field.form && *form; form++)
		if (strcmp(row->field.form, *form) == 0)
			offer_files(typed);
}

/* Returns the PATH of `--socket=PATH`, which is one word, or NULL for another word. */
static const char *socket_in(const char *word)
{
	static const char option[] = "--socket=";

	return strncmp(word, option, strlen(option)) == 0 ? word + strlen(option) : NULL;
}

/* Reads the words before the last. Returns the row of the option whose value the last word is, or
 * NULL. */
static const struct option_row *pass_over(struct typed *typed, int n, char **words)
{
	for (int i = 0; i < n; i++) {
		const struct option_row *row;

		if (typed->apart || words[i][0] != '-' || !words[i][1]) {
			typed->word[typed->n++] = words[i];
			typed->apart |= typed->options->until_word;
			continue;
		}
		typed->apart |= strcmp(words[i], "--") == 0;
		if (socket_in(words[i]))
			typed->socket = socket_in(words[i]);
		row = row_of(typed->options, words[i]);
		if (!row || row->field.type == FIELD_FLAG)
			continue;
		if (i + 1 == n)
			return row;
		i++;
		if (strcmp(row->field.name, "--socket") == 0)
			typed->socket = words[i];
	}
	return NULL;
}

/* Returns the row of the option that the last word gives a value, like `--config=my`, and passes
 * over its name, or returns NULL. */
static const struct option_row *joined(struct typed *typed)
{
	const char *equals = strchr(typed->last, '=');
	const struct option_row *row = typed->options->rows;

	if (!equals)
		return NULL;
	for (; row->field.name; row++) {
		size_t n = strlen(row->field.name);

		if (row->field.type != FIELD_FLAG && typed->last + n == equals &&
		    strncmp(row->field.name, typed->last, n) == 0) {
			pass_equals(typed);
			return row;
		}
	}
	return NULL;
}

/* ---- words ---- */

/* Returns the scenario of the running weir, or NULL if none runs or it does not answer. */
static struct scenario *scenario_running(const char *socket)
{
	struct ctl_link link = {.fd = -1};
	char message[SCENARIO_FILE_ERROR];
	struct scenario *scenario = NULL;
	struct ctl_answer answer;
	struct problem problem;

	if (ctl_link_open(&link, socket, CTL_ANSWER_TIMEOUT_S, &problem) != 0)
		return NULL;
	if (ctl_link_ask(&link, "show config", &answer) == 0) {
		if (answer.ok)
			scenario_text_load(answer.body, answer.body_n, "config", &scenario, message,
			                   sizeof(message));
		ctl_answer_release(&answer);
	}
	ctl_link_close(&link);
	return scenario;
}

/* Offers the last word of the commands of a conversation that begin as the line does. */
static void offer_conversation(const struct typed *typed, const char *line)
{
	static const char *const phrases[] = {
	        "abort", "begin",  "begin lease", "begin whole", "commit", "events", "events from",
	        "exit",  "hello",  "json off",    "json on",     "keep",   "load",   "quit",
	        "renew", "revert", "sample",      "save",        NULL};
	const size_t before = strlen(line) - strlen(typed->last);
	char word[16], latest[16] = "";

	for (const char *const *phrase = phrases; *phrase; phrase++) {
		if (strncmp(*phrase, line, strlen(line)) != 0)
			continue;
		snprintf(word, sizeof(word), "%.*s", (int)strcspn(*phrase + before, " "),
		         *phrase + before);
		if (strcmp(word, latest) != 0)
			offer(typed, word);
		strcpy(latest, word);
	}
}

/* Offers words of the scenario language that may follow `head` and the words typed. */
static void offer_language(const struct typed *typed, const char *head,
                           const struct scenario *scenario)
{
	struct completion completion;
	struct printed line;
	FILE *text = printed_begin(&line);

	fputs(head, text);
	for (int i = 0; i < typed->n; i++) {
		word_print(text, typed->word[i], false);
		fputc(' ', text);
	}
	fputs(typed->last, text);
	if (printed_end(&line) && complete(line.bytes, scenario, &completion) == 0) {
		for (uint32_t i = 0; i < completion.n; i++)
			offer(typed, completion.words[i]);
		complete_release(&completion);
		if (!head[0])
			offer_conversation(typed, line.bytes);
	}
	free(line.bytes);
}

/* Offers interfaces, NICs and services of this machine. */
static void offer_ports(const struct typed *typed)
{
	static const struct {
		const char *folder, *ending;
	} places[] = {{"/sys/class/net", ""}, {"/sys/bus/pci/devices", ""}, {"/etc/weir", ".weir"}};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		DIR *folder = opendir(places[i].folder);

		for (struct dirent *entry; folder && (entry = readdir(folder));) {
			size_t n = strlen(entry->d_name), ending = strlen(places[i].ending);

			if (entry->d_name[0] == '.' || n <= ending ||
			    strcmp(entry->d_name + n - ending, places[i].ending) != 0)
				continue;
			entry->d_name[n - ending] = '\0';
			offer(typed, entry->d_name);
		}
		if (folder)
			closedir(folder);
	}
}

static void offer_words(const struct typed *typed, const struct options *const *all)
{
	const char *command = typed->options->command;
	struct scenario *scenario;

	if (strcmp(command, "ctl") == 0) {
		if (typed->n == 1 &&
		    (strcmp(typed->word[0], "load") == 0 || strcmp(typed->word[0], "save") == 0))
			offer_files(typed);
		scenario = scenario_running(typed->socket);
		offer_language(typed, "", scenario);
		scenario_free(scenario);
	} else if (strcmp(command, "exec") == 0) {
		/* Behind `--` stands a program, which the shell completes better. */
		if (typed->apart)
			offer_files(typed);
		else
			offer_language(typed, "cloud down ", NULL);
	} else if (strcmp(command, "on") == 0) {
		/* The statements stand behind the interface. */
		struct typed rest = *typed;

		rest.word++;
		rest.n--;
		if (typed->n == 0)
			offer_ports(typed);
		else
			offer_language(&rest, "cloud down ", NULL);
		if (typed->n > 0)
			offer(typed, "match");
	} else if (strcmp(command, "help") == 0) {
		for (size_t i = 0; typed->n == 0 && all[i]; i++)
			offer(typed, all[i]->command);
		offer_language(typed, "help ", NULL);
	} else if (strcmp(command, "setup") == 0) {
		offer_ports(typed);
	} else if (strcmp(command, "bench") == 0 || strcmp(command, "lab") == 0) {
		offer_files(typed);
	}
}

void command_complete(FILE *out, int n, char **words, const struct options *const *all)
{
	struct typed typed = {.out = out, .last = n > 0 ? words[n - 1] : ""};
	const struct option_row *row;

	typed.head = typed.last;
	alarm(PATIENCE_S);
	for (size_t i = 0; all[i]; i++) {
		if (n <= 1)
			offer(&typed, all[i]->command);
		else if (strcmp(all[i]->command, words[0]) == 0)
			typed.options = all[i];
	}
	if (n <= 1) {
		offer(&typed, "--help");
		offer(&typed, "--version");
	}
	if (!typed.options)
		return;
	typed.word = calloc((size_t)n, sizeof(*typed.word));
	if (!typed.word)
		return;
	row = pass_over(&typed, n - 2, words + 1);
	if (!row && !typed.apart)
		row = joined(&typed);
	if (row)
		offer_value(&typed, row);
	else if (typed.last[0] != '-' || typed.apart)
		offer_words(&typed, all);
	else {
		for (row = typed.options->rows; row->field.name; row++)
			offer(&typed, row->field.name);
		offer(&typed, "--help");
	}
	free(typed.word);
}
