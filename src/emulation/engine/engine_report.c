/* SPDX-License-Identifier: BSD-3-Clause */
/* What others may read of an engine. */
#include <math.h>
#include <string.h>

#include "aqm.h"
#include "classes.h"
#include "counter_read.h"
#include "engine_state.h"

/* How many clouds behind this one, of a template and before its head, have never had a packet. */
static uint32_t clouds_unused(const struct cloud *cloud)
{
	const struct template *template = cloud ? cloud->of : NULL;

	if (!template || cloud != &template->clouds[template_used(template)])
		return 0;
	return cloud == template->head ? 0 : (uint32_t)(template->head - cloud) - 1;
}

uint64_t engine_held_packets(const struct engine *engine)
{
	const struct roster *roster = engine->roster;
	uint64_t held = 0;

	for (uint32_t i = 0; i < roster->n_slots; i++) {
		if (roster->slots[i])
			held += cloud_held(roster->slots[i]);
		i += clouds_unused(roster->slots[i]);
	}
	return held;
}

uint64_t engine_memory_used(const struct engine *engine)
{
	return engine->holder.arena.used_chunks * CHUNK_BYTES;
}

uint64_t engine_no_cloud(const struct engine *engine, uint32_t port)
{
	return counter_read(&engine->ports[port].no_cloud);
}

void engine_untouched_name(char name[SCENARIO_NAME_BYTES], uint32_t port)
{
	__builtin_snprintf(name, SCENARIO_NAME_BYTES, "untouched %u", port);
}

uint64_t engine_untouched(const struct engine *engine, uint32_t port)
{
	char name[SCENARIO_NAME_BYTES];
	uint32_t slot;

	engine_untouched_name(name, port);
	slot = names_find(&engine->roster->index, name);
	return slot == NAMES_NONE ? 0
	                          : counter_read(&engine->roster->slots[slot]->counters.rx_packets);
}

uint64_t engine_sent(const struct engine *engine, uint32_t port)
{
	return counter_read(&engine->ports[port].sent);
}

static double average_of(const struct queue *queue)
{
	const struct aqm *aqm = queue->aqm;

	if (aqm && aqm->kind->average)
		return aqm->kind->average(aqm);
	return (double)queue_bytes(queue);
}

/* Returns the sum of their average lengths. */
static double classes_report(struct classes *classes, struct cloud_report *report)
{
	double average = 0;

	report->n_classes = classes ? classes->n : 0;
	for (uint32_t i = 0; i < report->n_classes; i++) {
		const struct class_state *class = &classes->class[i];
		struct class_report *of = &report->classes[i];

		strcpy(of->name, class->name);
		counters_read(&of->counters, &class->counters, sizeof(of->counters));
		of->queue_packets = queue_packets(&class->queue);
		of->queue_bytes = queue_bytes(&class->queue);
		of->queue_average_bytes = average_of(&class->queue);
		aqm_report(class->queue.aqm, &of->aqm);
		average += of->queue_average_bytes;
	}
	return average;
}

static void classes_clear(struct classes *classes)
{
	for (uint32_t i = 0; classes && i < classes->n; i++) {
		struct class_state *class = &classes->class[i];

		class->counters = (struct queue_counters){
		        .rx_packets = class->queue.held_packets,
		};
	}
}

static bool moments_same(const struct line_moments *a, const struct line_moments *b)
{
	return a->packets == b->packets && a->sum == b->sum && a->square == b->square;
}

/* The worker goes on meanwhile: what was read twice alike is whole. */
struct line_moments line_moments_read(const struct line *line)
{
	struct line_moments moments, again;
	int tries = 0;

	counters_read(&again, &line->moments, sizeof(again));

	do {
		moments = again;
		rte_smp_rmb();
		counters_read(&again, &line->moments, sizeof(again));
	} while (!moments_same(&moments, &again) && ++tries < 100);
	return moments;
}

static void report_line(const struct line *line, struct cloud_report *report)
{
	struct line_moments moments = line_moments_read(line);
	double mean = 0, square = 0;

	if (moments.packets) {
		mean = (double)moments.sum / (double)moments.packets;
		square = (double)moments.square / (double)moments.packets;
	}
	report->line_packets = moments.packets;
	report->line_mean_ns = (double)line->conf.delay_ns + mean;
	report->line_deviation_ns = square > mean * mean ? sqrt(square - mean * mean) : 0;
}

static void report_stages(const struct cloud *cloud, struct observed *observed)
{
	memset(observed, 0, sizeof(*observed));
	for (uint16_t i = 0; i < cloud->n_stages; i++) {
		const struct stage *stage = cloud->stages[i];

		if (stage->statement->report)
			stage->statement->report(stage, observed);
	}
}

/* `down`, `down/10.0.3.4` */
static const struct cloud *cloud_named(const struct engine *engine, const char *name)
{
	const struct roster *roster = engine->roster;
	const char *slash = strchr(name, '/');
	char template[SCENARIO_NAME_BYTES];
	size_t length = slash ? (size_t)(slash - name) : strlen(name);
	const struct cloud *cloud;
	uint32_t slot;

	if (length >= sizeof(template))
		return NULL;
	memcpy(template, name, length);
	template[length] = 0;
	slot = names_find(&roster->index, template);
	cloud = slot == NAMES_NONE ? NULL : roster->slots[slot];
	if (!cloud || !slash)
		return cloud;
	return cloud->of ? template_address(cloud->of, slash + 1) : NULL;
}

void cloud_report_queue(const struct cloud *cloud, struct cloud_report *report)
{
	counters_read(&report->counters, &cloud->counters, sizeof(report->counters));
	report->held_packets = cloud_held(cloud);
	report->queue_packets = link_queue_packets(&cloud->link);
	report->queue_bytes = link_queue_bytes(&cloud->link);
	report->queue_average_bytes = classes_report(cloud->link.classes, report);
	if (!cloud->link.classes)
		report->queue_average_bytes = average_of(&cloud->link.queue);
	aqm_report(cloud->link.queue.aqm, &report->aqm);
}

static bool is_template(const struct cloud *cloud)
{
	return cloud->of && cloud->of->head == cloud;
}

bool engine_report_queue(const struct engine *engine, const char *name, struct cloud_report *report)
{
	const struct cloud *cloud = cloud_named(engine, name);

	if (!cloud)
		return false;
	report->clouds = report->clouds_most = 0;
	if (is_template(cloud))
		template_report_queue(cloud->of, report);
	else
		cloud_report_queue(cloud, report);
	return true;
}

bool engine_report(const struct engine *engine, const char *name, struct cloud_report *report)
{
	const struct cloud *cloud = cloud_named(engine, name);

	if (!cloud || !engine_report_queue(engine, name, report))
		return false;
	report->delay_ns = *cloud->delay_ns;
	if (is_template(cloud)) {
		template_report_line(cloud->of, report);
		return true;
	}
	report_line(&cloud->line, report);
	report->order_waits = counter_read(&cloud->line.waits);
	report->order_waited_ns = counter_read(&cloud->line.waited_ns);
	report_stages(cloud, &report->observed);
	return true;
}

void engine_clear(struct engine *engine)
{
	const struct roster *roster = engine->roster;

	for (uint32_t i = 0; i < roster->n_slots; i++) {
		struct cloud *cloud = roster->slots[i];

		i += clouds_unused(cloud);
		if (!cloud)
			continue;
		cloud_watch_cleared(cloud->watch);
		memset(&cloud->counters, 0, sizeof(cloud->counters));
		cloud->counters.rx_packets = cloud_held(cloud);
		if (!cloud->of || is_template(cloud))
			histogram_clear(cloud->delay_ns);
		classes_clear(cloud->link.classes);
		cloud->line.waits = 0;
		cloud->line.waited_ns = 0;
		cloud->line.moments = (struct line_moments){0};
	}
	for (uint32_t i = 0; i < SCENARIO_PORTS_MAX; i++)
		engine->ports[i].no_cloud = engine->ports[i].sent = 0;
}

uint64_t engine_packet_cost(uint32_t frame_bytes)
{
	if (frame_bytes <= HOLD_COPY_BYTES_DEFAULT)
		return held_bytes(frame_bytes);
	return held_bytes(sizeof(struct rte_mbuf *)) + sizeof(struct rte_mbuf) +
	       PACKET_PRIVATE_BYTES + RTE_MBUF_DEFAULT_BUF_SIZE;
}
