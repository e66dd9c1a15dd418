/* SPDX-License-Identifier: BSD-3-Clause */
/* `keyed flow`: what happens to a packet follows from its flow and its number there, however flows
 * mix, whenever packets come, and in whatever bursts. */
#include "match/flows.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"
#include "rig.h"
#include "runner/group.h"
#include "schedule_rig.h"
#include "snapshot/snapshot.h"
#include "trial.h"

#define SEED 17

/* ---- traffic: flows of every kind, and what became of each of their packets ---- */

#define FLOWS_MAX 10
#define PER_FLOW  200
#define MIXES     100

static const struct draw_key mixes = {{3, 4}};

/* Some differ in a port only; some have no ports, and one has no IP. */
static const struct frame_shape shapes[FLOWS_MAX] = {
        {.ip = 4, .protocol = FRAME_TCP, .source_port = 40000},
        {.ip = 4, .protocol = FRAME_TCP, .source_port = 40001},
        {.ip = 4, .protocol = FRAME_UDP, .source_port = 40000},
        {.ip = 6, .protocol = FRAME_UDP, .source_port = 53},
        {.ip = 4, .protocol = FRAME_UDP, .fragment = 100},
        {.ip = 4, .protocol = FRAME_ICMP, .host = 3},
        {.ip = 4, .protocol = FRAME_ICMP, .host = 4},
        {.ip = 6, .protocol = FRAME_TCP, .source_port = 53, .n_tags = 2},
        {.ip = 6, .protocol = FRAME_ICMPV6},
        {.ip = 4, .protocol = FRAME_TCP, .source_port = 40002, .option_words = 2},
};

/* Of a packet, and of its copy. */
struct outcome {
	uint32_t left[2]; /* how often */
	uint32_t digest[2];
	simtime on_line_ns[2];
};

struct play {
	struct witness witness; /* first: the witness is the play */
	struct rig *rig;
	struct {
		uint32_t flow, at;
	} sent[FLOWS_MAX * PER_FLOW + 1]; /* by the number of the packet */
	uint32_t so_far[FLOWS_MAX];
	struct outcome outcome[FLOWS_MAX][PER_FLOW];
};

static void tell(struct witness *witness, const struct fate *fate)
{
	struct play *play = (struct play *)witness;
	uint32_t which = fate->flags & PACKET_COPY, digest = 1;
	struct outcome *outcome =
	        &play->outcome[play->sent[fate->packet].flow][play->sent[fate->packet].at];

	if (fate->kind == FATE_DELIVERED)
		outcome->on_line_ns[which] = fate->t_out_ns - fate->entered_ns;
	if (fate->kind != FATE_LEFT)
		return;
	for (uint32_t i = 0; i < fate->frame.bytes; i++)
		digest = (digest ^ fate->frame.data[i]) * 16777619u;
	outcome->left[which]++;
	outcome->digest[which] = digest;
}

/* Opens a cloud `x` with these statements. */
static struct play *play_open(const char *words)
{
	struct play *play = calloc(1, sizeof(*play));

	assert_non_null(play);
	play->witness.tell = tell;
	play->witness.way = 1u << FATE_LEFT;
	play->rig = rig_open(&(struct rig_setup){.seed = SEED, .witness = &play->witness});
	rig_cloud(play->rig, "x", 0, 1);
	schedule_set(play->rig, words);
	rig_apply(play->rig, 0);
	return play;
}

static void play_close(struct play *play)
{
	rig_run_out(play->rig);
	rig_close(play->rig);
}

static struct rte_mbuf *next_of(struct play *play, uint32_t flow, simtime now)
{
	const uint32_t at = play->so_far[flow]++;
	const uint64_t number = ++play->rig->received[0];
	struct frame_shape shape = shapes[flow];
	uint8_t frame[FRAME_BYTES_MAX];
	struct rte_mbuf *mbuf;
	uint32_t bytes;

	shape.payload_bytes = 20 + at * 7 % 900;
	shape.sequence = at;
	bytes = frame_make(frame, &shape);
	play->sent[number].flow = flow;
	play->sent[number].at = at;
	mbuf = rig_packet(play->rig, RIG_PLAIN, 0, number, bytes, 0, now);
	memcpy(rte_pktmbuf_mtod(mbuf, void *), frame, bytes);
	return mbuf;
}

/* Returns a flow from `from` to `to` that has packets left. */
static uint32_t any_of(const struct play *play, uint32_t from, uint32_t to, uint64_t draw)
{
	uint32_t flow = from + (uint32_t)draw_index(draw, to - from);

	while (play->so_far[flow] == PER_FLOW)
		flow = flow + 1 < to ? flow + 1 : from;
	return flow;
}

/* Sends all packets of these flows, mixed in a way of its own, in bursts, at instants of its
 * own. */
static void play_mixed(struct play *play, uint32_t from, uint32_t to, uint32_t mix)
{
	uint32_t left = (to - from) * PER_FLOW;
	simtime now = SIMTIME_MS;

	for (uint64_t draw = (uint64_t)mix << 32; left > 0; draw++) {
		struct rte_mbuf *mbufs[BURST_MAX];
		uint32_t most = RTE_MIN(
		        left, 1 + (uint32_t)draw_index(draw_u64(mixes, draw, 0), BURST_MAX));

		for (uint32_t i = 0; i < most; i++)
			mbufs[i] = next_of(
			        play, any_of(play, from, to, draw_u64(mixes, draw, 2 + i)), now);
		rig_advance(play->rig, now);
		rig_ingress(play->rig, mbufs, (uint16_t)most);
		left -= most;
		now += draw_index(draw_u64(mixes, draw, 1), 9 * SIMTIME_MS);
	}
	rig_run_out(play->rig);
}

/* Every statement that may be keyed is in one of them, with its correlation, if it has one. */
static const char *const keyed[] = {
        "loss random 9% correlation 30% keyed flow; duplicate random 9% correlation 30% keyed flow;"
        "corrupt random 9% bits 3 correlation 20% keyed flow;"
        "delay 10ms jitter 4ms distribution normal correlation 40% order allow keyed flow;"
        "reorder random 9% by 20ms keyed flow",
        "loss every 7 burst 2 keyed flow; duplicate every 5 keyed flow;"
        "corrupt bit-error 1e-4 keyed flow; delay 10ms jitter 9ms order allow keyed flow;"
        "reorder 20% 30% gap 3 keyed flow; rate 10mbit queue 10MB",
        "loss burst 3% length 2..5 keyed flow; duplicate random 9% keyed flow;"
        "corrupt checksum ip,tcp,udp,icmp probability 20% keyed flow",
        "loss gilbert-elliott p 9% r 30% bad 80% good 2% keyed flow; rate 100mbit queue 10MB;"
        "delay 10ms jitter 4ms distribution pareto order allow keyed flow",
        "loss four-state p13 5% p31 30% p32 20% p14 2% keyed flow; delay 10ms;"
        "reorder 9% keyed flow",
        "loss bit-error 1e-5 keyed flow; delay 1ms; reorder random 9% by 7ms keyed flow",
        "loss pattern 3,5,11 of 11 keyed flow; duplicate every 1 keyed flow;"
        "corrupt random 40% keyed flow",
};

static void assert_same_outcomes(const struct play *a, const struct play *b, uint32_t flow,
                                 const char *words)
{
	for (uint32_t i = 0; i < PER_FLOW; i++) {
		if (memcmp(&a->outcome[flow][i], &b->outcome[flow][i], sizeof(struct outcome)))
			fail_msg("%s: packet %u of flow %u has another fate", words, i, flow);
	}
}

/* Returns how many of the packets of a flow were lost, copied or changed. */
static uint32_t harmed(const struct play *play, const struct play *unharmed, uint32_t flow)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < PER_FLOW; i++) {
		const struct outcome *a = &play->outcome[flow][i];

		n += a->left[0] != 1 || a->left[1] != 0 ||
		     a->digest[0] != unharmed->outcome[flow][i].digest[0];
	}
	return n;
}

/* Returns how many take another time on the line than the packet before. */
static uint32_t jittered(const struct play *play, uint32_t flow)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < PER_FLOW; i++)
		n += play->outcome[flow][i].on_line_ns[0] !=
		     play->outcome[flow][i - 1].on_line_ns[0];
	return n;
}

static void flows_have_the_same_fates_as_alone(uint32_t flows, uint32_t n)
{
	struct play *unharmed = play_open("delay 10ms");

	play_mixed(unharmed, 0, flows, 0);
	for (size_t k = 0; k < LENGTH(keyed); k++) {
		struct play *alone = calloc(1, sizeof(*alone));

		assert_non_null(alone);
		for (uint32_t flow = 0; flow < flows; flow++) {
			struct play *one = play_open(keyed[k]);

			play_mixed(one, flow, flow + 1, 0);
			memcpy(alone->outcome[flow], one->outcome[flow],
			       sizeof(one->outcome[flow]));
			assert_in_range(harmed(one, unharmed, flow), 1, PER_FLOW);
			if (strstr(keyed[k], "delay"))
				assert_in_range(jittered(one, flow), 1, PER_FLOW);
			play_close(one);
			free(one);
		}
		for (uint32_t mix = 1; mix <= n; mix++) {
			struct play *mixed = play_open(keyed[k]);

			play_mixed(mixed, 0, flows, mix);
			for (uint32_t flow = 0; flow < flows; flow++)
				assert_same_outcomes(alone, mixed, flow, keyed[k]);
			play_close(mixed);
			free(mixed);
		}
		free(alone);
	}
	play_close(unharmed);
	free(unharmed);
}

static void two_flows_mixed_in_a_hundred_ways_have_the_fates_that_each_has_alone(void **state)
{
	(void)state;
	flows_have_the_same_fates_as_alone(2, MIXES);
}

static void ten_flows_mixed_in_many_ways_have_the_fates_that_each_has_alone(void **state)
{
	(void)state;
	flows_have_the_same_fates_as_alone(FLOWS_MAX, MIXES / 4);
}

/* The test can fail: without the option the mix decides. */
static void without_it_the_fates_depend_on_the_mix(void **state)
{
	struct play *a = play_open("loss random 9%"), *b = play_open("loss random 9%");
	uint32_t differ = 0;

	(void)state;
	play_mixed(a, 0, 2, 1);
	play_mixed(b, 0, 2, 2);
	for (uint32_t i = 0; i < PER_FLOW; i++)
		differ += a->outcome[0][i].left[0] != b->outcome[0][i].left[0];
	assert_true(differ > 0);
	play_close(a);
	play_close(b);
	free(a);
	free(b);
}

/* A packet and its copy have one number, and draws of their own. */
static void a_copy_is_corrupted_apart_from_its_packet(void **state)
{
	struct play *play =
	        play_open("duplicate every 1 keyed flow; corrupt random 50% keyed flow");
	uint32_t unlike = 0;

	(void)state;
	play_mixed(play, 0, 1, 1);
	for (uint32_t i = 0; i < PER_FLOW; i++)
		unlike += play->outcome[0][i].digest[0] != play->outcome[0][i].digest[1];
	/* Three of four pairs; with one draw for both, none. */
	assert_in_range(unlike, PER_FLOW / 2, PER_FLOW);
	play_close(play);
	free(play);
}

/* ---- connections ---- */

#define CONNECTIONS 4

/* Plays connections to two services, from these ports of clients; the first packets in order, all
 * others in the way of this mix. Notes what becomes of each packet. */
static void connect_from(const uint16_t *ports, uint32_t mix, const char *statement,
                         uint8_t fates[CONNECTIONS][PER_FLOW])
{
	struct trial *trial = trial_open(statement, SEED);
	uint32_t so_far[CONNECTIONS] = {0}, left = CONNECTIONS * PER_FLOW;

	for (uint64_t draw = (uint64_t)mix << 32; left > 0; left--, draw++) {
		uint32_t which = CONNECTIONS * PER_FLOW - left;
		struct frame_shape shape = {.ip = 4, .payload_bytes = 20};
		uint8_t frame[FRAME_BYTES_MAX];

		if (which >= CONNECTIONS)
			which = (uint32_t)draw_index(draw_u64(mixes, draw, 0), CONNECTIONS);
		while (so_far[which] == PER_FLOW)
			which = (which + 1) % CONNECTIONS;
		shape.protocol = which % 2 ? FRAME_TCP : FRAME_UDP;
		shape.source_port = ports[which];
		trial_send_frame(trial, frame, frame_make(frame, &shape));
		fates[which][so_far[which]++] = trial->fate[trial->sent];
	}
	trial_close(trial);
}

static void by_connection_the_port_that_a_client_chose_does_not_matter(void **state)
{
	static const uint16_t ports[][CONNECTIONS] = {{32768, 32769, 40000, 40001},
	                                              {65535, 51000, 51001, 51002},
	                                              {40001, 40000, 32769, 65535}};
	static const char *const by[] = {"loss random 30% correlation 40% keyed connection",
	                                 "loss random 30% correlation 40% keyed flow"};
	uint8_t first[CONNECTIONS][PER_FLOW], other[CONNECTIONS][PER_FLOW];

	(void)state;
	connect_from(ports[0], 0, by[0], first);
	/* two connections to a service have draws of their own */
	assert_true(memcmp(first[0], first[2], PER_FLOW) != 0);
	for (uint32_t mix = 1; mix <= 20; mix++) {
		connect_from(ports[mix % LENGTH(ports)], mix, by[0], other);
		assert_memory_equal(first, other, sizeof(first));
	}
	connect_from(ports[0], 0, by[1], first);
	connect_from(ports[1], 0, by[1], other);
	assert_true(memcmp(first, other, sizeof(first)) != 0);
}

static void by_connection_a_port_below_those_that_clients_choose_matters(void **state)
{
	static const uint16_t ports[CONNECTIONS] = {32767, 32766, 53, 80};
	static const uint16_t others[CONNECTIONS] = {53, 80, 32767, 32766};
	uint8_t first[CONNECTIONS][PER_FLOW], other[CONNECTIONS][PER_FLOW];

	(void)state;
	connect_from(ports, 1, "loss random 30% keyed connection", first);
	connect_from(others, 2, "loss random 30% keyed connection", other);
	for (uint32_t i = 0; i < CONNECTIONS; i++)
		assert_memory_equal(first[i], other[(i + 2) % CONNECTIONS], PER_FLOW);
}

/* ---- rates ---- */

#define MANY        1000
#define PER_MANY    100
#define SIGMAS      5
#define OF_MANY(i)  ((i) % MANY)
#define PROBABILITY 0.05

/* Sends `n` packets; packet i belongs to flow i % MANY, by its source address and port. */
static void send_many(struct trial *trial, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		struct frame_shape shape = {.ip = 4,
		                            .protocol = FRAME_UDP,
		                            .source_port = (uint16_t)(2000 + OF_MANY(i) / 250),
		                            .host = (uint8_t)(1 + OF_MANY(i) % 250),
		                            .payload_bytes = 20};
		uint8_t frame[FRAME_BYTES_MAX];

		trial_send_frame(trial, frame, frame_make(frame, &shape));
	}
}

/* If the draws of all packets are independent, whatever their flows and numbers, the count is
 * binomial: `SIGMAS` standard deviations are missed by less than one run in a million, and the seed
 * is fixed. */
static void assert_binomial(uint64_t count, uint64_t n, double p)
{
	double mean = (double)n * p, bound = SIGMAS * sqrt((double)n * p * (1 - p));

	if (fabs((double)count - mean) > bound)
		fail_msg("%" PRIu64 " of %" PRIu64 ", not %.0f +- %.0f", count, n, mean, bound);
}

static void rates_are_those_of_independent_draws(void **state)
{
	struct trial *trial = trial_open("loss random 5% keyed flow", 3);
	uint64_t n = MANY * PER_MANY, first = 0, lost_twice = 0, of_neighbours = 0;
	uint64_t most = 0;

	(void)state;
	send_many(trial, n);
	assert_binomial(trial_count(trial, TRIAL_LOST), n, PROBABILITY);
	for (uint64_t i = 1; i <= n; i++) {
		bool lost = trial->fate[i] & TRIAL_LOST;

		first += lost && i <= MANY;
		/* the packet after it of the same flow; that of another flow with the number */
		lost_twice += lost && i + MANY <= n && trial->fate[i + MANY] & TRIAL_LOST;
		of_neighbours += lost && i < n && trial->fate[i + 1] & TRIAL_LOST;
	}
	assert_binomial(first, MANY, PROBABILITY);
	assert_binomial(lost_twice, n - MANY, PROBABILITY * PROBABILITY);
	assert_binomial(of_neighbours, n - 1, PROBABILITY * PROBABILITY);
	for (uint64_t flow = 1; flow <= MANY; flow++) {
		uint64_t lost = 0;

		for (uint64_t i = flow; i <= n; i += MANY)
			lost += trial->fate[i] & TRIAL_LOST;
		most = RTE_MAX(most, lost);
	}
	/* Of 1000 flows none loses 20 of 100: that has a probability of 1000 x 3e-8. */
	assert_in_range(most, 5, 19);
	trial_close(trial);
}

/* With a correlation of 50 % the losses of a flow come in runs of 1 / (0.95 x 0.5) packets, and the
 * packets of other flows in between do not end them. */
static void a_correlation_is_that_of_the_packets_of_a_flow(void **state)
{
	struct trial *trial = trial_open("loss random 5% correlation 50% keyed flow", 3);
	uint64_t n = MANY * PER_MANY, lost = 0, runs = 0;

	(void)state;
	send_many(trial, n);
	for (uint64_t i = 1; i <= n; i++) {
		if (!(trial->fate[i] & TRIAL_LOST))
			continue;
		lost++;
		runs += i <= MANY || !(trial->fate[i - MANY] & TRIAL_LOST);
	}
	/* A run begins behind a packet that is not lost with 5 % x 50 %: binomial, of about 95 % of
	 * all packets. The first packets add 50 at most. */
	assert_in_range(runs, 2375 - SIGMAS * 49, 2375 + SIGMAS * 49 + 50);
	assert_true((double)lost / (double)runs > 1.9 && (double)lost / (double)runs < 2.3);
	trial_close(trial);
}

/* ---- the table ---- */

static uint32_t make_flow(uint8_t *frame, uint32_t i)
{
	struct frame_shape shape = {.ip = 4,
	                            .protocol = FRAME_UDP,
	                            .source_port = (uint16_t)(1 + i % 60000),
	                            .host = (uint8_t)(i / 60000),
	                            .payload_bytes = 20};

	return frame_make(frame, &shape);
}

static struct burst_flow count_frame(struct flows *flows, uint8_t *frame, uint32_t bytes)
{
	return flows_count_one(flows, &(struct packet_bytes){frame, bytes, bytes}, 0);
}

static struct burst_flow count_flow(struct flows *flows, uint32_t i)
{
	uint8_t frame[FRAME_BYTES_MAX];
	uint32_t bytes = make_flow(frame, i);

	return count_frame(flows, frame, bytes);
}

static void a_flow_is_a_direction_of_addresses_protocol_and_ports(void **state)
{
	static const struct {
		struct frame_shape a, b;
		bool same;
	} pairs[] = {
	        {{.ip = 4, .protocol = 6, .sequence = 1},
	         {.ip = 4, .protocol = 6, .sequence = 9, .payload_bytes = 50},
	         true},
	        {{.ip = 4, .protocol = 6, .source_port = 7},
	         {.ip = 4, .protocol = 6, .source_port = 8},
	         false},
	        {{.ip = 4, .protocol = 6}, {.ip = 4, .protocol = 17}, false},
	        {{.ip = 4, .protocol = 6, .host = 1}, {.ip = 4, .protocol = 6, .host = 2}, false},
	        {{.ip = 4, .protocol = 6}, {.ip = 4, .protocol = 6, .n_tags = 1}, true},
	        {{.ip = 6, .protocol = 17, .n_extensions = 2}, {.ip = 6, .protocol = 17}, true},
	        {{.ip = 4, .protocol = 17, .source_port = 7, .fragment = 9},
	         {.ip = 4, .protocol = 17, .source_port = 8, .fragment = 8},
	         true},
	        {{.ip = 4, .protocol = 17, .fragment = 9}, {.ip = 4, .protocol = 17}, false},
	        {{.ip = 4, .protocol = 1}, {.ip = 4, .protocol = 1, .payload_bytes = 9}, true},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(pairs); i++) {
		struct flows *flows = flows_make(SEED, false);
		uint8_t frame[FRAME_BYTES_MAX];
		struct burst_flow a, b;

		a = count_frame(flows, frame, frame_make(frame, &pairs[i].a));
		b = count_frame(flows, frame, frame_make(frame, &pairs[i].b));
		assert_int_equal(a.name[0] == b.name[0], pairs[i].same);
		assert_int_equal(b.number, pairs[i].same ? 1 : 0);
		flows_free(flows);
	}
}

static void two_directions_and_what_is_not_ip_are_flows_of_their_own(void **state)
{
	struct flows *flows = flows_make(SEED, false);
	struct frame_shape shape = {.ip = 4, .protocol = FRAME_TCP};
	uint8_t frame[FRAME_BYTES_MAX], swapped[12], other[60] = {[12] = 0x88, [13] = 0xcc};
	uint32_t bytes = frame_make(frame, &shape);
	uint64_t there = count_frame(flows, frame, bytes).name[0];
	struct burst_flow back;

	(void)state;
	memcpy(swapped, frame + 30, 4);
	memcpy(swapped + 4, frame + 26, 4);
	memcpy(swapped + 8, frame + 36, 2);
	memcpy(swapped + 10, frame + 34, 2);
	memcpy(frame + 26, swapped, sizeof(swapped));
	back = count_frame(flows, frame, bytes);
	assert_int_not_equal(back.name[0], there);
	assert_int_equal(back.number, 0);
	/* LLDP, of whatever MAC address; and a frame of another type */
	for (uint64_t i = 0; i < 3; i++) {
		other[11] = (uint8_t)i;
		assert_int_equal(count_frame(flows, other, 60).number, i);
	}
	other[13] = 0xcd;
	assert_int_equal(count_frame(flows, other, 60).number, 0);
	/* the shortest */
	assert_int_equal(count_frame(flows, other, 0).number, 0);
	flows_free(flows);
}

/* A table that knows 256 flows at a time: of 200, hardly any has to go. */
static void as_many_flows_are_known_as_there_is_room_for(void **state)
{
	struct flows *flows = flows_make(SEED, true);
	uint32_t begun = 0;

	(void)state;
	for (uint64_t number = 0; number < 5; number++) {
		for (uint32_t i = 0; i < 100; i++)
			assert_int_equal(count_flow(flows, i).number, number);
	}
	/* Then 100,000 come once each, and all of the 100 have gone. */
	for (uint32_t i = 100; i < 100000; i++)
		begun += count_flow(flows, i).number == 0;
	assert_int_equal(begun, 100000 - 100);
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(count_flow(flows, i).number, 0);
	flows_free(flows);
}

/* Finds flows whose names lie in one set of the table. */
static void flows_of_one_set(uint32_t *which, uint32_t n)
{
	const uint64_t sets = FLOWS_KNOWN / FLOWS_WAYS;
	struct flows *flows = flows_make(SEED, false);
	uint32_t found = 0;

	for (uint32_t i = 0; found < n; i++) {
		if (count_flow(flows, i).name[0] % sets == 5)
			which[found++] = i;
	}
	flows_free(flows);
}

static void of_a_full_set_the_flow_that_was_silent_for_longest_begins_anew(void **state)
{
	struct flows *flows = flows_make(SEED, false);
	uint32_t which[FLOWS_WAYS + 1];

	(void)state;
	flows_of_one_set(which, LENGTH(which));
	for (uint32_t i = 0; i < FLOWS_WAYS; i++)
		assert_int_equal(count_flow(flows, which[i]).number, 0);
	assert_int_equal(count_flow(flows, which[0]).number, 1);
	assert_int_equal(count_flow(flows, which[FLOWS_WAYS]).number, 0); /* for which[1] */
	for (uint32_t i = 2; i < FLOWS_WAYS; i++)
		assert_int_equal(count_flow(flows, which[i]).number, 1);
	assert_int_equal(count_flow(flows, which[0]).number, 2);
	assert_int_equal(count_flow(flows, which[1]).number, 0);
	flows_free(flows);
}

#define CROWD 12

/* Flows push each other out of a set within one burst. */
static void beyond_the_table_bursts_do_not_matter_either(void **state)
{
	static const uint16_t bursts[] = {1, 5, 32};
	uint64_t lost[LENGTH(bursts)] = {0};
	uint32_t which[CROWD], left[LENGTH(bursts)];
	struct rig *rig[LENGTH(bursts)];

	(void)state;
	flows_of_one_set(which, CROWD);
	for (size_t k = 0; k < LENGTH(bursts); k++) {
		simtime now = SIMTIME_MS;

		rig[k] = rig_open(&(struct rig_setup){.seed = SEED});
		rig_cloud(rig[k], "x", 0, 1);
		schedule_set(rig[k], "loss gilbert-elliott p 20% r 40% keyed connection;"
		                     "duplicate random 30% correlation 50% keyed flow;"
		                     "corrupt random 30% keyed flow");
		rig_apply(rig[k], 0);
		for (uint64_t i = 0; i < 4000;) {
			struct rte_mbuf *mbufs[BURST_MAX];
			uint16_t n = 0;

			for (; n < bursts[k] && i < 4000; n++, i++) {
				uint64_t any = draw_index(draw_u64(mixes, i, 0), CROWD);
				uint8_t frame[FRAME_BYTES_MAX];
				uint32_t bytes = make_flow(frame, which[any]);

				mbufs[n] = rig_packet(rig[k], RIG_PLAIN, 0, i + 1, bytes, 0, now);
				memcpy(rte_pktmbuf_mtod(mbufs[n], void *), frame, bytes);
				memcpy(rte_pktmbuf_mtod_offset(mbufs[n], void *, 46), &i,
				       sizeof(i));
			}
			rig_ingress(rig[k], mbufs, n);
			rig_advance(rig[k], now);
		}
		rig_run_out(rig[k]);
		lost[k] = rig_report(rig[k], "x")->counters.drops[REASON_LOSS];
		left[k] = rig[k]->n_departures;
		assert_int_equal(lost[k], lost[0]);
		assert_int_equal(left[k], left[0]);
		for (uint32_t i = 0; i < left[0]; i++)
			assert_int_equal(rig[k]->departures[i].digest,
			                 rig[0]->departures[i].digest);
	}
	assert_in_range(lost[0], 500, 3500);
	for (size_t k = 0; k < LENGTH(bursts); k++)
		rig_close(rig[k]);
}

/* Otherwise a flow could not be replaced, and its packet have no place. */
static void a_table_that_no_cloud_can_have_had_is_refused(void **state)
{
	/* key, packets; place, name, number, used, connection, memory; the end */
	static const struct {
		uint64_t words[12];
		uint32_t n;
		bool good;
	} rows[] = {
	        {{1, 5, FLOWS_KNOWN}, 3, true},
	        {{1, UINT64_MAX, FLOWS_KNOWN}, 3, false},
	        {{1, 5, FLOWS_KNOWN + 1}, 3, false},
	        {{1, 5, 9, 7, 3, 5, 0, 0, 0, 0, FLOWS_KNOWN}, 11, true},
	        {{1, 5, 9, 7, 3, 6, 0, 0, 0, 0, FLOWS_KNOWN}, 11, false},
	        {{1, 5, 9, 0, 3, 5, 0, 0, 0, 0, FLOWS_KNOWN}, 11, false},
	        {{1, 5, 9, 7, UINT64_MAX, 5, 0, 0, 0, 0, FLOWS_KNOWN}, 11, false},
	        {{1, 5, 9, 7, 3, 5, 0, 0, 0, 0, 9}, 11, false},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct flows *flows = flows_make(SEED, false);
		uint64_t words[LENGTH(rows[0].words)];
		struct snapshot snapshot = {.at = (uint8_t *)words,
		                            .end = (uint8_t *)(words + rows[i].n),
		                            .restores = true};

		memcpy(words, rows[i].words, sizeof(words));
		flows_snapshot(flows, &snapshot);
		assert_int_equal(!snapshot.failed, rows[i].good);
		flows_free(flows);
	}
}

/* ---- changes ---- */

/* Sends packets of one flow, one by one. */
static void send_one_flow(struct trial *trial, uint32_t n)
{
	struct frame_shape shape = {.ip = 4, .protocol = FRAME_UDP};
	uint8_t frame[FRAME_BYTES_MAX];

	trial_send_frames(trial, n, frame, frame_make(frame, &shape));
}

static void a_change_keeps_numbers_and_draws_continue(void **state)
{
	struct trial *trial = trial_open("loss every 10 keyed flow", 1);
	struct trial *whole = trial_open("loss random 20% keyed flow", 1);
	struct trial *changed = trial_open("loss random 20% keyed flow", 1);

	(void)state;
	send_one_flow(trial, 3);
	trial_set(trial, "loss every 5 keyed flow");
	send_one_flow(trial, 8);
	trial_assert_lost(trial, (const uint64_t[]){5, 10, 0});
	trial_close(trial);

	/* A change of another value, and one to and fro. */
	send_one_flow(whole, 2000);
	send_one_flow(changed, 700);
	trial_set(changed, "loss random 20% ecn keyed flow");
	send_one_flow(changed, 300);
	trial_set(changed, "loss random 0% keyed flow");
	send_one_flow(changed, 500);
	trial_set(changed, "loss random 20% keyed flow");
	send_one_flow(changed, 500);
	for (uint64_t i = 1; i <= 2000; i++) {
		if (i <= 1000 || i > 1500)
			assert_int_equal(changed->fate[i], whole->fate[i]);
		else
			assert_int_equal(changed->fate[i], TRIAL_DELIVERED);
	}
	trial_close(whole);
	trial_close(changed);
}

/* What one variant has left in the memory of a flow is not read by another one. */
static void another_variant_does_not_read_what_one_remembers(void **state)
{
	struct trial *trial = trial_open("loss burst 100% length 1000 keyed flow", 1);

	(void)state;
	send_one_flow(trial, 5);
	trial_set(trial, "loss gilbert-elliott p 0% r 0% keyed flow");
	send_one_flow(trial, 5); /* the channel is good */
	trial_set(trial, "loss four-state p13 0% p31 50% keyed flow");
	send_one_flow(trial, 5); /* in a gap */
	trial_assert_lost(trial, (const uint64_t[]){1, 2, 3, 4, 5, 0});
	trial_close(trial);
}

static void what_depends_on_other_flows_or_on_time_is_refused_in_words(void **state)
{
	static const struct {
		const char *statement, *problem;
	} rows[] = {
	        {"loss random 1% correlation 5% as-netem keyed flow", "netem draws"},
	        {"duplicate random 1% as-netem keyed flow", "netem draws"},
	        {"delay 1ms keyed flow", "always the same"},
	        {"delay 9ms jitter 1ms keyed flow", "add `order allow`"},
	        {"delay 9ms jitter 1ms order allow half-life 1s keyed flow", "use `correlation`"},
	        {"delay 9ms jitter 1ms order allow as-netem keyed flow", "netem draws"},
	        {"reorder random 1% by 3pkt keyed flow", "of any flow"},
	        {"reorder random 1% by 3ms keyed flow", ""},
	        {"reorder random 1% by 3pkt keyed cloud", ""},
	        {"delay 1ms keyed cloud", ""},
	        {"loss random 1% as-netem keyed cloud", ""},
	        {"loss random 1% correlation 5% ecn keyed flow", ""},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		const char *problem = trial_problem(rows[i].statement);

		if (!strstr(problem, rows[i].problem) || !*problem != !*rows[i].problem)
			fail_msg("%s: %s", rows[i].statement, problem);
	}
}

GROUP(flows)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(
	                two_flows_mixed_in_a_hundred_ways_have_the_fates_that_each_has_alone),
	        cmocka_unit_test(ten_flows_mixed_in_many_ways_have_the_fates_that_each_has_alone),
	        cmocka_unit_test(without_it_the_fates_depend_on_the_mix),
	        cmocka_unit_test(a_copy_is_corrupted_apart_from_its_packet),
	        cmocka_unit_test(by_connection_the_port_that_a_client_chose_does_not_matter),
	        cmocka_unit_test(by_connection_a_port_below_those_that_clients_choose_matters),
	        cmocka_unit_test(rates_are_those_of_independent_draws),
	        cmocka_unit_test(a_correlation_is_that_of_the_packets_of_a_flow),
	        cmocka_unit_test(a_flow_is_a_direction_of_addresses_protocol_and_ports),
	        cmocka_unit_test(two_directions_and_what_is_not_ip_are_flows_of_their_own),
	        cmocka_unit_test(as_many_flows_are_known_as_there_is_room_for),
	        cmocka_unit_test(of_a_full_set_the_flow_that_was_silent_for_longest_begins_anew),
	        cmocka_unit_test(beyond_the_table_bursts_do_not_matter_either),
	        cmocka_unit_test(a_table_that_no_cloud_can_have_had_is_refused),
	        cmocka_unit_test(a_change_keeps_numbers_and_draws_continue),
	        cmocka_unit_test(another_variant_does_not_read_what_one_remembers),
	        cmocka_unit_test(what_depends_on_other_flows_or_on_time_is_refused_in_words),
	};

	return cmocka_run_group_tests_name("flows", tests, rig_group_setup, rig_group_teardown);
}
