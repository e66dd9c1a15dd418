/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzes files that statements name: FUZZ_STATEMENT is the statement (a row of meson.build for
 * each). Byte 0 chooses the fields besides the file, the rest is its content.
 *
 * Asserts: a file that is refused has an error that says why, in one line; one that is accepted is
 * played: packets, from 1 ns to weeks apart, with correct accounts and a complete mempool after
 * each (engine_rig.h).
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "engine_rig.h"
#include "line/delay.h"
#include "loss/loss_list.h"
#include "scenario/file.h"
#include "schedule/path_trace.h"

#define INPUT_MAX 65536
#define PACKETS   40

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t field_of(const struct statement *statement, const char *name)
{
	uint32_t i = 0;

	while (strcmp(statement->fields[i].name, name) != 0)
		i++;
	return i;
}

static void *member(struct conf *conf, const char *name)
{
	uint32_t i = field_of(conf->statement, name);

	conf->given |= UINT64_C(1) << i;
	return (char *)conf + conf->statement->fields[i].offset;
}

static void choose(struct conf *conf, uint8_t how)
{
	if (conf->statement == &delay_statement) {
		struct delay_conf *delay = (struct delay_conf *)conf;

		delay->distribution = DELAY_TABLE;
		delay->delay_ns = 10 * SIMTIME_MS;
		delay->jitter_ns = how & 1 ? 0 : 2 * SIMTIME_MS;
		delay->order = how & 2 ? ORDER_ALLOW : ORDER_KEEP;
		conf->given |= UINT64_C(1) << field_of(conf->statement, "distribution") |
		               UINT64_C(1) << field_of(conf->statement, "jitter");
		return;
	}
	if (conf->statement == &trace_statement) {
		if (how & 1)
			*(bool *)member(conf, "loop") = true;
		if (how & 2)
			*(uint32_t *)member(conf, "format") = how >> 2 & 1;
	}
}

static const char *file_field(const struct statement *statement)
{
	uint32_t i = 0;

	while (statement->fields[i].type != FIELD_FILE)
		i++;
	return statement->fields[i].name;
}

static void play(struct engine_rig *rig)
{
	static const uint64_t gaps[] = {1, 1000, SIMTIME_MS, 0, 7 * SIMTIME_MS, SIMTIME_S};
	static const uint8_t frame[60];

	for (uint32_t i = 0; i < PACKETS; i++) {
		engine_rig_send(rig, 0, frame, sizeof(frame), i % 3 ? 60 : 1514, 0);
		engine_rig_pass(rig, gaps[i % RTE_DIM(gaps)]);
		engine_rig_check(rig);
	}
	engine_rig_run_out(rig, 300);
	if (engine_held_packets(rig->engine) == 0)
		engine_rig_pass(rig, UINT64_C(3000000) * SIMTIME_S);
	engine_rig_send(rig, 0, frame, sizeof(frame), 60, 0);
	engine_rig_run_out(rig, 300);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct conf *conf = conf_make(&FUZZ_STATEMENT);
	struct problem problem = {.text = ""};
	struct engine_rig *rig;
	struct file *file;

	if (size < 1 || size > INPUT_MAX) {
		conf_free(conf);
		return 0;
	}
	file = file_make("input", size - 1);
	assert(conf && file);
	memcpy(file->text, data + 1, size - 1);
	file->text[size - 1] = 0;
	*(struct file **)member(conf, file_field(conf->statement)) = file;
	choose(conf, data[0]);
	rig = engine_rig_open(data[0]);
	if (conf->statement->check &&
	    conf->statement->check(conf, rig->scenario->clouds[0], &problem)) {
		assert(problem.text[0] && !strchr(problem.text, '\n'));
		conf_free(conf);
	} else if (engine_rig_put(rig, conf)) {
		play(rig);
	}
	engine_rig_close(rig);
	return 0;
}
