/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzes snapshots of engines (engine/engine_snapshot.h): a file's checksum detects damage, but not
 * content made by hand. Byte 0 chooses a scenario, whose engine is written down amid packets; then
 * come positions in that, two bytes each, with the byte to put there. A position behind its end
 * truncates it.
 *
 * Asserts: an engine that accepts the snapshot comes to an end, whatever packets arrive, and frees
 * every mbuf, and so does one that refuses it.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine_snapshot.h"
#include "engine_rig.h"
#include "input.h"

#define SNAPSHOT_BYTES (1u << 20)
#define LINES_MAX      6
#define EDITS_MAX      24
#define PACKETS        200
#define PACKET_BYTES   300
#define GAP_NS         (100 * SIMTIME_US)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const scenarios[][LINES_MAX] = {
        {"cloud x delay 5ms jitter 2ms order allow", "cloud x loss random 9% correlation 60%",
         "cloud x duplicate every 9", "cloud x reorder every 5"},
        {"cloud x rate 10mbit queue 100kB", "cloud x delay 5ms",
         "cloud x loss gilbert-elliott p 10% r 30%", "cloud x red min 5kB max 40kB",
         "cloud x ecn on"},
        {"cloud x rate 10mbit queue 100pkt", "cloud x fq-codel flows 16", "cloud y from b to a",
         "cloud y delay 7ms jitter 1ms distribution normal"},
        {"cloud x rate 10mbit queue 100pkt", "cloud x dualpi2 target 2ms", "cloud y from x to c",
         "cloud y delay 3ms"},
        {"cloud x rate 10mbit queue 60pkt", "cloud x class rest",
         "cloud x class one weight 0.5 match udp", "cloud x police 9mbit burst 5kB"},
        {"cloud x delay 1ms", "clouds y from b to a per source 192.0.2.0/24 most 3",
         "cloud y rate 1mbit queue 20pkt", "cloud y delay 9ms"},
        {"cloud x hop 192.0.2.99 limit 20 burst 30", "cloud x rate 10mbit queue 100pkt",
         "cloud x codel target 1ms interval 10ms", "cloud y from b to a", "cloud y delay 1ms"},
        {"cloud x every 10ms for 3ms loss burst 9% length 5..60",
         "cloud x markov a 6ms delay 5ms then b 3ms delay 1ms", "cloud x flap down 2ms every 30ms",
         "cloud x loss tcp-byte 1500 flows 16"},
};

#define SCENARIOS (sizeof(scenarios) / sizeof(scenarios[0]))

static const uint8_t head[] = {2,    0, 0,   0,  0,   2, 2, 0, 0,  0,  0, 1,  8,   0,
                               0x45, 2, 1,   30, 0,   1, 0, 0, 64, 17, 0, 0,  192, 0,
                               2,    9, 198, 51, 100, 1, 4, 0, 0,  53, 1, 10, 0,   0};

static struct engine_rig *open_rig(uint32_t scenario)
{
	struct engine_rig *rig = engine_rig_open(7);

	for (uint32_t i = 0; i < LINES_MAX && scenarios[scenario][i]; i++) {
		bool taken = engine_rig_line(rig, scenarios[scenario][i]);

		assert(taken);
	}
	return rig;
}

static void packets(struct engine_rig *rig, uint32_t n)
{
	uint8_t frame[sizeof(head)];

	for (uint32_t i = 0; i < n; i++) {
		memcpy(frame, head, sizeof(head));
		frame[15] = (uint8_t)(i & 3);
		frame[23] = i % 3 ? 17 : 6;
		frame[29] = (uint8_t)(1 + i % 7);
		frame[28] = (uint8_t)(i % 5);
		engine_rig_send(rig, i % 4 == 3, frame, sizeof(frame), PACKET_BYTES, PACKET_BYTES);
		engine_rig_pass(rig, i % 8 ? GAP_NS / 8 : GAP_NS);
	}
}

/* Writes the snapshot of an engine of this scenario; it is the same each time. */
static size_t written(uint32_t scenario, uint8_t *bytes)
{
	struct snapshot snapshot = {.at = bytes, .end = bytes + SNAPSHOT_BYTES};
	struct engine_rig *rig = open_rig(scenario);

	packets(rig, PACKETS);
	assert(!engine_snapshot_waits(rig->engine));
	engine_snapshot(rig->engine, rig->now, &snapshot);
	assert(!snapshot.failed);
	engine_rig_close(rig);
	return (size_t)(snapshot.at - bytes);
}

static void read_and_go_on(uint32_t scenario, simtime now, uint8_t *bytes, size_t n)
{
	struct snapshot snapshot = {.at = bytes, .end = bytes + n, .restores = true};
	struct engine_rig *rig = open_rig(scenario);

	engine_rig_pass(rig, now);
	rig->unsound = true;
	engine_snapshot(rig->engine, rig->now, &snapshot);
	if (!snapshot.failed) {
		packets(rig, PACKETS / 4);
		for (uint32_t i = 0; i < 20; i++)
			engine_rig_pass(rig, GAP_NS << i);
	}
	engine_rig_close(rig);
}

static simtime taken_at(void)
{
	simtime now = 0;

	for (uint32_t i = 0; i < PACKETS; i++)
		now += i % 8 ? GAP_NS / 8 : GAP_NS;
	return now;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t whole[SCENARIOS][SNAPSHOT_BYTES];
	static size_t n_whole[SCENARIOS];
	struct input input = {data, size};
	const uint32_t scenario = take(&input) % SCENARIOS;
	uint8_t *bytes;
	size_t n;

	if (n_whole[scenario] == 0)
		n_whole[scenario] = written(scenario, whole[scenario]);
	n = n_whole[scenario];
	/* A block of its own, so that reads beyond its end are detected. */
	bytes = malloc(n);
	assert(bytes);
	memcpy(bytes, whole[scenario], n);
	for (uint32_t i = 0; i < EDITS_MAX && input.left > 0; i++) {
		size_t at = take(&input);

		at = at << 8 | take(&input);
		if (at >= n) {
			uint8_t *less = malloc(n = at % n + 1);

			assert(less);
			memcpy(less, bytes, n);
			free(bytes);
			bytes = less;
			continue;
		}
		bytes[at] = take(&input);
	}
	read_and_go_on(scenario, taken_at(), bytes, n);
	free(bytes);
	return 0;
}
