/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `weir serve` at work: a client of weir's socket on one side, a server of HTTP on the other, in
 * one thread. No HTTP enters the emulator, and one that has gone is waited for.
 *
 *   GET /          the page; its parts: /page.js, /page.css, /theme.css, ...
 *   GET /metrics   OpenMetrics, or the text format of Prometheus: serve_metrics.h
 *   GET /events    what happens, as server-sent events; with samples of what it does: /live
 *   GET /cloud     one cloud in words, as `show cloud` has it
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
	const char *listen;     /* serve_listen.h */
	const char *name;       /* a name by which it may be called, beside addresses; or NULL */
	bool allow_changes;     /* else nothing but looks is ever sent to weir */
	const char *token_file; /* NULL: a token is drawn */
	uint64_t interval_ns;   /* of samples */
	uint64_t clouds;        /* in /metrics, at most */
	uint32_t log_level;     /* enum run_log_level */
};

/* Serves until SIGTERM or SIGINT. Returns the exit status; a refusal is in the log
 * (run_log.h). */
int serve_run(const struct serve_options *options);

#endif
