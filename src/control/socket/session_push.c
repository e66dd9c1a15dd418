/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a conversation receives without a further request: events, and samples.
 *
 * A line is pushed between answers, never within one. It begins with `event ` or `sample `; in the
 * mode JSON its object begins with the key `event` or `sample`, which no answer has. Events wait in
 * the log, not here: a slow reader costs AT_ONCE bytes, and delays nobody. If the next event for
 * the client has gone from the log, or if the client reads nothing for CONNECTION_STALL_NS, it is
 * dismissed with an error that says from which event it may resume. A sample that is not read
 * delays the next one, which then covers a longer time. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "service/event_log.h"
#include "socket/session_state.h"
#include "stream/sampler.h"
#include "text/value.h"

#define AT_ONCE 16384 /* bytes of events */

/* ---- events ---- */

/* Answers that there is no such event. */
static void no_such_event(struct session *session, uint64_t first, uint64_t next, uint64_t number)
{
	struct answer_error error;

	if (number < first)
		answer_error_set(&error, "events", "gone",
		                 "event %" PRIu64 " is gone: weir keeps only the latest events; "
		                 "resume with `events from %" PRIu64 "`",
		                 number, first);
	else
		answer_error_set(&error, "events", "ahead",
		                 "event %" PRIu64
		                 " is ahead of this run, whose next event is %" PRIu64
		                 ": was weir restarted? say `events from %" PRIu64 "`",
		                 number, next, first);
	error.resume = first;
	answer_error(&session->output, &error);
}

/* Determines the first event. If that is impossible, answers an error and returns false. */
static bool events_from(struct session *session, uint64_t *from)
{
	const struct words *words = session->words;
	struct language_error error = {.column = 0};
	uint64_t first, next;

	control_events(session->control, &first, &next);
	*from = next;
	if (words->n == 1)
		return true;
	if (words->n != 3 || !words_is(words, 1, "from")) {
		session_error_at(
		        session, words->word[words->n > 3 ? 3 : 1].column, "events",
		        ERROR_UNKNOWN_WORD,
		        "write `events`, `events from SEQ`, `events from oldest` or `events "
		        "off`");
		return false;
	}
	if (words_is(words, 2, "oldest")) {
		*from = first;
		return true;
	}
	if (value_parse_count(words->word[2].text, 0, INT64_MAX, "event", from, &error) != 0) {
		session_error_at(session, words->word[2].column, "events", error.name, error.text);
		return false;
	}
	if (*from >= first && *from <= next)
		return true;
	no_such_event(session, first, next, *from);
	return false;
}

/* Begins or ends to be woken at each event. Returns false if too many are. */
static bool listen_to_events(struct session *session, bool listens)
{
	struct control *control = session->control;
	int result = 0;

	if (session->wake < 0 || control->events == NULL)
		return true;
	pthread_mutex_lock(&control->events_lock);
	if (listens)
		result = event_log_listen(control->events, session->wake);
	else
		event_log_ignore(control->events, session->wake);
	pthread_mutex_unlock(&control->events_lock);
	return result == 0;
}

void session_events(struct session *session)
{
	const char *run = session->control->run;
	char text[120];
	uint64_t from;
	int n;

	if (session->words->n == 2 && words_is(session->words, 1, "off")) {
		session->listens = false;
		listen_to_events(session, false);
		answer_ok(&session->output);
		return;
	}
	if (session->control->events == NULL) {
		session_error(session, "events", ERROR_NO_MEMORY,
		              "there was no memory to keep events when weir was started");
		return;
	}
	if (!events_from(session, &from))
		return;
	if (!listen_to_events(session, true)) {
		session_error(session, "events", ERROR_FULL,
		              "too many clients have asked for events");
		return;
	}
	session->listens = true;
	session->next_event = from;
	n = snprintf(text, sizeof(text), "events from %" PRIu64 " of run %s\n", from, run);
	if (session->output.json)
		answer_object(&session->output, json_pack("{s:b,s:s,s:I}", "ok", 1, "run", run,
		                                          "from", (json_int_t)from));
	else
		answer_text(&session->output, "events", text, (size_t)n);
}

/* ---- samples ---- */

void session_sample(struct session *session)
{
	const struct words *words = session->words;
	const struct field field = {.name = "interval",
	                            .type = FIELD_TIME,
	                            .min = SAMPLER_LEAST_NS,
	                            .max = SAMPLER_MOST_NS};
	const struct control *control = session->control;
	struct language_error error = {.column = 0};
	uint64_t rows = SAMPLER_ROWS;
	struct sampler *sampler = NULL;
	uint32_t column = words->word[1].column;
	simtime interval_ns;
	int result = 0;

	if (words->n != 2 || !words_is(words, 1, "off")) {
		if (words->n != 2 && !(words->n == 4 && words_is(words, 2, "clouds"))) {
			session_error_at(
			        session, words->n > 2 ? words->word[2].column : 0, "sample",
			        ERROR_UNKNOWN_WORD,
			        "write `sample 1s`, `sample 1s clouds 20`, or `sample off`");
			return;
		}
		result = value_parse(&field, words->word[1].text, &interval_ns, &error);
		if (result == 0 && words->n == 4) {
			column = words->word[3].column;
			result = value_parse_count(words->word[3].text, 1, SAMPLER_ROWS_MOST,
			                           "clouds", &rows, &error);
		}
		if (result != 0) {
			session_error_at(session, column, "sample", error.name, error.text);
			return;
		}
		sampler = sampler_make(interval_ns, (uint32_t)rows, control_now_ns(control));
		if (sampler == NULL) {
			session_error(session, "sample", ERROR_NO_MEMORY, "no memory for samples");
			return;
		}
	}
	sampler_free(session->sampler);
	session->sampler = sampler;
	answer_ok(&session->output);
}

/* ---- pushing ---- */

void session_push_end(struct session *session)
{
	if (session->listens)
		listen_to_events(session, false);
	sampler_free(session->sampler);
}

bool session_streams(const struct session *session)
{
	return session->listens || session->sampler != NULL || session->tap != NULL;
}

uint64_t session_next_ns(const struct session *session)
{
	return session->sampler != NULL ? sampler_next_ns(session->sampler) : UINT64_MAX;
}

bool session_wants_push(struct session *session)
{
	struct control *control = session->control;
	uint64_t first, next;

	if (session->sampler != NULL)
		sampler_step(session->sampler, control, control_now_ns(control));
	return !session->over && session->output.n == 0 &&
	       ((session->listens && control_events(control, &first, &next) &&
	         session->next_event < next) ||
	        (session->sampler != NULL && sampler_ready(session->sampler)));
}

void session_dismiss_slow(struct session *session, const char *why)
{
	struct answer_error error;
	uint64_t first, next, resume = 0;

	if (session->listens && control_events(session->control, &first, &next))
		resume = simtime_max(session->next_event, first);
	if (resume != 0)
		answer_error_set(&error, "events", "dismissed",
		                 "%s; resume with `events from %" PRIu64 "`", why, resume);
	else
		answer_error_set(&error, "events", "dismissed", "%s; connect again", why);
	error.resume = resume;
	answer_error(&session->output, &error);
	session->over = true;
}

static void push_events(struct session *session)
{
	struct control *control = session->control;
	struct output *output = &session->output;
	const char *json, *text;
	size_t before = output->n;

	pthread_mutex_lock(&control->events_lock);
	while (output->n - before < AT_ONCE && !output->failed &&
	       event_log_get(control->events, session->next_event, &json, &text)) {
		const char *line = output->json ? json : text;

		output_append(output, line, strlen(line));
		output_append(output, "\n", 1);
		session->next_event++;
	}
	pthread_mutex_unlock(&control->events_lock);
}

void session_push(struct session *session, bool room)
{
	uint64_t first, next;

	if (session->listens && control_events(session->control, &first, &next) &&
	    session->next_event < first)
		session_dismiss_slow(session,
		                     "the client read too slowly, and the next events are gone");
	if (session->over || !room)
		return;
	if (session->listens)
		push_events(session);
	if (session->sampler != NULL && sampler_ready(session->sampler))
		sampler_put(session->sampler, &session->output);
	session->over |= session->output.failed;
}
