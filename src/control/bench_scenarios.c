/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench_scenarios.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario_file.h"

#define FAST "rate 400gbit algorithm "

const struct bench_scenario bench_scenarios[] = {
        {"bare", NULL},
        {"delay-10ms", "delay 10ms"},
        {"delay-1ms", "delay 1ms"},
        {"delay-100ms", "delay 100ms"},
        {"delay-500ms", "delay 500ms"},
        {"loss", "loss random 1%"},
        {"delay-10ms+loss", "delay 10ms\nloss random 1%"},
        {"jitter", "delay 10ms jitter 1ms order allow"},
        {"token-bucket", FAST "token-bucket burst 100kB queue 10MB"},
        {"leaky-bucket", FAST "leaky-bucket queue 10MB"},
        {"full", "delay 10ms jitter 1ms order allow\nloss random 1%\n" FAST
                 "token-bucket burst 100kB queue 10MB"},
        {NULL, NULL},
};

static void print_statements(FILE *out, const char *keyword, const char *name,
                             const char *statements)
{
	while (statements && *statements) {
		size_t bytes = strcspn(statements, "\n");

		fprintf(out, "%s %s %.*s\n", keyword, name, (int)bytes, statements);
		statements += bytes + (statements[bytes] == '\n');
	}
}

static void print_cloud(FILE *out, const char *name, const char *from, const char *to,
                        const char *statements)
{
	fprintf(out, "cloud %s from %s to %s\n", name, from, to);
	print_statements(out, "cloud", name, statements);
}

/* Closes `out`, whose text lies in `text` then, and loads it. */
static int load(FILE *out, char **text, const size_t *bytes, struct scenario **scenario,
                struct problem *problem)
{
	char message[SCENARIO_FILE_ERROR];
	int rc = -ENOMEM;

	if (out && fclose(out) == 0)
		rc = scenario_text_load(*text, *bytes, "bench", scenario, message, sizeof(message));
	else
		snprintf(message, sizeof(message), "no memory for a scenario");
	if (rc < 0)
		problem_set(problem, -1, "%s", message);
	else
		(*scenario)->seed = 42;
	free(*text);
	return rc;
}

int bench_scenario_make(const char *statements, bool both, struct scenario **scenario,
                        struct problem *problem)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	if (out) {
		fputs("port a\nport b\n", out);
		print_cloud(out, "down", "a", "b", statements);
		if (both)
			print_cloud(out, "up", "b", "a", statements);
	}
	return load(out, &text, &bytes, scenario, problem);
}

int bench_scenario_delay(uint64_t delay_ns, bool both, struct scenario **scenario,
                         struct problem *problem)
{
	char statement[64];

	snprintf(statement, sizeof(statement), "delay %" PRIu64 "ns", delay_ns);
	return bench_scenario_make(statement, both, scenario, problem);
}

int bench_scenario_clouds(uint32_t clouds, const char *statements, struct scenario **scenario,
                          struct problem *problem)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	if (out) {
		fprintf(out,
		        "port a\nport b\nclouds down from a to b per source 10.0.0.0/8 most "
		        "%" PRIu32 "\n",
		        clouds);
		print_statements(out, "clouds", "down", statements);
	}
	return load(out, &text, &bytes, scenario, problem);
}
