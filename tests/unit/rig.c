/* SPDX-License-Identifier: BSD-3-Clause */
#include "rig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_hash_crc.h>

#include "engine/classifier.h"
#include "match/selection.h"
#include "rig_frame.h"
#include "rig_memory.h"

#include "change/change.h"
#include "engine/engine_state.h"

static struct rte_mempool *pool, *foreign;
static uint32_t rigs_open; /* stays above 0 once a test failed: mbufs are not checked then */

int rig_group_setup(void **state)
{
	(void)state;
	pool = poison_pool_make("rig", RIG_MBUFS, PACKET_PRIVATE_BYTES, RIG_DATA_ROOM);
	foreign = poison_pool_make("foreign", 512, PACKET_PRIVATE_BYTES, RIG_FOREIGN_ROOM);
	return 0;
}

int rig_group_teardown(void **state)
{
	(void)state;
	poison_pool_free(pool);
	poison_pool_free(foreign);
	return 0;
}

/* ---- filters ---- */

struct classifier_filter {
	unsigned rest, of;
};

static int filter_make(const char *words, struct classifier_filter **filter,
                       struct problem *problem)
{
	*filter = calloc(1, sizeof(**filter));
	if (!*filter)
		return -ENOMEM;
	if (sscanf(words, "%u of %u", &(*filter)->rest, &(*filter)->of) == 2)
		return 0;
	problem_set(problem, -1, "`%s` is no filter of the rig", words);
	free(*filter);
	*filter = NULL;
	return -EINVAL;
}

static void filter_free(struct classifier_filter *filter)
{
	free(filter);
}

static bool filter_fits(const struct classifier_filter *filter, const struct burst *burst,
                        uint32_t i)
{
	return burst->mbuf[i]->data_len > 0 &&
	       burst_frame(burst, i)[0] % filter->of == filter->rest;
}

static const struct classifier_filters rig_filters = {
        .make = filter_make,
        .free = filter_free,
        .fits = filter_fits,
};

/* ---- */

static void make_room(void *argument, uint32_t port)
{
	struct rig *rig = argument;

	(void)port;
	if (rig->make_room)
		rig->make_room(rig);
	else
		rig_collect(rig);
}

struct rig *rig_open(const struct rig_setup *setup)
{
	size_t bytes = setup->memory_bytes ? setup->memory_bytes : RIG_MEMORY;
	struct rig *rig = calloc(1, sizeof(*rig));
	struct engine_setup engine_setup;
	char name[2] = "a";

	assert_non_null(rig);
	rigs_open++;
	rig->pool = pool;
	rig->foreign = foreign;
	rig->hosts = setup->hosts;
	rig->memory_bytes = bytes;
	rig->memory = rig_memory_take(bytes);
	rig->scenario = scenario_make();
	assert_non_null(rig->memory);
	assert_non_null(rig->scenario);
	for (uint32_t i = 0; i < RIG_PORTS; i++, name[0]++)
		assert_int_equal(scenario_add_port(rig->scenario, name, NULL, NULL), 0);
	engine_setup = (struct engine_setup){
	        .statements = setup->statements ? setup->statements : statements,
	        .pool = pool,
	        .memory = rig->memory,
	        .memory_bytes = bytes,
	        .seed = setup->seed,
	        .witness = setup->witness,
	        .lacked_ns = setup->lacked_ns,
	        .kept_mbufs_max = setup->kept_mbufs_max,
	        .live = setup->live,
	        .clouds_on_demand = setup->clouds_on_demand,
	        .copy_bytes_max = setup->copy_bytes_max,
	        .make_room = make_room,
	        .room_argument = rig,
	        .filters = setup->filters ? setup->filters : &rig_filters,
	};
	rig->engine = engine_make(&engine_setup);
	assert_non_null(rig->engine);
	return rig;
}

void rig_close(struct rig *rig)
{
	rig_check(rig);
	engine_free(rig->engine);
	for (uint32_t i = 0; i < rig->n_shared; i++) {
		assert_int_equal(rte_mbuf_refcnt_read(rig->shared[i]), 1);
		rte_pktmbuf_free(rig->shared[i]);
	}
	if (--rigs_open == 0) {
		assert_int_equal(poison_missing(rig->pool), 0);
		assert_int_equal(poison_missing(rig->foreign), 0);
	}
	scenario_free(rig->scenario);
	rig_memory_give_back(rig->memory, rig->memory_bytes);
	free(rig->departures);
	free(rig);
}

/* ---- the scenario ---- */

void rig_cloud(struct rig *rig, const char *name, uint32_t from, uint32_t to)
{
	assert_int_equal(scenario_add_cloud(rig->scenario, name, rig->scenario->ports[from].name,
	                                    rig->scenario->ports[to].name),
	                 0);
}

void rig_chain(struct rig *rig, const char *name, const char *from, uint32_t to)
{
	assert_int_equal(
	        scenario_add_cloud(rig->scenario, name, from, rig->scenario->ports[to].name), 0);
}

static struct cloud_conf *cloud_conf_of(struct rig *rig, const char *cloud)
{
	int i = scenario_find_cloud(rig->scenario, cloud);

	assert_true(i >= 0);
	return rig->scenario->clouds[i];
}

static void *make(const struct statement *statement)
{
	struct conf *conf = conf_make(statement);

	assert_non_null(conf);
	return conf;
}

void rig_match(struct rig *rig, const char *name, const char *match, uint64_t priority)
{
	struct selection_conf *selection = make(&selection_statement);

	selection->priority = priority;
	selection->match = strdup(match);
	assert_non_null(selection->match);
	cloud_conf_of(rig, name)->selection = &selection->conf;
}

void rig_remove(struct rig *rig, const char *name)
{
	cloud_conf_of(rig, name);
	scenario_remove_cloud(rig->scenario, (uint32_t)scenario_find_cloud(rig->scenario, name));
}

void rig_put(struct rig *rig, const char *cloud, struct conf *conf)
{
	struct problem problem = {0};

	assert_int_equal(cloud_conf_put(cloud_conf_of(rig, cloud), conf), 0);
	if (conf->statement->check &&
	    conf->statement->check(conf, cloud_conf_of(rig, cloud), &problem) != 0)
		fail_msg("%s", problem.text);
}

void rig_delay(struct rig *rig, const char *cloud, uint64_t delay_ns, uint64_t jitter_ns,
               enum delay_distribution distribution, enum delay_order order)
{
	struct delay_conf *delay = make(&delay_statement);

	delay->delay_ns = delay_ns;
	delay->jitter_ns = jitter_ns;
	delay->distribution = distribution;
	delay->order = order;
	rig_put(rig, cloud, &delay->conf);
}

void rig_rate(struct rig *rig, const char *cloud, uint64_t rate_bps, uint64_t burst_bytes,
              enum limit_unit unit, uint64_t limit)
{
	struct rate_conf *rate = make(&rate_statement);

	rate->rate_bps = rate_bps;
	rate->algorithm = burst_bytes ? RATE_TOKEN_BUCKET : RATE_LEAKY_BUCKET;
	rate->burst_bytes = burst_bytes;
	rate->queue = (struct limit){.value = limit, .unit = unit};
	rig_put(rig, cloud, &rate->conf);
}

void rig_loss(struct rig *rig, const char *cloud, probability_q63 probability)
{
	struct loss_random_conf *loss = make(&loss_random_statement);

	loss->probability = probability;
	rig_put(rig, cloud, &loss->conf);
}

void rig_loss_every(struct rig *rig, const char *cloud, uint64_t every, uint64_t burst)
{
	struct loss_every_conf *loss = make(&loss_every_statement);

	loss->every = every;
	loss->burst = burst;
	rig_put(rig, cloud, &loss->conf);
}

void rig_unset(struct rig *rig, const char *cloud, const char *statement)
{
	assert_int_equal(cloud_conf_remove(cloud_conf_of(rig, cloud), statement), 0);
}

/* Returns true if the cloud is still in its slot. Clouds never move to another slot. */
static bool is_there(const struct rig *rig, const struct cloud *cloud, uint32_t slot)
{
	const struct cloud_table *cloud_table = rig->engine->cloud_table;

	return slot < cloud_table->n_slots && cloud_table->slots[slot] == cloud;
}

/* Returns the number of packets that no port received. */
static uint64_t counters_made(const struct counters *counters)
{
	return counters->generated + counters->duplicated;
}

void rig_apply(struct rig *rig, simtime now)
{
	const struct cloud_table *cloud_table = rig->engine->cloud_table;
	uint32_t n = cloud_table->n_slots;
	struct cloud **before = calloc(n + 1, sizeof(struct cloud *));
	struct problem problem = {0};
	struct change *change = NULL;

	assert_non_null(before);
	for (uint32_t i = 0; i < n; i = cloud_table_behind(cloud_table, i))
		before[i] = cloud_table->slots[i];
	if (change_prepare(rig->engine, rig->scenario, NULL, &change, &problem) != 0)
		fail_msg("%s", problem.text);
	engine_apply(rig->engine, change, now);
	/* The clouds that are gone are freed with the change. */
	for (uint32_t i = 0; i < n; i++) {
		if (before[i] && !is_there(rig, before[i], i))
			rig->dropped += counters_drops(&before[i]->counters) -
			                counters_made(&before[i]->counters);
	}
	change_free(change);
	free(before);
	rig->now = now;
	rig_check(rig);
}

/* ---- traffic ---- */

/* Fills a chain of mbufs, in segments of at most `room` bytes. */
static struct rte_mbuf *chain_make(struct rte_mempool *from, uint32_t hosts, uint64_t number,
                                   uint32_t frame_bytes, uint32_t room)
{
	const uint8_t *frame = rig_frame(hosts, number, frame_bytes);
	struct rte_mbuf *first = NULL, *last = NULL;
	uint32_t done = 0;

	do {
		struct rte_mbuf *mbuf = rte_pktmbuf_alloc(from);
		uint32_t bytes = RTE_MIN(frame_bytes - done, room);
		uint8_t *data;

		assert_non_null(mbuf);
		data = (uint8_t *)rte_pktmbuf_append(mbuf, (uint16_t)bytes);
		assert_non_null(data);
		memcpy(data, frame + done, bytes);
		if (!first) {
			first = mbuf;
		} else {
			last->next = mbuf;
			first->nb_segs++;
			first->pkt_len += bytes;
		}
		last = mbuf;
		done += bytes;
	} while (done < frame_bytes);
	return first;
}

struct rte_mbuf *rig_packet(struct rig *rig, enum rig_shape shape, uint32_t port, uint64_t number,
                            uint32_t frame_bytes, uint32_t wire_bytes, simtime t)
{
	uint32_t room = RIG_DATA_ROOM - RTE_PKTMBUF_HEADROOM;
	struct rte_mempool *from = rig->pool;
	struct rte_mbuf *mbuf;

	if (shape == RIG_FOREIGN) {
		from = rig->foreign;
		room = RIG_FOREIGN_ROOM - RTE_PKTMBUF_HEADROOM;
	} else if (shape == RIG_SEGMENTED) {
		room = RTE_MIN(room, frame_bytes / 3 + 1);
	}
	mbuf = chain_make(from, rig->hosts, number, frame_bytes, room);
	if (shape == RIG_CLONED) {
		struct rte_mbuf *clone = rte_pktmbuf_clone(mbuf, rig->foreign);

		assert_non_null(clone);
		rte_pktmbuf_free(mbuf); /* lives on in its clone */
		mbuf = clone;
	} else if (shape == RIG_SHARED) {
		rte_pktmbuf_refcnt_update(mbuf, 1);
		assert_true(rig->n_shared < LENGTH(rig->shared));
		rig->shared[rig->n_shared++] = mbuf;
	}
	*packet_of(mbuf) = (struct packet){
	        .t_ns = t,
	        .number = number,
	        .wire_bytes = wire_bytes ? wire_bytes : frame_bytes,
	        .port = (uint16_t)port,
	};
	return mbuf;
}

void rig_hand_over(struct engine *engine, struct rte_mbuf *const *mbufs, uint16_t n)
{
	struct burst burst;

	if (n == 0)
		return;
	burst_read(&burst, mbufs, n);
	engine_ingress(engine, &burst);
}

void rig_ingress(struct rig *rig, struct rte_mbuf **mbufs, uint16_t n)
{
	rig->sent += n;
	if (n)
		rig->now = packet_of(mbufs[n - 1])->t_ns;
	rig_hand_over(rig->engine, mbufs, n);
	rig_check(rig);
}

void rig_receive(struct rig *rig, uint32_t port, struct rte_mbuf **mbufs, uint16_t n, simtime now)
{
	struct burst burst;

	for (uint16_t i = 0; i < n; i++)
		burst.mbuf[i] = mbufs[i];
	burst_received(&burst, n, port, now, rig->received[port] + 1);
	rig->received[port] += n;
	engine_ingress(rig->engine, &burst);
}

void rig_send(struct rig *rig, uint32_t port, uint32_t frame_bytes, simtime t)
{
	struct rte_mbuf *mbuf = rig_packet(rig, RIG_PLAIN, port, rig->sent + 1, frame_bytes, 0, t);

	rig_ingress(rig, &mbuf, 1);
}

/* Returns the digest of bytes at any alignment, in any number. */
static uint32_t digest_of(const uint8_t *data, uint32_t bytes, uint32_t digest)
{
	uint64_t word;

	for (; bytes >= sizeof(word); bytes -= (uint32_t)sizeof(word), data += sizeof(word)) {
		memcpy(&word, data, sizeof(word));
		digest = rte_hash_crc_8byte(word, digest);
	}
	while (bytes-- > 0)
		digest = rte_hash_crc_1byte(*data++, digest);
	return digest;
}

static struct departure departure_of(const struct rig *rig, uint32_t port,
                                     const struct outlet *outlet, uint32_t i)
{
	const struct rte_mbuf *mbuf = outlet->mbufs[i];
	uint32_t frame_bytes = mbuf->pkt_len, at = 0, counted = 0;
	struct departure departure = {
	        .due_ns = outlet->due_ns[i],
	        .named = outlet_is_named(outlet, i),
	        .port = port,
	        .wire_bytes = outlet->wire_bytes[i],
	        .frame_bytes = frame_bytes,
	};
	const uint8_t *frame;

	for (const struct rte_mbuf *s = mbuf; s; s = s->next, counted++) {
		const uint8_t *data = rte_pktmbuf_mtod(s, const uint8_t *);

		departure.digest = digest_of(data, s->data_len, departure.digest);
		for (uint32_t k = 0; k < s->data_len && at + k < 8 && frame_bytes >= 8; k++)
			departure.number |= (uint64_t)data[k] << (8 * (at + k));
		at += s->data_len;
	}
	departure.intact = at == frame_bytes && counted == mbuf->nb_segs;
	if (!departure.intact)
		return departure;
	frame = rig_frame(rig->hosts, departure.number, frame_bytes);
	at = 0;
	for (const struct rte_mbuf *s = mbuf; s; at += s->data_len, s = s->next) {
		const uint8_t *data = rte_pktmbuf_mtod(s, const uint8_t *);

		if (memcmp(data, frame + at, s->data_len) == 0)
			continue;
		departure.intact = false;
		for (uint32_t k = 0; k < s->data_len; k++)
			if (data[k] != frame[at + k])
				departure.unchanged_from = at + k + 1;
	}
	return departure;
}

void rig_collect(struct rig *rig)
{
	for (uint32_t port = 0; port < RIG_PORTS; port++) {
		struct outlet *outlet = engine_outlet(rig->engine, port);

		for (uint32_t i = 0; i < outlet->n; i++) {
			struct rte_mbuf *mbuf = outlet->mbufs[i];

			if (rig->n_departures == rig->room) {
				rig->room = rig->room ? 2 * rig->room : 1024;
				rig->departures = realloc(rig->departures,
				                          rig->room * sizeof(struct departure));
				assert_non_null(rig->departures);
			}
			rig->departures[rig->n_departures++] = departure_of(rig, port, outlet, i);
			rte_pktmbuf_free(mbuf);
		}
		outlet_clear(outlet);
	}
}

void rig_advance(struct rig *rig, simtime now)
{
	rig->now = now;
	rig_collect(rig);
	while (engine_advance(rig->engine, now) > 0) {
		rig_check(rig);
		rig_collect(rig);
	}
	rig_check(rig);
}

void rig_run_out(struct rig *rig)
{
	uint32_t idle = 0;
	simtime next;

	while ((next = engine_next(rig->engine)) != SIMTIME_NEVER) {
		uint32_t before = rig->n_departures;

		rig_advance(rig, RTE_MAX(next, rig->now));
		/* An event without departures leads to another event, but not for ever. The limit
		 * is high because a schedule has an event every few microseconds while a packet is
		 * in flight for seconds. */
		idle = rig->n_departures == before ? idle + 1 : 0;
		if (idle > 2000000)
			fail_msg("no progress at %lu ns, %lu held", rig->now,
			         engine_held_packets(rig->engine));
	}
	assert_int_equal(engine_held_packets(rig->engine), 0);
}

/* ---- accounting ---- */

struct cloud_report *rig_report(struct rig *rig, const char *cloud)
{
	static struct cloud_report report;

	assert_true(engine_report(rig->engine, cloud, &report));
	return &report;
}

void rig_check(struct rig *rig)
{
	const struct cloud_table *cloud_table = rig->engine->cloud_table;
	uint64_t drops = rig->dropped, no_cloud = 0, waiting = 0, made = 0;

	for (uint32_t i = 0; i < cloud_table->n_slots; i = cloud_table_behind(cloud_table, i)) {
		const struct cloud *cloud = cloud_table->slots[i];
		const struct counters *c;

		if (!cloud)
			continue;
		c = &cloud->counters;
		assert_int_equal(c->rx_packets + counters_made(c),
		                 c->tx_packets + counters_drops(c) + cloud_held(cloud));
		drops += counters_drops(c);
		made += counters_made(c);
	}
	for (uint32_t port = 0; port < RIG_PORTS; port++) {
		no_cloud += engine_no_cloud(rig->engine, port);
		waiting += engine_outlet(rig->engine, port)->n;
	}
	assert_int_equal(rig->sent + made, rig->n_departures + waiting + drops + no_cloud +
	                                           engine_held_packets(rig->engine) + rig->cleared);
}
