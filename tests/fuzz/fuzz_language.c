/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzes lines of the scenario language. Asserts for every input: a line that is refused leaves the
 * scenario unchanged, and the error has a name and a sentence of one line; the scenario made by the
 * accepted lines prints to text whose lines are all accepted, make an equal scenario and print the
 * same bytes; completion, help, the check of the whole and the budget handle any scenario.
 */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/budget.h"
#include "check/memory_plan.h"
#include "language/complete.h"
#include "language/describe.h"
#include "language/language.h"
#include "language/scenario_check.h"
#include "language/scenario_file.h"

#define INPUT_MAX 65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void assert_said(const struct language_error *error)
{
	assert(error->name != NULL && error->name[0] != 0);
	assert(error->text[0] != 0 && strchr(error->text, '\n') == NULL);
	assert(error->column <= LINE_BYTES_MAX + 2);
}

static struct scenario *start(void)
{
	static const char *const lines[] = {"port a", "port b", "cloud x from a to b"};
	struct scenario *scenario = scenario_make();
	static struct command command;
	struct language_error error;

	assert(scenario != NULL);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		assert(language_parse(lines[i], &command, &error) == 0);
		assert(language_edit(scenario, &command, &error) == 0);
	}
	return scenario;
}

static void help(const struct command *command)
{
	struct language_error error;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert(out != NULL);
	if (describe(out, &command->words, 1, &error) != 0)
		assert_said(&error);
	fclose(out);
	free(text);
}

static void complete_line(const char *line, const struct scenario *scenario)
{
	struct completion completion;

	assert(complete(line, scenario, &completion) == 0);
	assert(completion.start <= strlen(line));
	for (uint32_t i = 0; i < completion.n; i++)
		assert(strncmp(completion.words[i], line + completion.start,
		               strlen(line + completion.start)) == 0);
	complete_release(&completion);
}

/* Executes a line. Returns true if it was accepted. */
static bool execute(const char *line, struct scenario *scenario)
{
	static struct command command;
	struct language_error error = {.name = NULL, .text = ""};
	char *before, *after;

	if (language_parse(line, &command, &error) != 0) {
		assert_said(&error);
		return false;
	}
	if (command.kind == COMMAND_HELP)
		help(&command);
	before = scenario_text(scenario);
	if (language_edit(scenario, &command, &error) == 0) {
		language_release(&command);
		free(before);
		return true;
	}
	after = scenario_text(scenario);
	assert(strcmp(before, after) == 0);
	free(before);
	free(after);
	assert_said(&error);
	language_release(&command);
	return false;
}

static void assert_equal(const struct scenario *a, const struct scenario *b)
{
	assert(a->seed == b->seed && a->seed_given == b->seed_given);
	assert(a->n_ports == b->n_ports && a->n_clouds == b->n_clouds);
	for (uint32_t i = 0; i < a->n_clouds; i++) {
		const struct cloud_conf *x = a->clouds[i], *y = b->clouds[i];

		assert(strcmp(x->name, y->name) == 0 && x->n_confs == y->n_confs);
		for (uint32_t j = 0; j < x->n_confs; j++) {
			const struct conf *other = cloud_conf_get(y, x->confs[j]->statement->name);

			while (other != NULL && other->number != x->confs[j]->number)
				other = cloud_conf_next(y, other);
			assert(other != NULL && conf_equal(x->confs[j], other));
			assert(other->given == x->confs[j]->given);
		}
	}
}

static void print_and_read_again(const struct scenario *scenario)
{
	char *text = scenario_text(scenario), *again, *lines, *line, *rest;
	struct scenario *copy = scenario_make();

	assert(text != NULL && copy != NULL);
	lines = strdup(text);
	for (line = strtok_r(lines, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest))
		assert(execute(line, copy));
	assert_equal(scenario, copy);
	again = scenario_text(copy);
	assert(strcmp(text, again) == 0);
	scenario_free(copy);
	free(again);
	free(lines);
	free(text);
}

static void check_whole(const struct scenario *scenario)
{
	const struct machine_memory machine = {.pages.free_bytes = 64 << 20,
	                                       .address.free_bytes = UINT64_MAX,
	                                       .locked.free_bytes = 1 << 20};
	struct problem problem = {.text = ""};
	struct memory_plan plan;
	struct budget budget;

	if (scenario_check(scenario, &problem) != 0) {
		assert(problem.text[0] != 0);
		return;
	}
	assert(budget_of(scenario, NULL, &budget) == 0);
	(void)memory_plan_make(
	        &(struct memory_request){
	                .scenario = scenario, .budget = &budget, .machine = &machine, .workers = 1},
	        &plan, &problem);
	budget_release(&budget);
}

static void load(const char *text, size_t size)
{
	char message[SCENARIO_FILE_ERROR];
	struct scenario *scenario;

	if (scenario_text_load(text, size, "input", &scenario, message, sizeof(message)) != 0) {
		assert(strncmp(message, "input:", 6) == 0 && strchr(message, '\n') == NULL);
		return;
	}
	print_and_read_again(scenario);
	scenario_free(scenario);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct scenario *scenario;
	char *text, *line, *rest;

	if (size > INPUT_MAX)
		return 0;
	text = malloc(size + 1);
	assert(text != NULL);
	if (size > 0)
		memcpy(text, data, size);
	text[size] = 0;
	load(text, size);
	scenario = start();
	for (line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
		complete_line(line, scenario);
		execute(line, scenario);
	}
	print_and_read_again(scenario);
	check_whole(scenario);
	scenario_free(scenario);
	free(text);
	return 0;
}
