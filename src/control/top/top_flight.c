/* SPDX-License-Identifier: BSD-3-Clause */
#include "top/top_flight.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#define PATIENCE_S 5 /* to send, and for an answer that has begun */

void top_flight_begin(struct top_flight *flight)
{
	memset(flight, 0, sizeof(*flight));
	flight->link.fd = -1;
}

void top_flight_end(struct top_flight *flight)
{
	if (flight->link.fd >= 0)
		ctl_link_close(&flight->link);
	flight->link.fd = -1;
}

static void flight_say(struct top_flight *flight, const char *what, const char *why)
{
	snprintf(flight->said, sizeof(flight->said), "%s%.250s", what, why);
	flight->said[strcspn(flight->said, "\n")] = '\0';
}

void top_flight_dump(struct top_flight *flight, const char *path)
{
	const struct timeval patience = {.tv_sec = PATIENCE_S};
	struct problem problem;

	if (flight->link.fd >= 0) {
		flight_say(flight, "the flight is being dumped", "");
		return;
	}
	if (ctl_link_open(&flight->link, path, &problem) != 0) {
		flight->link.fd = -1;
		flight_say(flight, "not dumped: ", problem.text);
		return;
	}
	setsockopt(flight->link.fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(flight->link.fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
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
	top_flight_end(flight);
}
