/* SPDX-License-Identifier: BSD-3-Clause */
/* What other threads may read of an engine. */
#include <math.h>
#include <string.h>

#include <rte_pause.h>

#include "account/counter_read.h"
#include "engine/engine_report.h"
#include "engine/engine_state.h"
#include "engine/tallies.h"
#include "link/aqm.h"
#include "link/classes.h"

/* If this is the first cloud of a template that has never had a packet, returns how many more there
 * are between it and the head; else 0. */
static uint32_t clouds_unused(const struct cloud *cloud)
{
	const struct template *template = cloud ? cloud->of : NULL;

	if (!template || cloud != &template->clouds[template_used(template)])
		return 0;
	return cloud == template->head ? 0 : (uint32_t)(template->head - cloud) - 1;
}

static uint64_t held_by(const struct cloud *cloud)
{
	return counter_read(&cloud->line.held) + link_held_packets(&cloud->link);
}

uint64_t engine_held_packets(const struct engine *engine)
{
	const struct cloud_table *cloud_table = engine->cloud_table;
	uint64_t held = 0;

	for (uint32_t i = 0; i < cloud_table->n_slots; i++) {
		if (cloud_table->slots[i])
			held += held_by(cloud_table->slots[i]);
		i += clouds_unused(cloud_table->slots[i]);
	}
	return held;
}

uint64_t engine_memory_used(const struct engine *engine)
{
	return counter_read(&engine->holder.arena.used_chunks) * CHUNK_BYTES;
}

uint64_t engine_no_cloud(const struct engine *engine, uint32_t port)
{
	return counter_read(&engine->ports[port].no_cloud);
}

void engine_untouched_name(char name[SCENARIO_NAME_BYTES], const struct scenario *scenario,
                           uint32_t port)
{
	const char *of = scenario->ports[port].name;

	if (__builtin_snprintf(name, SCENARIO_NAME_BYTES, "untouched %s", of) >=
	    SCENARIO_NAME_BYTES)
		__builtin_snprintf(name, SCENARIO_NAME_BYTES, "untouched port %u", port);
}

uint64_t engine_untouched(const struct engine *engine, const struct scenario *scenario,
                          uint32_t port)
{
	char name[SCENARIO_NAME_BYTES];
	uint32_t slot;

	engine_untouched_name(name, scenario, port);
	slot = names_find(&engine->cloud_table->index, name);
	return slot == NAMES_NONE
	               ? 0
	               : counter_read(&engine->cloud_table->slots[slot]->counters.rx_packets);
}

uint64_t engine_sent(const struct engine *engine, uint32_t port)
{
	return counter_read(&engine->ports[port].sent);
}

/* What waits, as queue_packets and queue_bytes compute it, but read while the worker writes: the
 * two words may be of two moments. A difference below 0 counts as 0, and a packet that the link
 * takes in between counts as waiting. */
struct waiting {
	uint64_t packets, bytes;
};

static READS_WHILE_IT_RUNS struct waiting waiting_in(const struct queue *queue)
{
	uint64_t sending = queue->sending, sending_bytes = queue->sending_bytes;
	uint64_t packets = queue->held_packets, bytes = queue->held_bytes;

	return (struct waiting){
	        .packets = packets > sending ? packets - sending : 0,
	        .bytes = bytes > sending_bytes ? bytes - sending_bytes : 0,
	};
}

/* Sums over all queues of the link. */
static struct waiting waiting_of(const struct link *link)
{
	struct waiting sum = {0};
	const struct queue *queue;

	for (uint32_t i = 0; (queue = link_queue_at(link, i)); i++) {
		const struct waiting of = waiting_in(queue);

		sum.packets += of.packets;
		sum.bytes += of.bytes;
	}
	return sum;
}

/* Returns the queue's AQM. A schedule may replace it at any moment; the old one exists until
 * control frees it. */
static const struct aqm *aqm_of(const struct queue *queue)
{
	return __atomic_load_n(&queue->aqm, __ATOMIC_ACQUIRE);
}

static double average_of(const struct queue *queue)
{
	const struct aqm *aqm = aqm_of(queue);

	if (aqm && aqm->kind->average)
		return aqm->kind->average(aqm);
	return (double)waiting_in(queue).bytes;
}

static void classes_report(const struct classes *classes, struct cloud_report *report)
{
	report->n_classes = classes ? classes->n : 0;
	for (uint32_t i = 0; i < report->n_classes; i++) {
		const struct class_state *class = &classes->class[i];
		const struct waiting waiting = waiting_in(&class->queue);
		struct class_report *of = &report->classes[i];

		strcpy(of->name, class->name);
		counters_read(&of->counters, &class->counters, sizeof(of->counters));
		of->queue_packets = waiting.packets;
		of->queue_bytes = waiting.bytes;
		of->queue_average_bytes = average_of(&class->queue);
		aqm_report(aqm_of(&class->queue), &of->aqm);
	}
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

struct line_moments line_moments_read(const struct line *line)
{
	/* counters_read_whole compares padding bytes, too, if there are any. */
	struct line_moments moments = {0};

	counters_read_whole(&moments, &line->moments, sizeof(moments));
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
	report->line_mean_ns = (double)counter_read(&line->conf.delay_ns) + mean;
	report->line_deviation_ns = square > mean * mean ? sqrt(square - mean * mean) : 0;
}

/* Reads the times on the line. A change may give the line this histogram, and none takes it
 * away. */
static void report_spread(const struct line *line, struct histogram *spread)
{
	const struct histogram *of = __atomic_load_n(&line->spread, __ATOMIC_ACQUIRE);

	if (of && __atomic_load_n(&line->conf.jitter, __ATOMIC_RELAXED))
		histogram_read(spread, of);
}

#define STAGES_TRIES 100000

/* Waits for a worker that is held up in the middle of an exchange, for as long as a preempted
 * worker usually takes to return, a few ms. */
uint16_t cloud_stages(const struct cloud *cloud, const struct stage *stages[CLOUD_STAGES_MAX],
                      bool *whole)
{
	uint16_t n = 0;

	*whole = false;
	for (uint32_t tries = 0; !*whole && tries < STAGES_TRIES; tries++) {
		uint32_t before = __atomic_load_n(&cloud->exchanges, __ATOMIC_ACQUIRE);

		n = __atomic_load_n(&cloud->n_stages, __ATOMIC_ACQUIRE);
		for (uint16_t i = 0; i < n; i++)
			stages[i] = __atomic_load_n(&cloud->stages[i], __ATOMIC_RELAXED);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		*whole = before % 2 == 0 &&
		         __atomic_load_n(&cloud->exchanges, __ATOMIC_RELAXED) == before;
		if (!*whole)
			rte_pause();
	}
	return n;
}

static void report_stages(const struct cloud *cloud, struct observed *observed)
{
	const struct stage *stages[CLOUD_STAGES_MAX];
	bool whole;
	uint16_t n = cloud_stages(cloud, stages, &whole);

	memset(observed, 0, sizeof(*observed));
	for (uint16_t i = 0; i < n; i++) {
		const struct stage *stage = stages[i];

		if (stage->statement->report)
			stage->statement->report(stage, observed);
	}
}

/* Returns the cloud of this name, `down` or `down/10.0.3.4`, or NULL. */
static const struct cloud *cloud_named(const struct engine *engine, const char *name)
{
	const struct cloud_table *cloud_table = engine->cloud_table;
	const char *slash = strchr(name, '/');
	char template[SCENARIO_NAME_BYTES];
	size_t length = slash ? (size_t)(slash - name) : strlen(name);
	const struct cloud *cloud;
	uint32_t slot;

	if (length >= sizeof(template))
		return NULL;
	memcpy(template, name, length);
	template[length] = 0;
	slot = names_find(&cloud_table->index, template);
	cloud = slot == NAMES_NONE ? NULL : cloud_table->slots[slot];
	if (!cloud || !slash)
		return cloud;
	return cloud->of ? template_address(cloud->of, slash + 1) : NULL;
}

void cloud_report_queue(const struct cloud *cloud, struct cloud_report *report)
{
	const struct waiting waiting = waiting_of(&cloud->link);
	const struct queue *queue;

	counters_read(&report->counters, &cloud->counters, sizeof(report->counters));
	report->held_packets = held_by(cloud);
	report->queue_packets = waiting.packets;
	report->queue_bytes = waiting.bytes;
	report->queue_average_bytes = 0;
	for (uint32_t i = 0; (queue = link_queue_at(&cloud->link, i)); i++)
		report->queue_average_bytes += average_of(queue);
	classes_report(cloud->link.classes, report);
	aqm_report(aqm_of(&cloud->link.queue), &report->aqm);
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
	report->line_ns.count = report->line_ns.min = report->line_ns.max = report->line_ns.sum = 0;
	report->line_ns.lacks = 0;
	histogram_read(&report->delay_ns, cloud->delay_ns);
	report->n_tallies = tallies_read(cloud, report->tallies);
	if (is_template(cloud)) {
		template_report_line(cloud->of, report);
		return true;
	}
	report_line(&cloud->line, report);
	report_spread(&cloud->line, &report->line_ns);
	report->order_waits = counter_read(&cloud->line.waits);
	report->order_waited_ns = counter_read(&cloud->line.waited_ns);
	report_stages(cloud, &report->observed);
	return true;
}

static void cloud_report_brief(const struct cloud *cloud, struct cloud_brief *brief)
{
	const struct waiting waiting = waiting_of(&cloud->link);

	counters_read(&brief->counters, &cloud->counters, sizeof(brief->counters));
	brief->held_packets = held_by(cloud);
	brief->queue_packets = waiting.packets;
	brief->queue_bytes = waiting.bytes;
}

/* Clouds of a template are kilobytes apart, and cold: what is read of the next ones is
 * prefetched. */
#define BRIEFS_AHEAD 4

static void cloud_prefetch_brief(const struct cloud *cloud)
{
	for (size_t at = 0; at < sizeof(cloud->counters); at += RTE_CACHE_LINE_SIZE)
		__builtin_prefetch((const char *)&cloud->counters + at);
	__builtin_prefetch((const char *)(&cloud->counters + 1) - 1);
	__builtin_prefetch(&cloud->line.held);
	__builtin_prefetch(&cloud->link.classes);
	__builtin_prefetch(&cloud->link.queue.sending);
	__builtin_prefetch(&cloud->link.queue.held_packets);
}

uint32_t engine_briefs(const struct engine *engine, const char *name, uint32_t from, uint32_t n,
                       struct cloud_brief *briefs)
{
	const struct cloud *cloud = cloud_named(engine, name);
	const struct template *template;
	uint32_t used, filled = 0;

	if (!cloud || n == 0 || (!is_template(cloud) && from > 0))
		return 0;
	if (!is_template(cloud)) {
		cloud_report_brief(cloud, briefs);
		return 1;
	}
	template = cloud->of;
	used = template_used(template);
	for (; filled < n && from + filled < used; filled++) {
		if (from + filled + BRIEFS_AHEAD < used)
			cloud_prefetch_brief(&template->clouds[from + filled + BRIEFS_AHEAD]);
		cloud_report_brief(&template->clouds[from + filled], &briefs[filled]);
	}
	if (filled < n && from + filled == used)
		cloud_report_brief(template->head, &briefs[filled++]);
	return filled;
}

bool engine_brief_name(const struct engine *engine, const char *name, uint32_t index, char *text,
                       size_t room)
{
	const struct cloud *cloud = cloud_named(engine, name);

	if (cloud && is_template(cloud))
		cloud = index < template_used(cloud->of) ? &cloud->of->clouds[index] : NULL;
	else if (index > 0)
		cloud = NULL;
	if (cloud)
		__builtin_snprintf(text, room, "%s", cloud->name);
	return cloud != NULL;
}

bool engine_delays(const struct engine *engine, const char *name, struct histogram *delays)
{
	const struct cloud *cloud = cloud_named(engine, name);

	if (cloud)
		histogram_read(delays, cloud->delay_ns);
	return cloud != NULL;
}

void engine_clear(struct engine *engine)
{
	const struct cloud_table *cloud_table = engine->cloud_table;

	for (uint32_t i = 0; i < cloud_table->n_slots; i++) {
		struct cloud *cloud = cloud_table->slots[i];

		i += clouds_unused(cloud);
		if (!cloud)
			continue;
		cloud_watch_cleared(cloud->watch);
		tallies_clear(cloud);
		memset(&cloud->counters, 0, sizeof(cloud->counters));
		cloud->counters.rx_packets = cloud->counters.carried = cloud_held(cloud);
		if (!cloud->of || is_template(cloud))
			histogram_clear(cloud->delay_ns);
		classes_clear(cloud->link.classes);
		cloud->line.waits = 0;
		cloud->line.waited_ns = 0;
		line_forget(&cloud->line);
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
