/* SPDX-License-Identifier: BSD-3-Clause */
#include "top/top_lease.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <jansson.h>

#define PATIENCE_S 5 /* to wait for an answer, while the picture stands still */
#define PARTS      3 /* how often it is renewed within its time */

void top_lease_begin(struct top_lease *lease)
{
	memset(lease, 0, sizeof(*lease));
	lease->link.fd = -1;
}

void top_lease_end(struct top_lease *lease)
{
	if (top_lease_is_held(lease))
		ctl_link_close(&lease->link);
	lease->link.fd = -1;
}

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
	const struct timeval patience = {.tv_sec = PATIENCE_S};
	const size_t time_n = strcspn(words, " ");
	const char *change = words + time_n + strspn(words + time_n, " ");
	struct ctl_link link = {.fd = -1};
	struct problem problem;
	char begin[80], *wrong;

	if (*change == '\0')
		return strdup("write `lease TIME LINE`, like `lease 10s cloud down delay 80ms`");
	if (ctl_link_open(&link, path, &problem) != 0)
		return strdup(problem.text);
	setsockopt(link.fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(link.fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
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
	top_lease_end(lease);
	lease->link = link;
	return NULL;
}

char *top_lease_say(struct top_lease *lease, const char *line, uint64_t now_ms)
{
	char *wrong = ask(lease, &lease->link, line, now_ms);

	if (wrong == NULL)
		top_lease_end(lease);
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
	top_lease_end(lease);
}

int top_lease_wait_ms(const struct top_lease *lease, uint64_t now_ms, int most_ms)
{
	if (!top_lease_is_held(lease) || lease->next_ms >= now_ms + (uint64_t)most_ms)
		return most_ms;
	return lease->next_ms > now_ms ? (int)(lease->next_ms - now_ms) : 0;
}
