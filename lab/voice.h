/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Voice calls from one host to another: the load to which ECN-mod's best-effort flows adapt.
 *
 *   voice NAME CALLS from SWITCH to SWITCH ...
 *
 * Model (Misra and Ott's, G.711): calls begin as a Poisson process of rate CALLS / holding. Their
 * duration is exponentially distributed with the mean `holding`, so that CALLS are in progress on
 * average; a run begins with so many. A call that begins while `most` are in progress is refused. A
 * call talks and is silent in turns, each for an exponentially distributed time. While it talks, it
 * sends a datagram of `packet` bytes every `every`, as many in a talkspurt as fit, rounded, and at
 * least one. (So does ns-2's exponential source. Rounding up would send half a datagram too many on
 * average.)
 *
 * Draws: by a counter under (seed, name), in the order of events.
 * Ownership: voice_close.
 * Thread: the world's.
 */
#ifndef WEIR_LAB_VOICE_H
#define WEIR_LAB_VOICE_H

#include "lab/arrivals.h"
#include "lab/world.h"
#include "random/draw.h"
#include "scenario/statement.h"

#define VOICE_CALLS_MAX 10000

struct voice_conf {
	struct conf conf;
	uint64_t calls;
	char *from, *to;
	uint64_t port;
	uint64_t most;
	simtime holding_ns, talk_ns, silence_ns, every_ns;
	uint64_t packet_bytes; /* of the IPv4 datagram */
};

extern const struct statement group_voice;

struct voice_counters {
	uint64_t sent, arrived, refused;
};

struct voice;
struct voice_call {
	struct voice *voice;
	struct timer timer;
	bool going, talking;
	simtime dies_ns;
	uint64_t left;   /* datagrams left in this talkspurt */
	uint32_t number; /* of its next datagram */
};

struct voice {
	const struct voice_conf *conf;
	struct host *from, *to;
	struct frame_end here, there;
	struct draw_key key;
	uint64_t drawn;
	struct timer birth;
	struct voice_call *calls; /* `most` of them */
	uint32_t n_going;
	struct voice_counters counters;
	struct arrivals arrivals;
};

/* Opens the calls. The hosts are for them alone. Returns 0 or -ENOMEM. */
int voice_open(struct voice *voice, const struct voice_conf *conf, const char *name, uint64_t seed,
               struct host *from, struct host *to);
void voice_close(struct voice *voice);
/* Returns how many datagrams there are in a talkspurt. */
uint64_t voice_spurt(simtime talk_ns, simtime every_ns);

#endif
