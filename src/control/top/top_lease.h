/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A change by `weir top` that lasts as long as top runs: made under a lease (docs/control.md),
 * which is renewed over a connection of its own three times within its time. When top has ended, in
 * whatever way, weir undoes the change when the time is up. One at a time: a new lease replaces the
 * one before, which ends when its time is up.
 *
 * Thread: the caller's, one.
 */
#ifndef WEIR_TOP_LEASE_H
#define WEIR_TOP_LEASE_H

#include "ctl/ctl_link.h"

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

#endif
