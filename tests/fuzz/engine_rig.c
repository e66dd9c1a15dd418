/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine_rig.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/filter.h"
#include "change/change.h"
#include "engine/engine_state.h"
#include "language/scenario_check.h"
#include "language/scenario_file.h"
#include "machine/pool.h"
#include "offline/offline_pool.h"
#include "poison_ops.h"
#include "statements.h"

#define MEMORY_BYTES  (UINT64_C(8) << 20)
#define SEGMENT_BYTES 2048u

/* ---- departures ---- */

static void collect(void *argument, uint32_t port)
{
	struct engine_rig *rig = argument;
	struct outlet *outlet = engine_outlet(rig->engine, port);

	for (uint32_t i = 0; i < outlet->n; i++) {
		struct rte_mbuf *mbuf = outlet->mbufs[i];

		rte_mbuf_sanity_check(mbuf, 1);
		assert(mbuf->pkt_len <= PACKET_BYTES_MAX);
		assert(rig->unsound || outlet->due_ns[i] <= rig->now);
		assert(rig->unsound || outlet->due_ns[i] >= rig->left[port]);
		assert(rig->unsound || mbuf->pkt_len <= outlet->wire_bytes[i]);
		rig->left[port] = outlet->due_ns[i];
		rte_pktmbuf_free(mbuf);
		rig->n_left++;
	}
	outlet->n = 0;
}

static void collect_all(struct engine_rig *rig)
{
	for (uint32_t port = 0; port < ENGINE_RIG_PORTS; port++)
		collect(rig, port);
}

/* ---- opening ---- */

static struct rte_mempool *pool;

static void pool_open(void)
{
	if (pool)
		return;
	pool = offline_pool_make("engine-rig", ENGINE_RIG_MBUFS, ENGINE_RIG_MBUFS, POISON_OPS);
	assert(pool);
	poison_arm(pool);
}

struct engine_rig *engine_rig_open(uint64_t seed)
{
	static const char *const lines[] = {"port a", "port b", "port c", "cloud x from a to b"};
	struct engine_rig *rig = calloc(1, sizeof(*rig));
	struct engine_setup setup;

	pool_open();
	assert(rig);
	rig->memory = aligned_alloc(4096, MEMORY_BYTES);
	rig->scenario = scenario_make();
	assert(rig->memory && rig->scenario);
	setup = (struct engine_setup){
	        .statements = statements,
	        .pool = pool,
	        .memory = rig->memory,
	        .memory_bytes = MEMORY_BYTES,
	        .seed = seed,
	        .filters = &filters,
	        .make_room = collect,
	        .room_argument = rig,
	        .kept_mbufs_max = ENGINE_RIG_MBUFS / 2,
	        .clouds_on_demand = seed % 2 == 1,
	};
	rig->engine = engine_make(&setup);
	assert(rig->engine);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert(engine_rig_line(rig, lines[i]));
	return rig;
}

void engine_rig_close(struct engine_rig *rig)
{
	engine_rig_check(rig);
	collect_all(rig);
	engine_free(rig->engine);
	scenario_free(rig->scenario);
	free(rig->memory);
	free(rig);
	assert(poison_missing(pool) == 0);
}

/* ---- changing ---- */

static void assert_prints_the_same(const struct scenario *scenario)
{
	char *text = scenario_text(scenario), *again, message[SCENARIO_FILE_ERROR];
	struct scenario *copy;

	assert(text);
	if (scenario_text_load(text, strlen(text), "again", &copy, message, sizeof(message)) != 0) {
		fprintf(stderr, "%s\n%s\n", text, message);
		abort();
	}
	again = scenario_text(copy);
	assert(again && strcmp(text, again) == 0);
	scenario_free(copy);
	free(again);
	free(text);
}

/* Takes ownership of the scenario. */
static bool apply(struct engine_rig *rig, struct scenario *next)
{
	struct problem problem = {.text = ""};

	if (scenario_check(next, &problem) != 0 ||
	    change_at_once(rig->engine, next, NULL, rig->now, &problem) != 0) {
		assert(problem.text[0]);
		scenario_free(next);
		return false;
	}
	scenario_free(rig->scenario);
	rig->scenario = next;
	collect_all(rig);
	engine_rig_check(rig);
	return true;
}

static bool is_edit(const struct command *command)
{
	return command->kind >= COMMAND_SEED && command->kind <= COMMAND_NO_STATEMENT;
}

bool engine_rig_line(struct engine_rig *rig, const char *line)
{
	static struct command command;
	struct language_error error = {.text = ""};
	struct scenario *next;
	bool edited;

	if (language_parse(line, &command, &error) != 0) {
		assert(error.text[0]);
		return false;
	}
	next = is_edit(&command) ? scenario_copy(rig->scenario) : NULL;
	edited = next && language_edit(next, &command, &error) == 0;
	language_release(&command);
	if (!edited) {
		scenario_free(next);
		return false;
	}
	if (!apply(rig, next))
		return false;
	assert_prints_the_same(rig->scenario);
	if (getenv("ENGINE_RIG_TALK"))
		fprintf(stderr, "%" PRIu64 ": %s\n", rig->now, line);
	return true;
}

bool engine_rig_put(struct engine_rig *rig, struct conf *conf)
{
	struct scenario *next = scenario_copy(rig->scenario);

	assert(next && cloud_conf_put(next->clouds[0], conf) == 0);
	return apply(rig, next);
}

/* ---- packets and time ---- */

static struct rte_mbuf *packet_make(const uint8_t *data, uint32_t n, uint32_t bytes)
{
	struct rte_mbuf *first = NULL, *last = NULL;
	uint32_t done = 0;

	do {
		struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);
		uint32_t part = RTE_MIN(bytes - done, SEGMENT_BYTES);
		uint8_t *to;

		if (!mbuf) {
			rte_pktmbuf_free(first);
			return NULL;
		}
		to = (uint8_t *)rte_pktmbuf_append(mbuf, (uint16_t)part);
		memset(to, 0, part);
		if (done < n)
			memcpy(to, data + done, RTE_MIN(part, n - done));
		if (first) {
			last->next = mbuf;
			first->nb_segs++;
			first->pkt_len += part;
		} else {
			first = mbuf;
		}
		last = mbuf;
		done += part;
	} while (done < bytes);
	return first;
}

void engine_rig_send(struct engine_rig *rig, uint32_t port, const uint8_t *data, uint32_t n,
                     uint32_t bytes, uint32_t wire_bytes)
{
	struct rte_mbuf *mbuf = packet_make(data, n, bytes);
	struct burst burst;

	if (!mbuf)
		return;
	if (getenv("ENGINE_RIG_TALK"))
		fprintf(stderr, "%" PRIu64 ": %u bytes of %u to %u\n", rig->now, bytes, wire_bytes,
		        port);
	burst_one(&burst, mbuf, port, rig->now, ++rig->numbers[port], RTE_MAX(bytes, wire_bytes),
	          0);
	engine_ingress(rig->engine, &burst);
}

void engine_rig_pass(struct engine_rig *rig, uint64_t ns)
{
	rig->now = RTE_MIN(simtime_add(rig->now, ns), SIMTIME_HORIZON - 1);
	engine_advance(rig->engine, rig->now);
	collect_all(rig);
}

static uint64_t sent(const struct engine_rig *rig)
{
	uint64_t packets = 0;

	for (uint32_t port = 0; port < SCENARIO_PORTS_MAX; port++)
		packets += engine_sent(rig->engine, port);
	return packets;
}

void engine_rig_run_out(struct engine_rig *rig, uint32_t events)
{
	simtime before = rig->now;
	uint64_t sent_before = 0;

	/* Places the packets that have arrived: until then the next event is known only as a slot
	 * of a wheel. */
	engine_rig_pass(rig, 0);
	while (events-- > 0) {
		simtime next = engine_next(rig->engine);

		if (next >= SIMTIME_HORIZON)
			return;
		/* A packet that found no room in an outlet leaves at a later pass, with its due
		 * time. */
		if (next < before && sent(rig) == sent_before) {
			fprintf(stderr,
			        "at %" PRIu64 " the next event is at %" PRIu64 ", %" PRIu64
			        " held\n",
			        rig->now, next, engine_held_packets(rig->engine));
			abort();
		}
		before = RTE_MAX(before, next);
		sent_before = sent(rig);
		engine_rig_pass(rig, next > rig->now ? next - rig->now : 0);
	}
}

void engine_rig_check(struct engine_rig *rig)
{
	const struct cloud_table *cloud_table = rig->engine->cloud_table;

	for (uint32_t i = 0; !rig->unsound && i < cloud_table->n_slots;
	     i = cloud_table_behind(cloud_table, i)) {
		const struct cloud *cloud = cloud_table->slots[i];
		const struct counters *c = cloud ? &cloud->counters : NULL;

		if (!c || c->rx_packets + c->duplicated + c->generated ==
		                  c->tx_packets + counters_drops(c) + cloud_held(cloud))
			continue;
		fprintf(stderr,
		        "cloud %s: rx %" PRIu64 " duplicated %" PRIu64 " generated %" PRIu64
		        " tx %" PRIu64 " drops %" PRIu64 " held %" PRIu64 "\n",
		        cloud->name, c->rx_packets, c->duplicated, c->generated, c->tx_packets,
		        counters_drops(c), cloud_held(cloud));
		abort();
	}
}

/* ---- lines ---- */

static uint32_t count_words(const struct field *field)
{
	uint32_t n = 0;

	while (field->words && field->words[n])
		n++;
	return n;
}

static void print_words(char *text, size_t room, const struct field *field, uint64_t value)
{
	uint32_t n = count_words(field);
	size_t at = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (value >> i & 1 || (i + 1 == n && at == 0))
			at += (size_t)snprintf(text + at, room - at, "%s%s", at ? "," : "",
			                       field->words[i]);
	}
}

static const char *one_of(enum field_type type, uint64_t value)
{
	static const char *const texts[] = {"y", "udp", "x", "tcp and port 80"};
	static const char *const factors[] = {"0", "0.000001", "0.5", "1", "3.2", "1000"};
	static const char *const ratios[] = {"0", "1e-30", "1e-9", "1e-3", "0.5", "100%"};
	static const char *const addresses[] = {"192.0.2.1", "198.51.100.1", "203.0.113.1"};
	static const char *const numbers[] = {"1", "1,2,3", "5,100", "2,4,8,16,32"};
	static const char *const orders[] = {"rate 1mbit",
	                                     "delay 1ms",
	                                     "loss random 50%",
	                                     "no delay",
	                                     "down",
	                                     "duplicate random 50%",
	                                     "rate 1bit queue 10pkt"};
	static const char *const states[] = {"good 1ms then bad 2ms loss random 50%",
	                                     "a 1ms to b 100% then b 5ms down",
	                                     "a 1s rate 1mbit then b 1ms rate 8bit then c 3ms"};

	switch (type) {
	case FIELD_TEXT:
		return texts[value % RTE_DIM(texts)];
	case FIELD_FACTOR:
		return factors[value % RTE_DIM(factors)];
	case FIELD_RATIO:
		return ratios[value % RTE_DIM(ratios)];
	case FIELD_IPV4:
		return addresses[value % RTE_DIM(addresses)];
	case FIELD_IPV6:
		return "2001:db8::1";
	case FIELD_NUMBERS:
		return numbers[value % RTE_DIM(numbers)];
	case FIELD_ORDERS:
		return orders[value % RTE_DIM(orders)];
	case FIELD_STATES:
		return states[value % RTE_DIM(states)];
	case FIELD_SWITCH:
		return value & 1 ? "on" : "off";
	default:
		return NULL;
	}
}

bool engine_rig_value(char *text, size_t room, const struct field *field, uint64_t value)
{
	static const char *const limits[] = {"B", "pkt", "ns"};
	const char *said = one_of(field->type, value);
	uint64_t more = value / 2;

	if (said) {
		snprintf(text, room, "%s", said);
		return true;
	}
	switch (field->type) {
	case FIELD_TIME:
		snprintf(text, room, "%" PRIu64 "ns", value);
		return true;
	case FIELD_RATE:
		snprintf(text, room, "%" PRIu64 "bit", value);
		return true;
	case FIELD_BYTES:
		snprintf(text, room, "%" PRIu64 "B", value);
		return true;
	case FIELD_LIMIT:
		snprintf(text, room, "%" PRIu64 "%s", value / 3, limits[value % 3]);
		return true;
	case FIELD_PROBABILITY:
		snprintf(text, room, "%.19g", (double)value / 0x1p63);
		return true;
	case FIELD_COUNT:
		snprintf(text, room, "%" PRIu64, value);
		return true;
	case FIELD_WORD:
		snprintf(text, room, "%s", field->words[value % count_words(field)]);
		return true;
	case FIELD_WORDS:
		print_words(text, room, field, value);
		return true;
	case FIELD_RANGE:
		snprintf(text, room, "%" PRIu64 "..%" PRIu64, more, value);
		return true;
	case FIELD_RATES:
		snprintf(text, room, "%" PRIu64 "bit..%" PRIu64 "bit", more, value);
		return true;
	case FIELD_TIMES:
		snprintf(text, room, "%" PRIu64 "ns..%" PRIu64 "ns", more, value);
		return true;
	case FIELD_PROBABILITIES:
		snprintf(text, room, "%.19g..%.19g", (double)more / 0x1p63, (double)value / 0x1p63);
		return true;
	default:
		return field->type == FIELD_FLAG;
	}
}

uint64_t engine_rig_usual(const struct field *field)
{
	static const uint64_t usual[] = {
	        [FIELD_TIME] = SIMTIME_MS,
	        [FIELD_RATE] = 10000000,
	        [FIELD_BYTES] = 20000,
	        [FIELD_LIMIT] = 3 * 60000,
	        [FIELD_PROBABILITY] = PROBABILITY_ONE / 4,
	        [FIELD_COUNT] = 5,
	        [FIELD_RANGE] = 6,
	        [FIELD_RATES] = 20000000,
	        [FIELD_TIMES] = SIMTIME_MS,
	        [FIELD_PROBABILITIES] = PROBABILITY_ONE / 4,
	        [FIELD_STATES] = 0,
	};
	uint64_t value = usual[field->type];

	if (field->max && value > field->max)
		value = field->max;
	return value < field->min ? field->min : value;
}

static size_t put(char *text, size_t room, size_t at, const char *word)
{
	int n = snprintf(text + at, room - at, " %s", word);

	assert(n > 0 && (size_t)n < room - at);
	return at + (size_t)n;
}

bool engine_rig_words(char *text, size_t room, const char *cloud, const struct statement *statement,
                      uint64_t given, const uint64_t *values)
{
	size_t at = (size_t)snprintf(text, room, "cloud %s %s", cloud, statement->name);
	char value[200];

	if (statement->variant)
		at = put(text, room, at, statement->variant);
	if (statement->scoped)
		at = put(text, room, at, "one");
	for (uint32_t i = 0; statement->fields && statement->fields[i].name; i++) {
		const struct field *field = &statement->fields[i];

		if (!(field->flags & FIELD_REQUIRED) && !(given >> i & 1))
			continue;
		if (!engine_rig_value(value, sizeof(value), field, values[i]))
			return false;
		if (!(field->flags & FIELD_POSITIONAL) && field->type != FIELD_ORDERS &&
		    field->type != FIELD_STATES)
			at = put(text, room, at, field->name);
		if (field->type != FIELD_FLAG)
			at = put(text, room, at, value);
	}
	return true;
}
