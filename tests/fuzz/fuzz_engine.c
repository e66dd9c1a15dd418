/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzes sequences of statements, packets, times and changes (engine_rig.h says what is asserted,
 * after each step). A step is a byte, followed by the bytes that it needs:
 *
 *   a statement of the table with some of its fields, for a cloud
 *   the removal of a statement
 *   a cloud is added, or removed
 *   a line as it is
 *   packets with headers that are right except for some bytes, of usual and of unusual lengths
 *   time passes
 *   counters are cleared
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "engine_rig.h"
#include "input.h"
#include "statements.h"

#define STEPS_MAX    64
#define EVENTS_MAX   2000
#define FIELDS_MAX   32
#define LINE_BYTES   1024
#define HELD_JUMP_NS (200 * SIMTIME_US)
#define FRAME_BYTES  128

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Returns a number of any order of magnitude, with some of its bits taken from the input. */
static uint64_t take_magnitude(struct input *input)
{
	uint32_t bits = take(input) % 64;
	uint64_t value = take(input);

	value = (value << 8 | take(input)) * UINT64_C(0x0001000100010001);
	return (UINT64_C(1) << bits) - 1 + (value & ((UINT64_C(1) << bits) - 1));
}

/* ---- lines ---- */

static const char *const clouds[] = {"x", "y", "z"};

static uint64_t take_value(struct input *input, const struct field *field)
{
	uint8_t how = take(input);

	switch (how % 8) {
	case 0:
		return field->min;
	case 1:
		return field->max;
	case 2:
		return field->max ? field->max + 1 : 1;
	case 3:
		return field->min - (field->min > 0);
	case 4:
		return engine_rig_usual(field);
	case 5:
		return how;
	default:
		return take_magnitude(input);
	}
}

static void statement(struct engine_rig *rig, struct input *input)
{
	const char *cloud = clouds[take(input) % 3];
	uint64_t values[FIELDS_MAX], given;
	const struct statement *row;
	char line[LINE_BYTES];
	uint32_t n = 0;

	while (statements[n])
		n++;
	row = statements[take(input) % n];
	given = (uint64_t)take(input) << 8 | take(input);
	for (uint32_t i = 0; row->fields && row->fields[i].name; i++) {
		assert(i < FIELDS_MAX);
		values[i] = given >> i & 1 ? take_value(input, &row->fields[i])
		                           : engine_rig_usual(&row->fields[i]);
	}
	if (engine_rig_words(line, sizeof(line), cloud, row, given, values))
		engine_rig_line(rig, line);
}

static void without(struct engine_rig *rig, struct input *input)
{
	char line[LINE_BYTES];
	uint32_t n = 0;

	while (statements[n])
		n++;
	snprintf(line, sizeof(line), "no cloud %s %s", clouds[take(input) % 3],
	         statements[take(input) % n]->name);
	engine_rig_line(rig, line);
}

static void clouds_change(struct engine_rig *rig, struct input *input)
{
	static const char *const lines[] = {"cloud y from a to b",
	                                    "cloud y from x to c",
	                                    "cloud y from b to a",
	                                    "cloud z from y to b",
	                                    "cloud z from x to b",
	                                    "cloud z from b to a",
	                                    "clouds y from b to a per source 192.0.2.0/24 most 3",
	                                    "cloud y from a to b match src 192.0.2.1",
	                                    "clouds z from a to c per flow most 4 match udp",
	                                    "no cloud x",
	                                    "no cloud y",
	                                    "no cloud z",
	                                    "cloud x from a to b",
	                                    "cloud x class one weight 0.5 match udp",
	                                    "cloud x class rest",
	                                    "cloud x class one red min 1kB max 9kB"};

	engine_rig_line(rig, lines[take(input) % RTE_DIM(lines)]);
}

static void raw_line(struct engine_rig *rig, struct input *input)
{
	char line[LINE_BYTES];
	size_t n = 0;

	while (n + 1 < sizeof(line) && input->left > 0) {
		uint8_t letter = take(input);

		if (letter == '\n' || letter == 0)
			break;
		line[n++] = (char)letter;
	}
	line[n] = 0;
	/* No line that could name a file of this machine. */
	if (!strchr(line, '/') && !strstr(line, "match"))
		engine_rig_line(rig, line);
}

/* ---- packets ---- */

#define MACS 2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1
#define V4(protocol, total)                                                                        \
	0x45, 0x02, 0, total, 0, 1, 0, 0, 64, protocol, 0, 0, 192, 0, 2, 9, 198, 51, 100, 1

static const uint8_t udp4[] = {MACS, 8, 0, V4(17, 100), 4, 0, 0, 53, 0, 80, 0, 0};
static const uint8_t tcp4[] = {MACS, 8, 0, V4(6, 60), 4, 0, 0, 80,   1,
                               2,    3, 4, 5,         6, 7, 8, 0x50, 0x10};
static const uint8_t ping4[] = {MACS, 8, 0, V4(1, 40), 8, 0, 0, 0, 0, 1, 0, 2};
static const uint8_t asks4[] = {MACS, 8, 0, V4(253, 100), 1, 2, 63, 0, 0, 0, 0, 17};
static const uint8_t tagged[] = {MACS, 0x81, 0, 0,           7, 0x88, 0xa8, 0,
                                 8,    8,    0, V4(17, 200), 4, 0,    0,    53};
static const uint8_t udp6[] = {MACS, 0x86, 0xdd, 0x60, 0,    0, 0, 0,  60, 17, 64, 0x20, 1,
                               0x0d, 0xb8, 0,    0,    0,    0, 0, 0,  0,  0,  0,  0,    0,
                               1,    0x20, 1,    0x0d, 0xb8, 0, 0, 0,  0,  0,  0,  0,    0,
                               0,    0,    0,    2,    4,    0, 0, 53, 0,  60, 0,  0};
static const uint8_t arp[] = {MACS, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1};

static const struct {
	const uint8_t *bytes;
	uint32_t n;
} frames[] = {{udp4, sizeof(udp4)},     {tcp4, sizeof(tcp4)},
              {ping4, sizeof(ping4)},   {asks4, sizeof(asks4)},
              {tagged, sizeof(tagged)}, {udp6, sizeof(udp6)},
              {arp, sizeof(arp)},       {NULL, 0}};

static const uint32_t lengths[] = {0,     1,     13,     14,     33,  34,   42,   59,   60,
                                   64,    114,   511,    512,    513, 1514, 2048, 2049, 9018,
                                   65535, 65549, 262143, 262144, 60,  100,  1000, 1500, 60,
                                   60,    1514,  200,    300,    128, 600};

/* Corrects the checksum of the IPv4 header, if there is one. */
static void mend(uint8_t *frame)
{
	uint32_t sum = 0;

	if (frame[12] != 8 || frame[13] != 0)
		return;
	frame[24] = frame[25] = 0;
	for (uint32_t i = 14; i < 34; i += 2)
		sum += (uint32_t)frame[i] << 8 | frame[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~((sum & 0xffff) + (sum >> 16));
	frame[24] = (uint8_t)(sum >> 8);
	frame[25] = (uint8_t)sum;
}

static void packets(struct engine_rig *rig, struct input *input)
{
	uint32_t which = take(input) % RTE_DIM(frames), bytes, wire = 0, n = 1;
	uint8_t frame[FRAME_BYTES] = {0}, how = take(input), length = take(input);

	if (frames[which].n)
		memcpy(frame, frames[which].bytes, frames[which].n);
	for (uint32_t i = 0; i < (which + 1 == RTE_DIM(frames) ? 16u : how % 4u); i++)
		frame[take(input) % FRAME_BYTES] = take(input);
	if (how & 4)
		mend(frame);
	bytes = lengths[length % RTE_DIM(lengths)];
	if (how & 8)
		wire = (uint32_t)take_magnitude(input);
	if (how & 16)
		n = 1 + take(input) % 40;
	if (bytes > 2049)
		n = RTE_MIN(n, 3u);
	for (uint32_t i = 0; i < n; i++)
		engine_rig_send(rig, (how >> 5) % 3, frame, RTE_MIN(bytes, (uint32_t)FRAME_BYTES),
		                bytes, wire);
}

/* ---- steps ---- */

/* Limits the time while packets are held: every event is then executed, and a schedule may have a
 * million a second. */
static void pass(struct engine_rig *rig, struct input *input)
{
	uint64_t ns = take_magnitude(input);

	if (engine_held_packets(rig->engine) > 0)
		ns = RTE_MIN(ns, HELD_JUMP_NS);
	engine_rig_pass(rig, ns);
}

static void step(struct engine_rig *rig, struct input *input)
{
	uint8_t what = take(input);

	switch (what % 16) {
	case 0:
	case 1:
	case 2:
	case 3:
	case 4:
		statement(rig, input);
		break;
	case 5:
		without(rig, input);
		break;
	case 6:
		clouds_change(rig, input);
		break;
	case 7:
		raw_line(rig, input);
		break;
	case 8:
		engine_clear(rig->engine);
		break;
	case 9:
		engine_rig_run_out(rig, 50);
		break;
	case 10:
	case 11:
		pass(rig, input);
		break;
	default:
		packets(rig, input);
		break;
	}
	engine_rig_check(rig);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	struct engine_rig *rig = engine_rig_open(take(&input));

	for (int steps = 0; steps < STEPS_MAX && input.left > 0; steps++)
		step(rig, &input);
	engine_rig_run_out(rig, EVENTS_MAX);
	engine_rig_check(rig);
	engine_rig_close(rig);
	return 0;
}
