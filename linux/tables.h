/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The contents of the BPF maps that the programs in the kernel and weir-host share.
 */
#ifndef WEIR_LINUX_TABLES_H
#define WEIR_LINUX_TABLES_H

#include <stdint.h>

/* The greatest number of connections that can receive quenches at once. */
#define TABLE_CONNECTIONS 65536

/* `settings`, one entry: written by weir-host before anything is attached. */
struct settings {
	uint32_t bit; /* in the quench's fifth octet */
};

/*
 * `connections`: what the XDP program tells a congestion control about a connection; the key is the
 * address of its socket in the kernel. The congestion control creates the entry and removes it. In
 * between, the XDP program writes it and the congestion control reads it. `quenches` is incremented
 * last: all other fields belong to the latest quench.
 */
struct told {
	uint32_t quenches;
	uint32_t una; /* snd_una when the quench came */
	uint32_t marked;
	uint32_t unused;
};

/*
 * `totals`, one entry: sums over all connections since the start, added to atomically. Each quench
 * that the interface received is counted once, as malformed, foreign, stale, marked or dropped.
 */
#define TOTALS(X)                                                                                  \
	X(connections, "connections that began with this congestion control")                      \
	X(unfollowed, "of these, too many to receive quenches")                                    \
	X(malformed, "quenches with a wrong form or checksum")                                     \
	X(foreign, "quenches about no connection with this congestion control")                    \
	X(stale, "quenches about a segment that is not in flight")                                 \
	X(marked, "quenches about a marked segment")                                               \
	X(dropped, "quenches about a dropped segment")                                             \
	X(cuts, "cuts by a quench")                                                                \
	X(within, "quenches within the window of a cut, without effect")                           \
	X(ended, "quenches whose connection ended before its next acknowledgement")                \
	X(echoes, "cuts by an echo (ECN)")                                                         \
	X(losses, "cuts by a loss or the timer")                                                   \
	X(informed, "connections that took the path's figures")

struct totals {
#define TOTALS_FIELD(name, help) uint64_t name;
	TOTALS(TOTALS_FIELD)
#undef TOTALS_FIELD
};

/* `path`, one entry: the latest figures of the routers, written by weir-host. 0: unknown. */
struct path_figures {
	uint32_t available_kbps; /* the least on the path */
	uint32_t queue_packets;  /* the shortest on the path */
};

#endif
