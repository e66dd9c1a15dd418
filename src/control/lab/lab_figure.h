/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A figure of an experiment, drawn as in the paper: a line for each case over the sweep, bars, or a
 * value over the time of a run. Hollow markers show what the paper says in words.
 *
 * Thread: control's.
 * Ownership: the page stays the caller's.
 */
#ifndef WEIR_LAB_FIGURE_H
#define WEIR_LAB_FIGURE_H

#include "lab/lab_campaign.h"
#include "report/page.h"

/* Returns 0 or -errno. A figure without any value is left out. */
int lab_figure_write(struct page *page, const struct campaign *campaign,
                     const struct experiment_plot *plot);

#endif
