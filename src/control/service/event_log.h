/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What has happened, for those who want to be told: the events of a run, each with a number, from 1
 * on. The latest are kept, in a ring of bounded size: at most EVENT_LOG_BYTES of their texts, and
 * EVENT_LOG_MAX of them. The oldest make room. A reader has the number of the next event that it
 * wants, and nobody waits for it: an event that has gone is gone, and event_log_first says where it
 * may go on.
 *
 * An event is two lines, without their ends: a JSON object, and a text for people. Together they
 * have EVENT_BYTES_MAX at most.
 *
 * Ownership: texts that are given out are the log's, until the next one is added.
 * Thread: control's.
 */
#ifndef WEIR_EVENT_LOG_H
#define WEIR_EVENT_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EVENT_LOG_BYTES (UINT32_C(1) << 20)
#define EVENT_LOG_MAX   UINT32_C(4096)
#define EVENT_BYTES_MAX UINT32_C(16384)
/* What one takes in memory, in all. */
#define EVENT_LOG_TAKES (EVENT_LOG_BYTES + EVENT_LOG_MAX * 12 + 64)

struct event_log;

/* `bytes` is at least EVENT_BYTES_MAX, `most` at least 1. NULL: no memory. */
struct event_log *event_log_make(uint32_t bytes, uint32_t most);
void event_log_free(struct event_log *log);

/* The oldest event that is kept, and the one that comes next. Equal: none is kept. */
uint64_t event_log_first(const struct event_log *log);
uint64_t event_log_next(const struct event_log *log);
/* Adds event_log_next. */
void event_log_add(struct event_log *log, const char *json, const char *text);
/* False: it is gone, or has not happened yet. */
bool event_log_get(const struct event_log *log, uint64_t number, const char **json,
                   const char **text);

#endif
