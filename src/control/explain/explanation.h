/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is said of many connections: for people and as JSON.
 *
 *   example.net:443  1.52 s = DNS 204 ms (1 round trip) + TCP 204 ms (1) + request 1.11 s (3)
 *     DNS           204 ms  ##                        1 round trip: path 200 ms, server 4 ms
 *     ...
 *
 * A part of a connection that is less than a hundredth of it is not named in its first line, but
 * counted in the phases where it is; the lines of the phases name it, down to a thousandth.
 *
 * Of more than EXPLANATION_KEPT connections, people get the slowest, and a table of all by server.
 * JSON has all.
 *
 * Ownership: explanation_add takes the verdict.
 * Thread: one at a time.
 */
#ifndef WEIR_EXPLANATION_H
#define WEIR_EXPLANATION_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "explain/explainer.h"
#include "explain/verdict.h"
#include "scenario/scenario.h"

#define EXPLANATION_KEPT 20
/* Servers with a row of their own; all others have one together. */
#define EXPLANATION_SERVERS 1000

struct explanation;

struct explanation_of {
	uint32_t n_ports;
	const char (*ports)[SCENARIO_NAME_BYTES]; /* their names, which must live as long */
	bool deaf;                                /* (walk.h) */
	FILE *json;                               /* gets each connection as it is added; or NULL */
	FILE *text;  /* the same in words, not flushed; or NULL: explanation_print has them */
	FILE *lines; /* or: the same as a line of JSON each, with the words as its `text` */
};

/* Returns NULL if there is no memory. */
struct explanation *explanation_make(const struct explanation_of *of);
void explanation_free(struct explanation *explanation); /* NULL is allowed */
/* Fits explainer_tell. */
void explanation_add(void *explanation, struct verdict *verdict);
/* Prints the connections, the slowest first if there are many, and the table of servers. */
void explanation_print(const struct explanation *explanation,
                       const struct explainer_left_out *left_out, FILE *out);
/* Completes the JSON. Call it once. */
void explanation_end_json(const struct explanation *explanation,
                          const struct explainer_left_out *left_out);

/* ---- one connection ---- */

/* Prints it: its sum, a line for each phase, its losses. */
void verdict_print(const struct verdict *verdict, const struct explanation_of *of, FILE *out);
/* Writes the one line that says all, without the end of the line. */
void verdict_print_sum(const struct verdict *verdict, const struct explanation_of *of, FILE *out);
/* Writes `example.net:443`. */
#define VERDICT_SERVER_BYTES (DNS_NAME_BYTES + 8)
void verdict_server(const struct verdict *verdict, char text[VERDICT_SERVER_BYTES]);
/* Returns a new reference, or NULL: there is no memory. */
json_t *verdict_json(const struct verdict *verdict, const struct explanation_of *of);
json_t *parts_json(const uint64_t parts_ns[PART_COUNT]);

#endif
