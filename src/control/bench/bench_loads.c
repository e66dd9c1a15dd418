/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/bench_loads.h"

#include <string.h>

#include "bench/bench_scenarios.h"
#include "simtime.h"

#define GIGABIT_PPS 81274.4 /* 1518 bytes with their FCS and gap and preamble, 1538, on 1 Gbit/s */

const struct bench_load bench_loads[] = {
        {"100 Mbit/s of 1518 B", 100e6 / (1518 * 8), 1518, 100 * SIMTIME_MS, NULL},
        {"10 % of 14.88 Mpps", BENCH_LINE_PPS / 10, 64, 10 * SIMTIME_MS, NULL},
        {"50 % of 14.88 Mpps", BENCH_LINE_PPS / 2, 64, 10 * SIMTIME_MS, NULL},
        {"90 % of 14.88 Mpps", BENCH_LINE_PPS * 9 / 10, 64, 10 * SIMTIME_MS, NULL},
        {"100 % of 14.88 Mpps", BENCH_LINE_PPS, 64, 10 * SIMTIME_MS, NULL},
        {"14.88 Mpps held 500 ms", BENCH_LINE_PPS, 64, 500 * SIMTIME_MS, NULL},
        {"1 Gbit/s of 1518 B", GIGABIT_PPS, 1518, 10 * SIMTIME_MS, NULL},
        {"1 Gbit/s of 1518 B, 4 + 8 bytes rewritten", GIGABIT_PPS, 1518, 10 * SIMTIME_MS,
         bench_rewrite},
        {"14.88 Mpps, router", BENCH_LINE_PPS, 64, 10 * SIMTIME_MS, bench_router},
        {"14.88 Mpps, router, RED, ECN, feedback", BENCH_LINE_PPS, 64, 10 * SIMTIME_MS,
         bench_router_feedback},
        {"14.88 Mpps, the same without a delay", BENCH_LINE_PPS, 64, 0,
         bench_router_feedback_alone},
        {NULL, 0, 0, 0, NULL},
};

bool bench_load_is(const struct bench_load *load, const char *part)
{
	return !part || strstr(load->name, part) != NULL;
}
