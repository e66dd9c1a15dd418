/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connection of `weir top`: receives what weir pushes, as objects, and connects again when weir
 * was started again. A second connection carries queries and changes.
 *
 * Thread: the caller's, one.
 */
#ifndef WEIR_TOP_FEED_H
#define WEIR_TOP_FEED_H

#include <jansson.h>

#include "ctl/ctl_link.h"

#define TOP_FEED_RUN_BYTES 32

struct top_feed {
	const char *path; /* NULL: the default */
	char line[80];    /* the `sample` command */
	bool up;
	struct ctl_link link, asks;   /* `asks` is in text mode; fd -1: not open */
	char run[TOP_FEED_RUN_BYTES]; /* the run of weir that was connected last; "": none */
	uint64_t next;                /* the next event */
	json_t *hello;
	uint64_t again_ms; /* when to connect again */
	char said[300];    /* for the status line: the state of the connection; "": nothing new */
};

/* `interval`: as typed. */
void top_feed_begin(struct top_feed *feed, const char *path, const char *interval);
void top_feed_end(struct top_feed *feed);
/* Connects, if it is not connected and the time has come. Returns 0, or -errno with `said`. */
int top_feed_connect(struct top_feed *feed, uint64_t now_ms);
/* To be called when the descriptor of `link` is readable. Calls `take` with each object that is
 * pushed. */
void top_feed_read(struct top_feed *feed, uint64_t now_ms,
                   void (*take)(void *argument, const json_t *object), void *argument);
/* Sends a command in text mode. Returns the answer or the error, which the caller frees; NULL if
 * there is no memory. */
char *top_feed_ask(struct top_feed *feed, const char *line, bool *ok);

/*
 * A change by `weir top` that lasts as long as top runs: made under a lease (docs/control.md),
 * which is renewed over a connection of its own three times within its time. When top has ended, in
 * whatever way, weir undoes the change when the time is up. One at a time: a new lease replaces the
 * one before, which ends when its time is up.
 */

struct top_lease {
	struct ctl_link link; /* fd -1: no lease is held */
	uint64_t every_ms, next_ms;
	char said[300]; /* for the status line: the lease was lost; "": nothing new */
};

void top_lease_begin(struct top_lease *lease);
/* Stops renewing the lease. */
void top_lease_end(struct top_lease *lease);
bool top_lease_is_held(const struct top_lease *lease);
/* `words`: `TIME LINE`. Returns NULL, or an error message, which the caller frees; then nothing was
 * changed. */
char *top_lease_make(struct top_lease *lease, const char *path, const char *words, uint64_t now_ms);
/* Sends `keep` or `revert` for the lease that is held. Returns NULL, or an error message, which the
 * caller frees. */
char *top_lease_say(struct top_lease *lease, const char *line, uint64_t now_ms);
/* Renews the lease if the time has come. To be called often. */
void top_lease_poll(struct top_lease *lease, uint64_t now_ms);
/* Returns the time until top_lease_poll has something to do, but at most `most_ms`. */
int top_lease_wait_ms(const struct top_lease *lease, uint64_t now_ms, int most_ms);

/*
 * The key of `weir top` that dumps the flight (docs/record.md) into the default folder. It has a
 * connection of its own, because writing to a disk takes time, and the picture continues meanwhile.
 */

struct top_flight {
	struct ctl_link link; /* fd -1: no dump is under way */
	char said[300];       /* for the status line; "": nothing new */
};

void top_flight_begin(struct top_flight *flight);
/* Closes the connection. A dump that weir has begun continues. */
void top_flight_end(struct top_flight *flight);
/* `path`: the control socket; NULL: the default. */
void top_flight_dump(struct top_flight *flight, const char *path);
/* To be called when the descriptor of `link` is readable: reads the result. */
void top_flight_read(struct top_flight *flight);

#endif
