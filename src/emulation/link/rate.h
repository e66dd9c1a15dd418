/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `rate`: the configuration of a cloud's link.
 *
 * Models: a serialising link of R bit/s behind a queue. `leaky-bucket`: bits leave evenly; a packet
 * of L bytes leaves at max(arrival, last departure) + 8L/R. `token-bucket burst B`: packets leave
 * at once as long as they are at most B bytes ahead of the even flow (RFC 2697's bucket used as a
 * shaper; the virtual scheduling form of ITU-T I.371: with TAT = max(TAT, t) + 8L/R, a packet is
 * sent at max(t, TAT - 8B/R)). The leaky bucket is the token bucket of depth 0.
 *
 * Units: R 1 bit/s to 400 Gbit/s; B up to 1 GB. Lengths are those of the Ethernet frame without
 * preamble and FCS, or as `overhead` gives them (overhead.h), for the rate and the queue alike. If
 * the queue is full, the arriving packet is dropped. With `drop head`, the oldest waiting packets
 * are dropped instead, as many as needed, unless the arriving packet is longer than the queue. The
 * queue is limited in bytes, packets, or time (what the rate sends in that time); a packet that the
 * leaky bucket is sending does not count as queued. The default queue is the rate times the cloud's
 * delay, at least RATE_QUEUE_BYTES_MIN.
 */
#ifndef WEIR_RATE_H
#define WEIR_RATE_H

#include "link/overhead.h"
#include "scenario/statement.h"

#define RATE_BURST_MAX       UINT64_C(1000000000)
#define RATE_QUEUE_BYTES_MIN UINT64_C(64000)

enum rate_algorithm { RATE_LEAKY_BUCKET, RATE_TOKEN_BUCKET };
enum rate_drop { RATE_DROP_TAIL, RATE_DROP_HEAD };

extern const char *const rate_drops[]; /* the words of enum rate_drop */

struct rate_conf {
	struct conf conf;
	uint64_t rate_bps;
	uint32_t algorithm; /* enum rate_algorithm */
	uint64_t burst_bytes;
	struct limit queue;
	uint32_t drop;  /* enum rate_drop */
	char *overhead; /* layer1, layer2, layer3, atm, or a number of bytes; NULL: layer2 */
	uint64_t encap_bytes;
	uint64_t cell_bytes, cell_overhead_bytes; /* 0: no cells, except those of atm */
};

extern const struct statement rate_statement;

/* Returns the overhead of a configuration that passed the check. */
struct overhead rate_overhead(const struct rate_conf *conf);
/* Returns true if the queue of a class drops its head: as `drop` says, if field `field` of its
 * configuration is given, or else as `rate` says. */
bool rate_drops_head(const struct cloud_conf *cloud, const struct conf *conf, uint32_t drop,
                     uint32_t field);
/* Returns the limit of the queue of this cloud: as given, or rate x delay. */
struct limit rate_queue(const struct rate_conf *conf, const struct cloud_conf *cloud);

#endif
