/* SPDX-License-Identifier: BSD-3-Clause */
#include "socket/lease_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "socket/dialogue.h"
#include "socket/lease.h"
#include "text/value.h"

static bool word_is(const struct words *words, uint32_t at, const char *text)
{
	return at < words->n && !words->word[at].quoted && strcmp(words->word[at].text, text) == 0;
}

static bool take_time(struct dialogue *dialogue, const struct words *words, uint32_t at,
                      uint64_t *ns)
{
	const struct field field = {
	        .name = "lease", .type = FIELD_TIME, .min = LEASE_LEAST_NS, .max = LEASE_MOST_NS};
	struct language_error error = {.column = 0};

	if (value_parse(&field, words->word[at].text, ns, &error) == 0)
		return true;
	answer_error(&dialogue->output, &(struct answer_error){.name = "lease",
	                                                       .code = error.name,
	                                                       .column = words->word[at].column,
	                                                       .message = error.text});
	return false;
}

static void answer_time(struct dialogue *dialogue, uint64_t lease_ns)
{
	char text[120];
	int n = snprintf(text, sizeof(text),
	                 "lease %" PRIu64 ": undone in %.3f s, unless renewed\n", dialogue->lease,
	                 (double)lease_ns / 1e9);

	if (dialogue->output.json)
		answer_object(&dialogue->output, json_pack("{s:b,s:I,s:I}", "ok", 1, "lease",
		                                           (json_int_t)dialogue->lease, "lease_ns",
		                                           (json_int_t)lease_ns));
	else
		answer_text(&dialogue->output, "lease", text, (size_t)n);
}

void dialogue_leased(struct dialogue *dialogue, uint64_t lease_ns)
{
	answer_time(dialogue, lease_ns);
}

static void begin(struct dialogue *dialogue, const struct words *words)
{
	uint64_t lease_ns;

	/* Until it has begun. A client may have sent the lines of the change already; they are no
	 * single changes. */
	dialogue->not_begun = !dialogue->in_batch;
	if (words->n != 3) {
		dialogue_error(dialogue, "lease", ERROR_UNKNOWN_WORD,
		               "write begin lease TIME: `begin lease 5s`");
		return;
	}
	if (!take_time(dialogue, words, 2, &lease_ns))
		return;
	if (lease_find(dialogue->control->leases, dialogue->lease) != NULL) {
		dialogue_error(dialogue, "lease", ERROR_CONFLICT,
		               "this conversation has a lease: say keep or revert first, or begin "
		               "another in a conversation of its own");
	} else if (leases_refuse(dialogue->control->leases) != NULL) {
		dialogue_error(dialogue, "lease", ERROR_FULL,
		               leases_refuse(dialogue->control->leases));
	} else if (dialogue->in_batch) {
		dialogue_error(dialogue, "begin", ERROR_CONFLICT,
		               "a batch has begun already; commit or abort it first");
	} else {
		dialogue->lease_ns = lease_ns;
		pending_begin(dialogue);
	}
}

/* Returns the lease of the conversation, or answers an error and returns NULL. */
static const struct lease *the_lease(struct dialogue *dialogue, const char *word)
{
	const struct lease *lease = lease_find(dialogue->control->leases, dialogue->lease);

	if (lease == NULL)
		dialogue_error(dialogue, word, ERROR_CONFLICT,
		               dialogue->lease != 0
		                       ? "the lease of this conversation has ended, and its change "
		                         "is undone"
		                       : "this conversation has no lease; say begin lease TIME "
		                         "first");
	return lease;
}

static void too_late(struct dialogue *dialogue, const char *word)
{
	dialogue_error(dialogue, word, ERROR_CONFLICT,
	               "the lease has ended, and its change is being undone");
}

static void renew(struct dialogue *dialogue, const struct words *words)
{
	uint64_t lease_ns = 0;
	const struct lease *lease;

	if (words->n > 1 && !take_time(dialogue, words, 1, &lease_ns))
		return;
	lease = the_lease(dialogue, "renew");
	if (lease == NULL)
		return;
	if (lease_renew(dialogue->control->leases, dialogue->lease, lease_ns))
		answer_time(dialogue, lease->for_ns);
	else
		too_late(dialogue, "renew");
}

static void keep(struct dialogue *dialogue)
{
	if (the_lease(dialogue, "keep") == NULL)
		return;
	if (!lease_keep(dialogue->control->leases, dialogue->lease)) {
		too_late(dialogue, "keep");
		return;
	}
	dialogue->lease = 0;
	answer_ok(&dialogue->output);
}

static void revert(struct dialogue *dialogue)
{
	if (the_lease(dialogue, "revert") == NULL)
		return;
	lease_ask_end(dialogue->control->leases, dialogue->lease);
	dialogue->reverting = true;
}

void lease_words_poll(struct dialogue *dialogue)
{
	const struct lease *lease = lease_find(dialogue->control->leases, dialogue->lease);

	if (lease != NULL && lease->stuck[0] == '\0')
		return;
	dialogue->reverting = false;
	if (lease != NULL) {
		dialogue_error(dialogue, "revert", "refused", lease->stuck);
		return;
	}
	dialogue->lease = 0;
	answer_ok(&dialogue->output);
}

bool lease_words(struct dialogue *dialogue, const struct words *words)
{
	if (word_is(words, 0, "begin") && word_is(words, 1, "lease"))
		begin(dialogue, words);
	else if (word_is(words, 0, "renew") && words->n <= 2)
		renew(dialogue, words);
	else if (word_is(words, 0, "keep") && words->n == 1)
		keep(dialogue);
	else if (word_is(words, 0, "revert") && words->n == 1)
		revert(dialogue);
	else
		return false;
	return true;
}
