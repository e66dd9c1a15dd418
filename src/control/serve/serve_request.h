/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a request says, judged: everything that comes from a browser and is read here passes through
 * one of these.
 *
 * A page of another site may make a browser send requests here. Two things tell them apart:
 *
 *   Host     A name that somebody else has made point at this machine (DNS rebinding) stands there.
 *            An address cannot be made to point elsewhere; so it must be one, or `localhost`, or
 *            the name that the person who started this has given.
 *   Origin   Of a request that another site's page makes, it is that site, or `null`.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_SERVE_REQUEST_H
#define WEIR_SERVE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SERVE_CHANGE_BYTES_MAX 16384
#define SERVE_CHANGE_LINES_MAX 64
#define SERVE_WHY_BYTES        200

/* `name`: beside addresses and `localhost`; or NULL. `host` NULL: the header is not there. */
bool serve_host_is_ours(const char *host, const char *name);
/* `origin`, `site` (Sec-Fetch-Site), each NULL: the header is not there, as a program has it. */
bool serve_origin_is_ours(const char *origin, const char *site, const char *host);
/* `authorization`: `Bearer TOKEN`. How long it takes does not depend on what is wrong with it. */
bool serve_token_is_right(const char *authorization, const char *token);
/* Whether `accept` asks for OpenMetrics rather than the text format. */
bool serve_wants_openmetrics(const char *accept);

/* From which event on: `17` or `RUN-17`: from that one; `oldest`. */
struct serve_from {
	bool oldest;
	char run[32]; /* "": that which is there */
	uint64_t number;
};
bool serve_from_read(const char *text, struct serve_from *from);

/* What to ask weir for a cloud in words: `show cloud down`, `show clouds sub 10.0.0.1`. False: it
 * cannot be a cloud. */
bool serve_cloud_line(const char *cloud, char *line, size_t room);

/* Makes of a body of lines, each a change, the conversation that makes them one transaction:
 * `begin`, the lines, `commit`. `lease`: `30s`, or NULL or "". Returns it, to be freed, or NULL
 * with why; `n_lines` says how many lines of the body are in it. */
char *serve_change_conversation(const char *body, size_t n, const char *lease, uint32_t *n_lines,
                                char why[SERVE_WHY_BYTES]);

#endif
