/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tuning help: which properties of this machine cost packets a second or nanoseconds, and the
 * remedies. `weir bench machine` prints all findings; `weir ctl show workers` prints those that
 * make packets late, for a worker that was away.
 *
 * Each finding has what was found, what it costs, and the remedy; a good one has only what was
 * found. Nothing is changed.
 *
 * Thread: control; only reads files.
 */
#ifndef WEIR_DOCTOR_H
#define WEIR_DOCTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "measure/bench_machine.h"
#include "scenario/scenario.h"

#define DOCTOR_FINDINGS_MAX 24
#define DOCTOR_TEXT_BYTES   200

enum doctor_state { DOCTOR_GOOD, DOCTOR_COSTS, DOCTOR_UNKNOWN };

struct finding {
	const char *subject; /* `hugepages` */
	enum doctor_state state;
	bool late; /* takes the processor away, or slows it down for a while */
	char what[DOCTOR_TEXT_BYTES];
	char cost[DOCTOR_TEXT_BYTES];   /* "" if good */
	char remedy[DOCTOR_TEXT_BYTES]; /* "" if good, or if there is none */
};

struct doctor {
	uint32_t n;
	struct finding findings[DOCTOR_FINDINGS_MAX];
};

/* Evaluates the facts. `root` as in bench_machine.h; `scenario`, for the NUMA nodes of its NICs,
 * may be NULL. `huge_mib`: the huge pages that a run wants. */
void doctor_examine(const char *root, const struct bench_machine *machine,
                    const struct scenario *scenario, unsigned huge_mib, struct doctor *doctor);
/* Prints what makes packets late on a processor, a line each, with `indent` before it. */
void doctor_print_late(FILE *out, const char *indent, const struct doctor *doctor);
/* Returns a new reference to an array; NULL if there is no memory. */
json_t *doctor_json(const struct doctor *doctor);

#endif
