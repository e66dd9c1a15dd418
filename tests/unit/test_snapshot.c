/* SPDX-License-Identifier: BSD-3-Clause */
/* What stages, managements and schedules remember goes into a snapshot and comes out of it: who
 * read one goes on as who wrote it. What cannot be is refused, and never led anybody astray. */
#include <stdlib.h>
#include <string.h>

#include <rte_ip.h>

#include "engine/cloud.h"
#include "engine/engine_snapshot.h"
#include "engine/engine_state.h"
#include "engine/timeline.h"
#include "frame.h"
#include "header/feedback_proxy.h"
#include "header/oq_header.h"
#include "header/xcp.h"
#include "holding/log.h"
#include "link/aqm.h"
#include "runner/group.h"
#include "schedule_rig.h"
#include "snapshot/snapshot.h"

#define SEED     11
#define BYTES    (UINT32_C(1) << 20)
#define BEFORE   4000 /* packets, until the snapshot */
#define BEHIND   4000
#define IPV4     14
#define PAYLOAD  34
#define FLOWS    12
#define ECN_BITS 3

/* ---- packets ---- */

static struct draw_key draws = {{5, 6}};

/* Of 12 flows, some with a header that asks routers, or tells what they have said. */
static uint32_t make(uint8_t *frame, uint64_t number)
{
	const uint64_t draw = draw_u64(draws, number, 0);
	const uint32_t flow = (uint32_t)(draw % FLOWS);
	struct frame_shape shape = {
	        .ip = 4,
	        .protocol = flow % 2 ? FRAME_UDP : FRAME_TCP,
	        .source_port = (uint16_t)(2000 + flow),
	        .host = (uint8_t)(1 + flow),
	        .payload_bytes = 60 + (uint32_t)(draw >> 8) % 1000,
	        .syn = number % 997 == 1,
	        .sequence = (uint32_t)number * 50,
	};
	uint32_t bytes = frame_make(frame, &shape);
	uint8_t *ip = frame + IPV4;
	uint16_t sum;

	ip[1] = (uint8_t)(draw >> 24 & ECN_BITS);
	ip[8] = draw >> 32 & 7 ? 64 - (draw >> 36 & 3) : 1;
	if (flow == 1) { /* a request, which a router has answered, and answers of others */
		ip[9] = OQ_PROTOCOL_DEFAULT;
		memset(frame + PAYLOAD, 0, OQ_BYTES);
		frame[PAYLOAD + OQ_REQ_MODE] = OQ_TTL;
		frame[PAYLOAD + OQ_REQ_PROBE] = (uint8_t)(1 + number % 3);
		frame[PAYLOAD + OQ_REQ_TTL] = (uint8_t)(60 + number % 5);
		frame[PAYLOAD + OQ_RES_PROBE] = OQ_LOSS;
		frame[PAYLOAD + OQ_RES_LEN] = OQ_ANSWER_BYTES;
		frame[PAYLOAD + OQ_RES_TTL] = (uint8_t)(number % 64);
		frame[PAYLOAD + OQ_NEXT] = FRAME_UDP;
	} else if (flow == 3) {
		ip[9] = XCP_PROTOCOL_DEFAULT;
		memset(frame + PAYLOAD, 0, XCP_BYTES);
		frame[PAYLOAD + XCP_LENGTH] = XCP_BYTES;
		frame[PAYLOAD + XCP_VERSION_FORMAT] = XCP_VERSION << 4 | XCP_DATA;
		frame[PAYLOAD + XCP_RTT] = 1;
		frame[PAYLOAD + XCP_X + 1] = 1;
		frame[PAYLOAD + XCP_DELTA + 1] = 100;
	}
	memset(ip + 10, 0, 2);
	sum = (uint16_t)~rte_raw_cksum(ip, 20);
	memcpy(ip + 10, &sum, 2);
	return bytes;
}

/* Packets `from` to before `to`, in bursts, 400 us a packet on average: the link has too many. */
static void come(struct rig *rig, uint64_t from, uint64_t to, simtime now)
{
	for (uint64_t number = from; number < to;) {
		struct rte_mbuf *mbufs[BURST_MAX];
		uint16_t n = 0, of = 1 + (uint16_t)(draw_u64(draws, number, 1) % 20);

		for (; n < of && number < to; number++) {
			uint8_t frame[FRAME_BYTES_MAX];
			uint32_t bytes = make(frame, number);

			mbufs[n] = rig_packet(rig, RIG_PLAIN, 0, number, bytes, 0, now);
			memcpy(rte_pktmbuf_mtod(mbufs[n], void *), frame, bytes);
			n++;
		}
		rig_advance(rig, now);
		rig_ingress(rig, mbufs, n);
		now += draw_u64(draws, number, 2) % (8 * SIMTIME_MS);
	}
}

/* The same, until all have left. */
static void play(struct rig *rig, uint64_t from, uint64_t to, simtime now)
{
	come(rig, from, to, now);
	rig_run_out(rig);
}

/* ---- engines ---- */

static const char *const rows[] = {
        "loss random 10%",
        "loss random 10% correlation 60%",
        "loss random 10% correlation 60% as-netem",
        "loss every 7 burst 2",
        "loss burst 3% length 5..60",
        "loss gilbert-elliott p 10% r 3%",
        "loss four-state p13 10% p31 3% p32 5% p14 2%",
        "loss pattern 3,70,900 of 1000",
        "loss bit-error 1e-5",
        "loss tcp-byte 1500 retransmits 3 flows 16",
        "duplicate random 10% correlation 60%",
        "duplicate every 9",
        "corrupt random 10% correlation 50%",
        "corrupt bit-error 1e-5",
        "corrupt checksum ip,udp probability 10%",
        "police 1mbit burst 5kB",
        "meter window 70ms; rate 12mbit queue 100pkt",
        "hop 192.0.2.99 limit 20 burst 30 mtu 700",
        "hop 192.0.2.99; feedback header window 70ms; rate 12mbit queue 100pkt",
        "hop 192.0.2.99; feedback sirens window 70ms; rate 12mbit queue 100pkt",
        "feedback proxy insert hops 5 ttl 63",
        "feedback proxy strip",
        "rate 12mbit queue 200pkt; xcp",
        "rewrite match ip.ttl = 64 random ip.id",
        "rate 12mbit queue 100pkt; red min 10pkt max 40pkt",
        "rate 12mbit queue 100pkt; ecn on; red min 5kB max 40kB weight 1% adaptive on",
        "rate 12mbit queue 100pkt; ecn on; red min 5kB max 40kB weight 1% alpha 50%",
        "hop 192.0.2.99; rate 12mbit queue 100pkt; ecn on; red min 5kB max 40kB weight 1%;"
        "becn limit 10 burst 20",
        "hop 192.0.2.99; rate 12mbit queue 100pkt; ecn on; mark above 10pkt;"
        "becn limit 10 burst 20",
        "rate 12mbit queue 100pkt; codel target 1ms interval 10ms",
        "rate 12mbit queue 100pkt; ecn on; pie target 2ms",
        "rate 12mbit queue 100pkt; fq-codel flows 16 target 1ms interval 10ms",
        "rate 12mbit queue 100pkt; dualpi2 target 2ms",
        "loss every 9; every 100ms for 37ms loss every 4 burst 2",
        "loss tcp-byte 1500 flows 16; every 100ms for 37ms loss tcp-byte 900 flows 16",
        "flap down 20ms every 300ms; police 1mbit burst 5kB",
        "at 3s loss burst 3% length 5..60; at 20s loss every 3; loss random 9% correlation 60%",
        "wave loss 0%..40% period 300ms; loss gilbert-elliott p 3% r 10%",
        "markov a 60ms loss burst 9% length 5..60 then b 30ms loss every 5",
        "rate 12mbit queue 100pkt; every 100ms for 37ms codel target 1ms interval 10ms",
};

static struct rig *engine_open(const char *words)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = SEED});

	rig_cloud(rig, "x", 0, 1);
	schedule_set(rig, words);
	rig_apply(rig, 0);
	return rig;
}

static struct cloud *cloud_of(const struct rig *rig)
{
	return rig->engine->cloud_table->slots[0];
}

/* All that the functions of this file's subject say of a cloud that holds nothing. */
static void look(struct rig *rig, struct snapshot *snapshot)
{
	struct cloud *cloud = cloud_of(rig);
	struct timeline *timeline = cloud->timeline;

	for (uint16_t i = 0; i < cloud->n_stages; i++)
		stage_snapshot(cloud->stages[i], snapshot);
	for (uint32_t i = 0; timeline && i < timeline->n; i++) {
		if (timeline->track[i]->snapshot)
			timeline->track[i]->snapshot(timeline->track[i], snapshot);
	}
	if (snapshot_same(snapshot, cloud->link.queue.aqm != NULL))
		aqm_snapshot(cloud->link.queue.aqm, snapshot);
}

static uint8_t bytes[BYTES], bytes_of_other[BYTES];

static size_t take(struct rig *rig, uint8_t *to)
{
	struct snapshot snapshot = {.at = to, .end = to + BYTES};

	look(rig, &snapshot);
	assert_false(snapshot.failed);
	return (size_t)(snapshot.at - to);
}

/* True: it was read, and nothing was left of it. `from` is as large as it is. */
static bool restore(struct rig *rig, uint8_t *from, size_t n)
{
	struct snapshot snapshot = {.at = from, .end = from + n, .restores = true};

	look(rig, &snapshot);
	return !snapshot.failed && snapshot.at == snapshot.end;
}

/* Another engine comes to where this one is; what others write down of a cloud is taken over as it
 * is. */
static struct rig *follow(struct rig *rig, const char *words)
{
	struct rig *other = engine_open(words);
	struct cloud *cloud = cloud_of(other);

	other->sent = rig->sent;
	other->now = rig->now;
	other->cleared = rig->n_departures;
	cloud->counters = cloud_of(rig)->counters;
	cloud->latest_number = cloud_of(rig)->latest_number;
	cloud->drawn_most = cloud_of(rig)->drawn_most;
	if (cloud->timeline)
		timeline_keep_up(cloud, rig->now);
	return other;
}

static struct rig *half_way(const char *words)
{
	struct rig *rig = engine_open(words);

	play(rig, 1, BEFORE, SIMTIME_MS);
	rig_advance(rig, rig->now + 7 * SIMTIME_US);
	if (cloud_of(rig)->timeline)
		timeline_keep_up(cloud_of(rig), rig->now);
	return rig;
}

/* ---- the claims ---- */

static void assert_same_departures(const struct rig *rig, uint32_t from, const struct rig *other,
                                   const char *words)
{
	if (rig->n_departures - from != other->n_departures)
		fail_msg("%s: %u and %u packets leave", words, rig->n_departures - from,
		         other->n_departures);
	for (uint32_t i = 0; i < other->n_departures; i++) {
		const struct departure *a = &rig->departures[from + i], *b = &other->departures[i];

		if (a->due_ns != b->due_ns || a->digest != b->digest || a->port != b->port ||
		    a->wire_bytes != b->wire_bytes)
			fail_msg("%s: packet %u behind the snapshot leaves at %lu, and at %lu",
			         words, i, a->due_ns, b->due_ns);
	}
}

/* What they say of themselves is the same. */
static void assert_same_figures(struct rig *rig, struct rig *other, const char *words)
{
	const struct aqm_report a = rig_report(rig, "x")->aqm, b = rig_report(other, "x")->aqm;

	assert_int_equal(a.n_figures, b.n_figures);
	for (uint32_t i = 0; i < a.n_figures; i++) {
		if (memcmp(&a.figures[i].value, &b.figures[i].value, sizeof(double)) != 0)
			fail_msg("%s: %s is %g, and %g", words, a.figures[i].name,
			         a.figures[i].value, b.figures[i].value);
	}
	for (uint16_t i = 0; i < cloud_of(rig)->n_stages; i++) {
		struct stage *one = cloud_of(rig)->stages[i], *two = cloud_of(other)->stages[i];
		struct observed seen = {0}, seen_by_other = {0};

		if (!one->statement->report)
			continue;
		one->statement->report(one, &seen);
		two->statement->report(two, &seen_by_other);
		if (memcmp(&seen, &seen_by_other, sizeof(seen)) != 0)
			fail_msg("%s: they have observed other things", words);
	}
}

static void who_reads_one_goes_on_as_who_wrote_it(void **state)
{
	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct rig *rig = half_way(rows[i]), *other = follow(rig, rows[i]);
		uint32_t departures = rig->n_departures;
		size_t n = take(rig, bytes);

		if (!restore(other, bytes, n))
			fail_msg("%s: refused", rows[i]);
		assert_same_figures(rig, other, rows[i]);
		play(rig, BEFORE, BEFORE + BEHIND, rig->now + SIMTIME_US);
		play(other, BEFORE, BEFORE + BEHIND, other->now + SIMTIME_US);
		assert_same_departures(rig, departures, other, rows[i]);
		assert_memory_equal(&cloud_of(rig)->counters, &cloud_of(other)->counters,
		                    sizeof(struct counters));
		n = take(rig, bytes);
		assert_int_equal(take(other, bytes_of_other), n);
		if (memcmp(bytes, bytes_of_other, n) != 0)
			fail_msg("%s: they remember other things in the end", rows[i]);
		assert_same_figures(rig, other, rows[i]);
		rig_close(rig);
		rig_close(other);
	}
}

/* What links and lines remember and hold beside that. */
static const char *const ways[] = {
        "delay 20ms jitter 5ms correlation 60%",
        "delay 20ms jitter 5ms half-life 30ms",
        "delay 20ms jitter 5ms correlation 60% order allow",
        "delay 20ms jitter 5ms half-life 30ms order allow",
        "delay 20ms limit 30pkt; rate 30mbit queue 20pkt",
        "reorder every 5; delay 7ms",
        "reorder random 20% by 3pkt; delay 7ms jitter 2ms",
        "reorder random 20% by 5ms; delay 7ms",
        "reorder 25% 50% gap 3; delay 7ms",
        "rate 12mbit queue 100pkt drop head; reorder every 4 wait 30ms",
        "slots min 1ms max 4ms packets 3; delay 3ms",
        "rate 12mbit algorithm token-bucket burst 20kB queue 100pkt; delay 9ms",
};

static void goes_on_in_the_middle(const char *words)
{
	struct rig *rig = engine_open(words), *other;
	struct snapshot written = {.at = bytes, .end = bytes + BYTES}, read;
	uint32_t departures;

	come(rig, 1, BEFORE, SIMTIME_MS);
	rig_advance(rig, rig->now);
	departures = rig->n_departures;
	other = engine_open(words);
	rig_advance(other, rig->now);
	assert_null(engine_snapshot_waits(rig->engine));
	engine_snapshot(rig->engine, rig->now, &written);
	assert_false(written.failed);
	read = (struct snapshot){.at = bytes, .end = written.at, .restores = true};
	engine_snapshot(other->engine, rig->now, &read);
	if (read.failed || read.at != read.end)
		fail_msg("%s: refused", words);
	other->sent = rig->sent;
	other->cleared = departures;
	play(rig, BEFORE, BEFORE + BEHIND, rig->now + SIMTIME_US);
	play(other, BEFORE, BEFORE + BEHIND, other->now + SIMTIME_US);
	assert_same_departures(rig, departures, other, words);
	assert_memory_equal(&cloud_of(rig)->counters, &cloud_of(other)->counters,
	                    sizeof(struct counters));
	rig_close(rig);
	rig_close(other);
}

static void an_engine_in_the_midst_of_packets_goes_on_in_another(void **state)
{
	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++)
		goes_on_in_the_middle(rows[i]);
	for (size_t i = 0; i < LENGTH(ways); i++)
		goes_on_in_the_middle(ways[i]);
}

/* Statements that remember nothing but how much was drawn. */
static bool remembers(const char *words)
{
	static const char *const none[] = {"loss bit-error", "corrupt bit-error",
	                                   "corrupt checksum", "rewrite"};

	for (size_t i = 0; i < LENGTH(none); i++) {
		if (strncmp(words, none[i], strlen(none[i])) == 0)
			return false;
	}
	return true;
}

/* Else the claim above would hold of whoever remembers nothing. */
static void who_knows_only_what_was_drawn_goes_on_otherwise(void **state)
{
	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct rig *rig = half_way(rows[i]), *other = follow(rig, rows[i]);
		struct cloud *cloud = cloud_of(rig), *fresh = cloud_of(other);
		size_t n = take(rig, bytes);
		bool same;

		for (uint16_t s = 0; s < cloud->n_stages; s++)
			fresh->stages[s]->drawn = cloud->stages[s]->drawn;
		if (cloud->link.queue.aqm)
			fresh->link.queue.aqm->drawn = cloud->link.queue.aqm->drawn;
		same = take(other, bytes_of_other) == n && memcmp(bytes, bytes_of_other, n) == 0;
		if (same != !remembers(rows[i]))
			fail_msg("%s: %s", rows[i], same ? "the packets left no trace" : "a trace");
		rig_close(rig);
		rig_close(other);
	}
}

/* Each in memory of its own size, so that a sanitizer sees who reads beyond. */
static void one_that_is_cut_is_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct rig *rig = half_way(rows[i]), *other = follow(rig, rows[i]);
		size_t n = take(rig, bytes);

		for (size_t cut = 0; cut < n; cut++) {
			uint8_t *part = malloc(cut + 1);

			assert_non_null(part);
			memcpy(part + 1, bytes, cut);
			if (restore(other, part + 1, cut))
				fail_msg("%s: %zu of %zu bytes are enough", rows[i], cut, n);
			free(part);
			if (n < 1200) {
				rig_close(other);
				other = follow(rig, rows[i]);
			}
		}
		rig_close(rig);
		rig_close(other);
	}
}

/* Whatever is read, who was not refused goes on, and comes to an end. */
static void one_that_is_damaged_does_no_harm(void **state)
{
	const uint32_t rounds = getenv("WEIR_SANITIZED") ? 30 : 150;
	uint64_t number = 0, read = 0, refused = 0;

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct rig *rig = half_way(rows[i]);
		size_t n = take(rig, bytes);

		for (uint32_t round = 0; n > 0 && round < rounds; round++) {
			struct rig *other = follow(rig, rows[i]);
			uint32_t times = 1 + round % 4;

			memcpy(bytes_of_other, bytes, n);
			for (uint32_t k = 0; k < times; k++) {
				uint64_t draw = draw_u64(draws, number++, 7);

				bytes_of_other[draw % n] = round % 3 ? (uint8_t)(draw >> 40)
				                                     : (draw >> 41 & 1 ? 255 : 0);
			}
			if (restore(other, bytes_of_other, n)) {
				play(other, BEFORE, BEFORE + 300, other->now + SIMTIME_US);
				read++;
			} else {
				refused++;
			}
			rig_close(other);
		}
		rig_close(rig);
	}
	assert_true(read > 100 && refused > 100);
}

static void no_statement_takes_over_what_it_does_not_write_down(void **state)
{
	uint32_t n = 0;

	(void)state;
	for (const struct statement *const *row = statements; *row; row++) {
		const struct statement *s = *row;

		if (s->adopt && !s->snapshot)
			fail_msg("%s %s adopts", s->name, s->variant ? s->variant : "");
		if (s->aqm && s->aqm->adopt && !s->aqm->snapshot)
			fail_msg("%s adopts", s->name);
		if (s->aqm && s->aqm->bands && !s->aqm->bands->fits)
			fail_msg("%s has bands, and nobody asks whether they fit", s->name);
		n += s->adopt || (s->aqm && s->aqm->adopt);
	}
	assert_true(n > 15);
}

/* ---- bands ---- */

/* A management with bands, and a queue by hand: without an engine that knows what is in it. */
struct pen {
	struct rig *rig;
	struct aqm *aqm;
	struct arena *arena;
	uint64_t packets, held_bytes;
};

static struct pen pen_open(const char *words)
{
	struct pen pen = {.rig = engine_open(words)};

	pen.aqm = cloud_of(pen.rig)->link.queue.aqm;
	pen.arena = &pen.rig->engine->holder.arena;
	return pen;
}

static void pen_add(struct pen *pen, struct log *band, const struct held *like, const uint8_t *data)
{
	struct held *held = log_append(band, pen->arena, like->stored_bytes);

	assert_non_null(held);
	memcpy(held, like, sizeof(*held));
	memcpy(held->data, data, like->stored_bytes);
	pen->packets++;
	pen->held_bytes += like->wire_bytes;
}

static struct aqm_view pen_view(const struct pen *pen, uint32_t wire_bytes)
{
	return (struct aqm_view){.waiting_bytes = pen->held_bytes,
	                         .waiting_packets = pen->packets,
	                         .held_bytes = pen->held_bytes,
	                         .held_packets = pen->packets,
	                         .rate_bps = 12000000,
	                         .wire_bytes = wire_bytes};
}

static void pen_push(struct pen *pen, uint64_t number, simtime now)
{
	static uint8_t frame[FRAME_BYTES_MAX];
	uint32_t n = make(frame, number);
	const struct packet_bytes packet = {.data = frame, .bytes = n, .wire_bytes = n};
	const struct held held = {.t_ns = now,
	                          .wire_bytes = n,
	                          .stored_bytes = (uint16_t)n,
	                          .number = (uint32_t)number};
	const struct aqm_view view = pen_view(pen, n);
	struct burst burst = {.n = 1};
	struct aqm_group group = {.now = now, .n = 1, .wait = true, .burst = &burst};
	struct aqm_verdict verdict;
	struct log *band = pen->aqm->kind->bands->choose(pen->aqm, &packet);

	if (pen->aqm->kind->arrive)
		assert_int_equal(pen->aqm->kind->arrive(pen->aqm, &view, &group, &verdict), 1);
	pen->aqm->drawn++;
	pen_add(pen, band, &held, frame);
	pen->aqm->kind->bands->entered(pen->aqm, band, n);
}

/* Which packet is taken, and what becomes of it; 0: none is there. */
static uint64_t pen_pop(struct pen *pen, simtime now)
{
	struct log *band = pen->aqm->kind->bands->next(pen->aqm, now);
	struct aqm_verdict verdict;
	struct aqm_view view;
	struct held *held;
	uint64_t what;

	if (!band) {
		assert_int_equal(pen->packets, 0);
		return 0;
	}
	held = log_front(band);
	view = pen_view(pen, held->wire_bytes);
	verdict = pen->aqm->kind->depart(pen->aqm, &view, held, now);
	what = (uint64_t)held->number << 8 | verdict.action;
	pen->packets--;
	pen->held_bytes -= held->wire_bytes;
	log_pop(band, pen->arena);
	return what;
}

static void pen_empty(struct pen *pen)
{
	while (pen_pop(pen, SIMTIME_S))
		;
	for (uint32_t i = 0; pen->aqm->kind->bands->at(pen->aqm, i); i++)
		log_clear(pen->aqm->kind->bands->at(pen->aqm, i), pen->arena);
}

/* What each band has goes into the band of the other that has its number. */
static void pen_copy(const struct pen *pen, struct pen *other)
{
	struct log *from, *to;

	for (uint32_t i = 0; (from = pen->aqm->kind->bands->at(pen->aqm, i)); i++) {
		struct log_walk walk;
		const struct held *held = log_walk_first(&walk, from);

		to = other->aqm->kind->bands->at(other->aqm, i);
		assert_non_null(to);
		for (; held; held = log_walk_next(&walk))
			pen_add(other, to, held, held->data);
	}
	assert_null(other->aqm->kind->bands->at(other->aqm, 16));
}

static const char *const banded[] = {
        "rate 12mbit queue 100pkt; fq-codel flows 16 target 1ms interval 10ms quantum 300B",
        "rate 12mbit queue 100pkt; dualpi2 target 2ms",
};

static void packets_in_bands_leave_as_they_would_have(void **state)
{
	(void)state;
	for (size_t i = 0; i < LENGTH(banded); i++) {
		struct pen pen = pen_open(banded[i]), other = pen_open(banded[i]);
		struct snapshot snapshot = {.at = bytes, .end = bytes + BYTES};
		simtime now = 0;
		uint64_t number = 1, marked_or_dropped = 0;

		for (; number < 900; number++, now += 500 * SIMTIME_US) {
			pen_push(&pen, number, now);
			if (number % 20 != 0)
				pen_pop(&pen, now);
		}
		assert_true(pen.packets > 20);
		aqm_snapshot(pen.aqm, &snapshot);
		snapshot.end = snapshot.at;
		snapshot = (struct snapshot){.at = bytes, .end = snapshot.end, .restores = true};
		aqm_snapshot(other.aqm, &snapshot);
		assert_false(snapshot.failed);
		assert_ptr_equal(snapshot.at, snapshot.end);
		pen_copy(&pen, &other);
		assert_true(aqm_fits(other.aqm));
		for (; number < 2000; number++, now += 500 * SIMTIME_US) {
			uint64_t what, whats;

			pen_push(&pen, number, now);
			pen_push(&other, number, now);
			what = pen_pop(&pen, now);
			whats = pen_pop(&other, now);
			assert_int_equal(what, whats);
			marked_or_dropped += (what & 255) != AQM_PASS;
		}
		assert_true(marked_or_dropped > 20);
		assert_int_equal(take(pen.rig, bytes), take(other.rig, bytes_of_other));
		assert_memory_equal(bytes, bytes_of_other, take(pen.rig, bytes));
		pen_empty(&pen);
		pen_empty(&other);
		rig_close(pen.rig);
		rig_close(other.rig);
	}
}

/* A packet in a band of which the snapshot says that it has none; one that came later than it can
 * have. */
static void packets_in_bands_that_nobody_would_send_do_not_fit(void **state)
{
	(void)state;
	for (size_t i = 0; i < LENGTH(banded); i++) {
		struct pen pen = pen_open(banded[i]);
		const struct held held = {.t_ns = SIMTIME_S, .wire_bytes = 60, .stored_bytes = 60};
		uint8_t frame[64] = {0};

		pen_push(&pen, 1, SIMTIME_MS);
		assert_true(aqm_fits(pen.aqm));
		pen_pop(&pen, SIMTIME_MS);
		pen_pop(&pen, 2 * SIMTIME_MS);
		pen_add(&pen, pen.aqm->kind->bands->at(pen.aqm, 1), &held, frame);
		assert_false(aqm_fits(pen.aqm));
		log_clear(pen.aqm->kind->bands->at(pen.aqm, 1), pen.arena);
		*pen.aqm->kind->bands->at(pen.aqm, 1) = (struct log){0};
		pen.packets = pen.held_bytes = 0;
		pen_empty(&pen);
		rig_close(pen.rig);
	}
}

GROUP(snapshot)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(who_reads_one_goes_on_as_who_wrote_it),
	        cmocka_unit_test(an_engine_in_the_midst_of_packets_goes_on_in_another),
	        cmocka_unit_test(who_knows_only_what_was_drawn_goes_on_otherwise),
	        cmocka_unit_test(one_that_is_cut_is_refused),
	        cmocka_unit_test(one_that_is_damaged_does_no_harm),
	        cmocka_unit_test(no_statement_takes_over_what_it_does_not_write_down),
	        cmocka_unit_test(packets_in_bands_leave_as_they_would_have),
	        cmocka_unit_test(packets_in_bands_that_nobody_would_send_do_not_fit),
	};

	return cmocka_run_group_tests(tests, rig_group_setup, rig_group_teardown);
}
