/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks the ports and files of `weir replay`: that they exist, and do not conflict. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "language/language.h"
#include "replay/replay_options.h"

#define FILES_MAX (2 * REPLAY_FILES_MAX + 4)

static int bind_port(const struct scenario *scenario, const char *option, const char *name,
                     uint32_t *port, struct problem *problem)
{
	int index = scenario_find_port(scenario, name);
	const struct word word = {.text = (char *)(uintptr_t)name};
	struct language_error error;

	if (index >= 0) {
		*port = (uint32_t)index;
		return 0;
	}
	language_unknown_port(scenario, &word, &error);
	problem_set(problem, -1, "%s: %s", option, error.text);
	return -EINVAL;
}

static int bind_files(struct replay_arguments *a, const struct scenario *scenario,
                      struct problem *problem)
{
	int error = 0;

	for (uint32_t i = 0; i < a->n_in && !error; i++) {
		const struct replay_binding *text = &a->in_text[i];

		a->in[i] = (struct replay_file){.second = REPLAY_NO_PORT, .path = text->path};
		error = bind_port(scenario, "--in", text->first, &a->in[i].port, problem);
		if (!error && text->second)
			error = bind_port(scenario, "--in", text->second, &a->in[i].second,
			                  problem);
	}
	for (uint32_t i = 0; i < a->n_out && !error; i++) {
		const struct replay_binding *text = &a->out_text[i];

		a->out[i] = (struct replay_file){.second = REPLAY_NO_PORT, .path = text->path};
		if (text->second) {
			problem_set(problem, -1, "--out %s,%s: an output is for one port",
			            text->first, text->second);
			return -EINVAL;
		}
		error = bind_port(scenario, "--out", text->first, &a->out[i].port, problem);
	}
	return error;
}

static int check_split(const struct replay_arguments *a, struct problem *problem)
{
	if (!a->split)
		return 0;
	for (uint32_t i = 0; i < a->n_in; i++) {
		if (a->in[i].second != REPLAY_NO_PORT)
			return 0;
	}
	problem_set(problem, -1,
	            "--split %s: no capture is for two ports; give one as --in A,B=PCAP", a->split);
	return -EINVAL;
}

static bool same_file(const char *a, const char *b)
{
	struct stat one, two;

	if (strcmp(a, b) == 0)
		return true;
	return stat(a, &one) == 0 && stat(b, &two) == 0 && S_ISREG(one.st_mode) &&
	       one.st_dev == two.st_dev && one.st_ino == two.st_ino;
}

static int check_standard_input(const struct replay_arguments *a, struct problem *problem)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < a->n_in; i++)
		n += strcmp(a->in[i].path, "-") == 0;
	if (n < 2)
		return 0;
	problem_set(problem, -1,
	            "standard input is one capture, but --in names it %u times; if it has both "
	            "directions: --in A,B=- --split RULE",
	            n);
	return -EINVAL;
}

static int check_files(struct replay_arguments *a, struct problem *problem)
{
	const char *written[FILES_MAX], *read[FILES_MAX];
	const char *other[] = {a->report, a->log, a->picture, a->capture};
	uint32_t n_written = 0, n_read = 0;

	if (a->config)
		read[n_read++] = a->config;
	for (uint32_t i = 0; i < a->n_in; i++)
		read[n_read++] = a->in[i].path;
	for (uint32_t i = 0; i < a->n_out; i++)
		written[n_written++] = a->out[i].path;
	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		if (other[i])
			written[n_written++] = other[i];
	}
	if (check_standard_input(a, problem))
		return -EINVAL;
	for (uint32_t i = 0; i < n_written; i++) {
		bool standard = strcmp(written[i], "-") == 0;

		a->stdout_taken |= standard;
		for (uint32_t j = 0; j < n_read && !standard; j++) {
			if (same_file(written[i], read[j])) {
				problem_set(problem, -1,
				            "%s: is read (as %s); an output must be another file",
				            written[i], read[j]);
				return -EINVAL;
			}
		}
		for (uint32_t j = 0; j < i; j++) {
			if (same_file(written[i], written[j]) &&
			    strcmp(written[i], "/dev/null") != 0) {
				problem_set(problem, -1,
				            "%s: would be written twice; each output needs a file "
				            "of its own",
				            written[i]);
				return -EINVAL;
			}
		}
	}
	return 0;
}

int replay_arguments_bind(struct replay_arguments *arguments, const struct scenario *scenario,
                          struct problem *problem)
{
	int error = bind_files(arguments, scenario, problem);

	if (!error)
		error = check_split(arguments, problem);
	return error ? error : check_files(arguments, problem);
}
