/* SPDX-License-Identifier: BSD-3-Clause */
#include "trial.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "text/statement_text.h"
#include "text/word.h"
#include "scenario/scenario.h"

/* Packets whose departure was reported, for `look`. They are found by their instant, since a
 * hundred thousand may be in flight and leave in another order. */
#define TOLD_SLOTS (1u << 16)

struct told {
	struct packet packet;
	struct told *next; /* in its slot */
};

struct trial_told {
	struct {
		struct told *first, **end;
	} slots[TOLD_SLOTS];
};

static uint32_t slot_of(simtime t_ns)
{
	return (uint32_t)(t_ns * UINT64_C(0x9e3779b97f4a7c15) >> 48) % TOLD_SLOTS;
}

static void expect(struct trial *trial, const struct fate *fate)
{
	struct told *told = malloc(sizeof(*told));
	uint32_t slot = slot_of(fate->t_out_ns);

	if (!trial->told)
		trial->told = calloc(1, sizeof(*trial->told));
	assert_true(trial->told && told);
	*told = (struct told){.packet = {.t_ns = fate->t_out_ns,
	                                 .number = fate->packet,
	                                 .wire_bytes = fate->wire_bytes,
	                                 .flags = fate->flags}};
	if (!trial->told->slots[slot].first)
		trial->told->slots[slot].end = &trial->told->slots[slot].first;
	*trial->told->slots[slot].end = told;
	trial->told->slots[slot].end = &told->next;
}

/* Returns the report on the packet that leaves at this instant; if there are several, the first
 * one. */
static struct packet expected(struct trial *trial, simtime due)
{
	uint32_t slot = slot_of(due);
	struct told **at, *told;
	struct packet packet;

	assert_non_null(trial->told);
	for (at = &trial->told->slots[slot].first; *at && (*at)->packet.t_ns != due;)
		at = &(*at)->next;
	told = *at;
	assert_non_null(told);
	packet = told->packet;
	*at = told->next;
	if (!*at)
		trial->told->slots[slot].end = at;
	free(told);
	return packet;
}

static void told_free(struct trial_told *all)
{
	for (uint32_t i = 0; all && i < TOLD_SLOTS; i++) {
		for (struct told *told = all->slots[i].first, *next; told; told = next) {
			next = told->next;
			free(told);
		}
	}
	free(all);
}

void trial_tell(struct witness *witness, const struct fate *fate)
{
	struct trial *trial = (struct trial *)witness;
	bool copy = fate->flags & PACKET_COPY, delivered = fate->kind == FATE_DELIVERED;

	assert_in_range(fate->packet, 1, trial->room - 1);
	if (copy)
		trial->fate[fate->packet] |= delivered ? TRIAL_COPY : TRIAL_COPY_LOST;
	else
		trial->fate[fate->packet] |= delivered ? TRIAL_DELIVERED : TRIAL_LOST;
	if (delivered && trial->look)
		expect(trial, fate);
	if (!delivered) {
		trial->reason = fate->reason;
		trial->dropped_ns = fate->at_ns;
	}
}

struct conf *trial_conf(const char *statement)
{
	struct language_error error = {.text = ""};
	struct words *words = malloc(sizeof(*words));
	struct conf *conf = NULL;

	assert_non_null(words);
	if (words_split(statement, words, &error) != 0 ||
	    statement_parse(words, 0, &conf, &error) != 0)
		fail_msg("%s: %s", statement, error.text);
	free(words);
	return conf;
}

const char *trial_problem(const char *statement)
{
	static struct problem problem;
	struct cloud_conf cloud = {.name = "x"};
	struct conf *conf = trial_conf(statement);

	problem = (struct problem){.text = ""};
	if (!conf->statement->check || conf->statement->check(conf, &cloud, &problem) == 0)
		problem.text[0] = 0;
	conf_free(conf);
	return problem.text;
}

void trial_set(struct trial *trial, const char *statement)
{
	struct conf *conf = trial_conf(statement);
	struct problem problem = {.text = ""};
	struct cloud_conf *cloud = trial->rig->scenario->clouds[0];

	if (conf->statement->check && conf->statement->check(conf, cloud, &problem) != 0)
		fail_msg("%s: %s", statement, problem.text);
	assert_int_equal(cloud_conf_put(cloud, conf), 0);
	rig_apply(trial->rig, trial->now);
}

struct trial *trial_open(const char *statement, uint64_t seed)
{
	return trial_open_at(statement, seed, 0);
}

struct trial *trial_open_at(const char *statement, uint64_t seed, simtime now)
{
	struct trial *trial = calloc(1, sizeof(*trial));

	assert_non_null(trial);
	trial->witness.tell = trial_tell;
	trial->burst = BURST_MAX;
	trial->gap_ns = SIMTIME_US;
	trial->now = now;
	trial->rig = rig_open(&(struct rig_setup){.seed = seed, .witness = &trial->witness});
	rig_cloud(trial->rig, "x", 0, 1);
	trial_set(trial, statement);
	return trial;
}

void trial_close(struct trial *trial)
{
	rig_close(trial->rig);
	told_free(trial->told);
	free(trial->fate);
	free(trial);
}

static void make_room(struct trial *trial, uint64_t n)
{
	if (trial->sent + n < trial->room)
		return;
	trial->fate = realloc(trial->fate, trial->sent + n + 1);
	assert_non_null(trial->fate);
	memset(trial->fate + trial->room, 0, trial->sent + n + 1 - trial->room);
	trial->room = trial->sent + n + 1;
}

/* Looks at all departures and frees them; the rig would compare them with its own packets. */
static void collect(struct trial *trial)
{
	while (engine_advance(trial->rig->engine, trial->rig->now) > 0) {
		struct outlet *outlet = engine_outlet(trial->rig->engine, 1);

		for (uint32_t i = 0; i < outlet->n && trial->look; i++) {
			*packet_of(outlet->mbufs[i]) = expected(trial, outlet->due_ns[i]);
			/* The fate has the length. */
			assert_int_equal(packet_of(outlet->mbufs[i])->wire_bytes,
			                 outlet->wire_bytes[i]);
			trial->look(trial->argument, outlet->mbufs[i]);
		}
		rte_pktmbuf_free_bulk(outlet->mbufs, outlet->n);
		outlet->n = 0;
	}
}

/* The rig does not see departures that are collected here. */
static void settle(struct trial *trial)
{
	const struct counters *c = trial_counters(trial);

	trial->rig->cleared = c->tx_packets - trial->rig->n_departures;
	rig_check(trial->rig);
}

static void send(struct trial *trial, struct rte_mbuf **mbufs, uint16_t n)
{
	trial->rig->sent += n;
	trial->rig->now = packet_of(mbufs[n - 1])->t_ns;
	rig_hand_over(trial->rig->engine, mbufs, n);
	collect(trial);
}

static void write_frame(struct rte_mbuf *mbuf, const uint8_t *frame)
{
	for (; mbuf; mbuf = mbuf->next) {
		memcpy(rte_pktmbuf_mtod(mbuf, void *), frame, mbuf->data_len);
		frame += mbuf->data_len;
	}
}

/* `frame` NULL: as the rig makes frames. */
void trial_send_frames(struct trial *trial, uint64_t n, const uint8_t *frame, uint32_t bytes)
{
	struct rte_mbuf *mbufs[BURST_MAX];
	uint16_t ready = 0;

	make_room(trial, n);
	for (uint64_t i = 0; i < n; i++) {
		struct rte_mbuf *mbuf = rig_packet(trial->rig, trial->shape, 0, ++trial->sent,
		                                   bytes, trial->wire_bytes, trial->now);

		if (frame)
			write_frame(mbuf, frame);
		mbufs[ready++] = mbuf;
		trial->now += trial->gap_ns;
		if (ready == trial->burst || i + 1 == n) {
			send(trial, mbufs, ready);
			ready = 0;
		}
	}
	settle(trial);
}

void trial_send(struct trial *trial, uint64_t n, uint32_t bytes)
{
	trial_send_frames(trial, n, NULL, bytes);
}

void trial_send_frame(struct trial *trial, const uint8_t *frame, uint32_t bytes)
{
	trial_send_frames(trial, 1, frame, bytes);
}

void trial_run_out(struct trial *trial)
{
	while (engine_held_packets(trial->rig->engine) > 0) {
		trial->rig->now = trial->now = engine_next(trial->rig->engine);
		collect(trial);
	}
	settle(trial);
}

uint64_t trial_count(const struct trial *trial, uint8_t marks)
{
	uint64_t n = 0;

	for (uint64_t i = 1; i <= trial->sent; i++)
		n += (trial->fate[i] & marks) != 0;
	return n;
}

const struct counters *trial_counters(const struct trial *trial)
{
	static struct cloud_report report;

	/* Without histograms, because this is called after each packet. */
	assert_true(engine_report_queue(trial->rig->engine, "x", &report));
	return &report.counters;
}

void trial_assert_bursts_agree(const char *statement, uint64_t n, uint32_t bytes)
{
	static const uint16_t bursts[] = {1, 7, 32};
	struct trial *trials[LENGTH(bursts)];

	for (size_t i = 0; i < LENGTH(bursts); i++) {
		trials[i] = trial_open(statement, 42);
		trials[i]->burst = bursts[i];
		trial_send(trials[i], n, bytes);
		assert_memory_equal(trials[i]->fate, trials[0]->fate, n + 1);
	}
	for (size_t i = 0; i < LENGTH(bursts); i++)
		trial_close(trials[i]);
}

void trial_assert_lost(const struct trial *trial, const uint64_t *numbers)
{
	for (uint64_t i = 1; i <= trial->sent; i++) {
		bool expected = *numbers == i;

		numbers += expected;
		if (expected != ((trial->fate[i] & TRIAL_LOST) != 0))
			fail_msg("packet %" PRIu64 " is %s", i, expected ? "not lost" : "lost");
	}
	assert_int_equal(*numbers, 0);
}
