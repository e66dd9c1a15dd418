/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * /metrics: what `show totals` says, as metrics; docs/serve.md has them all.
 *
 * Series. A cloud of the scenario has about 80, those of histograms among them, a template being
 * one cloud, whatever it stands for; of clouds beyond those that `show totals` has there are the
 * sums, as the cloud `(rest)`, which no cloud can be called. So what is scraped does not grow with
 * the clouds: 256 have 21,000 series, 2 MB.
 *
 * Histograms are weir's own (histogram.h), added up to two buckets an octave, whose bounds are
 * bounds of weir's: no value is counted on the wrong side. Real losses are there from 0 on, since
 * an alert is about their increase; an emulated one, when there is a first.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_SERVE_METRICS_H
#define WEIR_SERVE_METRICS_H

#include <jansson.h>
#include <stdbool.h>

/* `totals`, `hello`: the answers of weir; NULL: weir is not there. The text is to be freed; NULL:
 * no memory. */
char *serve_metrics_text(const json_t *totals, const json_t *hello, bool openmetrics, size_t *n);
/* The Content-Type. */
const char *serve_metrics_type(bool openmetrics);

#endif
