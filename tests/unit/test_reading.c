/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Control reads a cloud while its worker exchanges stages, AQMs and lines by a schedule, thousands
 * of times within a millisecond: two threads, as in `weir run`. Everything that control reads
 * exists, and is whole. The sanitizers do the check: AddressSanitizer for freed memory,
 * ThreadSanitizer (tools/tsan.sh) for data races.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "change/change.h"
#include "duplicate/duplicate_every.h"
#include "engine/engine_report.h"
#include "engine/engine_state.h"
#include "header/meter.h"
#include "header/xcp.h"
#include "rig.h"
#include "runner/group.h"
#include "scenario/scenario.h"
#include "schedule/every.h"

#define EXCHANGES    40000 /* by the worker, in all */
#define LISTS        500   /* reads of the list of stages for each read of the cloud */
#define CHANGE_EVERY 1000
#define QUEUE_BYTES  20000
#define STEP_NS      700
#define FRAME_BYTES  100

struct worker_side {
	struct rig *rig;
	struct change *posted; /* to be applied; NULL when that is done */
	bool stop;
};

static struct conf *conf_of(const char *name, const char *variant)
{
	struct conf *conf = conf_make(statement_find(name, variant));

	assert_non_null(conf);
	return conf;
}

/* `every 2us for 1us loss random 10% and duplicate every 3 and codel` */
static struct conf *sometimes(void)
{
	struct every_conf *every = (struct every_conf *)conf_of("every", NULL);
	struct loss_random_conf *loss = (struct loss_random_conf *)conf_of("loss", "random");
	struct duplicate_every_conf *copies =
	        (struct duplicate_every_conf *)conf_of("duplicate", "every");

	loss->probability = PROBABILITY_ONE / 10;
	copies->every = 3;
	every->every_ns = every->from_ns = 2 * SIMTIME_US;
	every->for_ns = SIMTIME_US;
	every->orders.order = calloc(3, sizeof(*every->orders.order));
	assert_non_null(every->orders.order);
	every->orders.order[every->orders.n++] = (struct order){"loss", ROLE_STAGE, &loss->conf};
	every->orders.order[every->orders.n++] =
	        (struct order){"duplicate", ROLE_STAGE, &copies->conf};
	every->orders.order[every->orders.n++] =
	        (struct order){"codel", ROLE_AQM, conf_of("codel", NULL)};
	return &every->conf;
}

/* The meter precedes the stages that are exchanged, and xcp follows them. */
static void always(struct rig *rig)
{
	struct meter_conf *meter = (struct meter_conf *)conf_of("meter", NULL);

	rig_cloud(rig, "x", 0, 1);
	meter->window_ns = SIMTIME_MS;
	rig_rate(rig, "x", 10000000, 0, LIMIT_BYTES, QUEUE_BYTES);
	rig_put(rig, "x", &meter->conf);
	rig_put(rig, "x", conf_of("xcp", NULL));
	rig_delay(rig, "x", SIMTIME_MS, 0, DELAY_UNIFORM, ORDER_KEEP);
}

static void *work(void *argument)
{
	struct worker_side *side = argument;
	struct rig *rig = side->rig;
	simtime t = 0;

	while (!__atomic_load_n(&side->stop, __ATOMIC_ACQUIRE)) {
		struct change *change = __atomic_load_n(&side->posted, __ATOMIC_ACQUIRE);

		t += STEP_NS;
		rig_send(rig, 0, FRAME_BYTES, t);
		rig_advance(rig, t);
		rig->cleared += rig->n_departures; /* accounted for, so no longer needed */
		rig->n_departures = 0;
		if (change) {
			engine_apply(rig->engine, change, t);
			__atomic_store_n(&side->posted, NULL, __ATOMIC_RELEASE);
		}
	}
	return NULL;
}

static void put_in_force(struct worker_side *side, const struct scenario *scenario)
{
	struct problem problem = {.text = ""};
	struct change *change;

	assert_int_equal(change_prepare(side->rig->engine, scenario, NULL, &change, &problem), 0);
	__atomic_store_n(&side->posted, change, __ATOMIC_RELEASE);
	while (__atomic_load_n(&side->posted, __ATOMIC_ACQUIRE))
		sched_yield();
	change_free(change);
}

static bool in_an_exchange(const struct cloud *cloud)
{
	return __atomic_load_n(&cloud->exchanges, __ATOMIC_ACQUIRE) % 2 != 0;
}

static uint64_t whole_lists;

/* Reads the list alone, many times: an exchange takes only a few ns. */
static void look_at_the_list(const struct cloud *cloud)
{
	const struct stage *stages[CLOUD_STAGES_MAX];

	for (uint32_t i = 0; i < LISTS; i++) {
		bool whole;
		uint16_t n = cloud_stages(cloud, stages, &whole);

		/* The worker was interrupted in the middle of an exchange. */
		if (!whole)
			continue;
		whole_lists++;
		assert_in_range(n, 2, 4);
		assert_ptr_equal(stages[0]->statement, &meter_statement);
		assert_ptr_equal(stages[n - 1]->statement, &xcp_statement);
	}
}

static void look(const struct rig *rig, const struct cloud *cloud)
{
	static struct cloud_report report;
	bool before = in_an_exchange(cloud);

	assert_true(engine_report(rig->engine, "x", &report));
	/* If the worker was interrupted in the middle of an exchange, control gives up waiting for
	 * it. */
	if (before || in_an_exchange(cloud))
		return;
	/* These two stages are always there, whatever is between them. */
	assert_true(report.observed.has_meter);
	assert_true(report.observed.has_xcp);
	assert_int_equal(report.observed.meter.window_ns, SIMTIME_MS);
	/* If the link takes a packet at this moment, the packet may count as waiting. */
	assert_in_range(report.queue_bytes, 0, QUEUE_BYTES + FRAME_BYTES);
	assert_in_range(report.queue_packets, 0, QUEUE_BYTES / FRAME_BYTES + 1);
	if (report.aqm.name)
		assert_string_equal(report.aqm.name, "codel");
}

static void what_control_reads_is_there_and_whole_while_a_schedule_exchanges_it(void **state)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 7});
	struct worker_side side = {.rig = rig};
	struct scenario *with, *without;
	const struct cloud *cloud;
	pthread_t worker;
	(void)state;

	always(rig);
	without = scenario_copy(rig->scenario);
	rig_put(rig, "x", sometimes());
	with = scenario_copy(rig->scenario);
	rig_apply(rig, 0);
	cloud = rig->engine->cloud_table->slots[0];
	assert_int_equal(pthread_create(&worker, NULL, work, &side), 0);
	for (uint32_t made = 0, changes = 0; made < EXCHANGES;) {
		look(rig, cloud);
		look_at_the_list(cloud);
		made = __atomic_load_n(&cloud->exchanges, __ATOMIC_RELAXED);
		/* The change frees the stages of the schedule, and a later one puts in new
		 * stages. */
		if (made >= changes * CHANGE_EVERY) {
			put_in_force(&side, without);
			put_in_force(&side, with);
			changes++;
		}
	}
	__atomic_store_n(&side.stop, true, __ATOMIC_RELEASE);
	assert_int_equal(pthread_join(worker, NULL), 0);
	assert_true(whole_lists > 0);
	scenario_free(with);
	scenario_free(without);
	rig_close(rig);
}

GROUP(reading)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(
	                what_control_reads_is_there_and_whole_while_a_schedule_exchanges_it),
	};

	return cmocka_run_group_tests_name("reading", tests, rig_group_setup, rig_group_teardown);
}
