/* SPDX-License-Identifier: BSD-3-Clause */
/* `becn`: for which packets the sender is notified, with what, and when it is not. */
#include "trial.h"
#include "runner/group.h"

#include <string.h>

#include <rte_ip.h>

#include "engine/cloud.h"
#include "frame.h"
#include "link/aqm.h"
#include "packet/headers.h"
#include "seen.h"

#define HOP "hop 192.0.2.1 2001:db8::99"
/* While less than 2 packets wait, all pass; from 2 on all are marked, from 4 on all are dropped. */
#define STEPS "red min 2pkt max 2pkt weight 1 mark-to 4pkt"

#define NOT_ECT 0
#define ECT_1   1
#define ECT_0   2
#define CE      3

static void run_out(struct rig *rig)
{
	seen_run_out(rig);
	for (uint32_t i = 0; i < n_seen; i++)
		assert_int_equal(seen[i].segments, 1);
}

/* Returns how many quenches left at the port where the packets come in, and the last one. */
static uint32_t quenches(const struct seen **last)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < n_seen; i++) {
		if (seen[i].port != 0)
			continue;
		*last = &seen[i];
		n++;
	}
	return n;
}

/* ---- a cloud and its traffic ---- */

static void put(struct rig *rig, const char *statement)
{
	struct conf *conf = trial_conf(statement);
	struct cloud_conf *cloud = rig->scenario->clouds[0];
	struct problem problem = {.text = ""};

	if (conf->statement->check && conf->statement->check(conf, cloud, &problem) != 0)
		fail_msg("%s: %s", statement, problem.text);
	rig_put(rig, "x", conf);
}

/* 1000 B take a millisecond. Statements that are NULL are left out. */
static struct rig *open(const char *rate, const char *aqm, const char *ecn, const char *becn)
{
	const char *lines[] = {HOP, rate, ecn, aqm, becn};
	struct rig *rig;

	n_seen = 0;
	rig = rig_open(&(struct rig_setup){.seed = 5, .memory_bytes = UINT64_C(4) << 20});
	rig_cloud(rig, "x", 0, 1);
	for (size_t i = 0; i < LENGTH(lines); i++) {
		if (lines[i])
			put(rig, lines[i]);
	}
	rig_apply(rig, 0);
	return rig;
}

static const struct frame_shape
        udp4 = {.ip = 4, .protocol = FRAME_UDP, .host = 5, .payload_bytes = 958},
        udp6 = {.ip = 6, .protocol = FRAME_UDP, .host = 5, .n_tags = 2, .payload_bytes = 930};

static void mend(uint8_t *ip)
{
	uint16_t sum;

	memset(ip + 10, 0, 2);
	sum = (uint16_t)~rte_raw_cksum(ip, (ip[0] & 0xfu) * 4);
	memcpy(ip + 10, &sum, 2);
}

static uint32_t make(uint8_t *frame, const struct frame_shape *shape, uint8_t ecn)
{
	uint32_t bytes = frame_make(frame, shape);
	uint8_t *ip = frame + frame_network(shape);

	if (shape->ip == 6) {
		ip[1] = (uint8_t)((ip[1] & 0xcf) | ecn << 4);
	} else {
		ip[1] = (uint8_t)((ip[1] & 0xfc) | ecn);
		mend(ip);
	}
	return bytes;
}

static struct rte_mbuf *packet(struct rig *rig, const uint8_t *frame, uint32_t bytes, simtime t)
{
	struct rte_mbuf *mbuf = rig_packet(rig, RIG_PLAIN, 0, rig->sent + 1, bytes, 0, t);

	memcpy(rte_pktmbuf_mtod(mbuf, void *), frame, bytes);
	return mbuf;
}

static void send_frame(struct rig *rig, const uint8_t *frame, uint32_t bytes, simtime t)
{
	struct rte_mbuf *mbuf = packet(rig, frame, bytes, t);

	rig_ingress(rig, &mbuf, 1);
}

/* Sends packets until `waiting` wait while one is being sent. All are marked already, so below 4
 * packets, which is where STEPS drops, they cause no quench. */
static void fill(struct rig *rig, uint32_t waiting, simtime now)
{
	uint8_t frame[FRAME_BYTES_MAX];
	uint32_t bytes = make(frame, &udp4, CE);

	for (uint32_t i = 0; i <= waiting; i++)
		send_frame(rig, frame, bytes, now);
	seen_advance(rig, now);
}

static const struct counters *counters(struct rig *rig)
{
	return &rig_report(rig, "x")->counters;
}

/* ---- the rules ---- */

enum end { PASSED, MARKED, DROPPED };
#define SILENCE -1

struct rule {
	const char *rate, *aqm, *ecn, *becn;
	uint32_t waiting;
	uint8_t bits;
	enum end fate;
	int said; /* the fifth octet, or SILENCE */
};

#define WIDE   "rate 8mbit queue 100kB"
#define NARROW "rate 8mbit queue 4pkt"
#define FAR    "red min 50pkt max 60pkt weight 1"
#define NEVER  "red min 2pkt max 60pkt weight 1 max-p 0.000000001"
#define SLOPE  "red min 2pkt max 4pkt weight 1 max-p 0.000000001"
#define ON     "ecn on"

static const struct rule rules[] = {
        /* not chosen */
        {WIDE, STEPS, ON, "becn", 1, ECT_0, PASSED, SILENCE},
        {WIDE, STEPS, ON, "becn", 1, NOT_ECT, PASSED, SILENCE},
        /* min to max: chosen */
        {WIDE, STEPS, ON, "becn", 2, ECT_0, MARKED, 0x80},
        {WIDE, STEPS, ON, "becn", 3, ECT_1, MARKED, 0x80},
        {WIDE, STEPS, ON, "becn", 2, CE, PASSED, SILENCE},
        {WIDE, STEPS, ON, "becn", 2, NOT_ECT, DROPPED, SILENCE},
        {WIDE, STEPS, "ecn on standard 2481", "becn", 2, ECT_1, DROPPED, SILENCE},
        {WIDE, STEPS, "ecn on standard 2481", "becn", 2, ECT_0, MARKED, 0x80},
        {WIDE, STEPS, ON, "becn bit 0x01", 2, ECT_0, MARKED, 0x01},
        {WIDE, STEPS, ON, "becn bit 0x20", 2, ECT_0, MARKED, 0x20},
        {WIDE, STEPS, ON, "becn on-drop off on-overflow off", 2, ECT_0, MARKED, 0x80},
        /* from max on */
        {WIDE, STEPS, ON, "becn", 4, ECT_0, DROPPED, 0},
        {WIDE, STEPS, ON, "becn", 4, ECT_1, DROPPED, 0},
        {WIDE, STEPS, ON, "becn bit 0x01", 4, CE, DROPPED, 0},
        {WIDE, STEPS, ON, "becn", 4, NOT_ECT, DROPPED, SILENCE},
        {WIDE, STEPS, ON, "becn on-drop off", 4, ECT_0, DROPPED, SILENCE},
        {WIDE, STEPS, ON, "becn on-overflow off", 4, ECT_0, DROPPED, 0},
        /* the queue is full, the average below min */
        {NARROW, FAR, ON, "becn", 8, ECT_0, DROPPED, 0},
        {NARROW, FAR, ON, "becn", 8, CE, DROPPED, 0},
        {NARROW, FAR, ON, "becn", 8, NOT_ECT, DROPPED, SILENCE},
        {NARROW, FAR, ON, "becn on-overflow off", 8, ECT_0, DROPPED, SILENCE},
        {NARROW, FAR, ON, "becn on-drop off", 8, ECT_0, DROPPED, 0},
        /* threshold = min: BECN alone; = max: ECN alone. An overflow compares the average, too */
        {NARROW, FAR, ON, "becn threshold 50pkt", 8, ECT_0, DROPPED, 0},
        {NARROW, FAR, ON, "becn threshold 51pkt", 8, ECT_0, DROPPED, SILENCE},
        {NARROW, NEVER, ON, "becn threshold 3pkt", 8, ECT_0, DROPPED, 0},
        {NARROW, NEVER, ON, "becn threshold 30pkt", 8, ECT_0, DROPPED, SILENCE},
        {WIDE, SLOPE, ON, "becn threshold 2pkt", 4, ECT_0, DROPPED, 0},
        {WIDE, SLOPE, ON, "becn threshold 3pkt", 4, ECT_0, DROPPED, 0},
        {WIDE, SLOPE, ON, "becn threshold 4pkt", 4, ECT_0, DROPPED, SILENCE},
        {WIDE, STEPS, ON, "becn threshold 2pkt", 2, ECT_0, MARKED, 0x80},
        /* `mark above`: the length of the queue, in the place of the average */
        {WIDE, "mark above 2pkt", NULL, "becn", 1, ECT_0, PASSED, SILENCE},
        {WIDE, "mark above 2pkt", NULL, "becn", 2, ECT_0, MARKED, 0x80},
        {WIDE, "mark above 2pkt", NULL, "becn", 9, CE, PASSED, SILENCE},
        {WIDE, "mark above 2pkt", NULL, "becn", 9, NOT_ECT, DROPPED, SILENCE},
        {WIDE, "mark above 2pkt", NULL, "becn threshold 4pkt", 3, ECT_0, MARKED, SILENCE},
        {WIDE, "mark above 2pkt", NULL, "becn threshold 4pkt", 3, NOT_ECT, DROPPED, SILENCE},
        {WIDE, "mark above 2pkt", NULL, "becn threshold 4pkt", 4, ECT_0, MARKED, 0x80},
        {WIDE, "mark above 2000B", NULL, "becn threshold 4kB", 4, ECT_0, MARKED, 0x80},
        {WIDE, "mark above 2000B", NULL, "becn threshold 4001B", 4, ECT_0, MARKED, SILENCE},
        {NARROW, "mark above 50pkt", NULL, "becn", 8, ECT_0, DROPPED, 0},
        {NARROW, "mark above 50pkt", NULL, "becn threshold 51pkt", 8, ECT_0, DROPPED, SILENCE},
        /* without becn */
        {WIDE, STEPS, ON, NULL, 2, ECT_0, MARKED, SILENCE},
        {WIDE, STEPS, ON, NULL, 4, ECT_0, DROPPED, SILENCE},
};

static void try_rule(const struct rule *rule, const struct frame_shape *shape)
{
	struct rig *rig = open(rule->rate, rule->aqm, rule->ecn, rule->becn);
	bool said = rule->said != SILENCE;
	const struct seen *quench = NULL;
	uint8_t frame[FRAME_BYTES_MAX];
	uint32_t bytes = make(frame, shape, rule->bits), head = frame_network(shape);
	struct counters before, after;
	size_t row = (size_t)(rule - rules);

	fill(rig, rule->waiting, 10);
	before = *counters(rig);
	n_seen = 0;
	send_frame(rig, frame, bytes, 11);
	seen_advance(rig, 11);
	after = *counters(rig);
	if (quenches(&quench) != said)
		fail_msg("row %zu, IPv%u: %u quenches", row, shape->ip, quenches(&quench));
	if (after.ecn_marked - before.ecn_marked != (rule->fate == MARKED) ||
	    counters_drops(&after) - counters_drops(&before) != (rule->fate == DROPPED))
		fail_msg("row %zu, IPv%u: another fate", row, shape->ip);
	assert_int_equal(after.becn_sent - before.becn_sent, said);
	assert_int_equal(after.becn_marked - before.becn_marked, rule->said > 0);
	assert_int_equal(after.generated - before.generated, said);
	if (said) {
		uint32_t icmp = head + (shape->ip == 6 ? 40 : 20);

		assert_int_equal(quench->due_ns, 11);
		assert_int_equal(quench->bytes, head + (shape->ip == 6 ? 96 : 56));
		assert_int_equal(quench->frame[icmp], shape->ip == 6 ? 200 : 4);
		assert_int_equal(quench->frame[icmp + 4], rule->said);
		/* The header as it came to the queue: not marked, its hop limit less by one. */
		frame[head + (shape->ip == 6 ? 7 : 8)]--;
		if (shape->ip == 4)
			mend(frame + head);
		assert_memory_equal(quench->frame + icmp + 8, frame + head,
		                    shape->ip == 6 ? 48 : 28);
	}
	run_out(rig);
	rig_close(rig);
}

static void the_sender_is_told_what_the_papers_say(void **state)
{
	(void)state;
	for (size_t i = 0; i < LENGTH(rules); i++) {
		try_rule(&rules[i], &udp4);
		try_rule(&rules[i], &udp6);
	}
}

/* If the sender was notified when this queue marked a packet, it is not notified again when the
 * packet is pushed out. */
static void what_drop_head_pushes_out_is_told_of_once(void **state)
{
	static const struct {
		const char *aqm, *becn;
		uint8_t bits;
		uint32_t n, marks, drops;
	} rows[] = {
	        /* one is sent, five wait, the last pushes out the first that waits */
	        {FAR, "becn", ECT_0, 7, 0, 1},
	        {FAR, "becn", CE, 7, 0, 1},
	        {FAR, "becn", NOT_ECT, 7, 0, 0},
	        {FAR, "becn on-overflow off", ECT_0, 7, 0, 0},
	        {FAR, "becn threshold 51pkt", ECT_0, 7, 0, 0},
	        /* the first that waits is not marked, the next one is */
	        {"mark above 1B", "becn", ECT_0, 7, 5, 1},
	        {"mark above 1B", "becn", ECT_0, 8, 6, 1},
	        {"mark above 1B", "becn", CE, 8, 0, 2},
	        /* three are marked below the threshold, where nobody is told; the last is marked
	         * above it */
	        {"mark above 1B", "becn threshold 4kB", ECT_0, 11, 6, 4},
	        {"mark above 1B", "becn threshold 4kB", ECT_0, 13, 8, 4},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct rig *rig =
		        open("rate 8mbit queue 5pkt drop head", rows[i].aqm, ON, rows[i].becn);
		uint8_t frame[FRAME_BYTES_MAX];
		uint32_t bytes = make(frame, &udp4, rows[i].bits);
		const struct counters *c;

		for (uint32_t n = 0; n < rows[i].n; n++)
			send_frame(rig, frame, bytes, 5);
		seen_advance(rig, 5);
		c = counters(rig);
		assert_int_equal(c->drops[REASON_QUEUE_FULL], rows[i].n - 6);
		if (c->becn_marked != rows[i].marks ||
		    c->becn_sent != rows[i].marks + rows[i].drops)
			fail_msg("row %zu: %u quenches, %u of marks", i, (unsigned)c->becn_sent,
			         (unsigned)c->becn_marked);
		run_out(rig);
		rig_close(rig);
	}
}

/* ---- packets that cause no notification ---- */

static void nothing_is_said_about_what_no_router_answers(void **state)
{
	static const struct {
		const char *what;
		struct frame_shape shape;
		uint32_t at;
		uint8_t byte;
		bool said;
	} rows[] = {
	        {"udp", {.ip = 4, .protocol = FRAME_UDP, .host = 5}, 1, 0, true},
	        {"ping", {.ip = 4, .protocol = FRAME_ICMP, .host = 5}, 34, 8, true},
	        {"a quench", {.ip = 4, .protocol = FRAME_ICMP, .host = 5}, 34, 4, false},
	        {"time exceeded", {.ip = 4, .protocol = FRAME_ICMP, .host = 5}, 34, 11, false},
	        {"a later fragment",
	         {.ip = 4, .protocol = FRAME_UDP, .host = 5, .fragment = 3, .payload_bytes = 80},
	         1,
	         0,
	         false},
	        {"a group of Ethernet", {.ip = 4, .protocol = FRAME_UDP, .host = 5}, 0, 1, false},
	        {"a group of IP", {.ip = 4, .protocol = FRAME_UDP, .host = 5}, 30, 239, false},
	        {"from loopback", {.ip = 4, .protocol = FRAME_UDP, .host = 5}, 26, 127, false},
	        {"from a group", {.ip = 4, .protocol = FRAME_UDP, .host = 5}, 26, 224, false},
	        {"ping6", {.ip = 6, .protocol = FRAME_ICMPV6, .host = 5}, 54, 128, true},
	        {"a quench of IPv6",
	         {.ip = 6, .protocol = FRAME_ICMPV6, .host = 5},
	         54,
	         200,
	         false},
	        {"too big", {.ip = 6, .protocol = FRAME_ICMPV6, .host = 5}, 54, 2, false},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		/* A notification that is not sent takes nothing from the limit. */
		struct rig *rig = open(WIDE, STEPS, ON, "becn limit 1 burst 1");
		uint8_t frame[FRAME_BYTES_MAX];
		uint32_t bytes = make(frame, &rows[i].shape, ECT_0);

		frame[rows[i].at] = rows[i].byte;
		if (rows[i].shape.ip == 4)
			mend(frame + 14);
		fill(rig, 2, 0);
		send_frame(rig, frame, bytes, 1);
		seen_advance(rig, 1);
		assert_int_equal(counters(rig)->ecn_marked, 1);
		if (counters(rig)->becn_sent != rows[i].said)
			fail_msg("%s: %s", rows[i].what, rows[i].said ? "silence" : "a quench");
		bytes = make(frame, &udp4, ECT_0);
		send_frame(rig, frame, bytes, 2);
		seen_advance(rig, 2);
		assert_int_equal(counters(rig)->becn_sent, 1);
		run_out(rig);
		rig_close(rig);
	}
}

/* ---- the limit ---- */

static double withheld(struct rig *rig)
{
	const struct aqm_report *report = &rig_report(rig, "x")->aqm;

	for (uint32_t i = 0; i < report->n_figures; i++) {
		if (strcmp(report->figures[i].name, "quenches withheld") == 0)
			return report->figures[i].value;
	}
	return -1;
}

static void a_limit_holds_in_virtual_time_and_over_a_change(void **state)
{
	static const struct {
		simtime at;
		uint32_t n, said; /* said: the sum of all rows so far */
		const char *change;
	} rows[] = {
	        {1, 5, 2, NULL}, /* the burst */
	        {99999999, 1, 2, NULL},
	        {100000001, 3, 3, NULL}, /* one every 100 ms */
	        {100000002, 2, 3, "becn limit 10 burst 2 bit 0x40"},
	        {300000001, 9, 5, NULL},
	        {300000002, 2, 7, "becn"},
	};
	struct rig *rig =
	        open("rate 8kbit queue 1MB", "mark above 1B", ON, "becn limit 10 burst 2");
	uint8_t frame[FRAME_BYTES_MAX];
	uint32_t bytes = make(frame, &udp4, ECT_0), marks = 0;
	double held_back;

	(void)state;
	fill(rig, 1, 0);
	for (size_t i = 0; i < LENGTH(rows); i++) {
		if (rows[i].change) {
			put(rig, rows[i].change);
			rig_apply(rig, rig->now);
		}
		for (uint32_t n = 0; n < rows[i].n; n++)
			send_frame(rig, frame, bytes, rows[i].at);
		seen_advance(rig, rows[i].at);
		marks += rows[i].n;
		assert_int_equal(counters(rig)->ecn_marked, marks);
		if (counters(rig)->becn_sent != rows[i].said)
			fail_msg("row %zu: %u said", i, (unsigned)counters(rig)->becn_sent);
		/* Without a limit, withheld notifications are not counted. */
		held_back = i + 1 < LENGTH(rows) ? (double)(marks - rows[i].said) : -1;
		assert_true(withheld(rig) == held_back);
	}
	run_out(rig);
	rig_close(rig);
}

/* ---- bursts ---- */

#define FNV_PRIME UINT64_C(1099511628211)

/* Sends the same traffic, in bursts of the given size. Returns a digest of all departures and their
 * times. */
static uint64_t played(uint16_t burst, uint64_t *sent)
{
	struct rig *rig = open("rate 10mbit queue 30kB", "red min 5kB max 15kB weight 0.02", ON,
	                       "becn threshold 6kB limit 300 burst 20");
	struct draw_key key = draw_key_make(3, "test", "traffic");
	struct rte_mbuf *mbufs[BURST_MAX];
	uint8_t frame[FRAME_BYTES_MAX];
	uint64_t digests[RIG_PORTS] = {0};
	simtime now = 0;
	uint16_t n = 0;

	for (uint32_t i = 0; i < 900; i++) {
		uint64_t draw = draw_u64(key, i, 0);

		now += draw_index(draw_u64(key, i, 1), 1400000);
		mbufs[n++] =
		        packet(rig, frame,
		               make(frame, draw & 4 ? &udp4 : &udp6, (uint8_t)(draw & 3)), now);
		if (n == burst || i == 899) {
			rig_ingress(rig, mbufs, n);
			seen_advance(rig, now);
			n = 0;
		}
	}
	run_out(rig);
	/* Each port has a digest of its own: the order in which ports are emptied does not
	 * matter. */
	for (uint32_t i = 0; i < n_seen; i++) {
		uint64_t *digest = &digests[seen[i].port];

		*digest = (*digest ^ seen[i].due_ns) * FNV_PRIME;
		for (uint32_t b = 0; b < seen[i].bytes; b++)
			*digest = (*digest ^ seen[i].frame[b]) * FNV_PRIME;
	}
	*sent = counters(rig)->becn_sent;
	rig_close(rig);
	return digests[0] ^ digests[1] * FNV_PRIME;
}

static void the_size_of_bursts_does_not_matter(void **state)
{
	uint64_t sent, others, one = played(1, &sent);

	(void)state;
	assert_true(sent > 50);
	assert_true(played(7, &others) == one);
	assert_int_equal(others, sent);
	assert_true(played(32, &others) == one);
	assert_int_equal(others, sent);
}

/* ---- errors ---- */

static void what_is_wrong_is_said_with_what_would_be_right(void **state)
{
	static const struct {
		const char *beside[4], *becn, *said;
	} rows[] = {
	        {{WIDE, STEPS, ON}, "becn", "give cloud `x` one, like `cloud x hop 192.0.2.1`"},
	        {{HOP, WIDE, ON}, "becn", "becn goes with `red min 15kB max 45kB` or `mark above"},
	        {{HOP, WIDE, STEPS}, "becn", "say `cloud x ecn on`"},
	        {{HOP, WIDE, "ecn off", STEPS}, "becn", "say `cloud x ecn on`"},
	        {{HOP, WIDE, ON, "red min 15kB max 45kB"},
	         "becn threshold 14999B",
	         "below the min"},
	        {{HOP, WIDE, ON, "red min 15kB max 45kB"},
	         "becn threshold 45001B",
	         "above the max"},
	        {{HOP, WIDE, ON, "red min 15kB max 45kB"}, "becn threshold 15kB", ""},
	        {{HOP, WIDE, ON, "red min 15kB max 45kB"}, "becn threshold 45kB", ""},
	        {{HOP, WIDE, ON, "red min 15kB max 45kB"}, "becn threshold 14pkt", "below the min"},
	        {{HOP, WIDE, ON, "red min 15kB max 45kB"}, "becn threshold 15pkt", ""},
	        {{HOP, WIDE, ON, "red min 15kB max 45kB"},
	         "becn threshold 20ms",
	         "bytes or packets"},
	        {{HOP, WIDE, ON, "red min 15kB max 45kB"}, "becn burst 20", "say `limit N`, too"},
	        {{HOP, WIDE, "mark above 20kB"},
	         "becn threshold 19kB",
	         "below that of `mark above`"},
	        {{HOP, WIDE, "mark above 20kB"}, "becn threshold 30pkt", "give both in bytes"},
	        {{HOP, WIDE, "mark above 20kB"}, "becn threshold 20kB", ""},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});
		struct conf *becn = trial_conf(rows[i].becn);
		struct cloud_conf *cloud;
		struct problem problem = {.text = ""};

		rig_cloud(rig, "x", 0, 1);
		cloud = rig->scenario->clouds[0];
		for (size_t k = 0; k < LENGTH(rows[i].beside) && rows[i].beside[k]; k++)
			assert_int_equal(cloud_conf_put(cloud, trial_conf(rows[i].beside[k])), 0);
		assert_int_equal(cloud_conf_put(cloud, becn), 0);
		if (becn->statement->check(becn, cloud, &problem) == 0)
			assert_string_equal(problem.text, "");
		if (rows[i].said[0] ? !strstr(problem.text, rows[i].said) : problem.text[0])
			fail_msg("row %zu: %s", i, problem.text);
		rig_close(rig);
	}
}

GROUP(becn)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_sender_is_told_what_the_papers_say),
	        cmocka_unit_test(what_drop_head_pushes_out_is_told_of_once),
	        cmocka_unit_test(nothing_is_said_about_what_no_router_answers),
	        cmocka_unit_test(a_limit_holds_in_virtual_time_and_over_a_change),
	        cmocka_unit_test(the_size_of_bursts_does_not_matter),
	        cmocka_unit_test(what_is_wrong_is_said_with_what_would_be_right),
	};

	return cmocka_run_group_tests(tests, rig_group_setup, rig_group_teardown);
}
