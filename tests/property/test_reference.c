/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the engine with an independent model (reference.h), departure by departure. */
#include <stdio.h>
#include <stdlib.h>

#include "reference.h"
#include "play.h"

struct model {
	uint32_t n_clouds;
	struct reference_cloud clouds[SCRIPT_CLOUDS];
	uint32_t to[SCRIPT_CLOUDS];
};

/* Makes the model of a script without changes, loss and jitter. */
static void model_of(struct model *model, const struct script *script)
{
	*model = (struct model){0};
	for (uint32_t i = 0; i < script->n_steps; i++) {
		const struct script_step *step = &script->steps[i];
		struct reference_cloud *cloud = &model->clouds[step->cloud];
		uint64_t product;

		switch (step->kind) {
		case STEP_ADD:
			model->n_clouds = step->cloud + 1;
			model->to[step->cloud] = step->to;
			break;
		case STEP_DELAY:
			cloud->delay_ns = step->delay_ns;
			break;
		case STEP_RATE:
			cloud->rate_bps = step->rate_bps;
			cloud->depth_bytes = step->burst_bytes;
			cloud->limit = step->limit;
			cloud->unit = step->unit == LIMIT_BYTES     ? REFERENCE_BYTES
			              : step->unit == LIMIT_PACKETS ? REFERENCE_PACKETS
			              : step->unit == LIMIT_TIME    ? REFERENCE_NS
			                                            : REFERENCE_NONE;
			break;
		default:
			fail_msg("a step of kind %d", (int)step->kind);
		}
		/* not given: rate x delay, at least 64 kB */
		if (cloud->rate_bps && cloud->unit == REFERENCE_NONE) {
			product = (uint64_t)((unsigned __int128)cloud->rate_bps * cloud->delay_ns /
			                     8000000000u);
			cloud->limit = product > 64000 ? product : 64000;
		}
	}
	for (uint32_t i = 0; i < model->n_clouds; i++) {
		if (model->clouds[i].rate_bps && model->clouds[i].unit == REFERENCE_NONE)
			model->clouds[i].unit = REFERENCE_BYTES;
	}
}

/* Computes what should leave port `port`, in order. Returns how many packets. */
static uint32_t expected_at(const struct script *script, const struct model *model, uint32_t port,
                            struct reference_packet *leave)
{
	static struct reference_packet packets[SCRIPT_PACKETS_MAX];
	uint32_t n = 0, leaving = 0;

	for (uint32_t i = 0; i < script->n_packets; i++) {
		if (script->packets[i].port < model->n_clouds)
			packets[n++] = (struct reference_packet){
			        .t = script->packets[i].t,
			        .cloud = script->packets[i].port,
			        .bytes = script->packets[i].frame_bytes,
			        .number = i + 1,
			};
	}
	reference_run(model->clouds, model->n_clouds, packets, n);
	for (uint32_t i = 0; i < n; i++) {
		if (!packets[i].lost && model->to[packets[i].cloud] == port)
			leave[leaving++] = packets[i];
	}
	reference_sort(leave, leaving);
	return leaving;
}

/* Finds the packet with that number among those expected at one instant, from `from` on. */
static const struct reference_packet *find(const struct reference_packet *leave, uint32_t n,
                                           uint32_t from, uint64_t number)
{
	for (uint32_t i = from; i < n && leave[i].due == leave[from].due; i++) {
		if (leave[i].number == number)
			return &leave[i];
	}
	return NULL;
}

static uint32_t first_of_instant(const struct reference_packet *leave, uint32_t i)
{
	while (i > 0 && leave[i - 1].due == leave[i].due)
		i--;
	return i;
}

/* Returns true if departure i of a port leaves at its instant, unaltered, and after all packets
 * that entered a line before it. */
static bool is_right(const struct departure *departure, const struct reference_packet *leave,
                     uint32_t n, uint32_t i, uint64_t *entered, uint64_t *numbers)
{
	const struct reference_packet *packet;
	bool right;

	if (i == n || departure->due_ns != leave[i].due || !departure->intact)
		return false;
	packet = find(leave, n, first_of_instant(leave, i), departure->number);
	if (!packet || departure->frame_bytes != packet->bytes)
		return false;
	right = (i == first_of_instant(leave, i) || packet->entered >= *entered) &&
	        packet->number > numbers[packet->cloud];
	*entered = packet->entered;
	numbers[packet->cloud] = packet->number;
	return right;
}

static void port_agrees(const struct script *script, const struct model *model,
                        const struct played *played, uint32_t port, uint64_t *compared)
{
	static struct reference_packet leave[SCRIPT_PACKETS_MAX];
	uint64_t entered = 0, numbers[SCRIPT_CLOUDS] = {0};
	uint32_t n = expected_at(script, model, port, leave), i = 0;

	for (uint32_t k = 0; k < played->n; k++) {
		const struct departure *departure = &played->departures[k];

		if (departure->port != port)
			continue;
		if (!is_right(departure, leave, n, i, &entered, numbers)) {
			script_print(script);
			fprintf(stderr, "packet %lu leaves port %u at %lu; ", departure->number,
			        port, departure->due_ns);
			if (i < n)
				fprintf(stderr, "expected packet %u at %lu\n", leave[i].number,
				        leave[i].due);
			fail_msg("seed %lu: departure %u of port %u", script->seed, i + 1, port);
		}
		i++;
	}
	if (i != n) {
		script_print(script);
		fail_msg("seed %lu: %u packets leave port %u, expected %u", script->seed, i, port,
		         n);
	}
	*compared += n;
}

static void agrees(uint64_t seed, uint32_t what, enum play_way way, uint32_t burst,
                   uint64_t *compared)
{
	static struct script script;
	struct model model;
	struct played played;

	property_begin(seed);
	script_make(&script, seed, what);
	model_of(&model, &script);
	played = script_play(&script, way, burst, seed);
	for (uint32_t port = 0; port < RIG_PORTS; port++)
		port_agrees(&script, &model, &played, port, compared);
	played_free(&played);
	property_begin(0);
}

static void cases(uint64_t from, uint64_t normal, uint32_t what, uint64_t least)
{
	uint64_t n = property_cases(normal), compared = 0;

	for (uint64_t seed = from; seed < from + n; seed++)
		agrees(seed, what, seed & 1 ? PLAY_BURSTS : PLAY_LIVE, 1 + (uint32_t)(seed % 32),
		       &compared);
	/* an empty experiment would prove nothing */
	assert_true(compared >= least * n / normal);
}

static void a_cloud_alone_does_what_its_definition_says(void **state)
{
	(void)state;
	cases(10000000, 2000, 0, 60000);
}

static void clouds_at_one_port_leave_in_the_order_of_time_and_of_entering_the_line(void **state)
{
	(void)state;
	cases(20000000, 2000, SCRIPT_SHARED, 60000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_teardown(a_cloud_alone_does_what_its_definition_says,
	                                  property_teardown),
	        cmocka_unit_test_teardown(
	                clouds_at_one_port_leave_in_the_order_of_time_and_of_entering_the_line,
	                property_teardown),
	};

	return cmocka_run_group_tests_name("reference", tests, rig_group_setup, rig_group_teardown);
}
