/* SPDX-License-Identifier: BSD-3-Clause */
#include "serve/serve_stream.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	char *state;

	if (stream->states == feed->states)
		return;
	stream->states = feed->states;
	state = serve_feed_state(feed, stream->among->changes);
	if (state != NULL)
		fprintf(out, "event: state\ndata: %s\n\n", state);
	free(state);
}

static void put_sample(struct serve_stream *stream, FILE *out)
{
	const struct serve_feed *feed = stream->among->feed;

	if (stream->samples != feed->samples && feed->sample != NULL)
		fprintf(out, "event: sample\ndata: %s\n\n", feed->sample);
	stream->samples = feed->samples;
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
	if (stream->live)
		put_sample(stream, out);
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
