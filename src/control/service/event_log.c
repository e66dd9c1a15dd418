/* SPDX-License-Identifier: BSD-3-Clause */
#include "service/event_log.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

const char *const event_log_kinds[] = {
        "started",    "stopped",     "change",          "cleared",       "link",        "interface",
        "remark",     "stall",       "stall-end",       "loss",          "real-loss",   "schedule",
        "lease-kept", "lease-stuck", "recording-ended", "flight-dumped", "flight-lost", NULL,
};

bool event_log_is_kind(const char *text, size_t n)
{
	for (size_t i = 0; event_log_kinds[i] != NULL; i++) {
		if (strlen(event_log_kinds[i]) == n && memcmp(event_log_kinds[i], text, n) == 0)
			return true;
	}
	return false;
}

/* Where the two texts of an event are, each terminated by a 0. */
struct place {
	uint32_t at, json_n, n;
};

struct event_log {
	uint32_t bytes, most;
	uint64_t first, next;
	uint32_t end; /* behind the texts of the latest event */
	struct place *places;
	char *text;
	uint32_t n_listeners;
	int listeners[EVENT_LOG_LISTENERS];
};

_Static_assert(sizeof(struct place) == 12, "EVENT_LOG_TAKES counts them");
_Static_assert(sizeof(struct event_log) <= 192, "and this");

struct event_log *event_log_make(uint32_t bytes, uint32_t most)
{
	struct event_log *log = calloc(1, sizeof(*log));

	if (log == NULL)
		return NULL;
	log->bytes = bytes;
	log->most = most;
	log->first = log->next = 1;
	log->places = calloc(most, sizeof(*log->places));
	log->text = malloc(bytes);
	if (log->places == NULL || log->text == NULL) {
		event_log_free(log);
		return NULL;
	}
	/* Touches all pages at the start, so that the memory does not grow for hours. */
	memset(log->text, ' ', bytes);
	return log;
}

void event_log_free(struct event_log *log)
{
	if (log == NULL)
		return;
	free(log->places);
	free(log->text);
	free(log);
}

uint64_t event_log_first(const struct event_log *log)
{
	return log->first;
}

uint64_t event_log_next(const struct event_log *log)
{
	return log->next;
}

static struct place *place_of(const struct event_log *log, uint64_t number)
{
	return &log->places[number % log->most];
}

/* Returns true if the oldest event that is kept overlaps [at, at + n). */
static bool is_taken(const struct event_log *log, uint32_t at, uint32_t n)
{
	const struct place *oldest = place_of(log, log->first);

	return log->first < log->next && oldest->at < at + n && at < oldest->at + oldest->n;
}

/* Makes room for n bytes, and returns where. Texts lie one behind the other; none wraps round the
 * end, where the rest stays unused. So the oldest event is always the next one in the way. */
static uint32_t make_room(struct event_log *log, uint32_t n)
{
	uint32_t at = log->end;

	if (log->next - log->first == log->most)
		log->first++;
	if (log->bytes - at < n) {
		while (log->first < log->next && place_of(log, log->first)->at >= at)
			log->first++;
		at = 0;
	}
	while (is_taken(log, at, n))
		log->first++;
	return at;
}

void event_log_add(struct event_log *log, const char *json, const char *text)
{
	size_t json_n = strlen(json) + 1, text_n = strlen(text) + 1;
	uint32_t n = (uint32_t)(json_n + text_n), at;

	assert(json_n + text_n <= EVENT_BYTES_MAX);
	at = make_room(log, n);
	memcpy(log->text + at, json, json_n);
	memcpy(log->text + at + json_n, text, text_n);
	*place_of(log, log->next) = (struct place){at, (uint32_t)json_n, n};
	log->end = at + n;
	log->next++;
	for (uint32_t i = 0; i < log->n_listeners; i++)
		eventfd_write(log->listeners[i], 1);
}

int event_log_listen(struct event_log *log, int fd)
{
	for (uint32_t i = 0; i < log->n_listeners; i++) {
		if (log->listeners[i] == fd)
			return 0;
	}
	if (log->n_listeners == EVENT_LOG_LISTENERS)
		return -ENOSPC;
	log->listeners[log->n_listeners++] = fd;
	return 0;
}

void event_log_ignore(struct event_log *log, int fd)
{
	for (uint32_t i = 0; i < log->n_listeners; i++) {
		if (log->listeners[i] == fd)
			log->listeners[i] = log->listeners[--log->n_listeners];
	}
}

bool event_log_get(const struct event_log *log, uint64_t number, const char **json,
                   const char **text)
{
	const struct place *place = place_of(log, number);

	if (number < log->first || number >= log->next)
		return false;
	*json = log->text + place->at;
	*text = *json + place->json_n;
	return true;
}
