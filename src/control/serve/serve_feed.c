/* SPDX-License-Identifier: BSD-3-Clause */
#include "serve/serve_http.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "machine/run_log.h"
#include "service/event_log.h"
#include "simtime.h"

#define AGAIN_MS  1000
#define SILENT_MS 10000 /* time allowed for an answer that is due */
#define FRESH_MS  200   /* totals up to this age are used again */
#define ROWS      128   /* clouds in a sample */

bool serve_feed_begin(struct serve_feed *feed)
{
	snprintf(feed->said, sizeof(feed->said), "weir has not answered yet");
	feed->events = event_log_make(EVENT_LOG_BYTES, EVENT_LOG_MAX);
	feed->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return feed->events != NULL && feed->wake >= 0;
}

void serve_feed_end(struct serve_feed *feed)
{
	event_log_free(feed->events);
	if (feed->wake >= 0)
		close(feed->wake);
	json_decref(feed->hello);
	json_decref(feed->totals);
	free(feed->sample);
}

/* ---- what weir sends; with the lock ---- */

static uint64_t first_event(const struct serve_feed *feed)
{
	return event_log_first(feed->events) + feed->base;
}

static uint64_t next_event(const struct serve_feed *feed)
{
	return event_log_next(feed->events) + feed->base;
}

static void events_anew(struct serve_feed *feed)
{
	struct event_log *log = event_log_make(EVENT_LOG_BYTES, EVENT_LOG_MAX);

	if (log == NULL)
		return;
	event_log_free(feed->events);
	feed->events = log;
	feed->base = 0;
}

static void take_event(struct serve_feed *feed, const json_t *object, const char *line, size_t n)
{
	uint64_t number = (uint64_t)json_integer_value(json_object_get(object, "seq"));

	if (n + 2 > EVENT_BYTES_MAX || number == 0)
		return;
	/* The first event, or the first after some that have gone from weir's own log. */
	if (number != next_event(feed)) {
		events_anew(feed);
		feed->base = number - event_log_next(feed->events);
	}
	event_log_add(feed->events, line, "");
}

/* Returns the event from which weir resumes, because the next one has gone; 0: none has. */
static uint64_t take_answer(struct serve_feed *feed, json_t *object)
{
	const json_t *error = json_object_get(object, "error");
	const char *code = json_string_value(json_object_get(error, "code"));

	if (json_object_get(object, "clouds_in_all") != NULL) {
		json_decref(feed->totals);
		feed->totals = json_incref(object);
		feed->totals_ms = serve_now_ms();
	} else if (code != NULL && strcmp(code, "gone") == 0) {
		return (uint64_t)json_integer_value(json_object_get(error, "resume"));
	} else if (error == NULL) {
		return 0;
	}
	feed->wanted = feed->asked = false;
	return 0;
}

static uint64_t take_line(struct serve_http *http, const char *from, size_t n)
{
	struct serve_feed *feed = &http->feed;
	json_t *object = json_loadb(from, n, 0, NULL);
	char *line = strndup(from, n);
	uint64_t resume = 0;

	pthread_mutex_lock(&http->lock);
	if (line != NULL && json_is_string(json_object_get(object, "event"))) {
		take_event(feed, object, line, n);
	} else if (line != NULL && json_object_get(object, "sample") != NULL) {
		free(feed->sample);
		feed->sample = line;
		feed->samples++;
		line = NULL;
	} else if (object != NULL) {
		resume = take_answer(feed, object);
	}
	json_decref(object); /* with the lock: its totals may be in use */
	pthread_cond_broadcast(&http->news);
	pthread_mutex_unlock(&http->lock);
	free(line);
	return resume;
}

/* ---- following weir: the feed's thread ---- */

static void feed_down(struct serve_http *http, const char *said)
{
	struct serve_feed *feed = &http->feed;

	pthread_mutex_lock(&http->lock);
	if (!http->ends && (feed->up || strcmp(said, feed->said) != 0)) {
		feed->states++;
		run_log(RUN_LOG_WARNING, "%s", said);
	}
	snprintf(feed->said, sizeof(feed->said), "%s", said);
	feed->up = feed->wanted = feed->asked = false;
	json_decref(feed->totals);
	feed->totals = NULL;
	pthread_cond_broadcast(&http->news);
	pthread_mutex_unlock(&http->lock);
}

/* Takes over `hello`, and returns the next event. */
static uint64_t feed_up(struct serve_http *http, json_t *hello)
{
	struct serve_feed *feed = &http->feed;
	const char *run = json_string_value(json_object_get(hello, "run"));
	const char *version = json_string_value(json_object_get(hello, "weir"));
	uint64_t next = 0;

	pthread_mutex_lock(&http->lock);
	json_decref(feed->hello);
	feed->hello = hello;
	if (strcmp(run, feed->run) != 0) {
		events_anew(feed);
		snprintf(feed->run, sizeof(feed->run), "%s", run);
		free(feed->sample);
		feed->sample = NULL;
	}
	feed->up = true;
	feed->said[0] = '\0';
	feed->states++;
	if (event_log_first(feed->events) != event_log_next(feed->events))
		next = next_event(feed);
	pthread_cond_broadcast(&http->news);
	pthread_mutex_unlock(&http->lock);
	run_log(RUN_LOG_NOTICE, "weir %s answers, run %s", version != NULL ? version : "", run);
	if (http->token != NULL && json_is_true(json_object_get(hello, "read_only")))
		run_log(RUN_LOG_WARNING, "its socket is read-only, so nothing can be changed; name "
		                         "the control socket with -s");
	return next;
}

/* Asks for events from this one on; 0: from the oldest. */
static int ask_for_events(struct ctl_link *link, uint64_t from)
{
	char line[64] = "events from oldest";

	if (from > 0)
		snprintf(line, sizeof(line), "events from %" PRIu64, from);
	return ctl_link_send(link, line);
}

/* Asks weir for what is wanted now. Returns false when there is nothing more to follow. */
static bool ask_for_more(struct serve_http *http, struct ctl_link *link, bool *sampling,
                         uint64_t *heard_ms)
{
	struct serve_feed *feed = &http->feed;
	bool ends, live, totals;
	char line[80] = "sample off";

	pthread_mutex_lock(&http->lock);
	ends = http->ends;
	live = http->n_live > 0;
	totals = feed->wanted && !feed->asked;
	feed->asked |= totals;
	pthread_mutex_unlock(&http->lock);
	if (ends)
		return false;
	if (live != *sampling || totals)
		*heard_ms = serve_now_ms();
	if (live && !*sampling)
		snprintf(line, sizeof(line), "sample %" PRIu64 "ns clouds %d", feed->interval_ns,
		         ROWS);
	if (live != *sampling)
		ctl_link_send(link, line);
	*sampling = live;
	snprintf(line, sizeof(line), "show totals %" PRIu64, feed->clouds);
	if (totals)
		ctl_link_send(link, line);
	return true;
}

/* Takes what weir sends, until it has gone. Returns what to say of that. */
static const char *follow(struct serve_http *http, struct ctl_link *link)
{
	struct serve_feed *feed = &http->feed;
	struct pollfd polled[] = {{.fd = link->fd, .events = POLLIN},
	                          {.fd = feed->wake, .events = POLLIN}};
	uint64_t heard_ms = serve_now_ms(), patience, count;
	bool sampling = false;

	while (ask_for_more(http, link, &sampling, &heard_ms)) {
		const char *line;
		size_t n;

		poll(polled, 2, AGAIN_MS);
		while (read(feed->wake, &count, sizeof(count)) > 0)
			;
		patience = SILENT_MS + (sampling ? 2 * feed->interval_ns / SIMTIME_MS : 0);
		if (polled[0].revents != 0 && ctl_link_receive(link) != 0)
			break;
		while ((line = ctl_link_line(link, &n)) != NULL) {
			uint64_t resume = take_line(http, line, n);

			heard_ms = serve_now_ms();
			if (resume > 0)
				ask_for_events(link, resume);
		}
		if ((feed->asked || sampling) && serve_now_ms() - heard_ms > patience)
			return "weir does not answer; trying again each second";
	}
	return "weir has gone; trying again each second";
}

void *serve_feed_run(void *argument)
{
	struct serve_http *http = argument;
	struct ctl_link link = {.fd = -1};
	char why[SERVE_ASK_WHY_BYTES];
	bool ends = false;

	while (!ends) {
		json_t *hello = NULL;
		uint64_t again_ms;

		if (serve_conversation_open(http, &link, SILENT_MS / 1000, why) == 0 &&
		    (hello = ctl_link_greet(&link, "totals", "weir serve", why, sizeof(why))) &&
		    ask_for_events(&link, feed_up(http, hello)) == 0)
			snprintf(why, sizeof(why), "%s", follow(http, &link));
		feed_down(http, why);
		serve_conversation_close(http, &link);
		again_ms = serve_now_ms() + AGAIN_MS;
		pthread_mutex_lock(&http->lock);
		while (!http->ends && serve_now_ms() < again_ms)
			serve_http_wait(http, again_ms - serve_now_ms());
		ends = http->ends;
		pthread_mutex_unlock(&http->lock);
	}
	return NULL;
}

static void wake(const struct serve_feed *feed)
{
	const uint64_t one = 1;
	ssize_t ignored = write(feed->wake, &one, sizeof(one));

	(void)ignored;
}

json_t *serve_feed_totals(struct serve_http *http, json_t **hello)
{
	struct serve_feed *feed = &http->feed;
	uint64_t now_ms = serve_now_ms(), end_ms = now_ms + SERVE_METRICS_MS, from_ms = now_ms;
	json_t *totals;

	pthread_mutex_lock(&http->lock);
	if (feed->totals != NULL && now_ms - feed->totals_ms <= FRESH_MS)
		from_ms = feed->totals_ms;
	else
		feed->wanted = feed->up;
	wake(feed);
	for (; feed->wanted && !http->ends && now_ms < end_ms; now_ms = serve_now_ms()) {
		if (feed->totals != NULL && feed->totals_ms >= from_ms)
			break;
		serve_http_wait(http, end_ms - now_ms);
	}
	totals = feed->totals_ms >= from_ms ? json_deep_copy(feed->totals) : NULL;
	*hello = json_deep_copy(feed->hello);
	pthread_mutex_unlock(&http->lock);
	return totals;
}

/* ---- streams ---- */

struct serve_stream {
	struct serve_http *http;
	bool live;
	struct serve_from from;    /* where to begin */
	char run[SERVE_RUN_BYTES]; /* the run of `number`; "": weir has not answered yet */
	uint64_t number;           /* the number of the next event */
	uint64_t states, samples;  /* the latest that were sent */
	uint64_t beat_ms;          /* when a comment is due */
	char *bytes;               /* to be sent: [at, n) */
	size_t at, n;
};

static void begin_in_run(struct serve_stream *stream)
{
	const struct serve_feed *feed = &stream->http->feed;
	const struct serve_from *from = &stream->from;

	memcpy(stream->run, feed->run, sizeof(stream->run));
	if (from->oldest || (from->run[0] && strcmp(from->run, feed->run) != 0))
		stream->number = first_event(feed);
	else /* this event may still be on its way from weir */
		stream->number = from->number;
}

static void put_events(struct serve_stream *stream, FILE *out)
{
	const struct serve_feed *feed = &stream->http->feed;
	const uint64_t first = first_event(feed);
	const char *json, *text;

	if (stream->number < first) {
		fprintf(out, "event: gone\ndata: {\"resume\":%" PRIu64 "}\n\n", first);
		stream->number = first;
	}
	while (event_log_get(feed->events, stream->number - feed->base, &json, &text) &&
	       ftell(out) < SERVE_STREAM_BYTES)
		fprintf(out, "id: %s-%" PRIu64 "\ndata: %s\n\n", stream->run, stream->number++,
		        json);
}

static void put_state(struct serve_stream *stream, FILE *out)
{
	const struct serve_feed *feed = &stream->http->feed;
	const bool changes = stream->http->token != NULL &&
	                     !json_is_true(json_object_get(feed->hello, "read_only"));
	json_t *object;
	char *state;

	if (stream->states == feed->states)
		return;
	stream->states = feed->states;
	object = json_pack("{s:b,s:s,s:b,s:I,s:O*}", "connected", feed->up, "said", feed->said,
	                   "changes", changes, "interval_ns", (json_int_t)feed->interval_ns,
	                   "hello", feed->hello);
	state = object != NULL ? json_dumps(object, JSON_COMPACT) : NULL;
	json_decref(object);
	if (state != NULL)
		fprintf(out, "event: state\ndata: %s\n\n", state);
	free(state);
}

static bool has_news(const struct serve_stream *stream)
{
	const struct serve_feed *feed = &stream->http->feed;

	return stream->http->ends || serve_now_ms() >= stream->beat_ms ||
	       strcmp(stream->run, feed->run) != 0 || stream->number < next_event(feed) ||
	       (stream->live &&
	        (stream->states != feed->states || stream->samples != feed->samples));
}

/* Composes the next bytes. Returns false if there is no memory. */
static bool compose(struct serve_stream *stream)
{
	const struct serve_feed *feed = &stream->http->feed;
	FILE *out;

	free(stream->bytes);
	stream->bytes = NULL;
	stream->at = stream->n = 0;
	out = open_memstream(&stream->bytes, &stream->n);
	if (out == NULL)
		return false;
	/* If another run has begun, continues with its oldest event. */
	if (strcmp(stream->run, feed->run) != 0) {
		stream->from.oldest |= stream->run[0] != '\0';
		begin_in_run(stream);
	}
	/* The state, which names the run, precedes the events of that run. */
	if (stream->live)
		put_state(stream, out);
	put_events(stream, out);
	if (stream->live && stream->samples != feed->samples && feed->sample != NULL)
		fprintf(out, "event: sample\ndata: %s\n\n", feed->sample);
	stream->samples = feed->samples;
	if (serve_now_ms() >= stream->beat_ms) {
		fputs(":\n\n", out);
		stream->beat_ms = serve_now_ms() + SERVE_BEAT_MS;
	}
	if (fclose(out) == 0)
		return true;
	stream->n = 0;
	return false;
}

/* The callbacks of microhttpd. */
static ssize_t stream_read(void *argument, uint64_t position, char *bytes, size_t room)
{
	struct serve_stream *stream = argument;
	struct serve_http *http = stream->http;
	size_t n;

	(void)position;
	pthread_mutex_lock(&http->lock);
	while (stream->at == stream->n && !http->ends) {
		if (!has_news(stream) || !compose(stream))
			serve_http_wait(http, AGAIN_MS);
	}
	pthread_mutex_unlock(&http->lock);
	n = stream->n - stream->at;
	if (n == 0)
		return MHD_CONTENT_READER_END_OF_STREAM;
	n = n < room ? n : room;
	memcpy(bytes, stream->bytes + stream->at, n);
	stream->at += n;
	return (ssize_t)n;
}

static void stream_free(void *argument)
{
	struct serve_stream *stream = argument;
	struct serve_http *http = stream->http;

	pthread_mutex_lock(&http->lock);
	http->n_streams--;
	http->n_live -= stream->live;
	pthread_mutex_unlock(&http->lock);
	wake(&http->feed);
	free(stream->bytes);
	free(stream);
}

struct MHD_Response *serve_stream_open(struct serve_http *http, bool live,
                                       const struct serve_from *from)
{
	struct serve_stream *stream = calloc(1, sizeof(*stream));
	struct MHD_Response *response = NULL;

	if (stream != NULL)
		response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, SERVE_STREAM_BYTES,
		                                             stream_read, stream, stream_free);
	if (response == NULL) {
		free(stream);
		return NULL;
	}
	/* A comment goes out at once, so that a browser sees that the stream is open. */
	*stream = (struct serve_stream){
	        .http = http, .live = live, .states = UINT64_MAX, .samples = UINT64_MAX};
	pthread_mutex_lock(&http->lock);
	stream->from =
	        from != NULL ? *from : (struct serve_from){.number = next_event(&http->feed)};
	begin_in_run(stream);
	http->n_live += live;
	if (++http->n_streams <= SERVE_STREAMS) {
		pthread_mutex_unlock(&http->lock);
		wake(&http->feed);
		return response;
	}
	pthread_mutex_unlock(&http->lock);
	MHD_destroy_response(response);
	return NULL;
}
