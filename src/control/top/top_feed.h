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

#endif
