/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a conversation receives without a further request: events, and samples.
 *
 * A line is pushed between answers, never within one. It begins with `event ` or `sample `; in the
 * mode JSON its object begins with the key `event` or `sample`, which no answer has. Events wait in
 * the log, not here: a slow reader costs SUBSCRIPTION_AT_ONCE bytes, and delays nobody. If the next
 * event for the client has gone from the log, or if the client reads nothing for SERVER_STALL_NS,
 * it is dismissed with an error that says from which event it may resume. A sample that is not read
 * delays the next one, which then covers a longer time.
 *
 * Thread: the conversation's.
 */
#ifndef WEIR_SUBSCRIPTION_H
#define WEIR_SUBSCRIPTION_H

#include "service/answer.h"
#include "service/control.h"
#include "text/word.h"

#define SUBSCRIPTION_AT_ONCE 16384

struct sampler;

/* All zero: no subscription. */
struct subscription {
	bool events;
	uint64_t next; /* the number of the next event to push */
	struct sampler *sampler;
};

/* Executes and answers `events [from SEQ|oldest]`, `events off`. `wake`: an eventfd that becomes
 * readable at each event; -1: none. */
void subscription_events(struct subscription *subscription, struct control *control,
                         const struct words *words, struct output *output, int wake);
/* Executes and answers `sample TIME [clouds N]`, `sample off`. */
void subscription_sample(struct subscription *subscription, struct control *control,
                         const struct words *words, struct output *output);
void subscription_end(struct subscription *subscription, struct control *control, int wake);
bool subscription_is_on(const struct subscription *subscription);

/* Continues a sample. */
void subscription_poll(struct subscription *subscription, struct control *control);
/* Returns when it must be polled again, at the latest; on the clock of control->ops. */
uint64_t subscription_next_ns(const struct subscription *subscription);
/* Returns true if there is something to push. */
bool subscription_wants(const struct subscription *subscription, struct control *control);
/* Returns true if the next event to push has gone from the log. */
bool subscription_has_lost(const struct subscription *subscription, struct control *control);
/* Returns the number of the event from which the client may resume; 0: it has not asked for
 * events. */
uint64_t subscription_resume(const struct subscription *subscription, struct control *control);
/* Pushes what there is, of events about SUBSCRIPTION_AT_ONCE bytes at most. */
void subscription_push(struct subscription *subscription, struct control *control,
                       struct output *output);

#endif
