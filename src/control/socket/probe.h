/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `probe CLOUD [to ADDRESS] [within TIME]`: queries the routers of a path now, and prints their
 * answers.
 *
 * The cloud has `feedback proxy insert`, whose words select the queries. A cloud behind it has
 * `feedback proxy strip` of the same protocol, which reads the answers; feedback_probe.h has the
 * packets. The command is answered when all packets have come out at the strip, or when `within`
 * has passed (1 ms to 50 s, default 1 s). One probe at a time.
 *
 *   text   the table of `show path`, of the routers that have answered these requests, and a line
 *          that says how many of the requests came through
 *   JSON   {"ok":true,"cloud":NAME,"strip":NAME,"asked":N,"arrived":N,"path":[...]}
 *
 * The conversation waits meanwhile: dialogue.h.
 * Thread: control's.
 */
#ifndef WEIR_PROBE_H
#define WEIR_PROBE_H

#include "text/language_error.h"
#include "text/word.h"
#include "service/answer.h"
#include "service/control.h"

#define PROBE_WITHIN_DEFAULT SIMTIME_S
#define PROBE_WITHIN_MIN     SIMTIME_MS
#define PROBE_WITHIN_MAX     (50 * SIMTIME_S)

/* A probe that is under way. All zero: none is. */
struct probe {
	bool active;
	char cloud[SCENARIO_NAME_BYTES], strip[SCENARIO_NAME_BYTES];
	uint32_t asked;
	uint64_t ended_before; /* requests that had come out at the strip */
	uint64_t heard_before; /* the latest instant that the strip had observed */
	uint64_t within_ns, deadline_ns;
	uint64_t number; /* of the transaction that sends the requests */
};

/* Makes the transaction that sends the requests; the caller posts it, and stores its number in
 * `number`. Returns 0, or -errno with error; then no probe is under way. */
int probe_begin(struct control *control, const struct words *words, struct probe *probe,
                struct transaction **transaction, struct language_error *error);
/* Returns true if all requests have come out, or the time is up: then the probe is answered, and
 * over. */
bool probe_answer(struct control *control, struct probe *probe, struct output *output);
/* Ends the probe without an answer. */
void probe_forget(struct control *control, struct probe *probe);

#endif
