/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A conversation with weir for one question, or one change: it says its lines and `quit`, and hears
 * what there is to hear until weir hangs up. SERVE_ASKS are under way at once, since weir has few
 * places for clients; others wait.
 *
 * Ownership: whoever begins one ends it. Thread: the caller's, one.
 */
#ifndef WEIR_SERVE_ASK_H
#define WEIR_SERVE_ASK_H

#include <poll.h>
#include <stdint.h>

#include "serve/serve_link.h"

#define SERVE_ASKS      2
#define SERVE_ASKS_MOST 32 /* those that wait, too */

struct serve_ask {
	struct serve_ask *next;
	struct serve_asks *among;
	char *lines; /* owned */
	struct serve_link link;
	bool begun, done;
	uint64_t until_ms; /* then it is given up */
	char why[400];     /* there is no whole answer; "": there is */
	char *answer;      /* lines */
	size_t answer_n;
	void (*ready)(void *argument); /* when it is done */
	void *argument;
};

struct serve_asks {
	const char *path;
	struct serve_ask *first;
	uint32_t n;
};

/* `lines`, without `quit`, passes. NULL: too many wait, or no memory. */
struct serve_ask *serve_ask_begin(struct serve_asks *asks, char *lines, uint64_t now_ms,
                                  void (*ready)(void *argument), void *argument);
void serve_ask_end(struct serve_ask *ask);
/* Goes on with all, and gives up what is overdue. */
void serve_asks_tick(struct serve_asks *asks, uint64_t now_ms);
/* What is to be polled, SERVE_ASKS at most; returns how many. */
uint32_t serve_asks_poll(const struct serve_asks *asks, struct pollfd *polled);

#endif
