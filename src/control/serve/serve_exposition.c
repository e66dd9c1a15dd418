/* SPDX-License-Identifier: BSD-3-Clause */
#include "serve/serve_exposition.h"

#include <inttypes.h>
#include <string.h>

#define SECOND UINT64_C(1000000000)

void exposition_family(struct exposition *exposition, const char *name, enum figure_kind kind,
                       const char *help)
{
	const char *end = kind == FIGURE_COUNTER && !exposition->openmetrics ? "_total" : "";

	exposition->family = name;
	exposition->kind = kind;
	fprintf(exposition->out, "# HELP %s%s %s\n# TYPE %s%s %s\n", name, end, help, name, end,
	        figure_kind_names[kind]);
}

static void put_name(struct exposition *exposition, const char *end, const char *labels)
{
	fprintf(exposition->out, "%s%s%s%s%s ", exposition->family, end, labels[0] ? "{" : "",
	        labels, labels[0] ? "}" : "");
}

static void put_time(FILE *out, uint64_t ns)
{
	fprintf(out, "%" PRIu64 ".%09" PRIu64, ns / SECOND, ns % SECOND);
}

void exposition_count(struct exposition *exposition, const char *labels, uint64_t value)
{
	put_name(exposition, exposition->kind == FIGURE_COUNTER ? "_total" : "", labels);
	fprintf(exposition->out, "%" PRIu64 "\n", value);
}

void exposition_time(struct exposition *exposition, const char *labels, uint64_t ns)
{
	put_name(exposition, exposition->kind == FIGURE_COUNTER ? "_total" : "", labels);
	put_time(exposition->out, ns);
	fputc('\n', exposition->out);
}

void exposition_bucket(struct exposition *exposition, const char *labels, uint64_t top_ns,
                       uint64_t count)
{
	FILE *out = exposition->out;

	fprintf(out, "%s_bucket{%s%sle=\"", exposition->family, labels, labels[0] ? "," : "");
	if (top_ns == UINT64_MAX)
		fputs("+Inf", out);
	else
		put_time(out, top_ns);
	fprintf(out, "\"} %" PRIu64 "\n", count);
}

void exposition_histogram_end(struct exposition *exposition, const char *labels, uint64_t sum_ns,
                              uint64_t count)
{
	put_name(exposition, "_sum", labels);
	put_time(exposition->out, sum_ns);
	fputc('\n', exposition->out);
	put_name(exposition, "_count", labels);
	fprintf(exposition->out, "%" PRIu64 "\n", count);
}

void exposition_end(struct exposition *exposition)
{
	if (exposition->openmetrics)
		fputs("# EOF\n", exposition->out);
}

void exposition_label(char *labels, size_t room, const char *name, const char *value)
{
	size_t at = strlen(labels);
	int n = snprintf(labels + at, room - at, "%s%s=\"", at > 0 ? "," : "", name);

	/* A label that does not fit completely is left out. */
	if (n < 0 || at + (size_t)n + 2 > room) {
		labels[at] = '\0';
		return;
	}
	for (size_t to = at + (size_t)n;; value++) {
		bool escaped = *value == '"' || *value == '\\' || *value == '\n';

		if (to + escaped + 3 > room) {
			labels[at] = '\0';
			return;
		}
		if (*value == '\0') {
			strcpy(labels + to, "\"");
			return;
		}
		if (escaped)
			labels[to++] = '\\';
		labels[to++] = *value == '\n' ? 'n' : *value;
	}
}
