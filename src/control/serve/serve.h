/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `weir serve`: a client of weir's socket on one side, an HTTP server on the other. No HTTP enters
 * the emulator. If the emulator has gone, serve waits for another.
 *
 *   GET /          the page; its parts: /live.js, /style.css, /theme.css, ...
 *   GET /metrics   OpenMetrics, or the text format of Prometheus: serve_metrics.h
 *   GET /events    weir's events, as server-sent events; with samples, too: /live
 *   GET /cloud     one cloud in words, as `show cloud` has it
 *   GET /connections  the last connections, and where their time went: serve_http.h
 *   POST /change   lines as one transaction; only with a token
 *
 * Thread: the main thread.
 */
#ifndef WEIR_SERVE_H
#define WEIR_SERVE_H

#include <stdbool.h>
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

#endif
