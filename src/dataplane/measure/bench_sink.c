/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/bench_sink.h"

#include <rte_errno.h>

#include "measure/bench_source.h"
#include "packet/packet.h"

static void note_early(struct bench_sink *sink, uint64_t by_ns)
{
	sink->early++;
	if (by_ns > sink->most_early_ns)
		sink->most_early_ns = by_ns;
}

bool bench_sink_is_own(const struct bench_sink *sink, simtime handed, simtime due)
{
	return due >= sink->away.returned_ns &&
	       (handed >= sink->away.behind_until_ns || handed - due <= BENCH_AWAY_LONG_NS);
}

static void note_own(struct bench_sink *sink, simtime handed, simtime due)
{
	if (handed < due)
		note_early(sink, due - handed);
	else if (bench_sink_is_own(sink, handed, due))
		histogram_add(&sink->lateness_ns, handed - due, 1);
	if (due >= sink->away.returned_ns && handed - due <= BENCH_AWAY_LONG_NS)
		bench_away_caught_up(&sink->away);
}

static uint16_t transmit(uint16_t port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n,
                         void *argument)
{
	struct bench_sink *sink = argument;
	simtime handed = clock_now(sink->clock);

	(void)port;
	(void)queue;
	if (sink->own)
		bench_away_ask(&sink->away, handed);
	for (uint16_t i = 0; i < n; i++) {
		simtime due = packet_of(mbufs[i])->t_ns;
		simtime made;

		if (due < sink->from_ns)
			continue;
		if (sink->own) {
			note_own(sink, handed, due);
			continue;
		}
		made = *rte_pktmbuf_mtod_offset(mbufs[i], simtime *, sink->stamp_at);
		if (handed < due || handed < made + sink->delay_ns) {
			note_early(sink, simtime_max(due, made + sink->delay_ns) - handed);
			continue;
		}
		histogram_add(&sink->lateness_ns, handed - due, 1);
		histogram_add(&sink->through_ns, handed - made - sink->delay_ns, 1);
	}
	return n;
}

int bench_sink_attach(struct bench_sink *sink, uint16_t port)
{
	sink->port = port;
	sink->callback = rte_eth_add_tx_callback(port, 0, transmit, sink);
	return sink->callback ? 0 : -rte_errno;
}

void bench_sink_detach(struct bench_sink *sink)
{
	if (sink->callback)
		rte_eth_remove_tx_callback(sink->port, 0, sink->callback);
	sink->callback = NULL;
}
