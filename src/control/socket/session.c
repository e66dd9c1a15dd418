/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/language_error.h"
#include "service/event_log.h"
#include "socket/dialogue.h"
#include "socket/session.h"

struct session {
	struct dialogue dialogue;
	bool over;
	uint64_t active_ns, waiting_ns;
	uint64_t late_ns; /* since when a push waits for room; UINT64_MAX: none does */
	bool skipping;    /* skips the rest of a line that was too long */
	size_t line_n;
	char line[SESSION_LINE_MAX + 2]; /* with a CR, and a 0 */
};

struct session *session_make(struct control *control, uint64_t now_ns)
{
	struct session *session = calloc(1, sizeof(*session));

	if (session == NULL)
		return NULL;
	session->dialogue.control = control;
	session->active_ns = now_ns;
	session->waiting_ns = UINT64_MAX;
	session->late_ns = UINT64_MAX;
	return session;
}

void session_free(struct session *session)
{
	if (session == NULL)
		return;
	dialogue_release(&session->dialogue);
	free(session);
}

static void session_too_long(struct session *session)
{
	char message[96];

	snprintf(message, sizeof(message),
	         "longer than %d bytes, skipped up to its end; send one command per line",
	         SESSION_LINE_MAX);
	dialogue_bad_line(&session->dialogue, ERROR_TOO_LONG, message);
}

/* Executes the line, which is complete. */
static void session_line_end(struct session *session)
{
	size_t n = session->line_n;

	session->line_n = 0;
	if (n > 0 && session->line[n - 1] == '\r')
		n--;
	session->line[n] = '\0';
	if (n > SESSION_LINE_MAX)
		session_too_long(session);
	else if (memchr(session->line, '\0', n) != NULL)
		dialogue_bad_line(&session->dialogue, ERROR_BAD_CHARACTER,
		                  "not a line of text: it contains a zero byte; send UTF-8 text");
	else
		dialogue_line(&session->dialogue, session->line);
}

/* Takes bytes up to and including the first line end. Returns how many. */
static size_t session_take(struct session *session, const char *bytes, size_t n)
{
	const char *end = memchr(bytes, '\n', n);
	size_t length = end != NULL ? (size_t)(end - bytes) : n;
	size_t room = SESSION_LINE_MAX + 1 - session->line_n;

	if (!session->skipping && length > room) {
		session->skipping = true;
		session->line_n = 0;
		session_too_long(session);
	}
	if (!session->skipping) {
		memcpy(session->line + session->line_n, bytes, length);
		session->line_n += length;
	}
	if (end == NULL)
		return n;
	if (!session->skipping)
		session_line_end(session);
	session->skipping = false;
	return length + 1;
}

bool session_ready(const struct session *session)
{
	return !session->over && !session_pending(session) &&
	       session->dialogue.output.n < SESSION_OUTPUT_MAX;
}

bool session_pending(const struct session *session)
{
	return dialogue_pending(&session->dialogue);
}

void session_poll(struct session *session, uint64_t now_ns)
{
	session->dialogue.now_ns = now_ns;
	dialogue_poll(&session->dialogue);
	session->over |= session->dialogue.output.failed;
	if (!session_wants_push(session))
		session->late_ns = UINT64_MAX;
	if (session->dialogue.output.n > 0 && session->waiting_ns == UINT64_MAX)
		session->waiting_ns = now_ns;
}

size_t session_feed(struct session *session, const void *bytes, size_t n, uint64_t now_ns)
{
	size_t taken = 0;

	session->active_ns = session->dialogue.now_ns = now_ns;
	while (taken < n && session_ready(session)) {
		taken += session_take(session, (const char *)bytes + taken, n - taken);
		session->over = session->dialogue.over || session->dialogue.output.failed;
	}
	if (session->dialogue.output.n > 0 && session->waiting_ns == UINT64_MAX)
		session->waiting_ns = now_ns;
	return taken;
}

void session_end(struct session *session, uint64_t now_ns)
{
	if (!session->over && session->line_n > 0)
		dialogue_bad_line(
		        &session->dialogue, "unfinished",
		        "not ended by a newline, so not executed: it may be cut off; end it "
		        "with one");
	if (session->dialogue.output.n > 0 && session->waiting_ns == UINT64_MAX)
		session->waiting_ns = now_ns;
	session->over = true;
}

void session_dismiss(struct session *session, const char *name, const char *message)
{
	if (session->over)
		return;
	answer_error(&session->dialogue.output,
	             &(struct answer_error){.name = name, .code = "dismissed", .message = message});
	session->over = true;
}

const char *session_output(const struct session *session, size_t *n)
{
	*n = session->dialogue.output.n;
	return *n > 0 ? session->dialogue.output.bytes + session->dialogue.output.head : "";
}

void session_taken(struct session *session, size_t n, uint64_t now_ns)
{
	output_taken(&session->dialogue.output, n);
	session->waiting_ns = session->dialogue.output.n > 0 ? now_ns : UINT64_MAX;
	if (session_streams(session)) /* a client that listens is not idle */
		session->active_ns = now_ns;
}

/* ---- subscriptions ---- */

bool session_streams(const struct session *session)
{
	return subscription_is_on(&session->dialogue.subscription) ||
	       session->dialogue.capture.tap != NULL;
}

bool session_wants_push(const struct session *session)
{
	const struct dialogue *dialogue = &session->dialogue;

	return !session->over && dialogue->output.n == 0 &&
	       subscription_wants(&dialogue->subscription, dialogue->control);
}

static void session_dismiss_slow(struct session *session, const char *why)
{
	const struct dialogue *dialogue = &session->dialogue;
	uint64_t resume = 0;
	char message[200];

	if (dialogue->subscription.events) {
		uint64_t first = event_log_first(dialogue->control->events);

		resume = dialogue->subscription.next;
		resume = resume < first ? first : resume;
		snprintf(message, sizeof(message), "%s; resume with `events from %llu`", why,
		         (unsigned long long)resume);
	} else {
		snprintf(message, sizeof(message), "%s; connect again", why);
	}
	answer_error(&session->dialogue.output, &(struct answer_error){.name = "events",
	                                                               .code = "dismissed",
	                                                               .message = message,
	                                                               .resume = resume});
	session->over = true;
}

void session_push(struct session *session, uint64_t now_ns)
{
	struct dialogue *dialogue = &session->dialogue;

	session->late_ns = UINT64_MAX;
	if (subscription_has_lost(&dialogue->subscription, dialogue->control))
		session_dismiss_slow(session,
		                     "the client read too slowly, and the next events are gone");
	else
		subscription_push(&dialogue->subscription, dialogue->control, &dialogue->output);
	session->over |= dialogue->output.failed;
	if (dialogue->output.n > 0 && session->waiting_ns == UINT64_MAX)
		session->waiting_ns = now_ns;
}

void session_push_late(struct session *session, uint64_t now_ns, uint64_t most_ns)
{
	if (session->late_ns == UINT64_MAX)
		session->late_ns = now_ns;
	if (subscription_has_lost(&session->dialogue.subscription, session->dialogue.control))
		session_dismiss_slow(session,
		                     "the client read too slowly, and the next events are gone");
	else if (now_ns - session->late_ns >= most_ns)
		session_dismiss_slow(session, "nothing was read for 30 s");
}

uint64_t session_next_ns(const struct session *session)
{
	return subscription_next_ns(&session->dialogue.subscription);
}

void session_introduce(struct session *session, const struct peer *who, bool read_only)
{
	session->dialogue.who = *who;
	session->dialogue.read_only = read_only;
}

void session_descriptor(struct session *session, int fd)
{
	dialogue_descriptor(&session->dialogue, fd);
}

void session_trust(struct session *session)
{
	session->dialogue.client_files.may_open = true;
}

bool session_over(const struct session *session)
{
	return session->over;
}

uint64_t session_active_ns(const struct session *session)
{
	return session->active_ns;
}

uint64_t session_waiting_ns(const struct session *session)
{
	return session->waiting_ns;
}
