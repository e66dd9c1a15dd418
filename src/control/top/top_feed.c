/* SPDX-License-Identifier: BSD-3-Clause */
#include "top/top_feed.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#define AGAIN_MS   1000
#define PATIENCE_S 5 /* to wait for an answer, while the picture stands still */

void top_feed_begin(struct top_feed *feed, const char *path, const char *interval)
{
	memset(feed, 0, sizeof(*feed));
	feed->path = path;
	feed->link.fd = feed->asks.fd = -1;
	snprintf(feed->line, sizeof(feed->line), "sample %.40s clouds 128", interval);
}

static void feed_close(struct top_feed *feed)
{
	ctl_link_close(&feed->link);
	ctl_link_close(&feed->asks);
	feed->up = false;
}

void top_feed_end(struct top_feed *feed)
{
	feed_close(feed);
	json_decref(feed->hello);
	feed->hello = NULL;
}

static void feed_patience(const struct ctl_link *link, time_t seconds)
{
	struct timeval timeout = {.tv_sec = seconds};

	setsockopt(link->fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	setsockopt(link->fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
}

/* Determines which weir it is connected to. */
static int feed_greet(struct top_feed *feed)
{
	struct ctl_answer answer;
	const char *run;
	int result = ctl_link_ask(&feed->link, "json on", &answer);

	if (result != 0)
		return result;
	if (!answer.ok) /* e.g. too many clients are connected */
		snprintf(feed->said, sizeof(feed->said), "%s", answer.error);
	result = answer.ok ? 0 : -EBUSY;
	ctl_answer_release(&answer);
	if (result == 0)
		result = ctl_link_ask(&feed->link, "hello", &answer);
	if (result != 0)
		return result;
	json_decref(feed->hello);
	feed->hello = json_loads(answer.body, 0, NULL);
	ctl_answer_release(&answer);
	run = json_string_value(json_object_get(feed->hello, "run"));
	if (run == NULL || json_integer_value(json_object_get(feed->hello, "protocol")) != 1) {
		snprintf(feed->said, sizeof(feed->said),
		         "this weir speaks another protocol; use the weir top that came with it");
		return -EPROTO;
	}
	if (strcmp(run, feed->run) != 0) {
		snprintf(feed->said, sizeof(feed->said), "%s",
		         feed->run[0] ? "weir was restarted: all counters begin at 0" : "");
		snprintf(feed->run, sizeof(feed->run), "%s", run);
		feed->next = 0;
	} else {
		snprintf(feed->said, sizeof(feed->said), "connected again");
	}
	return 0;
}

static int feed_subscribe(struct top_feed *feed)
{
	char line[64] = "events from oldest";
	int result;

	if (feed->next > 0)
		snprintf(line, sizeof(line), "events from %" PRIu64, feed->next);
	result = ctl_link_send(&feed->link, line);
	return result == 0 ? ctl_link_send(&feed->link, feed->line) : result;
}

int top_feed_connect(struct top_feed *feed, uint64_t now_ms)
{
	struct problem problem;
	int result;

	if (feed->up || now_ms < feed->again_ms)
		return 0;
	feed->again_ms = now_ms + AGAIN_MS;
	result = ctl_link_open(&feed->link, feed->path, &problem);
	if (result != 0) {
		snprintf(feed->said, sizeof(feed->said), "%.*s", (int)sizeof(feed->said) - 1,
		         problem.text);
		feed->link.fd = -1;
		return result;
	}
	/* The first time there is no picture yet, and ^C ends the process, so it may wait
	 * longer. */
	feed_patience(&feed->link, feed->run[0] ? PATIENCE_S : CTL_ANSWER_TIMEOUT_S);
	snprintf(feed->said, sizeof(feed->said), "weir does not answer");
	result = feed_greet(feed);
	if (result == 0)
		result = feed_subscribe(feed);
	feed->up = result == 0;
	if (feed->up)
		feed_patience(&feed->link, PATIENCE_S);
	else
		feed_close(feed);
	return result;
}

static void feed_lost(struct top_feed *feed, uint64_t now_ms)
{
	feed_close(feed);
	feed->again_ms = now_ms + AGAIN_MS;
	snprintf(feed->said, sizeof(feed->said), "weir has gone; trying again each second");
}

/* Handles an answer to a command that was sent without waiting. */
static void feed_answered(struct top_feed *feed, const json_t *object)
{
	const json_t *error = json_object_get(object, "error");
	const char *message = json_string_value(json_object_get(error, "message"));
	const json_t *resume = json_object_get(error, "resume");

	if (error == NULL)
		return;
	snprintf(feed->said, sizeof(feed->said), "%s", message != NULL ? message : "an error");
	if (resume == NULL)
		return;
	feed->next = (uint64_t)json_integer_value(resume);
	if (strcmp(json_string_value(json_object_get(error, "code")), "gone") == 0)
		feed_subscribe(feed);
}

void top_feed_read(struct top_feed *feed, uint64_t now_ms,
                   void (*take)(void *argument, const json_t *object), void *argument)
{
	struct ctl_link *link = &feed->link;
	int result = ctl_link_receive(link);
	const char *end;
	size_t at = 0;

	while ((end = memchr(link->bytes + at, '\n', link->n - at)) != NULL) {
		json_t *object =
		        json_loadb(link->bytes + at, (size_t)(end - link->bytes) - at, 0, NULL);

		if (json_object_get(object, "event") != NULL)
			feed->next =
			        (uint64_t)json_integer_value(json_object_get(object, "seq")) + 1;
		if (json_object_get(object, "ok") != NULL)
			feed_answered(feed, object);
		else if (object != NULL)
			take(argument, object);
		json_decref(object);
		at = (size_t)(end - link->bytes) + 1;
	}
	link->n -= at;
	memmove(link->bytes, link->bytes + at, link->n);
	if (result != 0 && result != -ETIMEDOUT)
		feed_lost(feed, now_ms);
}

char *top_feed_ask(struct top_feed *feed, const char *line, bool *ok)
{
	struct ctl_answer answer;
	struct problem problem;
	char *text = NULL;
	int result;

	*ok = false;
	if (feed->asks.fd < 0 && ctl_link_open(&feed->asks, feed->path, &problem) != 0) {
		feed->asks.fd = -1;
		return strdup(problem.text);
	}
	feed_patience(&feed->asks, PATIENCE_S);
	result = ctl_link_ask(&feed->asks, line, &answer);
	if (result != 0) {
		ctl_link_close(&feed->asks);
		return strdup(result == -ETIMEDOUT ? "weir does not answer" : "weir hung up");
	}
	*ok = answer.ok;
	text = strdup(answer.ok ? answer.body : answer.error);
	/* weir closes a connection that is idle for 10 minutes; its message is read as the next
	 * answer. */
	if (!answer.ok && strstr(answer.error, "connect again") != NULL)
		ctl_link_close(&feed->asks);
	ctl_answer_release(&answer);
	return text;
}
