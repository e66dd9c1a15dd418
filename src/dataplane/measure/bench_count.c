/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts what the workers of a rig have done so far. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/engine_report.h"
#include "live/runtime_state.h"
#include "machine/pool.h"
#include "measure/bench_rig.h"
#include "record/recording.h"

static void count_clouds(const struct bench_rig *rig, struct bench_count *count)
{
	struct cloud_report *report = malloc(sizeof(*report));

	for (uint32_t i = 0; report && i < rig->scenario->n_clouds; i++) {
		if (!runtime_cloud_report(rig->runtime, rig->scenario->clouds[i]->name, report))
			continue;
		for (int reason = 0; reason < REASON_COUNT; reason++) {
			uint64_t drops = report->counters.drops[reason];

			if (reason_kind((enum reason)reason) == REASON_REAL)
				count->lost += drops;
			else
				count->emulated += drops;
		}
	}
	free(report);
}

static uint64_t clock_read(clockid_t id)
{
	struct timespec time;

	clock_gettime(id, &time);
	return (uint64_t)time.tv_sec * SIMTIME_S + (uint64_t)time.tv_nsec;
}

static void count_sent(const struct runtime *runtime, struct bench_count *count)
{
	count->packets = count->bytes = 0;
	for (uint32_t w = 0; w < runtime->n_workers; w++) {
		const struct worker *worker = &runtime->workers[w];

		for (uint32_t i = 0; i < worker->n_tx_queues; i++) {
			if (!worker->tx_queues[i].port)
				continue;
			count->packets +=
			        __atomic_load_n(&worker->tx_queues[i].tx_packets, __ATOMIC_RELAXED);
			count->bytes +=
			        __atomic_load_n(&worker->tx_queues[i].tx_bytes, __ATOMIC_RELAXED);
		}
		for (uint32_t i = 0; i < worker->n_drains; i++) {
			const struct tx_queue *tx_queue = &worker->drains[i].tx_queue;

			count->packets += __atomic_load_n(&tx_queue->tx_packets, __ATOMIC_RELAXED);
			count->bytes += __atomic_load_n(&tx_queue->tx_bytes, __ATOMIC_RELAXED);
		}
	}
}

void bench_rig_count(const struct bench_rig *rig, struct bench_count *count)
{
	const struct runtime *runtime = rig->runtime;
	uint64_t before;

	memset(count, 0, sizeof(*count));
	/* Reads again if this thread has lost the processor between clock and counters. */
	for (int tries = 0; tries < 10; tries++) {
		before = clock_read(CLOCK_MONOTONIC_RAW);
		count_sent(runtime, count);
		count->raw_ns = clock_read(CLOCK_MONOTONIC_RAW);
		if (count->raw_ns - before < 5 * SIMTIME_US)
			break;
	}
	count->worker_cpu_ns = clock_read(rig->worker_clock);
	for (uint32_t w = 0; w < runtime->n_workers; w++) {
		const struct worker *worker = &runtime->workers[w];

		for (uint32_t i = 0; i < worker->n_tx_queues; i++)
			count->lost += worker->tx_queues[i].tx_full;
		if (worker->engine) {
			count->held_packets += engine_held_packets(worker->engine);
			count->memory_bytes += engine_memory_used(worker->engine);
		}
	}
	count_clouds(rig, count);
	if (rig->recording) {
		struct recording_counts recorded;

		recording_counts(rig->recording, &recorded);
		count->recorded = recorded.packets;
		count->unrecorded = recorded.missed;
	}
	count->mbufs_free = pool_available(runtime->pool);
}
