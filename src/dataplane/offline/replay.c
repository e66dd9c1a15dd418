/* SPDX-License-Identifier: BSD-3-Clause */
#include "offline/replay.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "capture/block_file.h"
#include "change/change.h"
#include "engine/engine_report.h"
#include "machine/clock.h"
#include "machine/pool.h"
#include "offline/egress.h"
#include "offline/intake.h"
#include "offline/offline_engine.h"

/* Packets between two readings of the clock for the progress. */
#define PROGRESS_PACKETS 8192u
#define PROGRESS_NS      (100 * SIMTIME_MS)

/* The most events that are executed beyond the end of time to find a packet that leaves there. */
#define HORIZON_EVENTS 64u

struct replay {
	const struct scenario *scenario;
	const struct replay_options *options;
	struct replay_result *result;
	struct problem *problem;
	struct io_thread *io_thread; /* of all captures and outputs; or NULL */
	struct intake intake;
	struct offline_engine offline;
	struct egress egress;
	uint32_t burst;
	uint32_t until_progress;
	simtime progress_ns;
};

/* Empties the outlet of a port into its capture. Packets lie in an outlet in the order of time. */
static int write_out(void *argument, uint32_t port, struct outlet *outlet)
{
	struct replay *replay = argument;

	if (unlikely(outlet->due_ns[outlet->n - 1] >= SIMTIME_HORIZON)) {
		/* Reports the first packet in an outlet that leaves after the end of time. The last
		 * one in it does. */
		uint64_t which = replay->result->ports[port].tx_packets + 1;

		for (uint32_t i = 0; outlet->due_ns[i] < SIMTIME_HORIZON; i++)
			which++;
		problem_set(replay->problem, -1,
		            "packet %" PRIu64 " out of port %s would leave 2^63 ns after 1970 or "
		            "later, in the year 2262, "
		            "where weir's time ends; raise the rate of its cloud, or give its "
		            "queue a limit",
		            which, replay->scenario->ports[port].name);
		return -ERANGE;
	}
	return egress_write(&replay->egress, port, outlet, replay->problem);
}

static int make_engine(struct replay *replay)
{
	const struct offline_engine_plan plan = {
	        .pool = replay->intake.pool,
	        .memory_bytes = replay->options->memory_bytes,
	        .witness = replay->options->witness,
	        .leave = write_out,
	        .argument = replay,
	};
	int error = offline_engine_open(&replay->offline, replay->scenario, &plan, replay->problem);

	if (error)
		return error;
	replay->result->first_ns = replay->intake.ahead ? intake_next_ns(&replay->intake) : 0;
	return change_at_once(replay->offline.engine, replay->scenario, NULL,
	                      replay->result->first_ns, replay->problem);
}

static int advance(struct replay *replay, simtime now)
{
	int error = offline_engine_advance(&replay->offline, now);

	if (!error && replay->options->stepped)
		error = replay->options->stepped(replay->options->argument, now, replay->problem);
	return error;
}

/* Checks for an interruption; from time to time also reports the progress and measures the
 * memory. */
static int look_up(struct replay *replay, uint32_t packets)
{
	const struct replay_options *options = replay->options;
	uint64_t memory;

	if (options->stop && *options->stop) {
		problem_set(replay->problem, -1, "interrupted: nothing was written");
		return -EINTR;
	}
	if (replay->until_progress > packets) {
		replay->until_progress -= packets;
		return 0;
	}
	replay->until_progress = PROGRESS_PACKETS;
	memory = engine_memory_used(replay->offline.engine) +
	         (uint64_t)pool_size(replay->intake.pool) * pool_mbuf_bytes();
	if (memory > replay->result->memory_bytes)
		replay->result->memory_bytes = memory;
	if (options->progress && clock_machine_ns() >= replay->progress_ns) {
		options->progress(options->argument, intake_done_bytes(&replay->intake),
		                  intake_all_bytes(&replay->intake));
		replay->progress_ns = clock_machine_ns() + PROGRESS_NS;
	}
	return 0;
}

/* Passes the next packets to the engine, replay->burst at most; consecutive packets of one port
 * form a burst. Returns how many (0 at the end), or a negative errno. */
static int hand_over(struct replay *replay)
{
	struct burst burst;
	uint32_t done = 0;

	while (done < replay->burst) {
		int n = intake_read(&replay->intake, &burst, replay->burst - done, replay->problem);
		struct replay_port_report *report = &replay->result->ports[burst.port];

		if (n < 0)
			return n;
		if (n == 0)
			break;
		replay->result->last_ns =
		        simtime_max(replay->result->last_ns, burst_t(&burst, burst.n - 1u));
		report->rx_packets += burst.n;
		report->rx_bytes += burst.bytes;
		engine_ingress(replay->offline.engine, &burst);
		done += (uint32_t)n;
	}
	return (int)done;
}

static int run_input(struct replay *replay)
{
	int error = 0;

	while (!error) {
		int n = hand_over(replay);

		if (n <= 0)
			return n;
		error = advance(replay, replay->result->last_ns);
		if (!error)
			error = look_up(replay, (uint32_t)n);
	}
	return error;
}

/* Handles a next event beyond the end of time. If a packet leaves by it, the message names the
 * packet; otherwise it only says that some are held. */
static int run_into_horizon(struct replay *replay)
{
	simtime next = engine_next(replay->offline.engine);
	int error = 0;

	for (uint32_t i = 0; i < HORIZON_EVENTS && next != SIMTIME_NEVER && !error; i++) {
		error = advance(replay, next);
		next = engine_next(replay->offline.engine);
	}
	if (error)
		return error;
	problem_set(replay->problem, -1,
	            "%" PRIu64
	            " packets are still held 2^63 ns after 1970, in the year 2262, where "
	            "weir's time ends; raise the rate of their cloud, or give its queue a limit",
	            engine_held_packets(replay->offline.engine));
	return -ERANGE;
}

/* Executes everything that happens after the last packet has come in. */
static int run_out(struct replay *replay)
{
	int error = advance(replay, replay->result->last_ns);
	simtime before = 0;

	while (!error) {
		simtime next = engine_next(replay->offline.engine);

		if (next == SIMTIME_NEVER)
			return 0;
		if (next >= SIMTIME_HORIZON)
			return run_into_horizon(replay);
		if (next <= before) {
			problem_set(replay->problem, -1,
			            "the engine does not advance at %" PRIu64 " ns with %" PRIu64
			            " packets held: an error in weir",
			            next, engine_held_packets(replay->offline.engine));
			return -EIO;
		}
		before = next;
		error = advance(replay, next);
		if (!error)
			error = look_up(replay, 1);
	}
	return error;
}

/* Checks the conservation of packets in every cloud, and stores the reports. */
static int check_clouds(struct replay *replay)
{
	const struct scenario *scenario = replay->scenario;
	struct replay_result *result = replay->result;
	const struct cloud_report *report;
	const struct counters *c;
	uint32_t wrong;

	result->clouds =
	        calloc(scenario->n_clouds ? scenario->n_clouds : 1, sizeof(*result->clouds));
	if (!result->clouds) {
		problem_set(replay->problem, -1, "no memory for the report");
		return -ENOMEM;
	}
	result->n_clouds = scenario->n_clouds;
	wrong = offline_engine_report(&replay->offline, scenario, result);
	for (uint32_t i = 0; i < scenario->n_clouds && wrong == 0; i++) {
		if (result->clouds[i].held_packets > 0)
			wrong = i + 1;
	}
	if (wrong == 0)
		return 0;
	report = &result->clouds[wrong - 1];
	c = &report->counters;
	problem_set(replay->problem, -1,
	            "cloud %s does not add up: received %" PRIu64 " + duplicated %" PRIu64
	            " + generated %" PRIu64 " is not sent %" PRIu64 " + dropped %" PRIu64
	            " + held %" PRIu64 " (0 at the end): an error in weir",
	            scenario->clouds[wrong - 1]->name, c->rx_packets, c->duplicated, c->generated,
	            c->tx_packets, counters_drops(c), report->held_packets);
	return -EIO;
}

/* Frees the engine. Checks that every mbuf has come back. */
static int check_pool(struct replay *replay)
{
	struct rte_mempool *pool = replay->intake.pool;
	uint32_t size = pool_size(pool), available;

	offline_engine_close(&replay->offline);
	intake_close(&replay->intake);
	available = pool_available(pool);
	if (available == size)
		return 0;
	problem_set(replay->problem, -1,
	            "packet buffers are missing: %" PRIu32 " of %" PRIu32
	            " came back: an error in weir",
	            available, size);
	return -EIO;
}

static int check_link(struct replay *replay)
{
	const struct link_layer *link_layer = replay->intake.link_layer;

	if (link_layer_is_ethernet(link_layer))
		return 0;
	return link_fields_check(replay->scenario, replay->options->in[0].path, replay->problem);
}

static int run(struct replay *replay)
{
	const struct replay_options *options = replay->options;
	struct intake *intake = &replay->intake;
	int error = intake_open(intake, options, replay->scenario->n_ports, replay->io_thread,
	                        replay->problem);

	if (error || (error = check_link(replay)) || (error = make_engine(replay)) ||
	    (error = egress_open(&replay->egress, intake, replay->io_thread, replay->result,
	                         replay->problem)) ||
	    (error = run_input(replay)) || (error = intake_check(intake, replay->problem)) ||
	    (error = run_out(replay)))
		return error;
	replay->until_progress = 0;
	replay->progress_ns = 0;
	error = look_up(replay, 0);
	if (error || (error = check_clouds(replay)))
		return error;
	intake_report(intake, replay->result);
	if ((error = check_pool(replay)) ||
	    (error = egress_finish(&replay->egress, replay->problem)))
		return error;
	if (options->complete)
		error = options->complete(options->argument, replay->result, replay->problem);
	return error ? error : egress_publish(&replay->egress, replay->problem);
}

int replay_run(const struct scenario *scenario, const struct replay_options *options,
               struct replay_result *result, struct problem *problem)
{
	struct replay *replay = calloc(1, sizeof(*replay));
	int error;

	if (!replay) {
		problem_set(problem, -1, "no memory for a replay");
		return -ENOMEM;
	}
	replay->scenario = scenario;
	replay->options = options;
	replay->result = result;
	replay->problem = problem;
	replay->burst = options->burst ? options->burst : BURST_MAX;
	replay->until_progress = PROGRESS_PACKETS;
	if (options->witness)
		replay->burst = 1;
	replay->io_thread = io_thread_make();
	error = run(replay);
	egress_close(&replay->egress);
	offline_engine_close(&replay->offline);
	intake_close(&replay->intake);
	intake_free(&replay->intake);
	io_thread_free(replay->io_thread);
	free(replay);
	return error;
}

void replay_result_free(struct replay_result *result)
{
	for (uint32_t i = 0; i < SCENARIO_PORTS_MAX; i++) {
		free(result->ports[i].lateness_ns);
		result->ports[i].lateness_ns = NULL;
	}
	free(result->clouds);
	result->clouds = NULL;
	result->n_clouds = 0;
}

uint64_t replay_packets_read(const struct replay_result *result)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < SCENARIO_PORTS_MAX; i++)
		sum += result->ports[i].rx_packets;
	return sum;
}

uint64_t replay_packets_written(const struct replay_result *result)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < SCENARIO_PORTS_MAX; i++)
		sum += result->ports[i].tx_packets - result->ports[i].no_file;
	return sum;
}
