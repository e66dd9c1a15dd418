/* SPDX-License-Identifier: BSD-3-Clause */
#include "serve/serve_http.h"

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

static uint64_t serve_feed_next(const struct serve_feed *feed)
{
	return event_log_next(feed->events) + feed->base;
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

/* May close the link. */
static void take_line(struct serve_feed *feed, uint64_t now_ms, const char *line, size_t n)
{
	json_t *object = json_loadb(line, n, 0, NULL);

	feed->heard_ms = now_ms;
	if (json_is_string(json_object_get(object, "event")))
		take_event(feed, object, line, n);
	else if (json_object_get(object, "sample") != NULL)
		take_sample(feed, line);
	else if (object != NULL)
		take_answer(feed, object, now_ms);
	else if (!feed->up) /* weir refused in text: JSON was not on yet */
		feed_down(feed, now_ms, "weir: %.300s", line);
	json_decref(object);
}

void serve_feed_read(struct serve_feed *feed, uint64_t now_ms)
{
	struct serve_link *link = &feed->link;
	int result = serve_link_write(link);
	char *line;
	size_t n;

	while (link->fd >= 0 && result == 0 && (result = serve_link_read(link)) == 1) {
		while (link->fd >= 0 && (line = serve_link_line(link, &n)) != NULL)
			take_line(feed, now_ms, line, n);
		result = 0;
	}
	if (result != 0)
		feed_down(feed, now_ms, "weir has gone; trying again each second");
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

/* Return weir's numbers of the oldest event that is kept, and of the next to arrive. */
static uint64_t serve_feed_first(const struct serve_feed *feed)
{
	return event_log_first(feed->events) + feed->base;
}

/* Returns the event, as weir has sent it; NULL if it is not kept. */
static const char *serve_feed_event(const struct serve_feed *feed, uint64_t number)
{
	const char *json, *text;

	if (number < serve_feed_first(feed) ||
	    !event_log_get(feed->events, number - feed->base, &json, &text))
		return NULL;
	return json;
}

struct serve_stream {
	struct serve_stream *next;
	struct serve_streams *among;
	struct MHD_Connection *connection;
	bool live, sleeps, beat;
	struct serve_from from;    /* where to begin */
	char run[SERVE_RUN_BYTES]; /* the run of `number`; "": weir has not answered yet */
	uint64_t number;           /* the number of the next event */
	uint64_t states, samples;  /* the latest that were sent */
	char *bytes;               /* to be sent: [at, n) */
	size_t at, n;
};

/* ---- composing the next bytes ---- */

static void begin_in_run(struct serve_stream *stream)
{
	const struct serve_feed *feed = stream->among->feed;
	const struct serve_from *from = &stream->from;

	memcpy(stream->run, feed->run, sizeof(stream->run));
	if (from->oldest || (from->run[0] && strcmp(from->run, feed->run) != 0))
		stream->number = serve_feed_first(feed);
	else /* this event may still be on its way from weir */
		stream->number = from->number;
}

/* If another run has begun, continues with its oldest event. */
static void follow_run(struct serve_stream *stream)
{
	if (strcmp(stream->run, stream->among->feed->run) == 0)
		return;
	stream->from.oldest |= stream->run[0] != '\0';
	begin_in_run(stream);
}

static void put_events(struct serve_stream *stream, FILE *out)
{
	const struct serve_feed *feed = stream->among->feed;
	uint64_t first = serve_feed_first(feed);

	if (stream->number < first) {
		fprintf(out, "event: gone\ndata: {\"resume\":%" PRIu64 "}\n\n", first);
		stream->number = first;
	}
	while (stream->number < serve_feed_next(feed) && ftell(out) < SERVE_STREAM_BYTES) {
		fprintf(out, "id: %s-%" PRIu64 "\ndata: %s\n\n", stream->run, stream->number,
		        serve_feed_event(feed, stream->number));
		stream->number++;
	}
}

static void put_state(struct serve_stream *stream, FILE *out)
{
	const struct serve_feed *feed = stream->among->feed;
	bool read_only = json_is_true(json_object_get(feed->hello, "read_only"));
	json_t *object;
	char *state = NULL;

	if (stream->states == feed->states)
		return;
	stream->states = feed->states;
	object = json_pack("{s:b,s:s,s:b,s:I}", "connected", feed->up, "said", feed->said,
	                   "changes", stream->among->changes && !read_only, "interval_ns",
	                   (json_int_t)feed->interval_ns);
	if (object != NULL && feed->hello != NULL)
		json_object_set(object, "hello", feed->hello);
	if (object != NULL)
		state = json_dumps(object, JSON_COMPACT);
	json_decref(object);
	if (state != NULL)
		fprintf(out, "event: state\ndata: %s\n\n", state);
	free(state);
}

static bool has_news(const struct serve_stream *stream)
{
	const struct serve_feed *feed = stream->among->feed;

	return stream->beat || stream->among->over || strcmp(stream->run, feed->run) != 0 ||
	       stream->number < serve_feed_next(feed) ||
	       (stream->live &&
	        (stream->states != feed->states || stream->samples != feed->samples));
}

static void compose(struct serve_stream *stream)
{
	FILE *out;

	free(stream->bytes);
	stream->bytes = NULL;
	stream->at = stream->n = 0;
	out = open_memstream(&stream->bytes, &stream->n);
	if (out == NULL)
		return;
	follow_run(stream);
	/* The state, which names the run, precedes the events of that run. */
	if (stream->live)
		put_state(stream, out);
	put_events(stream, out);
	if (stream->live) {
		const struct serve_feed *feed = stream->among->feed;

		if (stream->samples != feed->samples && feed->sample != NULL)
			fprintf(out, "event: sample\ndata: %s\n\n", feed->sample);
		stream->samples = feed->samples;
	}
	if (stream->beat)
		fputs(":\n\n", out);
	stream->beat = false;
	if (fclose(out) != 0)
		stream->n = 0;
}

/* ---- callbacks of microhttpd ---- */

static ssize_t stream_read(void *argument, uint64_t position, char *bytes, size_t room)
{
	struct serve_stream *stream = argument;
	size_t n;

	(void)position;
	if (stream->at == stream->n && has_news(stream))
		compose(stream);
	n = stream->n - stream->at;
	if (n == 0 && stream->among->over)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (n == 0) {
		stream->sleeps = true;
		MHD_suspend_connection(stream->connection);
		return 0;
	}
	n = n < room ? n : room;
	memcpy(bytes, stream->bytes + stream->at, n);
	stream->at += n;
	return (ssize_t)n;
}

static void stream_free(void *argument)
{
	struct serve_stream *stream = argument;

	for (struct serve_stream **at = &stream->among->first; *at != NULL; at = &(*at)->next) {
		if (*at == stream) {
			*at = stream->next;
			break;
		}
	}
	stream->among->n--;
	stream->among->n_live -= stream->live;
	free(stream->bytes);
	free(stream);
}

struct MHD_Response *serve_stream_open(struct serve_streams *streams,
                                       struct MHD_Connection *connection, bool live,
                                       const struct serve_from *from)
{
	struct serve_stream *stream = NULL;
	struct MHD_Response *response = NULL;

	if (streams->n < SERVE_STREAMS)
		stream = calloc(1, sizeof(*stream));
	if (stream != NULL)
		response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, SERVE_STREAM_BYTES,
		                                             stream_read, stream, stream_free);
	if (response == NULL) {
		free(stream);
		return NULL;
	}
	stream->among = streams;
	stream->connection = connection;
	stream->live = live;
	stream->beat = true; /* so that a browser sees at once that the stream is open */
	stream->states = stream->samples = UINT64_MAX;
	stream->from = from != NULL ? *from
	                            : (struct serve_from){.number = serve_feed_next(streams->feed)};
	begin_in_run(stream);
	stream->next = streams->first;
	streams->first = stream;
	streams->n++;
	streams->n_live += live;
	return response;
}

static bool stream_wake(struct serve_stream *stream)
{
	if (!stream->sleeps)
		return false;
	stream->sleeps = false;
	MHD_resume_connection(stream->connection);
	return true;
}

bool serve_streams_tick(struct serve_streams *streams, uint64_t now_ms)
{
	bool beat = now_ms - streams->beat_ms >= SERVE_BEAT_MS, woken = false;

	if (beat)
		streams->beat_ms = now_ms;
	for (struct serve_stream *stream = streams->first; stream != NULL; stream = stream->next) {
		stream->beat |= beat;
		if (has_news(stream))
			woken |= stream_wake(stream);
	}
	return woken;
}

void serve_streams_end(struct serve_streams *streams)
{
	streams->over = true;
	for (struct serve_stream *stream = streams->first; stream != NULL; stream = stream->next)
		stream_wake(stream);
}
