/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parameters of a capture, as words:
 *
 *   capture CLOUD|PORT|all [POINT,...] [match EXPRESSION] [snap N] [for TIME | N packets] [-o FILE]
 *   trace [CLOUD|PORT|all] next N [match EXPRESSION]
 *   explain [CLOUD|PORT|all] [match EXPRESSION] [for TIME] [-o FILE]
 *
 * EXPRESSION ends where one of the other words begins, or is one quoted word. `for`, `packets` and
 * `-o` stay in the client. The emulator gets the rest, with a descriptor of the memory into which
 * it puts packets (capture/fate_ring.h).
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_CAPTURE_WORDS_H
#define WEIR_CAPTURE_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/filter.h"
#include "fates/fate_text.h"
#include "scenario/scenario.h"
#include "text/word.h"

#define CAPTURE_ALL          "all"
#define CAPTURE_TRACE_PACKET 100000u /* most packets that are traced at once */

struct capture_words {
	char target[SCENARIO_NAME_BYTES]; /* CAPTURE_ALL: all of them, unless one has that name */
	uint32_t target_column;
	uint32_t points; /* as bits 1 << point */
	bool explains;   /* instead of points: the fates from which connections are explained */
	bool matches;
	char match[FILTER_BYTES_MAX + 1];
	uint32_t snap;
	/* of the client; 0: not given */
	uint64_t for_ns, packets;
	char output[4096]; /* "": not given */
};

/* Parses `capture`. Returns 0, or -EINVAL with error. `client`: accepts the client's own words,
 * too. */
int capture_words_parse(const struct words *words, bool client, struct capture_words *capture,
                        struct language_error *error);
/* Parses `trace` likewise. */
int capture_words_trace(const struct words *words, struct capture_words *capture,
                        struct language_error *error);
/* Parses `explain` likewise. To the emulator, it is a capture of the point `explain`. */
int capture_words_explain(const struct words *words, struct capture_words *capture,
                          struct language_error *error);
/* Formats the line for the emulator, in at most CAPTURE_LINE_BYTES. */
#define CAPTURE_LINE_BYTES 2048
void capture_words_line(const struct capture_words *capture, char *line, size_t room);

#endif
