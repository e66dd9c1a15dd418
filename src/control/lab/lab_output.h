/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The output about campaigns that have run: text, JSON, CSV, and a report in HTML.
 *
 * JSON of a row:
 * {"id","experiment","seeds","parameters","values","errors","paper","band","pass","reasons"}:
 * values, paper, band and errors have a key for each of its figures; an error is the standard error
 * over the seeds; a band is [low, high], null where it is open; reasons has those that are not
 * inside. Of an experiment: {"experiment","title","paper","digest","complete","rows":[...],
 * "runs":[{"case","seed","parameters","figures"}]}: digest is of its text, complete false if runs
 * are missing.
 *
 * Thread: control's.
 * Ownership: streams stay the caller's.
 */
#ifndef WEIR_LAB_OUTPUT_H
#define WEIR_LAB_OUTPUT_H

#include <stdio.h>

#include <jansson.h>

#include "lab/lab_campaign.h"

/* Prints the rows, or if there are none, the figures of each case. Returns false if a row is
 * outside its band, or has no value. */
bool lab_output_text(const struct campaign *campaign, FILE *out);
/* Returns the same, and prints nothing. */
bool lab_output_pass(const struct campaign *campaign);
/* Returns NULL if there is no memory. */
json_t *lab_output_row(const struct campaign *campaign, const char *id);
json_t *lab_output_experiment(const struct campaign *campaign);
/* Prints experiment,case,sweep,value,seed,figure,mean; a field may be quoted, as in RFC 4180. */
void lab_output_csv(const struct campaign *campaign, bool head, FILE *out);
/* Returns 0 or -errno. */
int lab_output_html(struct campaign *const *campaigns, uint32_t n, FILE *out);

#endif
