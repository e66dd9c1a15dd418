/* SPDX-License-Identifier: BSD-3-Clause */
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
#ifndef WEIR_LAB_FOLDER_H
#define WEIR_LAB_FOLDER_H

#include "lab/lab_campaign.h"

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

#endif
