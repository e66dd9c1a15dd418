/* SPDX-License-Identifier: BSD-3-Clause */
#include "check/budget.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "link/aqm.h"
#include "line/delay.h"
#include "scenario/file.h"
#include "engine/engine.h"
#include "holding/hold.h"
#include "line/line.h"
#include "machine/pool.h"
#include "link/rate.h"
#include "line/reorder.h"
#include "language/scenario_file.h"
#include "match/selection.h"
#include "link/slots.h"
#include "change/template_make.h"
#include "text/value.h"
#include "holding/wheel.h"

#define FCS_BYTES 4
#define GAP_BYTES 20 /* preamble and interframe gap: what a port sends besides the frame */
#define LOGS      4  /* chunks begun and not full: two each for queue and line */

typedef unsigned __int128 wide;

static const uint32_t frame_bytes[BUDGET_FRAMES] = {[BUDGET_64] = 64, [BUDGET_1518] = 1518};

static uint64_t narrow(wide value)
{
	return value > UINT64_MAX ? UINT64_MAX : (uint64_t)value;
}

static wide divide_up(wide a, wide b)
{
	return (a + b - 1) / b;
}

/* Returns how many frames arrive in a time: at the rate of the link, which counts frames without
 * FCS, but no faster than the port delivers them. */
static wide frames_in(const struct cloud_budget *cloud, uint64_t port_bps, uint32_t frame,
                      uint64_t time_ns)
{
	wide at_port =
	        divide_up((wide)port_bps * time_ns, (wide)(frame + GAP_BYTES) * 8 * SIMTIME_S);
	wide at_link;

	if (cloud->rate_is_ports)
		return at_port;
	at_link = divide_up((wide)cloud->rate_bps * time_ns,
	                    (wide)(frame - FCS_BYTES) * 8 * SIMTIME_S) *
	          cloud->clouds;
	return at_link < at_port ? at_link : at_port;
}

static wide frames_within(const struct cloud_budget *cloud, const struct limit *limit,
                          uint32_t frame)
{
	uint32_t length = overhead_length(&cloud->overhead, frame - FCS_BYTES);

	switch ((enum limit_unit)limit->unit) {
	case LIMIT_NONE:
		return 0;
	case LIMIT_PACKETS:
		return (wide)limit->value + 1;
	case LIMIT_BYTES:
		return divide_up(limit->value, length) + 1;
	case LIMIT_TIME:
		return divide_up((wide)cloud->rate_bps * limit->value,
		                 (wide)length * 8 * SIMTIME_S) +
		       1;
	}
	return 0;
}

static wide frames_queued(const struct cloud_budget *cloud, uint64_t port_bps, uint32_t frame)
{
	wide frames = 0;

	if (cloud->gathers)
		return divide_up((wide)port_bps * cloud->gathered_ns,
		                 (wide)(frame + GAP_BYTES) * 8 * SIMTIME_S);
	if (cloud->n_classes == 0)
		return frames_within(cloud, &cloud->queue, frame);
	for (uint32_t i = 0; i < cloud->n_classes; i++)
		frames += frames_within(cloud, &cloud->classes[i], frame);
	return frames;
}

/* Returns the frames in the queues of all clouds: no more than the port delivers in the time in
 * which a full queue is sent. */
static wide frames_in_queues(const struct cloud_budget *cloud, uint64_t port_bps, uint32_t frame)
{
	wide of_one = frames_queued(cloud, port_bps, frame), most, wait_ns;

	if (cloud->clouds == 1 || cloud->gathers || cloud->rate_is_ports)
		return of_one;
	wait_ns = divide_up(of_one * (frame - FCS_BYTES) * 8 * SIMTIME_S, cloud->rate_bps);
	most = divide_up((wide)port_bps * narrow(wait_ns),
	                 (wide)(frame + GAP_BYTES) * 8 * SIMTIME_S);
	of_one *= cloud->clouds;
	return of_one < most ? of_one : most;
}

/* Returns the bytes of whole chunks that hold so many records. */
static wide chunks_for(wide records, uint32_t record_bytes)
{
	uint32_t usable = CHUNK_BYTES - (uint32_t)sizeof(struct chunk) - COPY_BLOCK_BYTES;

	return divide_up(records, usable / record_bytes) * CHUNK_BYTES;
}

/* Returns the frames that arrive in the time, but no more than the limit of the delay. */
static wide frames_on_line(const struct cloud_budget *cloud, uint64_t port_bps, uint32_t frame,
                           uint64_t time_ns)
{
	wide frames = frames_in(cloud, port_bps, frame, time_ns);
	wide most = (wide)cloud->limit * cloud->clouds;

	return cloud->limit != LINE_UNLIMITED && most < frames ? most : frames;
}

static wide wheel_bytes(const struct cloud_budget *cloud, uint64_t port_bps, uint32_t frame,
                        uint32_t stored_bytes)
{
	/* A slot of the wheel is emptied as a whole, so packets may stay a slot longer. */
	return wheel_memory(
	        frames_on_line(cloud, port_bps, frame, cloud->delay_max_ns + WHEEL_SLOT_NS),
	        stored_bytes, cloud->delay_max_ns);
}

static void load_cloud(struct cloud_budget *cloud, uint64_t port_bps, enum budget_frame which,
                       bool on_wheel)
{
	struct budget_load *load = &cloud->load[which];
	uint32_t frame = frame_bytes[which];
	bool copied = frame - FCS_BYTES <= HOLD_COPY_BYTES_DEFAULT;
	uint32_t stored_bytes = copied ? frame - FCS_BYTES : (uint32_t)sizeof(struct rte_mbuf *);
	wide on_line = frames_on_line(cloud, port_bps, frame, cloud->delay_max_ns);
	wide queued = frames_in_queues(cloud, port_bps, frame), packets = on_line + queued;
	/* A band takes memory only while it holds packets. */
	wide begun = queued < 2 * (wide)cloud->bands ? queued : 2 * (wide)cloud->bands;
	wide bytes = chunks_for(queued, held_bytes(stored_bytes)) +
	             (begun + LOGS + 2 * cloud->n_classes) * CHUNK_BYTES;

	if (cloud->clouds > 1)
		bytes += (queued < cloud->clouds ? queued : cloud->clouds) * CHUNK_BYTES;
	bytes += on_wheel ? wheel_bytes(cloud, port_bps, frame, stored_bytes)
	                  : chunks_for(on_line, held_bytes(stored_bytes));
	if (cloud->limit != LINE_UNLIMITED)
		bytes += on_line * sizeof(struct in_flight_note) +
		         cloud->clouds * (CHUNK_BYTES + sizeof(struct in_flight));
	load->packets = narrow(packets);
	load->memory_bytes = narrow(bytes);
	load->mbufs = copied ? 0 : narrow(packets);
}

/* Gets the greatest delay. Returns 0, or -ENOMEM: a table is parsed again for it. */
static int delay_max(const struct delay_conf *delay, uint64_t *max_ns)
{
	struct delay_asked asked;

	*max_ns = 0;
	if (delay == NULL)
		return 0;
	if (delay_asked(delay, &asked) != 0)
		return -ENOMEM;
	*max_ns = asked.longest_ns;
	return 0;
}

static bool generates(const struct cloud_conf *cloud)
{
	for (uint32_t i = 0; i < cloud->n_confs; i++) {
		if (cloud->confs[i]->statement->generates)
			return true;
	}
	return false;
}

/* Returns the engine's memory for the frame size that needs more. */
static uint64_t memory_of(const struct cloud_budget *cloud)
{
	uint64_t small = cloud->load[BUDGET_64].memory_bytes;
	uint64_t large = cloud->load[BUDGET_1518].memory_bytes;

	return small > large ? small : large;
}

/* Content of a file, and what is parsed from it, which is at most four times as large. */
#define FILE_TIMES 5

/* Sums the files that a cloud names, each once for each statement. */
static wide files_bytes(const struct cloud_conf *cloud)
{
	wide bytes = 0;

	for (uint32_t i = 0; i < cloud->n_confs; i++) {
		const struct field *field = cloud->confs[i]->statement->fields;

		for (; field && field->name; field++) {
			const struct file *file =
			        field->type == FIELD_FILE
			                ? *(struct file *const *)((const char *)cloud->confs[i] +
			                                          field->offset)
			                : NULL;

			bytes += file ? file->bytes : 0;
		}
	}
	return bytes;
}

uint64_t budget_files(const struct scenario *scenario)
{
	wide bytes = 0;

	for (uint32_t i = 0; i < scenario->n_clouds; i++)
		bytes += files_bytes(scenario->clouds[i]);
	return narrow(bytes);
}

/* Computes the budget of a cloud. Returns 0 or -ENOMEM. */
static int budget_cloud(const struct cloud_conf *conf, uint64_t port_bps, bool shares_port,
                        struct cloud_budget *cloud)
{
	const struct rate_conf *rate = (const struct rate_conf *)cloud_conf_get(conf, "rate");
	const struct delay_conf *delay = (const struct delay_conf *)cloud_conf_get(conf, "delay");
	struct reorder_rule reorder =
	        reorder_rule_of(cloud_conf_get(conf, "reorder"), (struct draw_key){{0, 0}});
	bool overtaking =
	        (delay != NULL && delay->order == ORDER_ALLOW && delay_has_jitter(delay)) ||
	        reorder_overtakes(&reorder);
	const struct slots_conf *slots = (const struct slots_conf *)cloud_conf_get(conf, "slots");

	cloud->name = conf->name;
	cloud->clouds = conf->many ? selection_most(selection_of(conf)) : 1;
	cloud->own_bytes = conf->many ? template_bytes(selection_of(conf)) : 0;
	cloud->overhead = OVERHEAD_NONE;
	cloud->rate_is_ports = rate == NULL;
	cloud->rate_bps = rate == NULL ? port_bps : rate->rate_bps;
	cloud->delay_ns = delay == NULL ? 0 : delay->delay_ns;
	if (delay_max(delay, &cloud->delay_max_ns) != 0)
		return -ENOMEM;
	cloud->limit = delay_limit(delay);
	if (reorder.kind == REORDER_TIME)
		cloud->delay_max_ns += reorder.time_ns;
	cloud->product_bytes =
	        narrow((wide)cloud->rate_bps * cloud->delay_ns / ((wide)8 * SIMTIME_S));
	if (rate != NULL) {
		cloud->queue = rate_queue(rate, conf);
		cloud->queue_given = rate->queue.unit != LIMIT_NONE;
		cloud->overhead = rate_overhead(rate);
		const struct class_conf *classes[CLASSES_MAX];

		cloud->n_classes = class_confs(conf, classes);
		for (uint32_t i = 0; i < cloud->n_classes; i++)
			cloud->classes[i] = class_queue(classes[i], conf);
		for (uint32_t i = 0; i < conf->n_confs; i++) {
			const struct aqm_kind *kind = conf->confs[i]->statement->aqm;

			if (kind && kind->bands)
				cloud->bands += kind->bands->most(conf->confs[i]);
		}
	} else if (slots != NULL) {
		cloud->queue = slots_queue(slots);
		cloud->queue_given = slots->queue.unit != LIMIT_NONE;
		cloud->gathers = cloud->queue.unit == LIMIT_NONE;
		cloud->gathered_ns = slots->max_ns;
	}
	for (int which = 0; which < BUDGET_FRAMES; which++)
		load_cloud(cloud, port_bps, which, shares_port || overtaking);
	cloud->files_bytes = narrow(files_bytes(conf) * FILE_TIMES);
	cloud->bytes = narrow((wide)memory_of(cloud) + cloud->own_bytes + cloud->files_bytes +
	                      (wide)cloud->load[BUDGET_1518].mbufs * pool_mbuf_bytes());
	return 0;
}

int budget_of(const struct scenario *scenario, const uint64_t *port_bps, struct budget *budget)
{
	uint32_t arrivals[SCENARIO_PORTS_MAX] = {0};
	wide memory_bytes = 0, mbufs = 0, own_bytes = 0;

	memset(budget, 0, sizeof(*budget));
	budget->clouds = calloc(scenario->n_clouds + 1, sizeof(*budget->clouds));
	if (budget->clouds == NULL)
		return -ENOMEM;
	budget->n_clouds = scenario->n_clouds;
	/* The clouds that lead to each port, or leave there what they generate: if there are
	 * several, their packets share a wheel. */
	for (uint32_t i = 0; i < scenario->n_clouds; i++) {
		const struct cloud_conf *cloud = scenario->clouds[i];
		int port = scenario_find_port(scenario, cloud->to);
		int root = generates(cloud) ? scenario_root(scenario, cloud) : -1;

		if (port >= 0)
			arrivals[port]++;
		if (root >= 0)
			arrivals[root]++;
	}
	for (uint32_t i = 0; i < scenario->n_clouds; i++) {
		const struct cloud_conf *conf = scenario->clouds[i];
		struct cloud_budget *cloud = &budget->clouds[i];
		int from = scenario_find_port(scenario, conf->from);
		int to = scenario_find_port(scenario, conf->to);
		uint64_t bps = port_bps == NULL || from < 0 ? 0 : port_bps[from];

		if (budget_cloud(conf, bps ? bps : BUDGET_PORT_BPS,
		                 conf->many || generates(conf) || (to >= 0 && arrivals[to] > 1),
		                 cloud) != 0) {
			budget_release(budget);
			return -ENOMEM;
		}
		budget->speed_assumed |= cloud->rate_is_ports && bps == 0;
		memory_bytes += memory_of(cloud);
		own_bytes += (wide)cloud->own_bytes + cloud->files_bytes;
		mbufs += cloud->load[BUDGET_1518].mbufs;
	}
	budget->memory_bytes = narrow(memory_bytes);
	budget->mbufs = narrow(mbufs);
	budget->own_bytes = narrow(own_bytes);
	return 0;
}

void budget_release(struct budget *budget)
{
	free(budget->clouds);
	memset(budget, 0, sizeof(*budget));
}

static uint64_t mib(uint64_t bytes)
{
	return (bytes >> 20) + 1;
}

/* Returns the cloud that needs the most memory; NULL if there is none. */
static const struct cloud_budget *budget_largest(const struct budget *budget)
{
	const struct cloud_budget *most = budget->n_clouds > 0 ? budget->clouds : NULL;

	for (uint32_t i = 1; i < budget->n_clouds; i++) {
		if (budget->clouds[i].bytes > most->bytes)
			most = &budget->clouds[i];
	}
	return most;
}

void budget_refuse(const struct budget *budget, const struct budget_sums *sums, const char *limit,
                   struct problem *problem)
{
	const struct cloud_budget *most = budget_largest(budget);
	char rate[48], delay[48];

	/* It would not fit even if the clouds needed nothing. */
	if (!most || sums->beside_bytes > sums->there_bytes) {
		problem_set(problem, -1,
		            "weir and its ports need %" PRIu64 " MiB of memory%s, but %" PRIu64
		            " MiB are available%s%s%s; give it more, or use fewer ports or workers",
		            mib(sums->beside_bytes), most ? " apart from that for packets" : "",
		            sums->there_bytes >> 20, *limit ? " (" : "", limit, *limit ? ")" : "");
		return;
	}
	value_print_number(FIELD_RATE, most->rate_bps, rate, sizeof(rate));
	value_print_number(FIELD_TIME, most->delay_max_ns, delay, sizeof(delay));
	problem_set(problem, -1,
	            "the scenario needs %" PRIu64 " MiB of memory, but %" PRIu64
	            " MiB are available%s%s%s; cloud `%s` (%s x %s) needs %" PRIu64
	            " MiB of it: %s, or shorten its delay",
	            mib(sums->needed_bytes), sums->there_bytes >> 20, *limit ? " (" : "", limit,
	            *limit ? ")" : "", most->name, rate, delay, mib(most->bytes),
	            most->clouds > 1      ? "give it fewer clouds (`most`)"
	            : most->rate_is_ports ? "give it a `rate`"
	                                  : "lower its rate or its queue");
}

void budget_complain(const struct budget *budget, const struct scenario *scenario, const char *path,
                     const struct problem *problem, char *message, size_t room)
{
	const struct cloud_budget *most = budget_largest(budget);
	const struct cloud_conf *cloud;
	const struct conf *conf;

	if (!most) {
		scenario_file_complain(path, NULL, NULL, problem->text, message, room);
		return;
	}
	/* The budget has the clouds in the order of the scenario. */
	cloud = scenario->clouds[most - budget->clouds];
	conf = cloud_conf_get(cloud, "delay");
	if (!conf)
		conf = cloud_conf_get(cloud, "rate");
	scenario_file_complain(path, cloud->name, conf, problem->text, message, room);
}
