/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Templates. Most of their contract is one claim: a cloud of a template behaves like a cloud of the
 * same name that takes the same packets and always existed. So each case runs twice, once as a
 * template and once as ordinary clouds with a `match` each. Every packet must have the same fate at
 * the same instant, departures must have the same bytes, and each cloud the same report.
 */
#include "trial.h"
#include "runner/group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ip.h>

#include "engine/engine_state.h"
#include "match/selection.h"
#include "frame.h"
#include "packet/headers.h"

#define HOSTS   24
#define PACKETS 4000
#define FATES   (4 * PACKETS)
#define CHANGES 4
#define TTL     64
#define HOP     "hop 192.0.2.1"

struct told {
	uint64_t packet;
	int kind, reason;
	uint8_t flags;
	simtime t_in, t_out;
	char cloud[64];
};

/* The witness of a run, and its results. */
struct notebook {
	struct witness witness; /* first */
	uint32_t n, n_departures;
	struct told *told;
	struct departure *departures;
	struct counters sum; /* of the clouds */
	struct counters counters[HOSTS];
	struct observed observed[HOSTS];
};

struct change_case {
	uint32_t at; /* before this packet */
	const char *statement;
};

struct template_case {
	const char *name;
	const char *first[6];
	struct change_case changes[CHANGES];
};

static void tell(struct witness *witness, const struct fate *fate)
{
	struct notebook *book = (struct notebook *)witness;
	struct told *told = &book->told[book->n++];

	assert_true(book->n < FATES);
	*told = (struct told){.packet = fate->packet,
	                      .kind = fate->kind,
	                      .reason = fate->kind == FATE_DROPPED ? (int)fate->reason : 0,
	                      .flags = fate->flags,
	                      .t_in = fate->t_in_ns,
	                      .t_out = fate->t_out_ns};
	snprintf(told->cloud, sizeof(told->cloud), "%s", fate->cloud);
}

/* Fates of clouds in the same nanosecond may be reported in another order. */
static int by_packet(const void *a, const void *b)
{
	const struct told *x = a, *y = b;

	if (x->packet != y->packet)
		return x->packet < y->packet ? -1 : 1;
	if (x->flags != y->flags)
		return x->flags < y->flags ? -1 : 1;
	if (x->t_out != y->t_out)
		return x->t_out < y->t_out ? -1 : 1;
	return strcmp(x->cloud, y->cloud); /* routers' messages have no number */
}

static int by_instant(const void *a, const void *b)
{
	const struct departure *x = a, *y = b;

	if (x->due_ns != y->due_ns)
		return x->due_ns < y->due_ns ? -1 : 1;
	if (x->port != y->port)
		return x->port < y->port ? -1 : 1;
	return x->digest < y->digest ? -1 : x->digest > y->digest;
}

/* Returns the host that sends packet i: some hosts send often, some seldom, some late. */
static uint8_t host_of(uint32_t i)
{
	uint32_t x = i * 2654435761u;

	x ^= x >> 15;
	if (x % 7 == 0)
		return (uint8_t)(1 + i * HOSTS / PACKETS);
	return (uint8_t)(1 + x % 5);
}

static void put_u16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static struct selection_conf *per_source(const char *prefix, uint64_t most)
{
	struct selection_conf *per = (struct selection_conf *)conf_make(&selection_per_statement);

	assert_non_null(per);
	per->source = strdup(prefix);
	per->most = most;
	return per;
}

static void template_open(struct rig *rig, const char *name, struct selection_conf *per)
{
	struct cloud_conf *cloud;

	rig_cloud(rig, name, 0, 1);
	cloud = rig->scenario->clouds[rig->scenario->n_clouds - 1];
	cloud->many = true;
	cloud->selection = &per->conf;
}

static void set(struct cloud_conf *cloud, const char *statement)
{
	if (strncmp(statement, "no ", 3) == 0)
		assert_int_equal(cloud_conf_remove(cloud, statement + 3), 0);
	else
		assert_int_equal(cloud_conf_put(cloud, trial_conf(statement)), 0);
}

static void set_all(struct rig *rig, const char *statement)
{
	for (uint32_t i = 0; i < rig->scenario->n_clouds; i++)
		set(rig->scenario->clouds[i], statement);
}

/* Checks as control does before it puts a scenario in force. */
static void check_all(const struct rig *rig)
{
	struct problem problem = {.text = ""};

	for (uint32_t i = 0; i < rig->scenario->n_clouds; i++) {
		const struct cloud_conf *cloud = rig->scenario->clouds[i];

		for (uint32_t k = 0; k < cloud->n_confs; k++) {
			const struct conf *conf = cloud->confs[k];

			if (conf->statement->check &&
			    conf->statement->check(conf, cloud, &problem) != 0)
				fail_msg("%s: %s", conf->statement->name, problem.text);
		}
	}
}

static void open_as_clouds(struct rig *rig)
{
	for (uint32_t host = 1; host <= HOSTS; host++) {
		char name[32], match[48];

		snprintf(name, sizeof(name), "x/192.0.2.%u", host);
		snprintf(match, sizeof(match), "src host 192.0.2.%u", host);
		rig_cloud(rig, name, 0, 1);
		rig_match(rig, name, match, SELECTION_PRIORITY);
	}
}

/* Inserts a header that requests an answer of the hop, with eight bytes of room for it. */
static uint32_t ask(uint8_t *frame, uint32_t bytes, const struct frame_shape *shape,
                    uint64_t number)
{
	const uint8_t header[16] = {3,    (uint8_t)(1 + number % 3),
	                            0,    TTL,
	                            0,    0,
	                            0,    FRAME_UDP,
	                            0xff, 0xff,
	                            0xff, 0xff,
	                            0xff, 0xff,
	                            0xff, 0xff};
	uint8_t *ip = frame + frame_network(shape);
	uint32_t at = frame_transport(shape);

	memmove(frame + at + sizeof(header), frame + at, bytes - at);
	memcpy(frame + at, header, sizeof(header));
	put_u16(ip + 2, headers_u16(ip + 2) + (uint32_t)sizeof(header));
	ip[9] = 253;
	return bytes + (uint32_t)sizeof(header);
}

/* Makes packets of all kinds: capable of ECN or not, with a TTL of 1, too long for some hops, and
 * with requests. */
static struct rte_mbuf *frame_of(struct rig *rig, uint32_t i, simtime t)
{
	const struct frame_shape shape = {
	        .ip = 4, .protocol = FRAME_UDP, .host = host_of(i), .payload_bytes = i * 37 % 900};
	uint8_t frame[FRAME_BYTES_MAX], *ip = frame + frame_network(&shape);
	uint32_t bytes = frame_make(frame, &shape);
	struct rte_mbuf *mbuf;
	uint16_t sum;

	if (i % 4 == 1)
		bytes = ask(frame, bytes, &shape, i);
	ip[1] = i % 3 ? 2 : 0; /* ECT(0) */
	ip[8] = i % 11 ? TTL : 1;
	put_u16(ip + 6, 0x4000); /* don't fragment */
	memset(ip + 10, 0, 2);
	sum = (uint16_t)~rte_raw_cksum(ip, 20);
	memcpy(ip + 10, &sum, 2);
	mbuf = rig_packet(rig, RIG_PLAIN, 0, i + 1, bytes, 0, t);
	memcpy(rte_pktmbuf_mtod(mbuf, void *), frame, bytes);
	return mbuf;
}

static struct rte_mbuf *frame_from(struct rig *rig, uint8_t host, uint32_t payload, uint64_t number,
                                   simtime t)
{
	const struct frame_shape shape = {
	        .ip = 4, .protocol = FRAME_UDP, .host = host, .payload_bytes = payload};
	uint8_t frame[FRAME_BYTES_MAX];
	uint32_t bytes = frame_make(frame, &shape);
	struct rte_mbuf *mbuf = rig_packet(rig, RIG_PLAIN, 0, number, bytes, 0, t);

	memcpy(rte_pktmbuf_mtod(mbuf, void *), frame, bytes);
	return mbuf;
}

static void counters_add(struct counters *sum, const struct counters *more)
{
	uint64_t *to = (uint64_t *)sum;
	const uint64_t *from = (const uint64_t *)more;

	for (size_t i = 0; i < sizeof(*sum) / sizeof(*to); i++)
		to[i] += from[i];
}

/* As engine_report, which takes `x/192.0.2.1` for a cloud of a template, and would not find the
 * ordinary cloud of that name. */
static bool report_plain(struct rig *rig, const char *name, struct cloud_report *report)
{
	const struct cloud_table *cloud_table = rig->engine->cloud_table;
	const struct cloud *cloud = NULL;

	for (uint32_t i = 0; i < cloud_table->n_slots && !cloud; i++) {
		if (cloud_table->slots[i] && strcmp(cloud_table->slots[i]->name, name) == 0)
			cloud = cloud_table->slots[i];
	}
	if (!cloud)
		return false;
	report->counters = cloud->counters;
	report->observed = (struct observed){0};
	for (uint16_t i = 0; i < cloud->n_stages; i++) {
		const struct stage *stage = cloud->stages[i];

		if (stage->statement->report)
			stage->statement->report(stage, &report->observed);
	}
	return true;
}

static void keep_what_is_left(struct notebook *book, struct rig *rig, bool as_template)
{
	for (uint32_t host = 1; host <= HOSTS; host++) {
		static struct cloud_report report;
		char name[32];

		snprintf(name, sizeof(name), "x/192.0.2.%u", host);
		if (!(as_template ? engine_report(rig->engine, name, &report)
		                  : report_plain(rig, name, &report)) ||
		    report.counters.rx_packets == 0)
			continue; /* a cloud of a template does not exist before its first packet */
		book->counters[host - 1] = report.counters;
		book->observed[host - 1] = report.observed;
		counters_add(&book->sum, &report.counters);
	}
	book->n_departures = rig->n_departures;
	book->departures = malloc((rig->n_departures + 1) * sizeof(struct departure));
	assert_non_null(book->departures);
	if (rig->n_departures)
		memcpy(book->departures, rig->departures,
		       rig->n_departures * sizeof(struct departure));
	qsort(book->departures, book->n_departures, sizeof(struct departure), by_instant);
}

static void notebook_release(struct notebook *book)
{
	free(book->told);
	free(book->departures);
}

/* Returns how many times as far apart as usual the packets come. RED adapts every 500 ms. */
static uint64_t slowness_of(const struct template_case *row)
{
	for (const char *const *first = row->first; *first; first++) {
		if (strstr(*first, "adaptive on"))
			return 20;
	}
	return 1;
}

/* A cloud for each host, or a template, whose clouds are made at once or on demand. */
enum way { CLOUDS, TEMPLATE, ON_DEMAND };

/* Plays all packets of the case, in bursts of this size. The scenario comes into force at `begin`,
 * and the packets follow. The rig asserts conservation at each step. */
static void play(const struct template_case *row, enum way way, uint16_t burst, simtime begin,
                 struct notebook *book)
{
	struct rig *rig;
	struct rte_mbuf *mbufs[BURST_MAX];
	const struct change_case *change = row->changes;
	const uint64_t slowness = slowness_of(row);
	simtime t = begin + 1000;
	uint16_t n = 0;

	*book = (struct notebook){.witness = {.tell = tell},
	                          .told = calloc(FATES, sizeof(struct told))};
	assert_non_null(book->told);
	rig = rig_open(&(struct rig_setup){
	        .seed = 5, .witness = &book->witness, .clouds_on_demand = way == ON_DEMAND});
	if (way != CLOUDS)
		template_open(rig, "x", per_source("192.0.2.0/24", HOSTS));
	else
		open_as_clouds(rig);
	for (const char *const *first = row->first; *first; first++)
		set_all(rig, *first);
	check_all(rig);
	rig_apply(rig, begin);
	for (uint32_t i = 0; i < PACKETS; i++) {
		for (; change < row->changes + CHANGES && change->statement && change->at == i;
		     change++) {
			rig_ingress(rig, mbufs, n);
			n = 0;
			set_all(rig, change->statement);
			check_all(rig);
			rig_apply(rig, t);
		}
		t += (i % 97 == 0 ? 3000000 : 20000 + i % 13 * 1000) * slowness;
		mbufs[n++] = frame_of(rig, i, t);
		if (n == burst) {
			rig_ingress(rig, mbufs, n);
			n = 0;
		}
		if (i % 512 == 0 && n == 0)
			rig_advance(rig, t);
	}
	rig_ingress(rig, mbufs, n);
	rig_run_out(rig);
	rig_collect(rig);
	keep_what_is_left(book, rig, way != CLOUDS);
	rig_close(rig);
	qsort(book->told, book->n, sizeof(*book->told), by_packet);
}

/* Compares figure by figure, because of the padding. */
static bool same_reading(const struct observed *a, const struct observed *b)
{
	const struct meter_reading *x = &a->meter, *y = &b->meter;

	return a->has_meter == b->has_meter && x->window_ns == y->window_ns &&
	       x->from_ns == y->from_ns && x->measured == y->measured &&
	       x->link_bps == y->link_bps && x->available_bps == y->available_bps &&
	       x->sent_bps == y->sent_bps && x->loss_ppb == y->loss_ppb &&
	       x->error_ppb == y->error_ppb && x->utilisation_ppm == y->utilisation_ppm &&
	       x->queue_milli == y->queue_milli && x->queue_packets_max == y->queue_packets_max &&
	       x->delay_ns == y->delay_ns;
}

static void assert_same_fates(const char *name, const struct notebook *a, const struct notebook *b)
{
	for (uint32_t i = 0; i < a->n && i < b->n; i++) {
		const struct told *x = &a->told[i], *y = &b->told[i];

		if (x->packet != y->packet || x->kind != y->kind || x->reason != y->reason ||
		    x->flags != y->flags || x->t_in != y->t_in || x->t_out != y->t_out ||
		    strcmp(x->cloud, y->cloud) != 0)
			fail_msg("%s: packet %lu in %s: kind %d reason %d in %lu out %lu; packet "
			         "%lu in %s: kind %d reason %d in %lu out %lu",
			         name, x->packet, x->cloud, x->kind, x->reason, x->t_in, x->t_out,
			         y->packet, y->cloud, y->kind, y->reason, y->t_in, y->t_out);
	}
	assert_int_equal(a->n, b->n);
	assert_int_equal(a->n_departures, b->n_departures);
	for (uint32_t i = 0; i < a->n_departures; i++) {
		const struct departure *x = &a->departures[i], *y = &b->departures[i];

		if (x->due_ns != y->due_ns || x->port != y->port || x->digest != y->digest ||
		    x->frame_bytes != y->frame_bytes || x->wire_bytes != y->wire_bytes)
			fail_msg("%s: of what left at %lu and %lu the bytes are not the same", name,
			         x->due_ns, y->due_ns);
	}
	for (uint32_t i = 0; i < HOSTS; i++) {
		if (memcmp(&a->counters[i], &b->counters[i], sizeof(a->counters[i])) != 0)
			fail_msg("%s: host %u is not counted the same", name, i + 1);
		if (!same_reading(&a->observed[i], &b->observed[i]))
			fail_msg("%s: host %u is not measured the same", name, i + 1);
	}
}

static const struct template_case cases[] = {
        {"nothing", {NULL}, {{0}}},
        {"delay", {"delay 10ms jitter 4ms distribution normal order allow", NULL}, {{0}}},
        {"order keep", {"delay 10ms jitter 4ms correlation 50%", NULL}, {{0}}},
        {"loss", {"loss gilbert-elliott p 5% r 20%", "delay 3ms", NULL}, {{0}}},
        {"burst", {"loss burst 1% length 2..16", NULL}, {{0}}},
        {"link",
         {"rate 1mbit algorithm token-bucket burst 3kB queue 8kB", "delay 5ms", NULL},
         {{0}}},
        {"slots", {"slots min 1ms max 5ms", NULL}, {{0}}},
        {"red",
         {"rate 1mbit queue 60kB", "red min 5kB max 20kB max-p 0.1 weight 0.1", "ecn on", NULL},
         {{0}}},
        {"adaptive red",
         {"rate 500kbit queue 60kB", "red min 3kB max 15kB weight 0.05 adaptive on", NULL},
         {{0}}},
        {"pie", {"rate 1mbit queue 60kB", "pie target 5ms max-burst 0s", "ecn on", NULL}, {{0}}},
        {"dualpi2", {"rate 1mbit queue 60kB", "dualpi2 target 5ms", NULL}, {{0}}},
        {"changes of pie",
         {"rate 1mbit queue 60kB", "pie target 5ms max-burst 0s", NULL},
         {{500, "pie target 3ms tupdate 7ms max-burst 0s alpha 1 beta 10"},
          {2700, "no pie"},
          {3000, "pie target 5ms max-burst 0s alpha 1 beta 10"}}},
        {"classes of pie",
         {"rate 1mbit queue 60kB", "class rest", "class rest pie target 5ms max-burst 0s",
          "class small weight 75% match udp and src port 1000",
          "class small pie target 5ms tupdate 8ms max-burst 0s", NULL},
         {{0}}},
        {"classes",
         {"rate 500kbit queue 20kB", "class rest",
          "class small weight 75% match udp and src port 1000",
          "class small red min 2kB max 9kB weight 0.1", NULL},
         {{0}}},
        {"reorder", {"reorder random 10% by 2pkt", "delay 8ms", NULL}, {{0}}},
        {"early", {"reorder random 10% by 1ms", "delay 8ms jitter 1ms", NULL}, {{0}}},
        {"police", {"police 400kbit burst 4kB", "corrupt random 5% bits 2", NULL}, {{0}}},
        {"at", {"at 40ms delay 20ms and loss random 20%", "delay 5ms", NULL}, {{0}}},
        {"every", {"every 30ms for 11ms loss random 50%", "rate 1mbit queue 30kB", NULL}, {{0}}},
        {"wave",
         {"wave rate 200kbit..3mbit period 70ms shape sine", "wave loss 0%..30% period 90ms",
          "rate 1mbit queue 20kB", NULL},
         {{0}}},
        {"markov",
         {"markov good 20ms then bad 10ms loss random 50% and rate 300kbit", "delay 2ms", NULL},
         {{0}}},
        {"flap", {"flap down 7ms every 25ms", "delay 1ms", NULL}, {{0}}},
        {"changes of the line",
         {"delay 10ms jitter 2ms", NULL},
         {{500, "delay 20ms jitter 5ms"},
          {1500, "reorder random 20% by 3pkt"},
          {1900, "delay 1ms"},
          {3000, "no reorder"}}},
        {"changes of the link",
         {"rate 2mbit queue 20kB", "delay 2ms", NULL},
         {{400, "rate 300kbit queue 20kB"},
          {1200, "rate 10mbit queue 5kB"},
          {2000, "red min 2kB max 5kB weight 0.1"},
          {3500, "no red"}}},
        {"changes of stages",
         {"loss random 10%", NULL},
         {{10, "loss random 30%"},
          {2000, "no loss"},
          {2500, "loss every 7"},
          {3900, "loss random 20%"}}},
        {"changes with schedules",
         {"at 40ms delay 20ms", "delay 5ms", NULL},
         {{700, "markov good 20ms then bad 10ms loss random 50%"},
          {1300, "delay 7ms"},
          {2600, "every 30ms for 11ms delay 1ms"},
          {3300, "no markov"}}},
        {"duplicate",
         {"duplicate random 20% correlation 30%", "rate 1mbit queue 30kB",
          "delay 5ms jitter 2ms order allow", NULL},
         {{0}}},
        {"duplicate every", {"duplicate every 3", "loss random 10%", NULL}, {{0}}},
        {"hop", {HOP " mtu 400", "delay 3ms", NULL}, {{0}}},
        {"becn",
         {HOP, "rate 1mbit queue 60kB", "red min 5kB max 20kB max-p 0.1 weight 0.1 mark-to 30kB",
          "ecn on", "becn limit 200 burst 5", NULL},
         {{0}}},
        {"meter",
         {"meter window 20ms", "rate 1mbit queue 9kB", "loss random 5%", NULL},
         {{900, "meter window 50ms"}}},
        {"feedback header",
         {HOP, "feedback header window 20ms", "rate 1mbit queue 9kB", NULL},
         {{2100, "feedback header window 5ms"}}},
        {"limit", {"delay 20ms jitter 5ms limit 9pkt", NULL}, {{0}}},
        {"limit and link",
         {"rate 1mbit queue 40kB", "delay 20ms jitter 9ms order allow limit 12pkt",
          "duplicate random 20%", NULL},
         {{1000, "delay 20ms limit 5pkt"}, {2500, "delay 20ms"}}},
};

/* The counters that show that the statement of a case had an effect. */
static const struct {
	const char *name;
	size_t counter;
} acted[] = {
        {"duplicate", COUNTER(duplicated)},
        {"duplicate every", COUNTER(duplicated)},
        {"adaptive red", DROPS(RED_EARLY)},
        {"pie", DROPS(PIE)},
        {"dualpi2", DROPS(DUALPI2)},
        {"changes of pie", DROPS(PIE)},
        {"classes of pie", DROPS(PIE)},
        {"hop", COUNTER(generated)},
        {"hop", DROPS(TTL_EXPIRED)},
        {"hop", DROPS(TOO_BIG)},
        {"becn", COUNTER(becn_marked)},
        {"feedback header", COUNTER(feedback_written)},
        {"limit", DROPS(LIMIT)},
        {"limit and link", DROPS(LIMIT)},
};

static void assert_acted(const char *name, const struct notebook *book)
{
	for (size_t i = 0; i < LENGTH(acted); i++) {
		uint64_t count;

		if (strcmp(acted[i].name, name) != 0)
			continue;
		memcpy(&count, (const char *)&book->sum + acted[i].counter, sizeof(count));
		if (count < 50)
			fail_msg("%s: %lu of what the case is about", name, count);
	}
	if (strcmp(name, "meter") == 0)
		assert_true(book->observed[0].has_meter && book->observed[0].meter.measured);
}

static void a_templates_cloud_does_what_a_cloud_of_its_name_would_do(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < LENGTH(cases); i++) {
		struct notebook template, clouds, on_demand;

		play(&cases[i], TEMPLATE, BURST_MAX, 0, &template);
		play(&cases[i], ON_DEMAND, 7, 0, &on_demand);
		play(&cases[i], CLOUDS, BURST_MAX, 0, &clouds);
		assert_same_fates(cases[i].name, &template, &clouds);
		assert_same_fates(cases[i].name, &template, &on_demand);
		/* an empty comparison would prove nothing */
		assert_true(template.n >= PACKETS);
		assert_acted(cases[i].name, &template);
		notebook_release(&template);
		notebook_release(&clouds);
		notebook_release(&on_demand);
	}
}

/* Moves what was noted to where it would be if the run had begun at 0. */
static void notebook_shift(struct notebook *book, simtime begin)
{
	for (uint32_t i = 0; i < book->n; i++) {
		book->told[i].t_in -= begin;
		if (book->told[i].t_out > 0) /* it left */
			book->told[i].t_out -= begin;
	}
	for (uint32_t i = 0; i < book->n_departures; i++)
		book->departures[i].due_ns -= begin;
	for (uint32_t i = 0; i < HOSTS; i++) {
		struct meter_reading *reading = &book->observed[i].meter;

		if (reading->measured)
			reading->from_ns -= begin;
	}
}

/* What acts periodically does so from the beginning of the run, not from that of time. */
static void when_the_run_begins_does_not_matter(void **state)
{
	static const simtime begins[] = {7 * SIMTIME_MS, 1700000000 * SIMTIME_S + 1};

	(void)state;
	for (uint32_t i = 0; i < LENGTH(cases); i++) {
		struct notebook whole, template, clouds;

		play(&cases[i], TEMPLATE, BURST_MAX, 0, &whole);
		for (uint32_t k = 0; k < LENGTH(begins); k++) {
			play(&cases[i], TEMPLATE, BURST_MAX, begins[k], &template);
			play(&cases[i], CLOUDS, BURST_MAX, begins[k], &clouds);
			assert_same_fates(cases[i].name, &template, &clouds);
			notebook_shift(&template, begins[k]);
			assert_same_fates(cases[i].name, &whole, &template);
			notebook_release(&template);
			notebook_release(&clouds);
		}
		notebook_release(&whole);
	}
}

static void bursts_of_1_7_and_32_have_the_same_fates(void **state)
{
	static const uint16_t bursts[] = {1, 7};

	(void)state;
	for (uint32_t i = 0; i < LENGTH(cases); i++) {
		struct notebook whole, other;

		play(&cases[i], TEMPLATE, 32, 0, &whole);
		for (uint32_t k = 0; k < LENGTH(bursts); k++) {
			play(&cases[i], TEMPLATE, bursts[k], 0, &other);
			assert_same_fates(cases[i].name, &whole, &other);
			notebook_release(&other);
		}
		notebook_release(&whole);
	}
}

/* The same packets of one host, alone and among those of all the others. */
static void draws_do_not_depend_on_who_came_before(void **state)
{
	simtime due[2][64];

	(void)state;
	for (int crowd = 0; crowd < 2; crowd++) {
		struct notebook book = {.witness = {.tell = tell},
		                        .told = calloc(FATES, sizeof(struct told))};
		struct rig *rig =
		        rig_open(&(struct rig_setup){.seed = 5, .witness = &book.witness});
		uint32_t n = 0;

		assert_non_null(book.told);
		template_open(rig, "x", per_source("192.0.2.0/24", 0));
		set_all(rig, "delay 10ms jitter 5ms order allow");
		rig_apply(rig, 0);
		for (uint32_t i = 0; i < 64; i++) {
			for (uint8_t host = 1; crowd && host < 20; host++) {
				struct rte_mbuf *mbuf =
				        frame_from(rig, host, 10, 0, 1000 * (i + 1));

				rig_ingress(rig, &mbuf, 1);
			}
			rig_ingress(rig,
			            (struct rte_mbuf *[]){
			                    frame_from(rig, 200, 10, i + 1, 1000 * (i + 1))},
			            1);
		}
		rig_run_out(rig);
		for (uint32_t i = 0; i < book.n; i++) {
			if (strcmp(book.told[i].cloud, "x/192.0.2.200") == 0)
				due[crowd][n++] = book.told[i].t_out;
		}
		assert_int_equal(n, 64);
		rig_close(rig);
		free(book.told);
	}
	assert_memory_equal(due[0], due[1], sizeof(due[0]));
}

static void what_finds_no_cloud_is_a_real_loss_and_the_others_go_on(void **state)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});
	const struct cloud_report *report;

	(void)state;
	template_open(rig, "x", per_source("192.0.2.0/24", 3));
	rig_apply(rig, 0);
	for (uint32_t i = 0; i < 50; i++) {
		struct rte_mbuf *mbuf = frame_from(rig, (uint8_t)(1 + i % 5), 10, i + 1, i);

		rig_ingress(rig, &mbuf, 1);
	}
	rig_run_out(rig);
	report = rig_report(rig, "x");
	assert_int_equal(report->clouds, 3);
	assert_int_equal(report->clouds_most, 3);
	assert_int_equal(report->counters.rx_packets, 50);
	assert_int_equal(report->counters.tx_packets, 30);
	assert_int_equal(report->counters.drops[REASON_CLOUDS_FULL], 20);
	assert_int_equal(reason_kind(REASON_CLOUDS_FULL), REASON_REAL);
	rig_close(rig);
}

static void each_cloud_has_a_report_and_the_template_their_sum(void **state)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});
	struct cloud_report none;

	(void)state;
	template_open(rig, "x", per_source("192.0.2.0/24", 0));
	set_all(rig, "delay 1ms");
	rig_apply(rig, 0);
	for (uint32_t i = 0; i < 30; i++) {
		struct rte_mbuf *mbuf = frame_from(rig, i % 3 ? 7 : 9, 10, i + 1, i);

		rig_ingress(rig, &mbuf, 1);
	}
	rig_run_out(rig);
	assert_int_equal(rig_report(rig, "x/192.0.2.7")->counters.tx_packets, 20);
	assert_int_equal(rig_report(rig, "x/192.0.2.9")->counters.tx_packets, 10);
	assert_int_equal(rig_report(rig, "x")->counters.tx_packets, 30);
	assert_int_equal(rig_report(rig, "x")->delay_ns.count, 30);
	assert_int_equal(rig_report(rig, "x")->clouds, 2);
	assert_false(engine_report(rig->engine, "x/192.0.2.8", &none));
	assert_false(engine_report(rig->engine, "y/192.0.2.7", &none));
	engine_clear(rig->engine);
	assert_int_equal(rig_report(rig, "x")->counters.tx_packets, 0);
	assert_int_equal(rig_report(rig, "x")->delay_ns.count, 0);
	rig_close(rig);
}

/* The template is removed while its clouds hold packets: these are delivered, and then all of it is
 * freed. */
static void removed(bool on_demand)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1, .clouds_on_demand = on_demand});

	template_open(rig, "x", per_source("192.0.2.0/24", 0));
	set_all(rig, "rate 1mbit queue 50kB");
	rig_apply(rig, 0);
	for (uint32_t i = 0; i < 60; i++) {
		struct rte_mbuf *mbuf = frame_from(rig, (uint8_t)(1 + i % 20), 500, i + 1, 5);

		rig_ingress(rig, &mbuf, 1);
	}
	rig_remove(rig, "x");
	rig_apply(rig, 10);
	assert_int_equal(engine_held_packets(rig->engine), 60);
	rig_run_out(rig);
	assert_int_equal(rig->n_departures, 60);
	rig_apply(rig, rig->now);
	for (uint32_t i = 0; i < rig->engine->cloud_table->n_slots; i++)
		assert_null(rig->engine->cloud_table->slots[i]);
	/* the template can be added again, with other settings */
	template_open(rig, "x", per_source("192.0.2.0/24", 4));
	rig_apply(rig, rig->now);
	assert_int_equal(rig_report(rig, "x")->clouds_most, 4);
	rig_close(rig);
}

static void a_template_that_is_removed_delivers_what_it_holds(void **state)
{
	(void)state;
	removed(false);
	removed(true);
}

static struct template *template_of(struct rig *rig)
{
	return rig->engine->cloud_table->slots[0]->of;
}

/* Opens a template of 255 clouds on demand. One packet of each of the first hosts passes. */
static struct rig *on_demand_of(uint8_t hosts, const char *statement)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1, .clouds_on_demand = true});

	template_open(rig, "x", per_source("192.0.2.0/24", 255));
	set_all(rig, statement);
	rig_apply(rig, 0);
	for (uint8_t host = 1; host <= hosts; host++) {
		struct rte_mbuf *mbuf = frame_from(rig, host, 10, host, host);

		rig_ingress(rig, &mbuf, 1);
	}
	return rig;
}

static void clouds_on_demand_are_made_until_the_template_changes(void **state)
{
	struct rig *rig = on_demand_of(40, "delay 1ms");
	const uint32_t made = template_of(rig)->made;

	(void)state;
	assert_in_range(made, 41, 80);
	rig_cloud(rig, "y", 3, 4); /* a change that does not concern the template */
	rig_apply(rig, 100);
	assert_int_equal(template_of(rig)->made, made);
	set(rig->scenario->clouds[0], "delay 2ms");
	rig_apply(rig, 200);
	assert_int_equal(template_of(rig)->made, 255);
	rig_run_out(rig);
	rig_close(rig);
}

/* What begins with the scenario begins in all clouds. */
static void clouds_with_a_management_or_a_schedule_are_not_made_on_demand(void **state)
{
	static const char *const words[] = {"pie", "red min 5kB max 20kB", "at 1ms delay 2ms"};

	(void)state;
	for (uint32_t i = 0; i < LENGTH(words); i++) {
		struct rig *rig = on_demand_of(1, words[i]);

		assert_int_equal(template_of(rig)->made, 255);
		rig_run_out(rig);
		rig_close(rig);
	}
}

/* 65,536 clouds, most of them idle: a change costs nothing for the idle ones at its instant, but
 * reaches all in the end; and what it replaced is freed. */
static void a_change_reaches_65536_clouds(void **state)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});
	const struct template *template;

	(void)state;
	template_open(rig, "x", per_source("192.0.0.0/16", 0));
	set_all(rig, "delay 1ms");
	rig_apply(rig, 0);
	template = rig->engine->cloud_table->slots[0]->of;
	assert_int_equal(template->most, 65536);
	set_all(rig, "delay 2ms");
	rig_apply(rig, 10);
	assert_int_equal(template->clouds[0].line.conf.delay_ns, SIMTIME_MS);
	for (uint32_t i = 0; i < 2; i++) {
		struct rte_mbuf *mbuf = frame_from(rig, 1, 10, i + 1, 20);

		rig_ingress(rig, &mbuf, 1);
	}
	rig_run_out(rig);
	assert_int_equal(rig->departures[1].due_ns, 20 + 2 * SIMTIME_MS);
	assert_non_null(rig->engine->owed);
	for (uint32_t i = 0; i < 65536 / 64; i++)
		assert_int_equal(engine_advance(rig->engine, rig->now), 0);
	for (uint32_t i = 0; i < template->most; i++)
		assert_int_equal(template->clouds[i].line.conf.delay_ns, 2 * SIMTIME_MS);
	rig_apply(rig, rig->now);
	assert_null(rig->engine->owed);
	rig_close(rig);
}

/* The change was made before the cloud existed. Its schedule counts from the beginning of the run,
 * which is not 0. */
static void a_cloud_that_comes_after_a_change_has_what_was_scheduled_before(void **state)
{
	const simtime origin = 5 * SIMTIME_S;
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});
	struct rte_mbuf *mbuf;

	(void)state;
	template_open(rig, "x", per_source("192.0.2.0/24", HOSTS));
	set_all(rig, "delay 1ms");
	set_all(rig, "at 1ms delay 20ms");
	rig_apply(rig, origin);
	set_all(rig, "every 500ms for 1ms from 400ms delay 3ms");
	rig_apply(rig, origin + 10 * SIMTIME_MS);
	rig_advance(rig, origin + 11 * SIMTIME_MS);
	assert_int_equal(rig->engine->cloud_table->slots[0]->of->settled,
	                 HOSTS); /* all have made the change */
	mbuf = frame_from(rig, 1, 10, 1, origin + 12 * SIMTIME_MS);
	rig_ingress(rig, &mbuf, 1);
	rig_run_out(rig);
	assert_int_equal(rig->departures[0].due_ns, origin + 32 * SIMTIME_MS);
	rig_close(rig);
}

/* A cloud behind the template receives the departures of all its clouds. */
static void a_cloud_may_follow_a_template_and_lead_to_one(void **state)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});

	(void)state;
	rig_cloud(rig, "first", 0, 1);
	rig_chain(rig, "x", "first", 1);
	rig->scenario->clouds[1]->many = true;
	rig->scenario->clouds[1]->selection = &per_source("192.0.2.0/24", 0)->conf;
	rig_chain(rig, "last", "x", 2);
	set_all(rig, "delay 1ms");
	rig_apply(rig, 0);
	for (uint32_t i = 0; i < 12; i++) {
		struct rte_mbuf *mbuf = frame_from(rig, (uint8_t)(1 + i % 4), 10, i + 1, 7);

		rig_ingress(rig, &mbuf, 1);
	}
	rig_run_out(rig);
	assert_int_equal(rig->n_departures, 12);
	assert_int_equal(rig->departures[0].port, 2);
	assert_int_equal(rig->departures[11].due_ns, 7 + 3 * SIMTIME_MS);
	assert_int_equal(rig_report(rig, "x")->clouds, 4);
	rig_close(rig);
}

static void flows_have_a_cloud_each(void **state)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});
	struct selection_conf *per = (struct selection_conf *)conf_make(&selection_per_statement);

	(void)state;
	per->flow = true;
	per->most = 10;
	template_open(rig, "x", per);
	rig_apply(rig, 0);
	for (uint32_t i = 0; i < 12; i++) {
		struct rte_mbuf *mbuf = frame_from(rig, (uint8_t)(1 + i % 3), 10, i + 1, i);

		rig_ingress(rig, &mbuf, 1);
	}
	rig_send(rig, 0, 60, 20); /* no IP */
	rig_run_out(rig);
	assert_int_equal(rig_report(rig, "x")->clouds, 4);
	assert_int_equal(rig_report(rig, "x/other")->counters.tx_packets, 1);
	assert_int_equal(
	        rig_report(rig, "x/192.0.2.2:1000-198.51.100.7:80-udp")->counters.tx_packets, 4);
	rig_close(rig);
}

GROUP(template)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_templates_cloud_does_what_a_cloud_of_its_name_would_do),
	        cmocka_unit_test(when_the_run_begins_does_not_matter),
	        cmocka_unit_test(bursts_of_1_7_and_32_have_the_same_fates),
	        cmocka_unit_test(draws_do_not_depend_on_who_came_before),
	        cmocka_unit_test(what_finds_no_cloud_is_a_real_loss_and_the_others_go_on),
	        cmocka_unit_test(each_cloud_has_a_report_and_the_template_their_sum),
	        cmocka_unit_test(a_template_that_is_removed_delivers_what_it_holds),
	        cmocka_unit_test(clouds_on_demand_are_made_until_the_template_changes),
	        cmocka_unit_test(clouds_with_a_management_or_a_schedule_are_not_made_on_demand),
	        cmocka_unit_test(a_change_reaches_65536_clouds),
	        cmocka_unit_test(a_cloud_that_comes_after_a_change_has_what_was_scheduled_before),
	        cmocka_unit_test(a_cloud_may_follow_a_template_and_lead_to_one),
	        cmocka_unit_test(flows_have_a_cloud_each),
	};

	return cmocka_run_group_tests_name("template", tests, rig_group_setup, rig_group_teardown);
}
