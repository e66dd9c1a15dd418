/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a capture is asked for, as words:
 *
 *   capture CLOUD|PORT|all [POINT,...] [match EXPRESSION] [snap N] [for TIME | N packets] [-o FILE]
 *   trace [CLOUD|PORT|all] next N [match EXPRESSION]
 *
 * EXPRESSION ends where one of the other words begins, or is one quoted word. `for`, `packets` and
 * `-o` are the client's own; the emulator gets the rest, and with it a descriptor of the memory
 * that it is to put packets into (capture/fate_ring.h).
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_CAPTURE_WORDS_H
#define WEIR_CAPTURE_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/filter.h"
#include "fates/points.h"
#include "scenario/scenario.h"
#include "text/word.h"

#define CAPTURE_ALL          "all"
#define CAPTURE_TRACE_PACKET 100000u /* the most packets that are traced at once */

struct capture_words {
	char target[SCENARIO_NAME_BYTES]; /* CAPTURE_ALL: all, if no cloud or port is called so */
	uint32_t target_column;
	uint32_t points; /* as bits 1 << point */
	bool matches;
	char match[FILTER_BYTES_MAX + 1];
	uint32_t match_column;
	uint32_t snap;
	/* the client's; 0: not given */
	uint64_t for_ns, packets;
	char output[4096]; /* "": not given */
};

/* 0, or -EINVAL with error. `client`: its own words may stand there, too. */
int capture_words_parse(const struct words *words, bool client, struct capture_words *capture,
                        struct language_error *error);
/* Of `trace`. */
int capture_words_trace(const struct words *words, struct capture_words *capture,
                        struct language_error *error);
/* The line for the emulator, in CAPTURE_LINE_BYTES. */
#define CAPTURE_LINE_BYTES 2048
void capture_words_line(const struct capture_words *capture, char *line, size_t room);

#endif
