/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sink of a precision measurement: a transmit callback on an ethdev port. It reads the time
 * stamp counter when weir hands a burst to the device, and compares it with the due time of each
 * packet. It is independent of weir's own figure (tx_queue.h), and it would detect a packet that is
 * early.
 *
 *   lateness  hand-over minus the due time that weir gave the packet (its instant of arrival, as
 *             weir stamped it, plus the delay)
 *   through   hand-over minus the instant at which the source made the frame, minus the delay: what
 *             a measurement from outside sees; contains the time from the device to weir's stamp
 *
 * With `own`, packets that others made late (bench_away.h) do not count: packets that came due
 * while others had the processor, and late ones while the worker is behind. Then the delay may
 * change, and `through` is not measured.
 *
 * Thread: set up by control while the worker stands still, then the worker's.
 */
#ifndef WEIR_BENCH_SINK_H
#define WEIR_BENCH_SINK_H

#include <rte_ethdev.h>

#include "account/histogram.h"
#include "machine/clock.h"
#include "measure/bench_away.h"

struct bench_sink {
	const struct clock *clock;
	uint64_t delay_ns; /* of the scenario */
	uint32_t stamp_at; /* bench_stamp_at() */
	bool own;
	struct bench_away away;
	simtime from_ns; /* packets due before do not count */
	uint64_t early;  /* packets handed over before their due time */
	uint64_t most_early_ns;
	struct histogram lateness_ns, through_ns;
	uint16_t port;
	const struct rte_eth_rxtx_callback *callback;
};

/* For `own`: returns true if others have no part in the lateness of a packet. */
bool bench_sink_is_own(const struct bench_sink *sink, simtime handed, simtime due);
/* Adds the callback. Returns 0 or -errno. */
int bench_sink_attach(struct bench_sink *sink, uint16_t port);
/* Removes the callback. To be called while the worker stands still. */
void bench_sink_detach(struct bench_sink *sink);

#endif
