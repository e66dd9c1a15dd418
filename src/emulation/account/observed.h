/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What stages report beside the counters, for whatever shows a cloud: the reading of its meter
 * (header/meter.h), that of a router of XCP (header/xcp.h), and the routers of a path as a proxy
 * has heard of them (header/feedback_proxy.h). A statement fills in its part (statement.h,
 * `report`).
 *
 * Thread: written by the worker, read by control a moment old.
 */
#ifndef WEIR_OBSERVED_H
#define WEIR_OBSERVED_H

#include <stdbool.h>
#include <stdint.h>

#include "simtime.h"

#define OBSERVED_HOPS_MAX 64
#define OBSERVED_NO_LIMIT UINT64_MAX

/* A reading over the window from `from_ns` to before `from_ns` + `window_ns`. */
struct meter_reading {
	simtime window_ns, from_ns;
	/* false: no window has ended yet; all fields below except link_bps are those of an idle
	 * link */
	bool measured;
	uint64_t link_bps; /* OBSERVED_NO_LIMIT: there is no link */
	uint64_t available_bps;
	uint64_t sent_bps;
	uint32_t loss_ppb, error_ppb; /* 10^-9 */
	uint32_t utilisation_ppm;
	uint64_t queue_milli; /* packets / 1000: the mean over the window */
	uint64_t queue_packets_max;
	simtime delay_ns; /* mean queuing delay */
};

/* A router of XCP (header/xcp.h), at the end of its last control interval; P and N are what is left
 * of them. In byte/s. */
struct xcp_reading {
	double capacity, input;
	double aggregate;          /* F */
	double positive, negative; /* P, N */
	uint64_t queue_bytes;
	simtime rtt_ns;      /* mean over the flows */
	simtime interval_ns; /* the current one */
};

enum observed_probe { OBSERVED_LINK, OBSERVED_LOSS, OBSERVED_QUEUE, OBSERVED_PROBES };

struct observed_hop {
	uint32_t hop; /* from 1 */
	uint32_t ttl; /* as the sender counted it */
	struct {
		bool heard;
		simtime at_ns; /* when it was last heard */
		uint32_t value[2];
	} probe[OBSERVED_PROBES];
};

struct observed {
	bool has_meter;
	struct meter_reading meter;
	bool has_xcp;
	struct xcp_reading xcp;
	bool has_path;
	/* latest packet of the stage that keeps the path: ages are relative to it */
	simtime now_ns;
	uint32_t n_hops;
	struct observed_hop hops[OBSERVED_HOPS_MAX];
};

#endif
