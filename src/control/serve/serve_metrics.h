/* SPDX-License-Identifier: BSD-3-Clause */
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
#ifndef WEIR_SERVE_METRICS_H
#define WEIR_SERVE_METRICS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* `totals`, `hello`: the answers of weir; NULL: weir is not connected. The caller frees the text;
 * NULL: no memory. */
char *serve_metrics_text(const json_t *totals, const json_t *hello, bool openmetrics, size_t *n);
/* Returns the Content-Type. */
const char *serve_metrics_type(bool openmetrics);

/* Appends `name="value"` to `labels`, a buffer of `room` bytes, preceded by a comma if it is not
 * the first. */
void exposition_label(char *labels, size_t room, const char *name, const char *value);

#endif
