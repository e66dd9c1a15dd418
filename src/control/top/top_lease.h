/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A change of `weir top` for as long as it lives: made under a lease (docs/control.md), which is
 * renewed over a connection of its own three times within its time. When top has gone, however it
 * went, weir undoes the change when the time is up. One at a time: another takes its place, and the
 * one before goes when its time is up.
 *
 * Thread: the caller's, one.
 */
#ifndef WEIR_TOP_LEASE_H
#define WEIR_TOP_LEASE_H

#include "ctl/ctl_link.h"

struct top_lease {
	struct ctl_link link; /* fd -1: there is none */
	uint64_t every_ms, next_ms;
	char said[300]; /* for the status line: that it was lost; "": nothing new */
};

void top_lease_begin(struct top_lease *lease);
/* It is not renewed any more. */
void top_lease_end(struct top_lease *lease);
bool top_lease_is_held(const struct top_lease *lease);
/* `words`: `TIME LINE`. NULL, or what is wrong, to be freed; then nothing was changed. */
char *top_lease_make(struct top_lease *lease, const char *path, const char *words, uint64_t now_ms);
/* `keep` or `revert`, of the one that is held. NULL, or what is wrong, to be freed. */
char *top_lease_say(struct top_lease *lease, const char *line, uint64_t now_ms);
/* Renews it if it is time. To be called often. */
void top_lease_poll(struct top_lease *lease, uint64_t now_ms);
/* So long at most until top_lease_poll has something to do. */
int top_lease_wait_ms(const struct top_lease *lease, uint64_t now_ms, int most_ms);

#endif
