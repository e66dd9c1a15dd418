/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/bench_source.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include <rte_errno.h>
#include <rte_mbuf.h>

#include "packet/packet.h"

uint64_t bench_preempted_cpu(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * SIMTIME_S + (uint64_t)time.tv_nsec;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint64_t bench_preempted_read(struct bench_preempted *preempted, simtime now, uint64_t cpu_ns)
{
	uint64_t round = now - preempted->asked_ns, past = now - preempted->read_ns;
	uint64_t own = cpu_ns - preempted->cpu_ns, ns = past > own ? past - own : 0, behind = 0;

	if (!preempted->started) {
		*preempted = (struct bench_preempted){
		        .started = true, .asked_ns = now, .read_ns = now, .cpu_ns = cpu_ns};
		return 0;
	}
	round -= least(ns, round);
	if (preempted->asked_ns < preempted->behind_until_ns)
		behind = least(round, preempted->behind_until_ns - preempted->asked_ns);
	else if (round > preempted->longest_own_ns)
		__atomic_store_n(&preempted->longest_own_ns, round, __ATOMIC_RELAXED);
	if (ns > BENCH_PREEMPTED_LONG_NS) {
		preempted->returned_ns = now;
		preempted->behind_until_ns =
		        simtime_max(preempted->behind_until_ns, now) + BENCH_PREEMPTED_BEHIND * ns;
	}
	preempted->asked_ns = preempted->read_ns = now;
	preempted->cpu_ns = cpu_ns;
	return ns + behind;
}

#define PS_PER_NS 1000

static const struct {
	uint16_t bytes, share;
} imix[] = {{64, 28}, {570, 16}, {1518, 4}};

const uint8_t bench_headers[BENCH_HEADERS_BYTES] = {
        /* Ethernet */
        2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0,
        /* IPv4 from 198.18.0.1 to 198.19.0.1 */
        0x45, 2, 0, 50, 0, 0, 0, 0, 64, 253, 0xed, 0xa5, 198, 18, 0, 1, 198, 19, 0, 1,
        /* the request for feedback, of mode TTL */
        3, 1, 0, 64, 0, 0, 0, 17, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
        /* UDP from port 49184 to 7 */
        0xc0, 0x20, 0, 7, 0, 14};

void bench_frames_fill(struct bench_frames *frames, uint32_t frame_bytes)
{
	int debt[3] = {0};

	frames->n = 1;
	frames->bytes[0] = (uint16_t)frame_bytes;
	if (frame_bytes)
		return;
	/* Each place goes to the length that is furthest behind its share. */
	frames->n = 48;
	for (uint32_t i = 0; i < frames->n; i++) {
		int most = 0;

		for (int k = 0; k < 3; k++) {
			debt[k] += imix[k].share;
			if (debt[k] > debt[most])
				most = k;
		}
		debt[most] -= 48;
		frames->bytes[i] = imix[most].bytes;
	}
}

double bench_frames_mean(const struct bench_frames *frames)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < frames->n; i++)
		sum += frames->bytes[i];
	return (double)sum / frames->n;
}

bool bench_frames_need_source(uint32_t frame_bytes)
{
	return frame_bytes == 0 || frame_bytes > RTE_MBUF_DEFAULT_DATAROOM;
}

/* Gives the frame its length, over as many mbufs as it needs. Returns false if the pool has
 * none. */
static bool shape(struct bench_source *source, struct rte_mbuf *mbuf)
{
	uint32_t bytes = source->frames.bytes[source->at];
	struct rte_mbuf *last = mbuf;
	uint32_t room = rte_pktmbuf_tailroom(mbuf) + mbuf->data_len;

	source->at = source->at + 1 == source->frames.n ? 0 : source->at + 1;
	mbuf->pkt_len = bytes;
	mbuf->data_len = (uint16_t)RTE_MIN(bytes, room);
	for (bytes -= mbuf->data_len; bytes > 0; bytes -= last->data_len) {
		struct rte_mbuf *more = rte_pktmbuf_alloc(source->pool);

		if (!more)
			return false;
		more->data_len = (uint16_t)RTE_MIN(bytes, (uint32_t)rte_pktmbuf_tailroom(more));
		last->next = more;
		last = more;
		mbuf->nb_segs++;
	}
	return true;
}

/* Odd, so that all addresses have their turn. */
#define ADDRESS_STEP 40503u

static void address(struct bench_source *source, struct rte_mbuf *mbuf)
{
	static const uint8_t headers[] = {2,    0, 0,   0,  0, 1, 2, 0, 0,  0,  0, 2,  8,  0,
	                                  0x45, 0, 0,   46, 0, 0, 0, 0, 64, 17, 0, 0,  10, 0,
	                                  0,    0, 198, 18, 0, 1, 0, 7, 0,  7,  0, 26, 0,  0};
	uint8_t *frame = rte_pktmbuf_mtod(mbuf, uint8_t *);
	uint32_t host = source->address++ * ADDRESS_STEP & (source->addresses - 1);

	memcpy(frame, headers, sizeof(headers));
	frame[27] = (uint8_t)(host >> 16);
	frame[28] = (uint8_t)(host >> 8);
	frame[29] = (uint8_t)host;
}

static uint16_t shape_all(struct bench_source *source, struct rte_mbuf **mbufs, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++) {
		if (source->headers)
			memcpy(rte_pktmbuf_mtod(mbufs[i], void *), bench_headers,
			       BENCH_HEADERS_BYTES);
		if (unlikely(!shape(source, mbufs[i]))) {
			rte_pktmbuf_free_bulk(&mbufs[i], n - i);
			source->starved += n - i;
			return i;
		}
		if (source->addresses)
			address(source, mbufs[i]);
	}
	return n;
}

uint64_t bench_source_arrive(struct bench_source *source, uint64_t left, uint64_t arrived,
                             uint64_t preempted)
{
	uint64_t waiting = left + arrived;

	source->excused = RTE_MIN(source->excused, left) + RTE_MIN(preempted, arrived);
	if (waiting > BENCH_RX_RING) {
		uint64_t over = waiting - BENCH_RX_RING;
		uint64_t excused = RTE_MIN(over, source->excused);

		source->missed += over;
		source->missed_preempted += excused;
		source->excused -= excused;
		waiting = BENCH_RX_RING;
	}
	return waiting;
}

/* Returns how many packets have come due by `now` and can be received, `room` at most. */
static uint16_t paced_due(struct bench_source *source, simtime now, uint16_t room)
{
	uint64_t due, left, waiting, preempted_ns = bench_preempted_ask(&source->preempted, now);

	if (!source->started) {
		source->started = true;
		source->begin_ns = now;
		source->due = 0;
	}
	due = (uint64_t)((unsigned __int128)(now - source->begin_ns) * PS_PER_NS /
	                 source->period_ps);
	left = source->due - source->made - source->missed;
	waiting = bench_source_arrive(source, left, due - source->due,
	                              preempted_ns * PS_PER_NS / source->period_ps);
	source->due = due;
	if (waiting <= BURST_MAX)
		bench_preempted_caught_up(&source->preempted);
	return (uint16_t)RTE_MIN(waiting, (uint64_t)room);
}

static uint16_t make(struct bench_source *source, struct rte_mbuf **mbufs, uint16_t n)
{
	if (n == 0)
		return 0;
	if (rte_pktmbuf_alloc_bulk(source->pool, mbufs, n) < 0) {
		source->starved += n;
		return 0;
	}
	return shape_all(source, mbufs, n);
}

static void stamp(const struct bench_source *source, struct rte_mbuf **mbufs, uint16_t n,
                  simtime now)
{
	uint32_t at = bench_stamp_at(source->headers);

	for (uint16_t i = 0; i < n; i++)
		*rte_pktmbuf_mtod_offset(mbufs[i], simtime *, at) = now;
}

static uint16_t receive(uint16_t port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n,
                        uint16_t room, void *argument)
{
	struct bench_source *source = argument;

	(void)port;
	(void)queue;
	if (source->period_ps) {
		simtime now = clock_now(source->clock);

		n = make(source, mbufs, paced_due(source, now, room));
		source->made += n;
		if (source->stamped)
			stamp(source, mbufs, n, now);
		return n;
	}
	if (source->top_up)
		return (uint16_t)(n + make(source, mbufs + n, (uint16_t)(room - n)));
	return shape_all(source, mbufs, n);
}

int bench_source_attach(struct bench_source *source, uint16_t port)
{
	source->port = port;
	source->callback = rte_eth_add_rx_callback(port, 0, receive, source);
	return source->callback ? 0 : -rte_errno;
}

void bench_source_detach(struct bench_source *source)
{
	if (source->callback)
		rte_eth_remove_rx_callback(source->port, 0, source->callback);
	source->callback = NULL;
}

static void note_early(struct bench_sink *sink, uint64_t by_ns)
{
	sink->early++;
	if (by_ns > sink->most_early_ns)
		sink->most_early_ns = by_ns;
}

bool bench_sink_is_own(const struct bench_sink *sink, simtime handed, simtime due)
{
	return due >= sink->preempted.returned_ns && (handed >= sink->preempted.behind_until_ns ||
	                                              handed - due <= BENCH_PREEMPTED_LONG_NS);
}

static uint16_t transmit(uint16_t port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n,
                         void *argument)
{
	struct bench_sink *sink = argument;
	simtime handed = clock_now(sink->clock);

	(void)port;
	(void)queue;
	if (sink->own)
		bench_preempted_ask(&sink->preempted, handed);
	for (uint16_t i = 0; i < n; i++) {
		simtime due = packet_of(mbufs[i])->t_ns;
		simtime made;

		if (due < sink->from_ns)
			continue;
		if (sink->own) {
			if (handed < due)
				note_early(sink, due - handed);
			else if (bench_sink_is_own(sink, handed, due))
				histogram_add(&sink->lateness_ns, handed - due, 1);
			if (due >= sink->preempted.returned_ns &&
			    handed - due <= BENCH_PREEMPTED_LONG_NS)
				bench_preempted_caught_up(&sink->preempted);
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
