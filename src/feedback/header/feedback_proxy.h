/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `feedback proxy insert | strip | answer of CLOUD`: the ends of explicit router feedback, on the
 * path, so that hosts without support for it take part. Format: oq_header.h.
 *
 *        host -- insert ==> routers ==> strip -- peer       requests
 *        host -- strip <=== routers <== answer -- peer      answers
 *
 *   insert  puts a header with a request behind the IP header of each packet: mode TTL,
 *           req_ttl = T0, T0 - 1, ... T0 - hops + 1 in turn, where T0 is the TTL with which the
 *           packet comes, then the same with the next probe of `probe`. If there is a header
 *           without a request, it gets the request instead.
 *   strip   takes the header off, so that the host gets the packet as it was sent, byte for byte.
 *           The answers of routers, in the request or in answers, go into the cloud's ledger
 *           (below), which `show path` prints; those in requests wait there to be
 *           sent back.
 *   answer  puts in a header without a request, with the next answers that the ledger of CLOUD has
 *           to send: to one probe, of TTLs that follow one another downwards from res_ttl, 8 at
 *           most. If the ledger has nothing to send, packets pass as they are.
 *
 * A packet of `probe` (feedback_probe.h) is a request with nothing behind it. It passes `insert` as
 * it is, and ends at `strip`, which reads it and drops it (reason `probe`).
 *
 * A packet passes without a header, untouched, and is counted as feedback_no_room, if with the
 * header the IP packet would be longer than `mtu`, or its frame longer than PACKET_BYTES_MAX
 * (possible in a capture only). The same holds for a fragment, a packet without a transport header
 * in the first segment, one with an authentication header, and one whose mbuf has no room. Frames
 * that are not IP, and for insert packets with another TTL than `ttl`, pass and are not counted. A
 * malformed header passes and is counted.
 *
 * The header makes a packet longer by 16 bytes, and answers by up to 64 more. On the links between
 * the proxies, these bytes take time and count.
 *
 * All clouds of the ends must belong to one worker, or no answer is ever sent. No randomness: the
 * index of the next request is the number of requests inserted so far; it survives a change, and so
 * does the ledger. Ranges: hops 1 to 64, protocol 1 to 255, mtu 68 to 65535, ttl 1 to 255, or 0 for
 * any. O(1) a packet.
 */
#ifndef WEIR_FEEDBACK_PROXY_H
#define WEIR_FEEDBACK_PROXY_H

#include <stdbool.h>
#include <stdint.h>

#include "account/observed.h"
#include "header/oq_header.h"
#include "scenario/statement.h"

/*
 * A ledger: what a proxy has learned of a path, and the answers that it still has to send.
 *
 * A stage that takes headers off (`feedback proxy strip`) keeps a ledger. It has, for each router,
 * by its TTL, the latest answer to each probe and its instant; and *runs*: up to 8 answers to one
 * probe, of TTLs that follow one another downwards, as the header stacks them. `feedback proxy
 * answer of CLOUD` takes the oldest run and sends it back. At most LEDGER_RUNS wait; a new run
 * pushes the oldest out, since the state of a path becomes outdated.
 *
 * Ownership: a value; all zero: nothing is known and nothing is to be sent. feedback_proxy.c shares
 * ledgers among its stages.
 * Thread: the worker; rows are read by control a moment old.
 */

struct snapshot;

#define LEDGER_TTLS 256
#define LEDGER_RUNS 16

struct ledger_run {
	uint8_t probe, ttl, n; /* `ttl` of the first answer */
	struct oq_value answers[OQ_ANSWERS_MAX];
};

struct ledger_row {
	bool heard;
	simtime at_ns;
	struct oq_value value;
};

struct ledger {
	struct ledger_row rows[OQ_PROBES][LEDGER_TTLS];
	struct ledger_run runs[LEDGER_RUNS];
	uint32_t oldest, n_runs;
	simtime now_ns; /* of the latest packet of the stage that keeps it */
};

/* Queues an answer to be sent back. */
void ledger_queue(struct ledger *ledger, uint8_t probe, uint8_t ttl, const struct oq_value *value);
/* Returns the oldest run, or NULL. When it is sent, the caller removes it with ledger_told. */
const struct ledger_run *ledger_next(const struct ledger *ledger);
void ledger_told(struct ledger *ledger);

struct scenario;

#define PROXY_HOPS_MAX     OBSERVED_HOPS_MAX
#define PROXY_HOPS_DEFAULT 8
#define PROXY_TTL_DEFAULT  64
#define PROXY_MTU_MIN      68

enum proxy_job { PROXY_INSERT, PROXY_STRIP, PROXY_ANSWER };

struct feedback_proxy_conf {
	struct conf conf;
	uint32_t job;
	char *of; /* of `answer`: the cloud whose ledger it sends */
	uint64_t protocol;
	uint32_t probes; /* bit i: probe i + 1 */
	uint64_t hops, ttl, mtu;
};

extern const struct statement feedback_proxy_statement;

/* Control: checks that the cloud which `answer` names keeps a ledger. Returns 0, or -EINVAL with
 * problem. */
int feedback_proxy_check_of(const struct scenario *scenario, const struct cloud_conf *cloud,
                            struct problem *problem);

#endif
