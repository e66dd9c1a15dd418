/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters as differences, repeatedly: the samples for one client of `sample INTERVAL`.
 *
 * A sample has all ports, all workers, their memory, the sums over all clouds, the templates, and a
 * limited number of rows for clouds, those of templates among them: the ones with the most bytes in
 * and out, and drops, since the last sample. The differences in a client's samples add up to the
 * counters: nothing is left out, however late a sample is. `for_ns` is the time that it covers.
 *
 * Cost. A pass reads each cloud once; nearly all of that time is cache misses. A step reads
 * SAMPLER_AT_ONCE clouds within one look, so that a change does not wait for longer; and between
 * two passes, at least SAMPLER_SHARE times the processor time of the last one passes: at most 2 %
 * of a processor goes into passes. The workers are not disturbed. Memory: 88 bytes a cloud; of a
 * template, 64 to 128 for each of its clouds.
 *
 * If the scenario changes in the middle of a pass, which happens with many clouds only, the pass
 * begins again: what was read already is in the sums, and not in the rows.
 *
 * Thread: that of its client.
 */
#ifndef WEIR_SAMPLER_H
#define WEIR_SAMPLER_H

#include <jansson.h>

#include "service/answer.h"
#include "service/control.h"

#define SAMPLER_LEAST_NS  (100 * SIMTIME_MS)
#define SAMPLER_MOST_NS   (60 * SIMTIME_S)
#define SAMPLER_ROWS      64
#define SAMPLER_ROWS_MOST 512
#define SAMPLER_AT_ONCE   4096
#define SAMPLER_SHARE     50

struct sampler;

/* Returns NULL if there is no memory. `now_ns`: on the clock of the steps, a monotonic one that
 * runs like the machine's. */
struct sampler *sampler_make(simtime interval_ns, uint32_t rows, uint64_t now_ns);
void sampler_free(struct sampler *sampler);
/* Continues a pass, or begins one, if it is time. */
void sampler_step(struct sampler *sampler, struct control *control, uint64_t now_ns);
/* Returns true if a sample waits; sampler_put takes it, as a line of JSON or as text. */
bool sampler_ready(const struct sampler *sampler);
void sampler_put(struct sampler *sampler, struct output *output);
/* Returns when the next step is due, at the earliest. */
uint64_t sampler_next_ns(const struct sampler *sampler);

#endif
