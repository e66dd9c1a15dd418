/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tuning help: what of this machine costs packets a second or nanoseconds, and what would be done
 * about it. `weir bench machine` prints all of it, `weir ctl show workers` what makes packets late,
 * of a worker that was away.
 *
 * Each finding says what is there, what it costs, and the remedy; one that is well says what is
 * there. Nothing is changed.
 *
 * Thread: control; reads files and nothing else.
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
	bool late; /* it takes the processor away, or makes it slower for a while */
	char what[DOCTOR_TEXT_BYTES];
	char cost[DOCTOR_TEXT_BYTES];   /* "" when good */
	char remedy[DOCTOR_TEXT_BYTES]; /* "" when good, or when there is none */
};

struct doctor {
	uint32_t n;
	struct finding findings[DOCTOR_FINDINGS_MAX];
};

/* What the facts mean. `root` as in bench_machine.h; `scenario`, for the NUMA nodes of its NICs,
 * may be NULL. `huge_mib`: of huge pages that a run wants. */
void doctor_examine(const char *root, const struct bench_machine *machine,
                    const struct scenario *scenario, unsigned huge_mib, struct doctor *doctor);
/* What makes packets late on a processor, a line each, `indent` before it. */
void doctor_print_late(FILE *out, const char *indent, const struct doctor *doctor);
void doctor_print_findings(FILE *out, const struct doctor *doctor);
/* A new reference, an array; NULL: no memory. */
json_t *doctor_json(const struct doctor *doctor);

#endif
