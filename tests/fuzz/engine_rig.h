/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An engine driven by lines of the scenario language, for tests with arbitrary input: fuzzing, and
 * the boundaries of every field. It needs no EAL, and its mbufs are poisoned while they are free
 * (poison_ops.h).
 *
 * It asserts, by abort: each cloud's accounts (engine_rig_check); that departures are in the order
 * of time at their port, not longer than a packet may be, and not later than the engine was
 * advanced; that the text of an accepted line is accepted, and makes the same scenario; and at the
 * end that every mbuf is back. With ENGINE_RIG_TALK in the environment it prints on stderr which
 * lines took effect, and which packets arrived.
 */
#ifndef WEIR_ENGINE_RIG_H
#define WEIR_ENGINE_RIG_H

#include "engine/engine.h"
#include "language/language.h"

#define ENGINE_RIG_PORTS  3 /* a, b, c */
#define ENGINE_RIG_CLOUDS 3 /* x, y, z */
#define ENGINE_RIG_MBUFS  4096

struct engine_rig {
	struct scenario *scenario; /* in force */
	struct engine *engine;
	void *memory;
	simtime now;
	uint64_t numbers[ENGINE_RIG_PORTS];
	simtime left[ENGINE_RIG_PORTS]; /* the latest departure */
	uint64_t n_left;
	bool unsound; /* its state was restored from input: accounts are not checked */
};

/* Opens the only rig, with cloud x from a to b. */
struct engine_rig *engine_rig_open(uint64_t seed);
void engine_rig_close(struct engine_rig *rig);

/* Puts a line into effect now. Returns false if it was refused, by the language, by the check of
 * the whole, or by the engine. */
bool engine_rig_line(struct engine_rig *rig, const char *line);
/* Puts a conf that has its file's content into cloud x, and takes ownership of it. Returns false if
 * it was refused. */
bool engine_rig_put(struct engine_rig *rig, struct conf *conf);

/* Sends a packet of `bytes` bytes: the first n are `data`, the rest is 0; `wire_bytes` is raised to
 * at least as many. */
void engine_rig_send(struct engine_rig *rig, uint32_t port, const uint8_t *data, uint32_t n,
                     uint32_t bytes, uint32_t wire_bytes);
/* Advances by `ns`. */
void engine_rig_pass(struct engine_rig *rig, uint64_t ns);
/* Advances from event to event, at most this many. */
void engine_rig_run_out(struct engine_rig *rig, uint32_t events);
void engine_rig_check(struct engine_rig *rig);

/* ---- lines ---- */

/* Writes a value of a field, without the field's name: if the field is a number, `value`; otherwise
 * one of the possible values, which `value` chooses. Returns false if the field needs a file. */
bool engine_rig_value(char *text, size_t room, const struct field *field, uint64_t value);
/* Returns a number in the middle of the field's range. */
uint64_t engine_rig_usual(const struct field *field);
/* Writes `cloud NAME STATEMENT FIELDS`: the fields in `given`, and the required ones, with these
 * values. Returns false if it needs a file. */
bool engine_rig_words(char *text, size_t room, const char *cloud, const struct statement *statement,
                      uint64_t given, const uint64_t *values);

#endif
