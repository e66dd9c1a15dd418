/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `weir serve`: a client of weir's socket on one side, an HTTP server on the other. No HTTP enters
 * the emulator. If the emulator has gone, serve waits for another.
 *
 *   GET /          the page; its parts: /live.js, /style.css, /theme.css, ...
 *   GET /metrics   OpenMetrics, or the text format of Prometheus
 *   GET /events    weir's events, as server-sent events; with samples, too: /live
 *   GET /cloud     one cloud in words, as `show cloud` has it
 *   GET /connections  the last connections, and where their time went: serve_http.h
 *   POST /change   lines as one transaction; only with a token
 *
 * Thread: the main thread.
 */
#ifndef WEIR_SERVE_H
#define WEIR_SERVE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct serve_options {
	const char *socket;     /* of weir; NULL: the default */
	const char *listen;     /* serve.c */
	const char *name;       /* a name accepted in Host, besides addresses; or NULL */
	bool allow_changes;     /* otherwise only queries are sent to weir */
	const char *token_file; /* NULL: a random token is generated */
	uint64_t interval_ns;   /* of samples */
	uint64_t clouds;        /* in /metrics, at most */
	uint32_t log_level;     /* enum run_log_level */
};

/* Serves until SIGTERM or SIGINT. Returns the exit status; errors go to the log (run_log.h). */
int serve_run(const struct serve_options *options);

/*
 * /metrics: the values of `show totals`, as metrics; docs/serve.md lists them all.
 *
 * Series. A cloud of the scenario has about 80, including those of histograms; a template counts as
 * one cloud, however many it has. The clouds that `show totals` does not list are summed up as the
 * cloud `(rest)`, a name that no cloud can have. So the size of a scrape does not grow with the
 * clouds: 256 have 21,000 series, 2 MB.
 *
 * Histograms are weir's own (histogram.h), summed to two buckets an octave, whose bounds are bounds
 * of weir's: no value is counted on the wrong side. Series of real losses exist from 0 on, because
 * an alert is about their increase; those of an emulated loss, from the first loss on.
 *
 * Thread: pure functions, any.
 */

/* `totals`, `hello`: the answers of weir; NULL: weir is not connected. The caller frees the text;
 * NULL: no memory. */
char *serve_metrics_text(const json_t *totals, const json_t *hello, bool openmetrics, size_t *n);
/* Returns the Content-Type. */
const char *serve_metrics_type(bool openmetrics);

/* Appends `name="value"` to `labels`, a buffer of `room` bytes, preceded by a comma if it is not
 * the first. */
void exposition_label(char *labels, size_t room, const char *name, const char *value);

#endif
