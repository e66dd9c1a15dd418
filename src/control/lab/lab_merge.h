/* SPDX-License-Identifier: BSD-3-Clause */
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
#ifndef WEIR_LAB_MERGE_H
#define WEIR_LAB_MERGE_H

#include "lab/lab_campaign.h"

/* Merges into `campaigns`, which has room for n_all; sets the arguments' seeds. Returns 0, or
 * -EINVAL or -ENOMEM with message. */
int lab_merge(struct experiment *const *all, uint32_t n_all, struct lab_arguments *arguments,
              struct campaign **campaigns, uint32_t *n_campaigns, char *message, size_t room);

#endif
