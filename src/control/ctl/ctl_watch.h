/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets of a running weir, from the memory into which its workers put them
 * (capture/fate_reader.h).
 *
 * Thread: the caller's, one.
 */
#ifndef WEIR_CTL_WATCH_H
#define WEIR_CTL_WATCH_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "account/witness.h"
#include "capture/fate_reader.h"
#include "ctl/ctl_link.h"
#include "fates/capture_words.h"

#define CTL_WATCH_BYTES (UINT64_C(32) << 20)

/* What becomes of them. Each returns 0; or a negative errno, of which all is said; or, `settle`
 * and `flush`, 1: it is enough. */
struct ctl_watcher {
	/* The emulator has answered; `memory` says the names of ports, and the time. */
	int (*begin)(void *argument, const struct fate_memory *memory);
	int (*put)(void *argument, const struct fate *fate, uint64_t lost);
	/* What happened up to `until` has been put. */
	int (*settle)(void *argument, simtime until);
	/* Nothing more is there now. */
	int (*flush)(void *argument);
	void *argument;
	uint64_t for_ns; /* it lasts; 0: until somebody ends it */
	const char *name;
};

/* Becomes not 0 by SIGINT and SIGTERM. */
extern volatile sig_atomic_t ctl_watch_stopped;

/* Asks for a capture and reads it to its end. `missed`: of each kind, what found no room. 0: it
 * came to its end, or was ended; -EINVAL: the emulator refused; or another -errno. All is said. */
int ctl_watch(struct ctl_link *link, const struct capture_words *words,
              const struct ctl_watcher *watcher, uint64_t missed[FATE_KINDS]);

#endif
