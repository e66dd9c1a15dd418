/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames into a network and out of it (weir.h). */
#include <errno.h>
#include <stdlib.h>

#include "library/network.h"
#include "machine/pool.h"
#include "packet/burst.h"

/* How far the engine is advanced at once if less than what leaves then suffices. So at most what
 * leaves in this time lies in mbufs. */
#define STEP_NS SIMTIME_MS

int network_check_instant(const struct weir *net, int64_t t_ns)
{
	if (t_ns < 0 || t_ns == WEIR_NEVER)
		return -ERANGE;
	return (simtime)t_ns < net->reached_ns ? -ETIME : 0;
}

void network_reclaim(struct weir *net)
{
	rte_pktmbuf_free_bulk(net->lent, net->n_lent);
	net->n_lent = 0;
	net->whole_bytes = 0;
}

/* Stops at every event on the way: the engine executes clouds that do not interact one after the
 * other, and fates are told in the order of time. */
static __attribute__((noinline)) void advance_telling(struct weir *net, simtime now)
{
	simtime before = SIMTIME_NEVER;

	for (;;) {
		const simtime next = simtime_max(engine_next(net->offline.engine),
		                                 simtime_max(net->advanced_ns, net->fed_ns));

		if (next >= now || next == before || net->offline.error < 0)
			return;
		net->advanced_ns = before = next;
		offline_engine_advance(&net->offline, next);
	}
}

int network_advance(struct weir *net, simtime now)
{
	if (unlikely(net->on_fate != NULL))
		advance_telling(net, now);
	net->advanced_ns = now;
	net->fed = false;
	if (unlikely(offline_engine_advance(&net->offline, now) < 0))
		net->error = -ENOMEM;
	return net->error;
}

int network_catch_up(struct weir *net)
{
	if (net->error == 0 && (net->fed || net->advanced_ns < net->reached_ns))
		network_advance(net, net->reached_ns);
	return net->error;
}

/* ---- in ---- */

static int check_frame(const struct weir *net, const struct weir_frame *frame)
{
	const int error = network_check_instant(net, frame->t_ns);
	const uint32_t wire_bytes = frame->wire_bytes ? frame->wire_bytes : frame->bytes;

	if (unlikely(error < 0))
		return error;
	if (unlikely(frame->port >= net->n_ports))
		return -ENOENT;
	if (unlikely(frame->bytes < WEIR_FRAME_MIN || frame->bytes > WEIR_FRAME_MAX ||
	             wire_bytes < frame->bytes))
		return -EMSGSIZE;
	return net->error;
}

/* Keeps the engine close to a caller who sends for a long time before he receives: what leaves
 * meanwhile takes mbufs, and the caller learns in time if there are no more. */
static inline void follow(struct weir *net, simtime t_ns)
{
	net->reached_ns = t_ns;
	if (unlikely(t_ns > net->advanced_ns + STEP_NS))
		network_advance(net, t_ns);
}

/* Fills a burst with the first frames, n at most, that come in at one port and are right. Returns
 * how many; if none is, -errno. */
static int gather(struct weir *net, struct burst *burst, const struct weir_frame *frames,
                  uint32_t n)
{
	const uint32_t port = frames->port;
	struct problem problem;
	uint32_t i;

	if (likely(port < net->n_ports))
		burst_open(burst, port, net->ports[port].report.rx_packets + 1);
	for (i = 0; i < n && frames[i].port == port; i++) {
		const struct weir_frame *frame = &frames[i];
		int error = check_frame(net, frame);
		struct rte_mbuf *mbuf;

		if (unlikely(error < 0))
			return i > 0 ? (int)i : error;
		if (i == 0)
			follow(net, (simtime)frame->t_ns);
		mbuf = mbuf_supply_frame(&net->supply, frame->data, frame->bytes, &problem);
		if (unlikely(mbuf == NULL))
			return i > 0 ? (int)i : -ENOMEM;
		burst_put(burst, mbuf, (simtime)frame->t_ns,
		          frame->wire_bytes ? frame->wire_bytes : frame->bytes);
		net->reached_ns = (simtime)frame->t_ns;
	}
	return (int)i;
}

static int send_burst(struct weir *net, const struct weir_frame *frames, uint32_t n)
{
	struct replay_port_report *report;
	struct burst burst;
	const int taken = gather(net, &burst, frames, n);

	if (taken <= 0)
		return taken;
	report = &net->ports[frames->port].report;
	if (unlikely(net->first_ns == SIMTIME_NEVER))
		net->first_ns = (simtime)frames->t_ns;
	net->last_ns = net->reached_ns;
	report->rx_packets += burst.n;
	report->rx_bytes += burst.bytes;
	net->fed = true;
	net->fed_ns = net->reached_ns;
	engine_ingress(net->offline.engine, &burst);
	if (unlikely(net->offline.error < 0))
		net->error = -ENOMEM;
	/* Tells what happens to it before the next one comes. */
	if (unlikely(net->on_fate != NULL))
		network_catch_up(net);
	return taken;
}

int weir_send_many(struct weir *net, const struct weir_frame *frames, uint32_t n)
{
	const uint32_t most = net->on_fate != NULL ? 1 : BURST_MAX;
	uint32_t done = 0;

	while (done < n) {
		const int taken = send_burst(net, frames + done, RTE_MIN(n - done, most));

		if (unlikely(taken < 0))
			return done > 0 ? (int)done : taken;
		done += (uint32_t)taken;
	}
	return (int)done;
}

int weir_send(struct weir *net, int64_t t_ns, uint32_t port, const void *frame, uint32_t bytes)
{
	const struct weir_frame one = {.t_ns = t_ns, .port = port, .bytes = bytes, .data = frame};
	const int taken = weir_send_many(net, &one, 1);

	return taken < 0 ? taken : 0;
}

/* ---- out ---- */

/* Returns the port whose next departure is the earliest; n_ports if nothing has left. */
static uint32_t next_port(const struct weir *net)
{
	uint32_t next = net->n_ports;
	simtime earliest = SIMTIME_NEVER;

	for (uint32_t port = 0; port < net->n_ports; port++) {
		const struct departures *departures = &net->ports[port].departures;

		if (departures->n > 0 && departures_at(departures, 0)->due_ns < earliest) {
			earliest = departures_at(departures, 0)->due_ns;
			next = port;
		}
	}
	return next;
}

/* Returns the bytes of a frame in one piece; NULL if there is no room for them now. */
static const void *in_one_piece(struct weir *net, const struct rte_mbuf *mbuf)
{
	const void *data;

	if (likely(mbuf->nb_segs == 1))
		return rte_pktmbuf_mtod(mbuf, const void *);
	if (net->whole == NULL && (net->whole = malloc(WEIR_FRAME_MAX)) == NULL) {
		net->error = -ENOMEM;
		return NULL;
	}
	if (mbuf->pkt_len > WEIR_FRAME_MAX - net->whole_bytes)
		return NULL;
	data = rte_pktmbuf_read(mbuf, 0, mbuf->pkt_len, net->whole + net->whole_bytes);
	net->whole_bytes += mbuf->pkt_len;
	return data;
}

/* Lends the next departure of a port to the caller. Returns false if there is no room for it. */
static bool lend(struct weir *net, uint32_t port, struct weir_frame *frame)
{
	struct network_port *at = &net->ports[port];
	const struct departure *departure = departures_at(&at->departures, 0);
	struct rte_mbuf *mbuf = departure->mbuf;

	frame->data = in_one_piece(net, mbuf);
	if (unlikely(frame->data == NULL))
		return false;
	frame->t_ns = (int64_t)departure->due_ns;
	frame->port = port;
	frame->bytes = mbuf->pkt_len;
	frame->wire_bytes = departure->wire_bytes;
	frame->reserved = 0;
	net->lent[net->n_lent++] = mbuf;
	net->last_ns = simtime_max(net->last_ns, departure->due_ns);
	at->report.tx_packets++;
	replay_port_left(&at->report, &at->busy, net->first_ns, departure->due_ns,
	                 departure->wire_bytes);
	at->departures.first++;
	at->departures.n--;
	return true;
}

/* Lends what has left by the instant that the engine has advanced to. Returns how many in all. */
static uint32_t lend_some(struct weir *net, struct weir_frame *frames, uint32_t n)
{
	while (net->n_lent < n) {
		const uint32_t port = next_port(net);

		if (port == net->n_ports ||
		    departures_at(&net->ports[port].departures, 0)->due_ns > net->advanced_ns ||
		    !lend(net, port, &frames[net->n_lent]))
			break;
	}
	return net->n_lent;
}

/* Advances the engine a little, `until` at most. */
static void step(struct weir *net, simtime until)
{
	const simtime next = engine_next(net->offline.engine);
	simtime now = until;

	if (next < until)
		now = simtime_min(until, simtime_add(next, STEP_NS));
	network_advance(net, simtime_max(now, simtime_max(net->advanced_ns, net->fed_ns)));
}

int weir_receive(struct weir *net, int64_t until_ns, struct weir_frame *frames, uint32_t n)
{
	const int error = network_check_instant(net, until_ns);

	network_reclaim(net);
	if (unlikely(error < 0))
		return error;
	net->reached_ns = (simtime)until_ns;
	n = RTE_MIN(n, WEIR_BATCH_MAX);
	while (lend_some(net, frames, n) < n && net->whole_bytes == 0 && net->error == 0 &&
	       (net->fed || net->advanced_ns < net->reached_ns))
		step(net, net->reached_ns);
	return net->n_lent > 0 ? (int)net->n_lent : net->error;
}

int64_t weir_next(const struct weir *net)
{
	const uint32_t port = next_port(net);
	simtime next = engine_next(net->offline.engine);

	if (port < net->n_ports)
		next = simtime_min(next, departures_at(&net->ports[port].departures, 0)->due_ns);
	if (engine_has_left(net->offline.engine))
		next = net->reached_ns;
	next = simtime_max(next, net->reached_ns);
	return next >= (simtime)WEIR_NEVER ? WEIR_NEVER : (int64_t)next;
}

int64_t weir_now(const struct weir *net)
{
	return (int64_t)net->reached_ns;
}

int64_t weir_lacked(const struct weir *net)
{
	return net->lacked_ns >= (simtime)WEIR_NEVER ? WEIR_NEVER : (int64_t)net->lacked_ns;
}
