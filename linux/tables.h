/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What lies in BPF maps between the programs in the kernel and weir-host.
 */
#ifndef WEIR_LINUX_TABLES_H
#define WEIR_LINUX_TABLES_H

#include <stdint.h>

/* How many connections can be quenched at once. */
#define TABLE_CONNECTIONS 65536

/* `settings`, one: written by weir-host before anything is attached. */
struct settings {
	uint32_t bit; /* of the quench's fifth octet */
};

/*
 * `connections`: what a quench means to a connection, under the address of its socket in the
 * kernel. The congestion control makes the entry and removes it. In between, the XDP program writes
 * it and the congestion control reads it. `quenches` is incremented last: all other fields belong
 * to the latest quench.
 */
struct told {
	uint32_t quenches;
	uint32_t una; /* not acknowledged yet when it came */
	uint32_t marked;
	uint32_t unused;
};

/*
 * `totals`, one: of all connections, since the start. Added to atomically. Each quench that the
 * interface saw is in one of malformed, foreign, stale and marked + dropped.
 */
#define TOTALS(X)                                                                                  \
	X(connections, "that began with it")                                                       \
	X(unfollowed, "of these, too many to be quenched")                                         \
	X(malformed, "quenches that are none (quench.h)")                                          \
	X(foreign, "quenches of no connection of ours")                                            \
	X(stale, "quenches of a segment that is not on its way")                                   \
	X(marked, "quenches that tell of a mark")                                                  \
	X(dropped, "quenches that tell of a drop")                                                 \
	X(cuts, "by a quench")                                                                     \
	X(within, "quenches within the window of a cut, without effect")                           \
	X(echoes, "cuts by an echo (ECN)")                                                         \
	X(losses, "cuts by a loss or the timer")                                                   \
	X(informed, "connections that took the path's figures")

struct totals {
#define TOTALS_FIELD(name, help) uint64_t name;
	TOTALS(TOTALS_FIELD)
#undef TOTALS_FIELD
};

/* `path`, one: what routers said last, by weir-host. 0: not known. */
struct path_figures {
	uint32_t available_kbps; /* the least of the path */
	uint32_t queue_packets;  /* the shortest */
};

#endif
