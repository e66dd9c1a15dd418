/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A conversation with weir that never blocks: lines out, lines in, as they arrive.
 *
 * Thread: the caller's, one.
 */
#ifndef WEIR_SERVE_LINK_H
#define WEIR_SERVE_LINK_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scenario/problem.h"

#define SERVE_LINK_BYTES_MAX ((size_t)64 << 20) /* of an incoming line */

struct serve_link {
	int fd; /* -1: not open */
	char *in, *out;
	size_t in_n, in_room, out_n, out_room;
};

/* `path` NULL: the default. Returns 0, or -errno with problem. */
int serve_link_open(struct serve_link *link, const char *path, struct problem *problem);
void serve_link_close(struct serve_link *link);
/* Sends n bytes, which end with a newline, as soon as possible. Returns 0 or -errno. */
int serve_link_send(struct serve_link *link, const char *bytes, size_t n);
bool serve_link_wants_to_write(const struct serve_link *link);
int serve_link_write(struct serve_link *link);
/* Reads what has arrived, and calls `take` with each complete line, in which a 0 replaces the
 * newline. Returns 0; -ECONNRESET if weir has hung up; or another -errno. `take` must not close the
 * link. */
int serve_link_read(struct serve_link *link, void (*take)(void *argument, char *line, size_t n),
                    void *argument);

/*
 * A conversation with weir for one query, or one change: sends its lines and `quit`, and collects
 * the answers until weir hangs up. At most SERVE_ASKS are under way at once, because weir accepts
 * few clients; the others wait.
 *
 * Ownership: the caller of serve_ask_begin calls serve_ask_end.
 * Thread: the caller's, one.
 */

#define SERVE_ASKS      2
#define SERVE_ASKS_MOST 32 /* including those that wait */

struct serve_ask {
	struct serve_ask *next;
	struct serve_asks *among;
	char *lines; /* owned */
	struct serve_link link;
	bool begun, done;
	uint64_t until_ms; /* deadline */
	char why[400];     /* why there is no complete answer; "": there is one */
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

/* Takes ownership of `lines`, which are without `quit`. Returns NULL if too many wait, or there is
 * no memory. */
struct serve_ask *serve_ask_begin(struct serve_asks *asks, char *lines, uint64_t now_ms,
                                  void (*ready)(void *argument), void *argument);
void serve_ask_end(struct serve_ask *ask);
/* Continues all asks, and gives up those that are overdue. */
void serve_asks_tick(struct serve_asks *asks, uint64_t now_ms);
/* Fills `polled`, of SERVE_ASKS entries. Returns how many are used. */
uint32_t serve_asks_poll(const struct serve_asks *asks, struct pollfd *polled);

#endif
