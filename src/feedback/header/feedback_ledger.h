/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A ledger: what a proxy has learned of a path, and the answers that it still has to send.
 *
 * A stage that takes headers off (`feedback proxy strip`) keeps a ledger. It has, for each router,
 * by its TTL, the latest answer to each probe and its instant; and *runs*: up to 8 answers to one
 * probe, of TTLs that follow one another downwards, as the header stacks them. `feedback proxy
 * answer of CLOUD` takes the oldest run and sends it back. At most LEDGER_RUNS wait; a new run
 * pushes the oldest out, since the state of a path becomes outdated.
 *
 * The ledger of a cloud is found by the cloud's name among those of one engine (the holder selects
 * it). So both stages see one ledger if their clouds belong to one worker, and two if not: then no
 * answer is ever sent. A ledger lives as long as it has a holder, and survives a change of its
 * stages.
 *
 * Thread: ledger_get and ledger_put by control, under a lock; the rest by the worker; rows are read
 * by control a moment old.
 */
#ifndef WEIR_FEEDBACK_LEDGER_H
#define WEIR_FEEDBACK_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "account/observed.h"
#include "header/oq_header.h"

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

/* Returns the one ledger of this name, and takes a reference; NULL if there is no memory.
 * Thread: control. */
struct ledger *ledger_get(const void *holder, const char *cloud);
/* Releases the caller's reference; the last one frees the ledger. NULL is allowed.
 * Thread: control. */
void ledger_put(struct ledger *ledger);

/* Stores the answer of the router with this TTL. */
void ledger_hear(struct ledger *ledger, uint8_t probe, uint8_t ttl, const struct oq_value *value,
                 simtime now);
/* Queues an answer to be sent back. */
void ledger_queue(struct ledger *ledger, uint8_t probe, uint8_t ttl, const struct oq_value *value);
/* Returns the oldest run, or NULL. When it is sent, the caller removes it with ledger_told. */
const struct ledger_run *ledger_next(const struct ledger *ledger);
void ledger_told(struct ledger *ledger);

/* Writes or reads the answers, and what is still to be sent (snapshot.h). Two stages may have one
 * ledger: each writes all of it, and reads the same. */
void ledger_snapshot(struct ledger *ledger, struct snapshot *snapshot);

/* Reports the rows, from the highest TTL with an answer downwards: that is hop 1. */
void ledger_report(const struct ledger *ledger, struct observed *observed);

#endif
