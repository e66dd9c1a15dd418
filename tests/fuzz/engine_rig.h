/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An engine that is driven by lines of the scenario language, for what tries anything at all:
 * fuzzing, and the boundaries of every field. It needs no EAL, and its mbufs are poisoned while
 * they are free (poison_ops.h).
 *
 * What is asserted, by abort: each cloud's accounts (engine_rig_check); that what leaves is in the
 * order of time at its port, not longer than a packet may be, and not later than the engine was
 * told; that a line that was accepted prints to one that is, and makes the same; and at the end
 * that every mbuf is back. ENGINE_RIG_TALK in the environment: says on stderr which lines took
 * effect, and which packets came.
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
	bool unsound; /* what it remembers was read from somewhere: accounts are not looked at */
};

/* One at a time. With cloud x from a to b. */
struct engine_rig *engine_rig_open(uint64_t seed);
void engine_rig_close(struct engine_rig *rig);

/* A line takes effect now. False: it was refused, by the language, by the check of the whole, or by
 * the engine. */
bool engine_rig_line(struct engine_rig *rig, const char *line);
/* What the conf's file says is in its place: puts it into cloud x. Takes the conf. */
bool engine_rig_put(struct engine_rig *rig, struct conf *conf);

/* A packet of `bytes`, of which `data` has some and the rest is 0; `wire_bytes` at least as
 * many. */
void engine_rig_send(struct engine_rig *rig, uint32_t port, const uint8_t *data, uint32_t n,
                     uint32_t bytes, uint32_t wire_bytes);
/* On by so much, by so many events at most while something is held. */
void engine_rig_pass(struct engine_rig *rig, uint64_t ns);
/* From event to event, so many at most. */
void engine_rig_run_out(struct engine_rig *rig, uint32_t events);
void engine_rig_check(struct engine_rig *rig);

/* ---- lines ---- */

/* A value of a field as it is written, without the field's name: of one that is a number that
 * number, else one of the ways that there are. False: it needs a file. */
bool engine_rig_value(char *text, size_t room, const struct field *field, uint64_t value);
/* A number in the midst of the field's. */
uint64_t engine_rig_usual(const struct field *field);
/* `cloud NAME STATEMENT FIELDS`: the fields of `given`, and those that must be, with these values.
 * False: it needs a file. */
bool engine_rig_words(char *text, size_t room, const char *cloud, const struct statement *statement,
                      uint64_t given, const uint64_t *values);

#endif
