/* SPDX-License-Identifier: BSD-3-Clause */
#include "offline/offline_engine.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "capture/filter.h"
#include "engine/engine_report.h"
#include "machine/pool.h"
#include "statements.h"

#define HUGE_PAGE_BYTES (UINT64_C(2) << 20)

/* Passes on what is in an outlet. */
static void empty(struct offline_engine *offline, uint32_t port)
{
	struct outlet *outlet = engine_outlet(offline->engine, port);

	if (outlet->n > 0 && offline->error == 0)
		offline->error = offline->leave(offline->argument, port, outlet);
	if (unlikely(outlet->n > 0)) {
		rte_pktmbuf_free_bulk(outlet->mbufs, outlet->n);
		outlet_clear(outlet);
	}
}

static void make_room(void *argument, uint32_t port)
{
	empty(argument, port);
}

/* Reserves memory of which a small scenario takes a few pages: the first huge page is left out, so
 * that thousands of engines fit into a machine. */
static void *reserve(size_t bytes)
{
	char *memory = memory_reserve(bytes);

	if (memory)
		(void)madvise(memory, RTE_MIN(bytes, HUGE_PAGE_BYTES), MADV_NOHUGEPAGE);
	return memory;
}

int offline_engine_open(struct offline_engine *offline, const struct scenario *scenario,
                        const struct offline_engine_plan *plan, struct problem *problem)
{
	struct engine_setup setup = {
	        .statements = statements,
	        .pool = plan->pool,
	        .seed = scenario->seed,
	        .witness = plan->witness,
	        .lacked_ns = plan->lacked_ns,
	        .clouds_on_demand = !plan->live,
	        .live = plan->live,
	        .filters = &filters,
	        .spread = pool_spread,
	        .make_room = make_room,
	        .room_argument = offline,
	};

	offline->n_ports = scenario->n_ports;
	offline->leave = plan->leave;
	offline->argument = plan->argument;
	offline->memory_bytes = plan->memory_bytes ? plan->memory_bytes : REPLAY_MEMORY;
	offline->memory = reserve(offline->memory_bytes);
	setup.memory = offline->memory;
	setup.memory_bytes = offline->memory_bytes;
	if (setup.memory)
		offline->engine = engine_make(&setup);
	if (offline->engine)
		return 0;
	problem_set(problem, -1,
	            "no memory: %" PRIu64 " MiB cannot be set aside for packets in flight; allow "
	            "less with --memory",
	            (uint64_t)offline->memory_bytes >> 20);
	return -ENOMEM;
}

void offline_engine_close(struct offline_engine *offline)
{
	if (offline->engine)
		engine_free(offline->engine);
	memory_free(offline->memory, offline->memory_bytes);
	memset(offline, 0, sizeof(*offline));
}

int offline_engine_advance(struct offline_engine *offline, simtime now)
{
	bool full;

	do {
		full = false;
		engine_advance(offline->engine, now);
		for (uint32_t port = 0; port < offline->n_ports; port++) {
			/* If one was full, more may be due. */
			full |= engine_outlet(offline->engine, port)->n == OUTLET_ROOM;
			empty(offline, port);
		}
	} while (full && offline->error == 0);
	return offline->error;
}

uint32_t offline_engine_report(const struct offline_engine *offline,
                               const struct scenario *scenario, struct replay_result *result)
{
	uint32_t wrong = 0;

	for (uint32_t i = 0; i < scenario->n_clouds; i++) {
		struct cloud_report *report = &result->clouds[i];
		const struct counters *c = &report->counters;

		if (engine_report(offline->engine, scenario->clouds[i]->name, report) &&
		    c->rx_packets + c->duplicated + c->generated ==
		            c->tx_packets + counters_drops(c) + report->held_packets)
			continue;
		if (wrong == 0)
			wrong = i + 1;
	}
	for (uint32_t port = 0; port < scenario->n_ports; port++) {
		result->ports[port].no_cloud = engine_no_cloud(offline->engine, port);
		result->ports[port].untouched = engine_untouched(offline->engine, scenario, port);
	}
	return wrong;
}
