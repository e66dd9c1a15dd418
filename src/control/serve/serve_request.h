/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The checks of requests: everything that comes from a browser and is read here passes one of
 * these.
 *
 * A page of another site may make a browser send requests here. Two headers reveal them:
 *
 *   Host     The name that the browser used, which somebody else may have made point at this
 *            machine (DNS rebinding). An address cannot be made to point elsewhere. So the Host
 *            must be an address, or `localhost`, or the name given at the start (--name).
 *   Origin   In a request that a page of another site makes, it is that site, or `null`.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_SERVE_REQUEST_H
#define WEIR_SERVE_REQUEST_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SERVE_CHANGE_BYTES_MAX 16384
#define SERVE_CHANGE_LINES_MAX 64
#define SERVE_WHY_BYTES        200

/* `name`: accepted besides addresses and `localhost`; or NULL. `host` NULL: the header is
 * absent. */
bool serve_host_is_ours(const char *host, const char *name);
/* `origin`, `site` (Sec-Fetch-Site): NULL if the header is absent, as in requests of a program. */
bool serve_origin_is_ours(const char *origin, const char *site, const char *host);
/* `authorization`: `Bearer TOKEN`. The time taken does not depend on where the token is wrong. */
bool serve_token_is_right(const char *authorization, const char *token);
/* Returns true if `accept` prefers OpenMetrics to the text format. */
bool serve_wants_openmetrics(const char *accept);

/* The event to begin with: `17`, `RUN-17`, or `oldest`. */
struct serve_from {
	bool oldest;
	char run[32]; /* "": the present run */
	uint64_t number;
};
bool serve_from_read(const char *text, struct serve_from *from);

/* Writes the command that shows a cloud: `show cloud down`, `show clouds sub 10.0.0.1`. Returns
 * false if `cloud` cannot be one. */
bool serve_cloud_line(const char *cloud, char *line, size_t room);

/* Turns a body of lines, each a change, into the conversation that makes them one transaction:
 * `begin`, the lines, `commit`. `lease`: `30s`, or NULL or "". Returns these lines, an array that
 * the caller releases, and in `n_lines` how many lines of the body are in it; or NULL with `why`,
 * and in `n_lines` which of them is wrong, 0: none. */
json_t *serve_change_conversation(const char *body, size_t n, const char *lease, uint32_t *n_lines,
                                  char why[SERVE_WHY_BYTES]);

#endif
