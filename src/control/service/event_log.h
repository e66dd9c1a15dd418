/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The events of a run, each with a number, from 1 on. The latest are kept, in a ring of bounded
 * size: at most EVENT_LOG_BYTES of their texts, and EVENT_LOG_MAX of them. The oldest are
 * overwritten. A reader keeps the number of the next event that it wants, and the log never waits
 * for a reader: if the event is gone, the reader can continue at event_log_first.
 *
 * An event is two lines, without their ends: a JSON object, and a text for people. Together they
 * have EVENT_BYTES_MAX at most.
 *
 * Ownership: texts belong to the log, and are valid until the next event is added.
 * Thread: one at a time (events_lock of control.h).
 */
#ifndef WEIR_EVENT_LOG_H
#define WEIR_EVENT_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EVENT_LOG_BYTES (UINT32_C(1) << 20)
#define EVENT_LOG_MAX   UINT32_C(4096)
#define EVENT_BYTES_MAX UINT32_C(16384)
/* The memory of a log, in all. */
#define EVENT_LOG_TAKES (EVENT_LOG_BYTES + EVENT_LOG_MAX * 12 + 192)

#define EVENT_LOG_LISTENERS 32

/* The kinds of events, ended by NULL. docs/control.md describes them. */
extern const char *const event_log_kinds[];
/* Returns true if the first `n` bytes of the text are one of them. */
bool event_log_is_kind(const char *text, size_t n);

struct event_log;

/* Makes a log; `bytes` is at least EVENT_BYTES_MAX, `most` at least 1. Returns NULL if there is no
 * memory. */
struct event_log *event_log_make(uint32_t bytes, uint32_t most);
void event_log_free(struct event_log *log);

/* Return the number of the oldest event that is kept, and of the next one to come. If they are
 * equal, none is kept. */
uint64_t event_log_first(const struct event_log *log);
uint64_t event_log_next(const struct event_log *log);
/* Adds the event with the number event_log_next. */
void event_log_add(struct event_log *log, const char *json, const char *text);
/* An eventfd becomes readable at each event from now on; event_log_ignore ends that. Returns 0, or
 * -ENOSPC if EVENT_LOG_LISTENERS listen. A repetition changes nothing. */
int event_log_listen(struct event_log *log, int fd);
void event_log_ignore(struct event_log *log, int fd);
/* Gets the texts of an event. Returns false if it is gone, or has not happened yet. */
bool event_log_get(const struct event_log *log, uint64_t number, const char **json,
                   const char **text);

#endif
