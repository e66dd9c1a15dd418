/* SPDX-License-Identifier: BSD-3-Clause */
/* The latency that devices add: a loop over a cable in both directions, and the words for `port`
 * that subtract it. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_launch.h>
#include <rte_lcore.h>

#include "bench/bench_plan.h"
#include "bench/bench_rows.h"
#include "machine/clock.h"
#include "measure/bench_rfc2544.h"
#include "measure/bench_tester.h"

#define LATENCY_S 1.0
#define REST_NS   (100 * SIMTIME_MS)

static const uint32_t frames[] = {64, 512, 1518};

struct course {
	struct bench_plan *plan;
	struct bench_tester tester;
	struct bench_cables cables;
	bool own;               /* rings in this process, because no device is named */
	const char *devices[2]; /* sending, receiving */
	double line_bps, cable_m, seconds;
	uint32_t frame_bytes;
	uint64_t half_ns[2]; /* by direction, for the first frame length */
	struct bench_latency result;
	int rc;
};

static int open_ports(struct course *course, struct problem *problem)
{
	const struct bench_arguments *arguments = course->plan->arguments;
	struct clock clock;
	int rc = 0;

	course->own = arguments->n_devices == 0;
	if (course->own)
		rc = bench_cables_make(&course->cables, problem);
	if (rc < 0)
		return rc;
	course->devices[0] = course->own ? course->cables.weir[0] : arguments->devices[0];
	course->devices[1] = course->own ? course->cables.tester[0] : arguments->devices[1];
	if (clock_calibrate(&clock) < 0) {
		problem_set(problem, -1, "the time stamp counter does not run evenly");
		rc = -ERANGE;
	} else {
		rc = bench_tester_open(&course->tester, course->devices[0], course->devices[1],
		                       clock.rate_ns, problem);
	}
	if (rc < 0 && course->own)
		bench_cables_free(&course->cables);
	course->tester.wait_ns = REST_NS;
	return rc;
}

/* Returns the rate of the wire: as given, or the link speed of a NIC; else 0, since the speed that
 * a virtual device reports is not that of a wire. */
static double line_of(const struct course *course, const struct port *port)
{
	if (course->plan->arguments->line_bps > 0)
		return (double)course->plan->arguments->line_bps;
	return port_is_pci(port->device) ? (double)port_link_bps(port) : 0;
}

static int run_frame(void *argument)
{
	struct course *course = argument;
	int priority = course->plan->conditions.priority;

	bench_priority_set(priority);
	course->rc =
	        bench_latency_measure(&course->tester.base, course->frame_bytes, course->line_bps,
	                              course->cable_m, course->seconds, &course->result);
	bench_priority_clear(priority);
	return 0;
}

static void explain(const struct course *course, struct problem *problem)
{
	if (course->rc == -EIO)
		problem_set(problem, -1,
		            "%s received %" PRIu64 " of %" PRIu64
		            " frames from %s: connect the two by a cable, with both links up and "
		            "nothing in between",
		            course->devices[1], course->result.received, course->result.sent,
		            course->devices[0]);
	else
		problem_set(problem, -1, "%s",
		            course->rc == -EINTR     ? "interrupted"
		            : course->rc == -ENOBUFS ? "the sending device takes no frames: is its "
		                                       "link up, and does the other end receive?"
		                                     : strerror(-course->rc));
}

static int measure_frame(struct course *course, struct problem *problem)
{
	struct bench_plan *plan = course->plan;
	unsigned lcore = rte_get_next_lcore(-1, 1, 0);
	char what[160];

	snprintf(what, sizeof(what), "latency: %s to %s, %u B", course->devices[0],
	         course->devices[1], course->frame_bytes);
	if (plan->conditions.tell)
		plan->conditions.tell(plan->conditions.argument, what);
	course->line_bps = line_of(course, &course->tester.ports[0]);
	rte_eal_remote_launch(run_frame, course, lcore);
	rte_eal_wait_lcore(lcore);
	if (course->rc < 0) {
		explain(course, problem);
		return course->rc;
	}
	json_array_append_new(plan->rows, bench_row_latency(course->devices[0], course->devices[1],
	                                                    course->line_bps, course->cable_m,
	                                                    &course->result));
	return 0;
}

/* Measures one direction, then the other, for which the ports are exchanged. */
static int measure_ways(struct course *course, struct problem *problem)
{
	const struct bench_arguments *arguments = course->plan->arguments;
	size_t n = arguments->frame_given ? 1 : RTE_DIM(frames);
	int rc = 0;

	for (int way = 0; way < 2; way++) {
		for (size_t i = 0; rc == 0 && i < n; i++) {
			course->frame_bytes =
			        arguments->frame_given ? arguments->frame_bytes : frames[i];
			rc = measure_frame(course, problem);
			if (i == 0)
				course->half_ns[way] = course->result.half_ns;
		}
		RTE_SWAP(course->tester.ports[0], course->tester.ports[1]);
		RTE_SWAP(course->devices[0], course->devices[1]);
	}
	return rc;
}

/* The tx latency of one device and the rx latency of the other are from the same direction. */
static void conclude(struct course *course)
{
	json_t *remarks = course->plan->remarks;

	if (course->half_ns[0] > BENCH_LATENCY_MAX_NS ||
	    course->half_ns[1] > BENCH_LATENCY_MAX_NS) {
		json_array_append_new(remarks,
		                      json_string("latency: more than 1 ms for each device, which "
		                                  "`port` does not accept: is there more than a "
		                                  "cable in between?"));
		return;
	}
	json_array_append_new(
	        remarks,
	        json_sprintf("latency: options for `port`; only the sum was measured, so each end "
	                     "gets half of it\n  port NAME device %s rx-latency %" PRIu64
	                     "ns tx-latency %" PRIu64
	                     "ns\n  port NAME device %s rx-latency %" PRIu64
	                     "ns tx-latency %" PRIu64 "ns",
	                     course->devices[0], course->half_ns[1], course->half_ns[0],
	                     course->devices[1], course->half_ns[0], course->half_ns[1]));
	if (course->own)
		json_array_append_new(
		        remarks, json_string("latency: without --device, the cable is a pair of "
		                             "rings in this process, and the figures are what "
		                             "the measurement itself adds"));
}

int bench_plan_latency(struct bench_plan *plan, struct problem *problem)
{
	struct course *course = calloc(1, sizeof(*course));
	int rc;

	if (!course) {
		problem_set(problem, -1, "no memory");
		return -ENOMEM;
	}
	course->plan = plan;
	course->cable_m = (double)plan->arguments->cable_um / FACTOR_ONE;
	course->seconds = bench_seconds(plan->arguments, LATENCY_S);
	rc = open_ports(course, problem);
	if (rc == 0) {
		rc = measure_ways(course, problem);
		if (rc == 0)
			conclude(course);
		bench_tester_close(&course->tester);
		if (course->own)
			bench_cables_free(&course->cables);
	}
	free(course);
	return rc;
}
