/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line of `weir bench`, parsed: docs/man/weir-bench.1 describes it.
 *
 * Thread: control.
 */
#ifndef WEIR_BENCH_OPTIONS_H
#define WEIR_BENCH_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "live/runtime.h"
#include "options/options.h"

#define BENCH_DEVICES     2
#define BENCH_SECONDS_MAX 86400

struct bench_scenario;

enum bench_part {
	BENCH_COST,
	BENCH_PRECISION,
	BENCH_DEPTH,
	BENCH_CLOUDS,
	BENCH_CLOCK,
	BENCH_RFC2544,
	/* only if named: between devices, over a cable; and parts that take long */
	BENCH_LATENCY,
	BENCH_RECONF,
	BENCH_SOAK,
	BENCH_MACHINE,
	BENCH_COMPARE,
	BENCH_PARTS
};

struct bench_arguments {
	bool parts[BENCH_PARTS];
	const char *compare; /* the earlier -j file */
	const char *against; /* a later one, instead of measuring; or NULL */
	const char *config, *cores, *html;
	const struct bench_scenario *scenario; /* cost: this one of weir's own alone; or NULL */
	const char *load; /* precision: only loads that have this in their names; or NULL */
	bool frame_given;
	uint32_t frame_bytes; /* 0: IMIX */
	uint64_t seconds_us;  /* 0: not given; see bench_seconds */
	uint64_t runs;        /* 0: not given */
	uint64_t bound_q63;   /* compare */
	uint64_t priority;
	uint64_t flight_ns, flight_snap; /* 0: without a flight; 0: whole frames */
	uint32_t layout;                 /* enum runtime_layout */
	bool json, full, rfc_times;
	const char *devices
	        [BENCH_DEVICES]; /* rfc2544: at another device under test; latency: the two ends */
	uint32_t n_devices;
	uint64_t line_bps;  /* rfc2544, latency; 0: not given */
	uint64_t cable_um;  /* latency: millionths of a metre */
	uint64_t hours_um;  /* soak: millionths of an hour */
	uint64_t loss_q63;  /* soak: the bound of the critical load */
	const char *resume; /* soak: file of the earlier parts, and of this one; or NULL */
};

/* Parses the command line. Returns OPTIONS_RUN, or the exit status after printing a message or a
 * text. Pointers go into argv. */
int bench_arguments_parse(int argc, char **argv, struct bench_arguments *arguments);

/* Returns --seconds, or `otherwise` if it is not given. */
double bench_seconds(const struct bench_arguments *arguments, double otherwise);

#endif
