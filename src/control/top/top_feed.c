/* SPDX-License-Identifier: BSD-3-Clause */
#include "top/top.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AGAIN_MS   1000
#define PATIENCE_S 5 /* to wait for an answer, while the picture stands still */

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

/* Determines which weir it is connected to. */
static bool feed_greet(struct top_feed *feed)
{
	json_t *hello =
	        ctl_link_greet(&feed->link, NULL, "weir top", feed->said, sizeof(feed->said));
	const char *run = json_string_value(json_object_get(hello, "run"));

	if (hello == NULL)
		return false;
	json_decref(feed->hello);
	feed->hello = hello;
	if (strcmp(run, feed->run) != 0) {
		snprintf(feed->said, sizeof(feed->said), "%s",
		         feed->run[0] ? "weir was restarted: all counters begin at 0" : "");
		snprintf(feed->run, sizeof(feed->run), "%s", run);
		feed->next = 0;
	} else {
		snprintf(feed->said, sizeof(feed->said), "connected again");
	}
	return true;
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
	/* The first time there is no picture yet, and ^C ends the process, so it may wait
	 * longer. */
	result = ctl_link_open(&feed->link, feed->path,
	                       feed->run[0] ? PATIENCE_S : CTL_ANSWER_TIMEOUT_S, &problem);
	if (result != 0) {
		snprintf(feed->said, sizeof(feed->said), "%.*s", (int)sizeof(feed->said) - 1,
		         problem.text);
		return result;
	}
	result = feed_greet(feed) ? feed_subscribe(feed) : -EPROTO;
	feed->up = result == 0;
	if (feed->up)
		ctl_link_patience(&feed->link, PATIENCE_S);
	else
		feed_close(feed);
	return result;
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

void top_feed_read(struct top_feed *feed, struct top_model *model, uint64_t now_ms)
{
	int result = ctl_link_receive(&feed->link);
	const char *line;
	size_t n;

	while ((line = ctl_link_line(&feed->link, &n)) != NULL) {
		json_t *object = json_loadb(line, n, 0, NULL);

		if (json_object_get(object, "event") != NULL)
			feed->next =
			        (uint64_t)json_integer_value(json_object_get(object, "seq")) + 1;
		if (json_object_get(object, "ok") != NULL)
			feed_answered(feed, object);
		else if (object != NULL)
			top_model_take(model, object);
		json_decref(object);
	}
	if (result != 0 && result != -ETIMEDOUT) {
		feed_close(feed);
		feed->again_ms = now_ms + AGAIN_MS;
		snprintf(feed->said, sizeof(feed->said), "weir has gone; trying again each second");
	}
}

char *top_feed_ask(struct top_feed *feed, const char *line, bool *ok)
{
	struct ctl_answer answer;
	struct problem problem;
	char *text = NULL;
	int result;

	*ok = false;
	if (feed->asks.fd < 0 && ctl_link_open(&feed->asks, feed->path, PATIENCE_S, &problem) != 0)
		return strdup(problem.text);
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

#define PARTS 3 /* how often the lease is renewed within its time */

bool top_lease_is_held(const struct top_lease *lease)
{
	return lease->link.fd >= 0;
}

/* Returns the message in an answer that is not ok; the caller frees it. */
static char *message_of(const struct ctl_answer *answer)
{
	json_t *object = json_loads(answer->error, 0, NULL);
	const char *text =
	        json_string_value(json_object_get(json_object_get(object, "error"), "message"));
	char *message = strdup(text != NULL ? text : "an error");

	json_decref(object);
	return message;
}

/* Reads the duration of the lease from the answers of `commit` and `renew`. */
static void take_time(struct top_lease *lease, const struct ctl_answer *answer, uint64_t now_ms)
{
	json_t *object = json_loads(answer->body, 0, NULL);
	json_int_t ns = json_integer_value(json_object_get(object, "lease_ns"));

	json_decref(object);
	if (ns > 0)
		lease->every_ms = (uint64_t)ns / 1000000 / PARTS;
	lease->next_ms = now_ms + lease->every_ms;
}

/* Sends a line. Returns NULL, or an error message, which the caller frees. */
static char *ask(struct top_lease *lease, struct ctl_link *link, const char *line, uint64_t now_ms)
{
	struct ctl_answer answer;
	char *wrong = NULL;

	if (ctl_link_ask(link, line, &answer) != 0)
		return strdup("weir does not answer");
	if (answer.ok)
		take_time(lease, &answer, now_ms);
	else
		wrong = message_of(&answer);
	ctl_answer_release(&answer);
	return wrong;
}

char *top_lease_make(struct top_lease *lease, const char *path, const char *words, uint64_t now_ms)
{
	const size_t time_n = strcspn(words, " ");
	const char *change = words + time_n + strspn(words + time_n, " ");
	struct ctl_link link = {.fd = -1};
	struct problem problem;
	char begin[80], *wrong;

	if (*change == '\0')
		return strdup("write `lease TIME LINE`, like `lease 10s cloud down delay 80ms`");
	if (ctl_link_open(&link, path, PATIENCE_S, &problem) != 0)
		return strdup(problem.text);
	snprintf(begin, sizeof(begin), "begin lease %.*s", (int)(time_n < 40 ? time_n : 40), words);
	wrong = ask(lease, &link, "json on", now_ms);
	if (wrong == NULL)
		wrong = ask(lease, &link, begin, now_ms);
	if (wrong == NULL)
		wrong = ask(lease, &link, change, now_ms);
	if (wrong == NULL)
		wrong = ask(lease, &link, "commit", now_ms);
	if (wrong != NULL) {
		ctl_link_close(&link); /* aborts the batch that has begun */
		return wrong;
	}
	ctl_link_close(&lease->link);
	lease->link = link;
	return NULL;
}

char *top_lease_say(struct top_lease *lease, const char *line, uint64_t now_ms)
{
	char *wrong = ask(lease, &lease->link, line, now_ms);

	if (wrong == NULL)
		ctl_link_close(&lease->link);
	return wrong;
}

void top_lease_poll(struct top_lease *lease, uint64_t now_ms)
{
	char *wrong;

	if (!top_lease_is_held(lease) || now_ms < lease->next_ms)
		return;
	wrong = ask(lease, &lease->link, "renew", now_ms);
	if (wrong == NULL)
		return;
	snprintf(lease->said, sizeof(lease->said), "the lease is not renewed any more: %.200s",
	         wrong);
	free(wrong);
	ctl_link_close(&lease->link);
}

int top_lease_wait_ms(const struct top_lease *lease, uint64_t now_ms, int most_ms)
{
	if (!top_lease_is_held(lease) || lease->next_ms >= now_ms + (uint64_t)most_ms)
		return most_ms;
	return lease->next_ms > now_ms ? (int)(lease->next_ms - now_ms) : 0;
}

static void flight_say(struct top_flight *flight, const char *what, const char *why)
{
	snprintf(flight->said, sizeof(flight->said), "%s%.250s", what, why);
	flight->said[strcspn(flight->said, "\n")] = '\0';
}

void top_flight_dump(struct top_flight *flight, const char *path)
{
	struct problem problem;

	if (flight->link.fd >= 0) {
		flight_say(flight, "the flight is being dumped", "");
		return;
	}
	if (ctl_link_open(&flight->link, path, PATIENCE_S, &problem) != 0) {
		flight_say(flight, "not dumped: ", problem.text);
		return;
	}
	/* If weir has hung up, its last message says why. */
	ctl_link_send(&flight->link, "flight dump");
	flight_say(flight, "the flight is being dumped", "");
}

void top_flight_read(struct top_flight *flight)
{
	struct ctl_answer answer;
	const char *why;

	if (ctl_link_answer(&flight->link, &answer) != 0) {
		flight_say(flight, "not dumped: ", "weir hung up");
	} else {
		why = answer.ok ? answer.body : strstr(answer.error, ": ");
		if (!answer.ok) /* `NAME: what is wrong` */
			why = why != NULL ? why + 2 : answer.error;
		flight_say(flight, answer.ok ? "flight dumped in " : "not dumped: ", why);
		ctl_answer_release(&answer);
	}
	ctl_link_close(&flight->link);
}
