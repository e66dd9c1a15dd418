/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/bench.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "language/scenario_file.h"
#include "simtime.h"

#define FAST "rate 400gbit algorithm "

#define ROUTER   "hop 192.0.2.1\n" FAST "leaky-bucket queue 10MB"
#define FEEDBACK "red min 15kB max 45kB max-p 0.1 weight 0.002\necn on\nfeedback header"
#define REWRITE                                                                                    \
	"rewrite match ip.protocol = 253 transport+0:1 = 3 set transport+4:4 0x01000000 "          \
	"transport+8:8 100000"

const struct bench_scenario bench_scenarios[] = {
        {"bare", NULL, false},
        {"delay-10ms", "delay 10ms", false},
        {"delay-1ms", "delay 1ms", false},
        {"delay-100ms", "delay 100ms", false},
        {"delay-500ms", "delay 500ms", false},
        {"loss", "loss random 1%", false},
        {"delay-10ms+loss", "delay 10ms\nloss random 1%", false},
        {"jitter", "delay 10ms jitter 1ms order allow", false},
        {"jitter-100ms", "delay 100ms jitter 10ms order allow", false},
        {"token-bucket", FAST "token-bucket burst 100kB queue 10MB", false},
        {"leaky-bucket", FAST "leaky-bucket queue 10MB", false},
        {"full",
         "delay 10ms jitter 1ms order allow\nloss random 1%\n" FAST
         "token-bucket burst 100kB queue 10MB",
         false},
        {"everything",
         "match dst net 198.19.0.0/16 and ip proto 253\n"
         "hop 192.0.2.1\nrewrite set ip.dscp 46\nloss random 1%\nduplicate random 1%\n"
         "feedback header\n" FAST "token-bucket burst 100kB queue 10MB\n"
         "red min 1MB max 3MB max-p 0.1 weight 0.002\necn on\n"
         "delay 10ms jitter 1ms order allow",
         true},
        {"headers", NULL, true},
        {"headers+rewrite", REWRITE, true},
        {"headers+router", ROUTER, true},
        {"headers+router+red+ecn", ROUTER "\nred min 15kB max 45kB max-p 0.1 weight 0.002\necn on",
         true},
        {"headers+router+red+ecn+feedback", ROUTER "\n" FEEDBACK, true},
        {NULL, NULL, false},
};

const struct bench_scenario *bench_scenario_find(const char *name)
{
	for (const struct bench_scenario *s = bench_scenarios; s->name; s++) {
		if (strcmp(s->name, name) == 0)
			return s;
	}
	return NULL;
}

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
	fprintf(out, "cloud %s from %s to %s", name, from, to);
	if (statements && strncmp(statements, "match ", 6) == 0) {
		size_t bytes = strcspn(statements, "\n");

		fprintf(out, " %.*s", (int)bytes, statements);
		statements += bytes + (statements[bytes] == '\n');
	}
	fputc('\n', out);
	print_statements(out, "cloud", name, statements);
}

/* Closes `out`, which completes `text`, and makes the scenario from it. Frees the text. */
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
