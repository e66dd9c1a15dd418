/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The last connections of the weir that is served, and where their time went (explain/explainer.h):
 * a thread that looks at the packets as `weir ctl explain` does, and keeps the latest
 * SERVE_EXPLAIN_KEPT that are over. It looks only while somebody asks: SERVE_EXPLAIN_IDLE_MS after
 * the last question it ends, and the next question begins anew.
 *
 * Ownership: serve_explain_end ends the thread, and frees everything.
 * Thread: the main thread.
 */
#ifndef WEIR_SERVE_EXPLAIN_H
#define WEIR_SERVE_EXPLAIN_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define SERVE_EXPLAIN_KEPT    100
#define SERVE_EXPLAIN_IDLE_MS 30000

struct serve_explain {
	const char *path; /* of weir's socket; NULL: the default */
	pthread_t thread;
	bool begun; /* there is a thread, which has to be joined */
	/* of both threads */
	pthread_mutex_t lock;
	bool over; /* the thread ends, or has ended */
	uint64_t asked_ms;
	uint64_t n;                     /* connections so far */
	char *kept[SERVE_EXPLAIN_KEPT]; /* their JSON, number i at i % SERVE_EXPLAIN_KEPT */
	char why[480];                  /* it cannot look, because ...; "": it can */
};

void serve_explain_init(struct serve_explain *explain, const char *path);
void serve_explain_end(struct serve_explain *explain);
/* Returns {"n":..,"why":"..","connections":[..]}, the latest first, which the caller frees; NULL:
 * no memory. Begins to look, if it does not. */
char *serve_explain_text(struct serve_explain *explain, uint64_t now_ms);

#endif
