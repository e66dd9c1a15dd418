/* SPDX-License-Identifier: BSD-3-Clause */
#include "serve/serve_feed.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/event_log.h"

#define AGAIN_MS  1000
#define SILENT_MS 10000 /* time allowed for an answer that is due */
#define FRESH_MS  200   /* totals up to this age are used again */
#define ROWS      128   /* clouds in a sample */

bool serve_feed_begin(struct serve_feed *feed, const char *path, uint64_t interval_ns,
                      uint64_t clouds)
{
	*feed = (struct serve_feed){.path = path,
	                            .interval_ns = interval_ns,
	                            .clouds = clouds,
	                            .link = {.fd = -1},
	                            .said = "weir has not answered yet"};
	feed->events = event_log_make(EVENT_LOG_BYTES, EVENT_LOG_MAX);
	return feed->events != NULL;
}

void serve_feed_end(struct serve_feed *feed)
{
	serve_link_close(&feed->link);
	event_log_free(feed->events);
	json_decref(feed->hello);
	json_decref(feed->totals);
	free(feed->sample);
	*feed = (struct serve_feed){.link = {.fd = -1}};
}

/* ---- up and down ---- */

static void feed_down(struct serve_feed *feed, uint64_t now_ms, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

static void feed_down(struct serve_feed *feed, uint64_t now_ms, const char *format, ...)
{
	char said[sizeof(feed->said)];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(said, sizeof(said), format, arguments);
	va_end(arguments);
	if (feed->up || strcmp(said, feed->said) != 0)
		feed->states++;
	memcpy(feed->said, said, sizeof(said));
	if (feed->reading)
		feed->over = true;
	else
		serve_link_close(&feed->link);
	feed->up = feed->sampling = false;
	feed->asked = false;
	json_decref(feed->totals);
	feed->totals = NULL;
	feed->again_ms = now_ms + AGAIN_MS;
}

static void feed_say(struct serve_feed *feed, uint64_t now_ms, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

static void feed_say(struct serve_feed *feed, uint64_t now_ms, const char *format, ...)
{
	char line[200];
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	feed->heard_ms = now_ms;
	if (serve_link_send(&feed->link, line, (size_t)n) != 0)
		feed_down(feed, now_ms, "weir has gone; trying again each second");
}

static void feed_connect(struct serve_feed *feed, uint64_t now_ms)
{
	struct problem problem;

	if (serve_link_open(&feed->link, feed->path, &problem) != 0) {
		feed_down(feed, now_ms, "%s", problem.text);
		return;
	}
	feed->greeting = 2;
	feed_say(feed, now_ms, "json on\nhello\n");
}

void serve_feed_tick(struct serve_feed *feed, uint64_t now_ms, bool wanted)
{
	bool due = !feed->up || feed->asked || feed->sampling;
	uint64_t patience = SILENT_MS + (feed->sampling ? 2 * feed->interval_ns / 1000000 : 0);

	if (feed->link.fd < 0) {
		if (now_ms >= feed->again_ms)
			feed_connect(feed, now_ms);
		return;
	}
	if (due && now_ms - feed->heard_ms > patience) {
		feed_down(feed, now_ms, "weir does not answer; trying again each second");
		return;
	}
	if (feed->up && wanted != feed->sampling) {
		feed->sampling = wanted;
		if (wanted)
			feed_say(feed, now_ms, "sample %" PRIu64 "ns clouds %d\n",
			         feed->interval_ns, ROWS);
		else
			feed_say(feed, now_ms, "sample off\n");
	}
}

/* ---- input ---- */

static void events_anew(struct serve_feed *feed)
{
	struct event_log *log = event_log_make(EVENT_LOG_BYTES, EVENT_LOG_MAX);

	if (log == NULL)
		return;
	event_log_free(feed->events);
	feed->events = log;
	feed->base = 0;
}

static bool can_totals(const json_t *hello)
{
	const json_t *word;
	size_t i;

	json_array_foreach(json_object_get(hello, "capabilities"), i, word)
	{
		if (strcmp(json_string_value(word), "totals") == 0)
			return true;
	}
	return false;
}

static void take_hello(struct serve_feed *feed, json_t *object, uint64_t now_ms)
{
	const char *run = json_string_value(json_object_get(object, "run"));

	if (run == NULL || json_integer_value(json_object_get(object, "protocol")) != 1 ||
	    !can_totals(object)) {
		feed_down(feed, now_ms,
		          "this weir speaks another protocol; use the weir serve that came with "
		          "it");
		return;
	}
	json_decref(feed->hello);
	feed->hello = json_incref(object);
	if (strcmp(run, feed->run) != 0) {
		events_anew(feed);
		snprintf(feed->run, sizeof(feed->run), "%s", run);
		free(feed->sample);
		feed->sample = NULL;
	}
	feed->up = true;
	feed->said[0] = '\0';
	feed->states++;
	if (event_log_first(feed->events) == event_log_next(feed->events))
		feed_say(feed, now_ms, "events from oldest\n");
	else
		feed_say(feed, now_ms, "events from %" PRIu64 "\n", serve_feed_next(feed));
}

static void take_event(struct serve_feed *feed, const json_t *object, const char *line, size_t n)
{
	uint64_t number = (uint64_t)json_integer_value(json_object_get(object, "seq"));

	if (n + 2 > EVENT_BYTES_MAX || number == 0)
		return;
	/* The first event, or the first after some that have gone from weir's own log. */
	if (number != serve_feed_next(feed)) {
		events_anew(feed);
		feed->base = number - event_log_next(feed->events);
	}
	event_log_add(feed->events, line, "");
}

static void take_sample(struct serve_feed *feed, const char *line)
{
	char *copy = strdup(line);

	if (copy == NULL)
		return;
	free(feed->sample);
	feed->sample = copy;
	feed->samples++;
}

static void take_answer(struct serve_feed *feed, json_t *object, uint64_t now_ms)
{
	const json_t *error = json_object_get(object, "error");
	const char *code = json_string_value(json_object_get(error, "code"));
	const json_t *resume = json_object_get(error, "resume");

	if (feed->greeting > 0) {
		const char *message = json_string_value(json_object_get(error, "message"));

		feed->greeting--;
		if (error != NULL)
			feed_down(feed, now_ms, "weir: %s", message != NULL ? message : "an error");
		else if (feed->greeting == 0)
			take_hello(feed, object, now_ms);
	} else if (json_object_get(object, "clouds_in_all") != NULL) {
		json_decref(feed->totals);
		feed->totals = json_incref(object);
		feed->asked = false;
		feed->totals_ms = now_ms;
	} else if (resume != NULL && code != NULL && strcmp(code, "gone") == 0) {
		feed_say(feed, now_ms, "events from %" JSON_INTEGER_FORMAT "\n",
		         json_integer_value(resume));
	} else if (error != NULL) {
		feed->asked = false;
	}
}

struct hearing {
	struct serve_feed *feed;
	uint64_t now_ms;
};

static void take_line(void *argument, char *line, size_t n)
{
	struct hearing *hearing = argument;
	struct serve_feed *feed = hearing->feed;
	json_t *object;

	if (feed->over)
		return;
	feed->heard_ms = hearing->now_ms;
	object = json_loadb(line, n, 0, NULL);
	if (json_is_string(json_object_get(object, "event")))
		take_event(feed, object, line, n);
	else if (json_object_get(object, "sample") != NULL)
		take_sample(feed, line);
	else if (object != NULL)
		take_answer(feed, object, hearing->now_ms);
	else if (!feed->up) /* weir refused in text: JSON was not on yet */
		feed_down(feed, hearing->now_ms, "weir: %.300s", line);
	json_decref(object);
}

void serve_feed_read(struct serve_feed *feed, uint64_t now_ms)
{
	struct hearing hearing = {feed, now_ms};
	int result;

	feed->reading = true;
	result = serve_link_write(&feed->link);
	if (result == 0)
		result = serve_link_read(&feed->link, take_line, &hearing);
	feed->reading = false;
	if (feed->over)
		serve_link_close(&feed->link);
	else if (result != 0)
		feed_down(feed, now_ms, "weir has gone; trying again each second");
	feed->over = false;
}

bool serve_feed_ask_totals(struct serve_feed *feed, uint64_t now_ms)
{
	if (feed->totals != NULL && now_ms - feed->totals_ms <= FRESH_MS)
		return true;
	if (feed->up && !feed->asked) {
		feed->asked = true;
		feed_say(feed, now_ms, "show totals %" PRIu64 "\n", feed->clouds);
	}
	return false;
}

/* ---- kept events, and the state ---- */

uint64_t serve_feed_first(const struct serve_feed *feed)
{
	return event_log_first(feed->events) + feed->base;
}

uint64_t serve_feed_next(const struct serve_feed *feed)
{
	return event_log_next(feed->events) + feed->base;
}

const char *serve_feed_event(const struct serve_feed *feed, uint64_t number)
{
	const char *json, *text;

	if (number < serve_feed_first(feed) ||
	    !event_log_get(feed->events, number - feed->base, &json, &text))
		return NULL;
	return json;
}

char *serve_feed_state(const struct serve_feed *feed, bool changes)
{
	bool read_only = json_is_true(json_object_get(feed->hello, "read_only"));
	json_t *object =
	        json_pack("{s:b,s:s,s:b,s:I}", "connected", feed->up, "said", feed->said, "changes",
	                  changes && !read_only, "interval_ns", (json_int_t)feed->interval_ns);
	char *text = NULL;

	if (object != NULL && feed->hello != NULL)
		json_object_set(object, "hello", feed->hello);
	if (object != NULL)
		text = json_dumps(object, JSON_COMPACT);
	json_decref(object);
	return text;
}
