/* SPDX-License-Identifier: BSD-3-Clause */
#include "stream/sampler.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/engine_report.h"
#include "service/roll.h"
#include "stream/sample_row.h"
#include "text/alloc_failure.h"
#include "text/array.h"

#define BRIEFS 64

/* What was seen of a cloud, or of a template: of its head, and of each of its clouds. */
struct seen {
	uint64_t v[SAMPLE_COUNTERS_MAX];
};
struct block {
	struct seen own;
	struct seen *of_each;
	size_t n;
};

struct seen_port {
	struct seen counters;
	struct histogram_part late;
};

#define SEEN_WORKERS 128

struct sampler {
	simtime interval_ns;
	uint64_t due_ns, next_ns; /* of the next pass; of the next step */
	uint64_t began_ns, took_ns;
	simtime last_ns; /* virtual time of the last sample */
	bool primed;     /* there is a pass to take the difference from */
	bool passing;
	json_t *ready;
	/* clouds */
	uint64_t changes;
	bool followed;
	struct roll roll;
	struct block *blocks;
	uint32_t cloud, from;
	struct sample_rows rows;
	uint64_t n_clouds, n_busy;
	struct sample_row all, of_template;
	/* the rest */
	struct seen_port ports[SCENARIO_PORTS_MAX];
	struct seen workers[SEEN_WORKERS];
};

struct sampler *sampler_make(simtime interval_ns, uint32_t rows, uint64_t now_ns)
{
	struct sampler *sampler = calloc(1, sizeof(*sampler));

	if (sampler == NULL)
		return NULL;
	sampler->interval_ns = interval_ns;
	sampler->due_ns = sampler->next_ns = now_ns;
	if (!sample_rows_make(&sampler->rows, rows)) {
		free(sampler);
		return NULL;
	}
	return sampler;
}

static void blocks_free(struct block *blocks, uint32_t n)
{
	for (uint32_t i = 0; blocks != NULL && i < n; i++)
		free(blocks[i].of_each);
	free(blocks);
}

void sampler_free(struct sampler *sampler)
{
	if (sampler == NULL)
		return;
	blocks_free(sampler->blocks, sampler->roll.n);
	roll_release(&sampler->roll);
	sample_rows_release(&sampler->rows);
	for (uint32_t i = 0; i < SCENARIO_PORTS_MAX; i++)
		histogram_part_free(&sampler->ports[i].late);
	json_decref(sampler->ready);
	free(sampler);
}

bool sampler_ready(const struct sampler *sampler)
{
	return sampler->ready != NULL;
}

uint64_t sampler_next_ns(const struct sampler *sampler)
{
	return sampler->ready != NULL ? UINT64_MAX : sampler->next_ns;
}

/* ---- another scenario ---- */

static bool follow(struct sampler *sampler, const struct control *control)
{
	const struct scenario *scenario = *control->scenario;
	uint32_t n = sampler->roll.n, *was;
	struct block *blocks;

	if (sampler->followed && sampler->changes == control->changes)
		return true;
	blocks = calloc(scenario->n_clouds + 1, sizeof(*blocks));
	if (blocks == NULL || roll_follow(&sampler->roll, scenario, &was) != 0) {
		free(blocks);
		return false;
	}
	if (was == NULL && sampler->blocks != NULL) { /* all indices are unchanged */
		free(blocks);
	} else {
		for (uint32_t i = 0; i < scenario->n_clouds && sampler->blocks != NULL; i++) {
			if (was[i] == ROLL_NEW)
				continue;
			blocks[i] = sampler->blocks[was[i]];
			sampler->blocks[was[i]].of_each = NULL;
		}
		blocks_free(sampler->blocks, n);
		sampler->blocks = blocks;
		sample_rows_forget(&sampler->rows);
	}
	free(was);
	sampler->changes = control->changes;
	sampler->followed = true;
	sampler->cloud = sampler->from = 0;
	sample_rows_clear(&sampler->rows);
	return true;
}

/* ---- clouds ---- */

/* Returns where what was seen of the i-th cloud is stored; NULL if there is no memory. */
static struct seen *seen_of(struct block *block, uint32_t i)
{
	size_t room = block->n;

	if (!array_fits(&block->of_each, &room, i + 1, sizeof(*block->of_each)))
		return NULL;
	memset(block->of_each + block->n, 0, (room - block->n) * sizeof(*block->of_each));
	block->n = room;
	return &block->of_each[i];
}

static void take_brief(struct sampler *sampler, const struct cloud_brief *brief, bool many,
                       bool head)
{
	struct block *block = &sampler->blocks[sampler->cloud];
	struct seen *seen = !many || head ? &block->own : seen_of(block, sampler->from);
	struct sample_row row = {.cloud = sampler->cloud, .index = sampler->from};
	const struct sample_figures *figures = &sampler->rows.figures;

	sample_row_read(figures, &row, brief, seen != NULL ? seen->v : NULL);
	sample_row_add(figures, &sampler->all, &row);
	sampler->n_clouds += !head;
	sampler->n_busy += !head && row.weight > 0;
	if (many)
		sample_row_add(figures, &sampler->of_template, &row);
	if (!head)
		sample_rows_offer(&sampler->rows, &row);
}

/* Reads on in the present cloud, and moves to the next one at its end. Returns how many clouds that
 * took. */
static uint32_t read_on(struct sampler *sampler, struct control *control)
{
	const struct cloud_conf *cloud = (*control->scenario)->clouds[sampler->cloud];
	struct cloud_brief briefs[BRIEFS];
	uint32_t most = cloud->many ? BRIEFS : 1;
	uint32_t n =
	        control->ops->briefs(control->context, cloud->name, sampler->from, most, briefs);
	char name[8];

	if (sampler->from == 0)
		sampler->of_template = (struct sample_row){.cloud = sampler->cloud};
	for (uint32_t i = 0; i < n; i++, sampler->from++) {
		bool last = cloud->many && i + 1 == n;
		bool head = last && !control->ops->brief_name(control->context, cloud->name,
		                                              sampler->from, name, sizeof(name));

		take_brief(sampler, &briefs[i], cloud->many, head);
		sampler->of_template.index += !head;
	}
	if (cloud->many && n == most)
		return n;
	if (cloud->many)
		sample_rows_template(&sampler->rows, &sampler->of_template);
	sampler->from = 0;
	sampler->cloud++;
	return n + 1;
}

/* ---- ports and workers ---- */

/* Adds the figures of a sample; of counters, what was counted since `seen`. */
static void add_figures(json_t **object, enum figure_scope scope, const void *record,
                        struct seen *seen)
{
	uint64_t *before = seen->v;

	for (const struct figure *f = NULL;
	     (f = figure_next(scope, FIGURE_SAMPLE | FIGURE_GROWTH, record, f));) {
		struct figure_value value = figure_read(f, record);

		if ((f->in & FIGURE_GROWTH) != 0) {
			uint64_t now = value.count;

			assert(before < seen->v + SAMPLE_COUNTERS_MAX);
			value.count -= now < *before ? 0 : *before;
			*before++ = now;
		}
		figures_put(object, f, value);
	}
}

static json_t *late_since(struct port_report *port, struct seen_port *seen)
{
	struct histogram_part now = {.n = 0};

	if (!histogram_part_make(&now, &port->lateness_ns))
		return NULL;
	if (seen->late.count <= port->lateness_ns.count)
		histogram_less(&port->lateness_ns, &seen->late);
	histogram_part_free(&seen->late);
	seen->late = now;
	return sample_percentiles(&port->lateness_ns);
}

static json_t *ports_since(struct sampler *sampler, struct control *control)
{
	uint32_t n = control->ops->ports(control->context);
	struct port_report *port = malloc(sizeof(*port));
	json_t *ports = json_array();

	for (uint32_t i = 0; port != NULL && i < n && i < SCENARIO_PORTS_MAX; i++) {
		struct seen_port *seen = &sampler->ports[i];
		json_t *object;

		if (!control->ops->port(control->context, i, port))
			continue;
		object = json_pack("{s:s}", "port", port->name);
		add_figures(&object, FIGURE_PORT, port, &seen->counters);
		json_object_set_new(object, "lateness_ns", late_since(port, seen));
		json_array_append_new(ports, object);
	}
	free(port);
	return ports;
}

static json_t *workers_since(struct sampler *sampler, struct control *control, json_t **memory)
{
	uint32_t n = control->ops->workers(control->context);
	uint64_t used = 0, room = 0;
	json_t *workers = json_array();
	struct worker_report worker;

	for (uint32_t i = 0; i < n && i < SEEN_WORKERS; i++) {
		json_t *object;

		if (!control->ops->worker(control->context, i, &worker))
			continue;
		object = json_pack("{s:i}", "worker", (int)i);
		add_figures(&object, FIGURE_WORKER, &worker, &sampler->workers[i]);
		json_array_append_new(workers, object);
		used += worker.memory_used_bytes;
		room += worker.memory_bytes;
	}
	*memory = json_pack("{s:I,s:I}", "used_bytes", (json_int_t)used, "bytes", (json_int_t)room);
	return workers;
}

/* ---- passes ---- */

static void pass_begin(struct sampler *sampler, uint64_t now_ns)
{
	sampler->passing = true;
	sampler->began_ns = now_ns;
	sampler->took_ns = 0;
	sampler->cloud = sampler->from = 0;
	sampler->n_clouds = sampler->n_busy = 0;
	sampler->all = (struct sample_row){.cloud = 0};
	sample_rows_clear(&sampler->rows);
}

static void pass_end(struct sampler *sampler, struct control *control)
{
	const struct sample_figures *figures = &sampler->rows.figures;
	simtime now = control_now_ns(control);
	struct timespec wall;
	json_t *memory, *sample, *clouds, *templates, *ports, *workers, *all = json_object();

	clock_gettime(CLOCK_REALTIME, &wall);
	ports = ports_since(sampler, control);
	workers = workers_since(sampler, control, &memory);
	sample_rows_json(&sampler->rows, control, &clouds, &templates);
	sample_row_put(figures, all, &sampler->all, figures->n_counters);
	sample = json_pack("{s:i,s:I,s:I,s:I,s:o,s:o,s:I,s:I,s:o,s:o,s:o,s:o}", "sample", 1, "t_ns",
	                   (json_int_t)now, "wall_ns",
	                   (json_int_t)wall.tv_sec * (json_int_t)SIMTIME_S + wall.tv_nsec, "for_ns",
	                   (json_int_t)(now - sampler->last_ns), "ports", ports, "clouds", clouds,
	                   "clouds_in_all", (json_int_t)sampler->n_clouds, "clouds_busy",
	                   (json_int_t)sampler->n_busy, "templates", templates, "all", all,
	                   "workers", workers, "memory", memory);
	sampler->last_ns = now;
	sampler->passing = false;
	if (sampler->primed)
		sampler->ready = sample;
	else
		json_decref(sample);
	sampler->primed = true;
}

static uint64_t processor_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * SIMTIME_S + (uint64_t)now.tv_nsec;
}

void sampler_step(struct sampler *sampler, struct control *control, uint64_t now_ns)
{
	uint64_t began = processor_ns();

	/* Until a sample is taken, the next one waits. */
	if (sampler->ready != NULL || now_ns < sampler->next_ns)
		return;
	if (!control_look_begin(control)) {
		sampler->next_ns = now_ns + 5 * SIMTIME_MS;
		return;
	}
	if (!sampler->passing)
		pass_begin(sampler, now_ns);
	sampler->next_ns = now_ns;
	if (!follow(sampler, control)) {
		sampler->next_ns = now_ns + SIMTIME_S;
	} else {
		for (uint32_t n = 0;
		     n < SAMPLER_AT_ONCE && sampler->cloud < (*control->scenario)->n_clouds;)
			n += read_on(sampler, control);
		if (sampler->cloud >= (*control->scenario)->n_clouds)
			pass_end(sampler, control);
		sampler->took_ns += processor_ns() - began;
		if (!sampler->passing) {
			/* When the next pass begins. */
			sampler->due_ns += sampler->interval_ns;
			if (sampler->due_ns <= now_ns) /* late: missed passes are not made up for */
				sampler->due_ns = now_ns + sampler->interval_ns;
			if (sampler->due_ns < now_ns + SAMPLER_SHARE * sampler->took_ns)
				sampler->due_ns = now_ns + SAMPLER_SHARE * sampler->took_ns;
			sampler->next_ns = sampler->due_ns;
		}
	}
	control_look_end(control);
}

void sampler_put(struct sampler *sampler, struct output *output)
{
	struct printed text;
	FILE *out = printed_begin(&text);

	if (output->json && json_dumpf(sampler->ready, out, JSON_COMPACT) == 0)
		fputc('\n', out);
	else if (!output->json)
		sample_print(out, sampler->ready);
	if (printed_end(&text) != NULL)
		output_append(output, text.bytes, text.n);
	free(text.bytes);
	json_decref(sampler->ready);
	sampler->ready = NULL;
}
