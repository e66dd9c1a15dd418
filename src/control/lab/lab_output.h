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

/*
 * The folder of --out: results.csv, results.json, report.html. The files are written under
 * temporary names and renamed when all three are complete. A reader finds either the old files or
 * the new ones, even if the disk is full or the process is killed. So they may be written before
 * the campaign ends; then they say what is missing ("complete" in the JSON, a red line in the
 * report).
 *
 * Continuing: a run is taken from results.json if the text of its experiment, its case, its seed
 * and all parameters are the same. Figures over time, traces and captures are not stored: they run
 * again. Nothing checks that the program is the same.
 *
 * Thread: control's.
 */

/* Makes the folder, if there is none. Returns 0, or -EINVAL with message if it cannot be written
 * to. */
int lab_folder_check(const char *folder, char *message, size_t room);
/* Returns 0, or -ENOSPC, -EIO, -ENOMEM, -EINVAL with message. */
int lab_folder_write(const char *folder, struct campaign *const *campaigns, uint32_t n,
                     char *message, size_t room);
/* Reads the results in the folder, which may be none, into the campaigns' jobs. Returns 0 and how
 * many runs, or -EINVAL with message if the file was not written by lab_folder_write. */
int lab_folder_read(const char *folder, struct campaign *const *campaigns, uint32_t n,
                    uint32_t *taken, char *message, size_t room);

/*
 * Combines runs of the lab that were made separately, on several machines: each folder has the
 * results.json that `weir lab run --out` wrote. Rows and figures are then those of all runs, as
 * from a single run, and the runs are in its order (campaign_sort), whatever that of the folders
 * is; figures over time, which are files of one machine, are left out. If all runs of an experiment
 * are of one case, it is as with --case.
 *
 * The runs must be of experiments that are built in, and of their text as it is now. Every point
 * needs the same seeds, without gaps. A run that occurs twice counts once, and both
 * copies must have the same figures. Parameters that --set gave to all runs stay; one may differ:
 * the sweep.
 *
 * Thread: control's.
 * Ownership: campaign_free for each; the experiments and the arguments outlive them.
 */

/* Merges into `campaigns`, which has room for n_all; sets the arguments' seeds. Returns 0, or
 * -EINVAL or -ENOMEM with message. */
int lab_merge(struct experiment *const *all, uint32_t n_all, struct lab_arguments *arguments,
              struct campaign **campaigns, uint32_t *n_campaigns, char *message, size_t room);

#endif
