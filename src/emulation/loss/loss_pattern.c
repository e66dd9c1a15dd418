/* SPDX-License-Identifier: BSD-3-Clause */
#include "loss/loss_pattern.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "stage/draws.h"
#include "snapshot/snapshot.h"

enum { FIELD_LOST, FIELD_OF };

struct loss_pattern {
	struct stage stage;
	uint64_t of;
	uint64_t position; /* packets of this period so far */
	uint32_t n, next;  /* lost[next] is the next one in this period */
	uint64_t lost[];   /* sorted */
};

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Each flow is counted by itself, from its first packet on. A line has room for 2,000 numbers: that
 * is at most 11 comparisons. */
static void process_by_flow(const struct loss_pattern *loss, struct burst *burst)
{
	for (uint16_t i = 0; i < burst->n; i++) {
		uint64_t position = burst->flow[i].number % loss->of + 1;

		if (bsearch(&position, loss->lost, loss->n, sizeof(position), compare))
			cloud_drop(loss->stage.cloud, burst, i, REASON_LOSS);
	}
}

static void loss_pattern_process(struct stage *stage, struct burst *burst)
{
	struct loss_pattern *loss = (struct loss_pattern *)stage;

	stage->drawn += burst->n;
	if (unlikely(stage->keyed)) {
		process_by_flow(loss, burst);
		return;
	}
	for (uint16_t i = 0; i < burst->n; i++) {
		loss->position++;
		if (loss->next < loss->n && loss->lost[loss->next] == loss->position) {
			loss->next++;
			cloud_drop(stage->cloud, burst, i, REASON_LOSS);
		}
		if (loss->position == loss->of)
			loss->position = loss->next = 0;
	}
}

static void sort(uint64_t *sorted, const struct numbers *numbers)
{
	if (numbers->n == 0)
		return;
	memcpy(sorted, numbers->value, numbers->n * sizeof(*sorted));
	qsort(sorted, numbers->n, sizeof(*sorted), compare);
}

static int loss_pattern_check(const struct conf *conf, const struct cloud_conf *cloud,
                              struct problem *problem)
{
	const struct loss_pattern_conf *pattern = (const struct loss_pattern_conf *)conf;
	uint32_t n = pattern->lost.n;
	uint64_t *sorted = malloc((n + 1) * sizeof(*sorted));
	int error = 0;

	if (!sorted) {
		problem_set(problem, -1, "no memory");
		return -ENOMEM;
	}
	sort(sorted, &pattern->lost);
	for (uint32_t i = 1; i < n && !error; i++) {
		if (sorted[i] != sorted[i - 1])
			continue;
		problem_set(problem, FIELD_LOST, "packet %" PRIu64 " is given twice; give it once",
		            sorted[i]);
		error = -EINVAL;
	}
	if (!error && n > 0 && sorted[n - 1] > pattern->of) {
		problem_set(problem, FIELD_LOST,
		            "there is no packet %" PRIu64 " of %" PRIu64
		            ": the numbers go from 1 to %" PRIu64,
		            sorted[n - 1], pattern->of, pattern->of);
		error = -EINVAL;
	}
	free(sorted);
	return error ? error : keyed_check(conf, cloud, problem);
}

static int loss_pattern_make(const struct conf *conf, struct stage **stage)
{
	const struct loss_pattern_conf *pattern = (const struct loss_pattern_conf *)conf;
	struct loss_pattern *loss =
	        calloc(1, sizeof(*loss) + pattern->lost.n * sizeof(loss->lost[0]));

	if (!loss)
		return -ENOMEM;
	loss->stage.process = loss_pattern_process;
	loss->of = pattern->of;
	loss->n = pattern->lost.n;
	sort(loss->lost, &pattern->lost);
	*stage = &loss->stage;
	return 0;
}

/* Finds the next lost packet from the position. */
static void find_next(struct loss_pattern *loss)
{
	loss->next = 0;
	while (loss->next < loss->n && loss->lost[loss->next] <= loss->position)
		loss->next++;
}

static void loss_pattern_adopt(struct stage *stage, const struct stage *old)
{
	struct loss_pattern *loss = (struct loss_pattern *)stage;

	loss->position = ((const struct loss_pattern *)old)->position % loss->of;
	find_next(loss);
}

static void loss_pattern_snapshot(struct stage *stage, struct snapshot *snapshot)
{
	struct loss_pattern *loss = (struct loss_pattern *)stage;

	snapshot_value(snapshot, loss->position);
	snapshot_holds(snapshot, loss->position < loss->of);
	find_next(loss);
}

static const struct field loss_pattern_fields[] = {
        [FIELD_LOST] = {FIELD("packets", FIELD_NUMBERS, struct loss_pattern_conf, lost,
                              .flags = FIELD_POSITIONAL | FIELD_REQUIRED, .min = 1,
                              .max = LOSS_PATTERN_MAX,
                              .help = "which packets of the pattern are lost")},
        [FIELD_OF] = {FIELD("of", FIELD_COUNT, struct loss_pattern_conf, of,
                            .flags = FIELD_REQUIRED, .min = 1, .max = LOSS_PATTERN_MAX,
                            .help = "length of the pattern, which repeats")},
        KEYED_FIELD(struct loss_pattern_conf),
        FIELD_END,
};

const struct statement loss_pattern_statement = {
        .name = "loss",
        .variant = "pattern",
        .help = "certain packets of a repeating pattern are lost",
        .example = "pattern 3,5 of 1000",
        .role = ROLE_STAGE,
        .fields = loss_pattern_fields,
        .conf_bytes = sizeof(struct loss_pattern_conf),
        .check = loss_pattern_check,
        .acts = {DROPS(LOSS), COUNTER(ecn_marked)},
        .make = loss_pattern_make,
        .adopt = loss_pattern_adopt,
        .snapshot = loss_pattern_snapshot,
};
