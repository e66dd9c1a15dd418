/* SPDX-License-Identifier: BSD-3-Clause */
/* FQ-CoDel in a cloud: the fate of each packet, and the order of departures, are those of RFC 8290,
 * sections 4.1 and 4.2, with RFC 8289's pseudocode in each queue, in double precision; and two
 * traces of ns-3's tests. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"
#include "load.h"
#include "trial.h"
#include "runner/group.h"

#define N     60000
#define FLOWS 12

#define TARGET   0.005
#define INTERVAL 0.100

enum list { NONE, NEW, OLD };

struct flow {
	uint32_t fifo[N + 1], head, tail, bytes;
	int32_t credits;
	bool active;
	double first_above, drop_next;
	uint32_t count, lastcount;
	bool dropping;
};

struct list_of {
	uint32_t flow[FLOWS], n;
};

/* The queues before a link of 8 Mbit/s. */
struct reference {
	struct flow flows[FLOWS];
	struct list_of new, old;
	simtime came[N + 1];
	uint32_t size[N + 1], order[N + 1], n_left;
	bool lost[N + 1];
	uint32_t waiting, limit, bytes;
	simtime free_at; /* when the link becomes free, or 0 */
	uint64_t fullest, codel;
};

static void put_last(struct list_of *list, uint32_t flow)
{
	list->flow[list->n++] = flow;
}

static void take_first(struct list_of *list)
{
	memmove(list->flow, list->flow + 1, --list->n * sizeof(list->flow[0]));
}

static uint32_t pop(struct reference *r, struct flow *flow)
{
	uint32_t i = flow->fifo[flow->head++];

	flow->bytes -= r->size[i];
	r->bytes -= r->size[i];
	r->waiting--;
	return i;
}

/* ---- CoDel, of one queue ---- */

struct taken {
	uint32_t packet; /* 0: none */
	bool ok_to_drop;
};

static struct taken dodequeue(struct reference *r, struct flow *flow, simtime now)
{
	struct taken taken = {0};
	double t = (double)now * 1e-9;

	if (flow->head == flow->tail) {
		flow->first_above = 0;
		return taken;
	}
	taken.packet = pop(r, flow);
	/* bytes() covers all queues of the link: RFC 8289, section 4.4 */
	if (now - r->came[taken.packet] < 5 * SIMTIME_MS || r->bytes <= 1514)
		flow->first_above = 0;
	else if (flow->first_above == 0)
		flow->first_above = t + INTERVAL;
	else
		taken.ok_to_drop = t > flow->first_above - 1e-10;
	return taken;
}

static void drop(struct reference *r, uint32_t packet)
{
	r->lost[packet] = true;
	r->codel++;
}

static uint32_t codel(struct reference *r, struct flow *flow, simtime now)
{
	struct taken taken = dodequeue(r, flow, now);
	double t = (double)now * 1e-9;

	if (flow->dropping) {
		if (!taken.ok_to_drop)
			flow->dropping = false;
		while (t > flow->drop_next - 1e-10 && flow->dropping) {
			drop(r, taken.packet);
			flow->count++;
			taken = dodequeue(r, flow, now);
			if (!taken.ok_to_drop)
				flow->dropping = false;
			else
				flow->drop_next += INTERVAL / sqrt(flow->count);
		}
	} else if (taken.ok_to_drop) {
		uint32_t delta = flow->count - flow->lastcount;

		drop(r, taken.packet);
		taken = dodequeue(r, flow, now);
		flow->dropping = true;
		flow->count = 1;
		if (delta > 1 && t - flow->drop_next < 16 * INTERVAL)
			flow->count = delta;
		flow->drop_next = t + INTERVAL / sqrt(flow->count);
		flow->lastcount = flow->count;
	}
	return taken.packet;
}

/* ---- the scheduler ---- */

static void enqueue(struct reference *r, uint32_t i, uint32_t of, uint32_t bytes, simtime now)
{
	struct flow *flow = &r->flows[of];

	r->came[i] = now;
	r->size[i] = bytes;
	flow->fifo[flow->tail++] = i;
	flow->bytes += bytes;
	r->bytes += bytes;
	r->waiting++;
	if (!flow->active) {
		flow->active = true;
		flow->credits = 1514;
		put_last(&r->new, of);
	}
	/* compared before an idle link could take the packet: then nothing else waits */
	if (r->waiting > r->limit) {
		struct flow *fat = flow;
		uint32_t batch;

		for (uint32_t k = 0; k < FLOWS; k++) {
			if (r->flows[k].bytes > fat->bytes)
				fat = &r->flows[k];
		}
		batch = (fat->tail - fat->head + 1) / 2;
		for (uint32_t k = 0; k < batch && k < 64; k++) {
			r->lost[pop(r, fat)] = true;
			r->fullest++;
		}
	}
}

static void dequeue(struct reference *r, simtime now)
{
	r->free_at = 0;
	while (r->new.n + r->old.n > 0) {
		struct list_of *list = r->new.n ? &r->new : &r->old;
		uint32_t of = list->flow[0], packet;
		struct flow *flow = &r->flows[of];

		if (flow->credits <= 0) {
			flow->credits += 1514;
			take_first(list);
			put_last(&r->old, of);
			continue;
		}
		packet = codel(r, flow, now);
		if (packet) {
			flow->credits -= (int32_t)r->size[packet];
			r->free_at = now + r->size[packet] * SIMTIME_US;
			r->order[r->n_left++] = packet;
			return;
		}
		take_first(list);
		if (list == &r->new)
			put_last(&r->old, of);
		else
			flow->active = false;
	}
}

static void advance(struct reference *r, simtime now)
{
	while (r->free_at && r->free_at <= now)
		dequeue(r, r->free_at);
}

/* ---- the cloud ---- */

static uint32_t seen[N + 1], n_seen;

static void look(void *argument, struct rte_mbuf *mbuf)
{
	(void)argument;
	seen[n_seen++] = (uint32_t)packet_of(mbuf)->number;
}

static void send(struct trial *trial, uint32_t flow, uint32_t bytes)
{
	const struct frame_shape shape = {.ip = 4,
	                                  .protocol = FRAME_UDP,
	                                  .source_port = (uint16_t)(2000 + flow),
	                                  .payload_bytes = bytes - 42};
	uint8_t frame[FRAME_BYTES_MAX];

	frame_make(frame, &shape);
	trial_send_frame(trial, frame, bytes);
}

static struct trial *open_fq(const char *rate, const char *fq)
{
	struct trial *trial = trial_open(rate, 3);

	trial_set(trial, fq);
	trial->look = look;
	trial->now = SIMTIME_S;
	n_seen = 0;
	return trial;
}

/* Chooses the flow of a packet: three flows always send, and many do now and then. */
static uint32_t flow_of(uint32_t i)
{
	uint64_t draw = draw_u64((struct draw_key){{7, 8}}, i, 0);

	return draw % 10 < 8 ? draw / 16 % 3 : 3 + draw / 16 % (FLOWS - 3);
}

static void every_packet_goes_as_the_rfc_says(void **state)
{
	static const struct {
		const char *rate;
		uint32_t limit;
	} rows[] = {{"rate 8mbit queue 100000pkt", 100000}, {"rate 8mbit queue 30pkt", 30}};

	(void)state;
	for (size_t row = 0; row < LENGTH(rows); row++) {
		struct trial *trial = open_fq(rows[row].rate, "fq-codel");
		struct reference *r = calloc(1, sizeof(*r));

		r->limit = rows[row].limit;
		for (uint32_t i = 1; i < N; i++) {
			advance(r, trial->now);
			enqueue(r, i, flow_of(i), load_bytes(i), trial->now);
			if (!r->free_at)
				dequeue(r, trial->now);
			trial->gap_ns = load_gap_ns(i);
			send(trial, flow_of(i), load_bytes(i));
		}
		trial_run_out(trial);
		advance(r, trial->now + SIMTIME_S);
		for (uint32_t i = 1; i < N; i++) {
			if (((trial->fate[i] & TRIAL_LOST) != 0) != r->lost[i])
				fail_msg("row %zu: packet %u is %s", row, i,
				         r->lost[i] ? "not lost" : "lost");
		}
		assert_int_equal(n_seen, r->n_left);
		assert_memory_equal(seen, r->order, n_seen * sizeof(seen[0]));
		assert_int_equal(trial_counters(trial)->drops[REASON_CODEL], r->codel);
		assert_int_equal(trial_counters(trial)->drops[REASON_FULLEST], r->fullest);
		assert_true(r->codel > 100);
		assert_int_equal(r->fullest > 100, r->limit < N);
		free(r);
		trial_close(trial);
	}
}

/* RFC 8289, section 4.4: occupancy is that of all queues on the link. Each of 40 flows has 4
 * packets of 210 B, and one more every 8.4 ms, as much as the link carries. A flow's 840 B, less
 * than maxpacket, wait for 33 ms, and are subject to drops, because 33 kB wait in all. */
static void what_waits_in_other_queues_counts_too(void **state)
{
	struct trial *trial = open_fq("rate 8mbit queue 100000pkt", "fq-codel quantum 256B");

	(void)state;
	trial->gap_ns = 0;
	for (uint32_t i = 0; i < 40 * 200; i++) {
		trial->now = SIMTIME_S + (i < 160 ? 0 : (i / 40 - 3) * 8400 * SIMTIME_US);
		send(trial, i % 40, 210);
	}
	trial_run_out(trial);
	assert_true(trial_counters(trial)->drops[REASON_CODEL] >= 40);
	trial_close(trial);
}

/* ---- ns-3 ---- */

/* fq-codel-queue-disc-test-suite, "Test credits and flows status", ten times as large: a quantum of
 * 900 B, packets of 1200 B. One packet of the first flow, which then has -300 and is still new; two
 * more of it and two of the second: second (-300), first (600 - 1200), second (600 - 1200),
 * first. */
static void credits_are_those_of_ns_3s_test(void **state)
{
	static const uint32_t order[] = {1, 4, 2, 5, 3};
	struct trial *trial = open_fq("rate 8mbit queue 100pkt", "fq-codel quantum 900B");

	(void)state;
	trial->gap_ns = 0;
	for (uint32_t i = 0; i < 5; i++)
		send(trial, i < 3 ? 0 : 1, 1200);
	trial_run_out(trial);
	assert_int_equal(n_seen, LENGTH(order));
	assert_memory_equal(seen, order, sizeof(order));
	trial_close(trial);
}

/* The same suite, "Test IP flows separation and packet limit": room for four; three packets of the
 * first flow and two of the second: the fifth costs the first flow two. One more occupies the link
 * here. */
static void the_fat_flow_makes_room_as_in_ns_3s_test(void **state)
{
	static const uint64_t lost[] = {2, 3, 0};
	struct trial *trial = open_fq("rate 8mbit queue 4pkt", "fq-codel");

	(void)state;
	trial->gap_ns = 0;
	send(trial, 2, 1200);
	for (uint32_t i = 0; i < 5; i++)
		send(trial, i < 3 ? 0 : 1, 120);
	trial_assert_lost(trial, lost);
	trial_run_out(trial);
	trial_close(trial);
}

GROUP(fq_codel_rfc)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(every_packet_goes_as_the_rfc_says),
	        cmocka_unit_test(what_waits_in_other_queues_counts_too),
	        cmocka_unit_test(credits_are_those_of_ns_3s_test),
	        cmocka_unit_test(the_fat_flow_makes_room_as_in_ns_3s_test),
	};

	return cmocka_run_group_tests(tests, rig_group_setup, rig_group_teardown);
}
