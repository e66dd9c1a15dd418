/* SPDX-License-Identifier: BSD-3-Clause */
#include "explain/explanation.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "account/count.h"
#include "scenario/names.h"
#include "text/alloc_failure.h"
#include "text/table.h"
#include "units/human_unit.h"

#define OTHERS "(others)"

/* What connections to one server have taken. */
struct server {
	char name[VERDICT_SERVER_BYTES];
	uint64_t connections, lost;
	uint64_t total_ns, longest_ns;
	uint64_t phases_ns[PHASE_COUNT];
	uint64_t parts_ns[PART_COUNT];
};

struct explanation {
	struct explanation_of of;
	uint64_t n;
	struct verdict *kept[EXPLANATION_KEPT]; /* the slowest, in the order in which they came */
	uint32_t n_kept;
	struct names index;
	struct server *servers; /* EXPLANATION_SERVERS, and the others */
	uint32_t n_servers;
};

struct explanation *explanation_make(const struct explanation_of *of)
{
	struct explanation *explanation = calloc(1, sizeof(*explanation));

	if (!explanation)
		return NULL;
	explanation->of = *of;
	explanation->servers = calloc(EXPLANATION_SERVERS + 1, sizeof(struct server));
	if (!explanation->servers) {
		free(explanation);
		return NULL;
	}
	if (of->json)
		fputs("{\"explain\":1,\"connections\":[", of->json);
	return explanation;
}

void explanation_free(struct explanation *explanation)
{
	if (!explanation)
		return;
	for (uint32_t i = 0; i < explanation->n_kept; i++)
		verdict_free(explanation->kept[i]);
	names_clear(&explanation->index);
	free(explanation->servers);
	free(explanation);
}

/* ---- servers ---- */

static struct server *server_of(struct explanation *explanation, const struct verdict *verdict)
{
	struct server *server = &explanation->servers[explanation->n_servers];
	char name[VERDICT_SERVER_BYTES];
	uint32_t at;

	verdict_server(verdict, name);
	at = names_find(&explanation->index, name);
	if (at != NAMES_NONE)
		return &explanation->servers[at];
	if (explanation->n_servers == EXPLANATION_SERVERS) {
		strcpy(server->name, OTHERS);
		return server;
	}
	memcpy(server->name, name, sizeof(name));
	if (!names_add(&explanation->index, server->name, explanation->n_servers))
		return NULL;
	explanation->n_servers++;
	return server;
}

static void count(struct explanation *explanation, const struct verdict *verdict)
{
	const uint64_t total_ns = verdict->end_ns - verdict->begin_ns;
	struct server *server = server_of(explanation, verdict);

	if (!server) {
		alloc_failure_note();
		return;
	}
	server->connections++;
	server->lost += verdict->lost[FLOW_UP] + verdict->lost[FLOW_DOWN];
	server->total_ns += total_ns;
	if (total_ns > server->longest_ns)
		server->longest_ns = total_ns;
	for (uint32_t i = 0; i < verdict->n_phases; i++)
		server->phases_ns[verdict->phases[i].kind] +=
		        verdict->phases[i].end_ns - verdict->phases[i].begin_ns;
	for (int part = 0; part < PART_COUNT; part++)
		server->parts_ns[part] += verdict_part_ns(verdict, (enum part)part);
}

/* ---- connections ---- */

static uint64_t total_ns(const struct verdict *verdict)
{
	return verdict->end_ns - verdict->begin_ns;
}

/* Keeps the verdict if it is one of the slowest; frees the one that is not. */
static void keep(struct explanation *explanation, struct verdict *verdict)
{
	struct verdict **kept = explanation->kept;
	uint32_t fastest = 0;

	if (explanation->n_kept < EXPLANATION_KEPT) {
		kept[explanation->n_kept++] = verdict;
		return;
	}
	for (uint32_t i = 1; i < EXPLANATION_KEPT; i++) {
		if (total_ns(kept[i]) < total_ns(kept[fastest]))
			fastest = i;
	}
	if (total_ns(verdict) <= total_ns(kept[fastest])) {
		verdict_free(verdict);
		return;
	}
	verdict_free(kept[fastest]);
	memmove(kept + fastest, kept + fastest + 1,
	        (EXPLANATION_KEPT - 1 - fastest) * sizeof(*kept));
	kept[EXPLANATION_KEPT - 1] = verdict;
}

static void put_line(const struct verdict *verdict, const struct explanation_of *of)
{
	json_t *json = verdict_json(verdict, of);
	struct printed words;

	verdict_print(verdict, of, printed_begin(&words));
	if (!json || !printed_end(&words) ||
	    json_object_set_new(json, "text", json_string(words.bytes)) != 0 ||
	    json_dumpf(json, of->lines, JSON_COMPACT) != 0)
		alloc_failure_note();
	fputc('\n', of->lines);
	free(words.bytes);
	json_decref(json);
}

void explanation_add(void *argument, struct verdict *verdict)
{
	struct explanation *explanation = argument;

	if (explanation->of.json) {
		json_t *json = verdict_json(verdict, &explanation->of);

		fputs(explanation->n > 0 ? ",\n" : "\n", explanation->of.json);
		if (!json || json_dumpf(json, explanation->of.json, JSON_COMPACT) != 0)
			alloc_failure_note();
		json_decref(json);
	}
	explanation->n++;
	count(explanation, verdict);
	if (explanation->of.text)
		verdict_print(verdict, &explanation->of, explanation->of.text);
	if (explanation->of.lines)
		put_line(verdict, &explanation->of);
	if (explanation->of.text || explanation->of.lines)
		verdict_free(verdict);
	else
		keep(explanation, verdict);
}

/* ---- the table ---- */

static int slowest_first(const void *a, const void *b)
{
	const struct server *one = *(const struct server *const *)a;
	const struct server *two = *(const struct server *const *)b;

	if (one->longest_ns != two->longest_ns)
		return one->longest_ns > two->longest_ns ? -1 : 1;
	return strcmp(one->name, two->name);
}

/* Returns the servers, the one with the slowest connection first; NULL: no memory. */
static const struct server **sorted(const struct explanation *explanation, uint32_t *n)
{
	const bool others = explanation->servers[explanation->n_servers].connections > 0;
	const struct server **servers;

	*n = explanation->n_servers + others;
	servers = calloc(*n + 1, sizeof(struct server *));
	if (!servers) {
		alloc_failure_note();
		*n = 0;
		return NULL;
	}
	for (uint32_t i = 0; i < *n; i++)
		servers[i] = &explanation->servers[i];
	qsort(servers, *n, sizeof(*servers), slowest_first);
	return servers;
}

/* Adds a mean; `-` if there is none. */
static void add_mean(struct table *table, uint64_t sum_ns, uint64_t n)
{
	char text[HUMAN_UNIT_SIZE];

	human_unit_format(text, sizeof(text), HUMAN_NS, (double)sum_ns / (double)n, 3);
	table_text(table, sum_ns > 0 ? text : "-");
}

/* The phases that have a column: one, or two that are the same to its reader. */
static const struct column {
	const char *name;
	enum phase one, other;
} columns[] = {{"DNS", PHASE_DNS, PHASE_DNS},
               {"TCP", PHASE_TCP, PHASE_TCP},
               {"TLS", PHASE_TLS, PHASE_QUIC},
               {"request", PHASE_REQUEST, PHASE_EXCHANGE}};

#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

static uint64_t column_ns(const struct server *server, const struct column *column)
{
	return server->phases_ns[column->one] +
	       (column->other != column->one ? server->phases_ns[column->other] : 0);
}

static void print_row(struct table *table, const struct server *server, const bool used[COLUMNS])
{
	table_text(table, server->name);
	table_count(table, server->connections);
	add_mean(table, server->longest_ns, 1);
	add_mean(table, server->total_ns, server->connections);
	for (size_t i = 0; i < COLUMNS; i++) {
		if (used[i])
			add_mean(table, column_ns(server, &columns[i]), server->connections);
	}
	table_count(table, server->lost);
}

static void print_servers(const struct explanation *explanation, FILE *out)
{
	char sides[] = "lrrrrrrrr";
	bool used[COLUMNS] = {false};
	const struct server **servers;
	struct table *table;
	uint32_t n, n_used = 0;

	servers = sorted(explanation, &n);
	for (size_t i = 0; i < COLUMNS; i++) {
		for (uint32_t at = 0; at < n; at++)
			used[i] |= column_ns(servers[at], &columns[i]) > 0;
		n_used += used[i];
	}
	sides[sizeof(sides) - 1 - COLUMNS + n_used] = '\0';
	table = table_make(sides);
	table_texts(table, "server", "connections", "longest", "mean", NULL);
	for (size_t i = 0; i < COLUMNS; i++) {
		if (used[i])
			table_text(table, columns[i].name);
	}
	table_text(table, "lost");
	for (uint32_t i = 0; i < n && i < EXPLANATION_KEPT; i++)
		print_row(table, servers[i], used);
	free(servers);
	table_end(table, out);
	if (n > EXPLANATION_KEPT)
		fprintf(out, "and %s\n",
		        count_of_these(n - EXPLANATION_KEPT, "more server", "more servers").text);
}

/* ---- all ---- */

static void print_left_out(const struct explainer_left_out *left_out, FILE *out)
{
	if (left_out->packets > 0)
		fprintf(out, "left out, for lack of room: %s\n",
		        count_of(left_out->packets, "packet").text);
	if (left_out->cut > 0)
		fprintf(out, "told before they were over, for lack of room: %s\n",
		        count_of(left_out->cut, "connection").text);
}

static int by_begin(const void *a, const void *b)
{
	const struct verdict *one = *(struct verdict *const *)a, *two = *(struct verdict *const *)b;

	return one->begin_ns < two->begin_ns ? -1 : one->begin_ns > two->begin_ns;
}

static int by_time(const void *a, const void *b)
{
	const uint64_t one = total_ns(*(struct verdict *const *)a);
	const uint64_t two = total_ns(*(struct verdict *const *)b);

	return one > two ? -1 : one < two ? 1 : by_begin(a, b);
}

void explanation_print(const struct explanation *explanation,
                       const struct explainer_left_out *left_out, FILE *out)
{
	struct verdict *kept[EXPLANATION_KEPT];
	const bool all = explanation->n == explanation->n_kept || explanation->of.text;

	memcpy(kept, explanation->kept, sizeof(kept));
	qsort(kept, explanation->n_kept, sizeof(*kept), all ? by_begin : by_time);
	if (explanation->n == 0)
		fputs("no connections: neither TCP nor UDP crossed the path\n", out);
	else if (!all)
		fprintf(out, "the %u slowest of %s:\n", EXPLANATION_KEPT,
		        count_of(explanation->n, "connection").text);
	if (explanation->of.deaf && explanation->n > 0)
		fputs("what these connections would take over this path, if they had waited for "
		      "it:\n",
		      out);
	for (uint32_t i = 0; i < explanation->n_kept; i++)
		verdict_print(kept[i], &explanation->of, out);
	if (explanation->n > 2) {
		fputc('\n', out);
		print_servers(explanation, out);
	}
	print_left_out(left_out, out);
}

static json_t *sums_json(const struct server *server)
{
	json_t *phases = json_object();
	char key[32];

	for (int phase = 0; phase < PHASE_COUNT; phase++) {
		snprintf(key, sizeof(key), "%s_ns", phase_key((enum phase)phase));
		json_object_set_new(phases, key,
		                    json_integer((json_int_t)server->phases_ns[phase]));
	}
	return json_pack("{s:s,s:I,s:I,s:I,s:I,s:o,s:o}", "server", server->name, "connections",
	                 (json_int_t)server->connections, "lost", (json_int_t)server->lost,
	                 "longest_ns", (json_int_t)server->longest_ns, "total_ns",
	                 (json_int_t)server->total_ns, "phases", phases, "parts",
	                 parts_json(server->parts_ns));
}

void explanation_end_json(const struct explanation *explanation,
                          const struct explainer_left_out *left_out)
{
	FILE *out = explanation->of.json;
	const struct server **servers;
	uint32_t n;

	if (!out)
		return;
	fputs("],\n\"servers\":[", out);
	servers = sorted(explanation, &n);
	for (uint32_t i = 0; i < n; i++) {
		json_t *json = sums_json(servers[i]);

		fputs(i > 0 ? ",\n" : "\n", out);
		if (!json || json_dumpf(json, out, JSON_COMPACT) != 0)
			alloc_failure_note();
		json_decref(json);
	}
	free(servers);
	fprintf(out, "],\n\"left_out\":{\"packets\":%" PRIu64 ",\"connections\":%" PRIu64 "}}\n",
	        left_out->packets, left_out->cut);
}
