/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connection of `weir top`: what weir pushes, as objects; and again, when weir was started
 * again. A second connection asks and changes.
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
	char line[80];    /* of `sample` */
	bool up;
	struct ctl_link link, asks;   /* the latter in text; fd -1: not open */
	char run[TOP_FEED_RUN_BYTES]; /* which weir it was talking to last; "": none */
	uint64_t next;                /* event */
	json_t *hello;
	uint64_t again_ms; /* when to try again */
	char said[300];    /* for the status line: what became of the connection; "": nothing new */
};

/* `interval`: as it is typed. */
void top_feed_begin(struct top_feed *feed, const char *path, const char *interval);
void top_feed_end(struct top_feed *feed);
/* Connects, if it is not, and if it is time. 0, or -errno with said. */
int top_feed_connect(struct top_feed *feed, uint64_t now_ms);
/* When the descriptor of `link` is readable. Calls `take` with each object that is pushed. */
void top_feed_read(struct top_feed *feed, uint64_t now_ms,
                   void (*take)(void *argument, const json_t *object), void *argument);
/* Asks in text. The answer, to be freed; an error is in it, too. NULL: there is none. */
char *top_feed_ask(struct top_feed *feed, const char *line, bool *ok);

#endif
