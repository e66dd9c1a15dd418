/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets of a running weir, from the memory into which its workers put their fates
 * (capture/fate_ring.h).
 *
 * Thread: the caller's, one.
 */
#ifndef WEIR_CTL_WATCH_H
#define WEIR_CTL_WATCH_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "account/witness.h"
#include "capture/fate_ring.h"
#include "ctl/ctl_link.h"
#include "fates/capture_words.h"

#define CTL_WATCH_BYTES (UINT64_C(32) << 20)

/* The consumer of the fates. Each function returns 0, or a negative errno after printing all
 * messages. `settle` and `flush` may also return 1: enough has been received. */
struct ctl_watcher {
	/* Called when the emulator has answered; `memory` has the names of ports, and the time. */
	int (*begin)(void *argument, const struct fate_memory *memory);
	int (*put)(void *argument, const struct fate *fate, uint64_t lost);
	/* All fates up to `until` have been put. */
	int (*settle)(void *argument, simtime until);
	/* No more fates are available now. */
	int (*flush)(void *argument);
	void *argument;
	uint64_t for_ns; /* duration; 0: until somebody ends it */
	const char *name;
};

/* The signal that ended the capture: SIGINT, SIGTERM or SIGHUP; or 0. */
extern volatile sig_atomic_t ctl_watch_stopped;

/* Requests a capture and reads it to its end. `missed`: of each kind, the fates that found no room.
 * Returns 0 if it has reached its end, or was ended; -EINVAL if the emulator refused; or another
 * -errno. All messages are printed. */
int ctl_watch(struct ctl_link *link, const struct capture_words *words,
              const struct ctl_watcher *watcher, uint64_t missed[FATE_KINDS]);

#endif
