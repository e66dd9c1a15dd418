/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a conversation wants to be told without asking again: events, and samples.
 *
 * A line is pushed between answers, never within one. It begins with `event ` or `sample `; in the
 * mode JSON its object begins with the key `event` or `sample`, which no answer has. Events wait in
 * the log, not here: a reader that is slow costs SUBSCRIPTION_AT_ONCE bytes, and delays nobody.
 * When the next event that it wants has gone from the log, or when it takes nothing for
 * SERVER_STALL_NS, it is dismissed with a word that says from where it may resume. A sample that is
 * not taken delays the next one, which is of a longer time then.
 *
 * Thread: control's.
 */
#ifndef WEIR_SUBSCRIPTION_H
#define WEIR_SUBSCRIPTION_H

#include "service/answer.h"
#include "service/control.h"
#include "text/word.h"

#define SUBSCRIPTION_AT_ONCE 16384

struct sampler;

/* All 0: to nothing. */
struct subscription {
	bool events;
	uint64_t next; /* the event that it wants next */
	struct sampler *sampler;
};

/* `events [from SEQ|oldest]`, `events off`. Answers. */
void subscription_events(struct subscription *subscription, const struct control *control,
                         const struct words *words, struct output *output);
/* `sample TIME [clouds N]`, `sample off`. */
void subscription_sample(struct subscription *subscription, const struct words *words,
                         struct output *output, uint64_t now_ns);
void subscription_end(struct subscription *subscription);
bool subscription_is_on(const struct subscription *subscription);

/* Goes on with a sample. */
void subscription_poll(struct subscription *subscription, struct control *control, uint64_t now_ns);
/* When it wants to be polled again, at the latest. */
uint64_t subscription_next_ns(const struct subscription *subscription);
/* Whether there is something to push. */
bool subscription_wants(const struct subscription *subscription, const struct control *control);
/* Whether an event that it wants has gone. */
bool subscription_has_lost(const struct subscription *subscription, const struct control *control);
/* Pushes what there is, SUBSCRIPTION_AT_ONCE bytes of events at most. */
void subscription_push(struct subscription *subscription, const struct control *control,
                       struct output *output);

#endif
