/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A scenario in a recording (record/recording.h): its text, and the content of the files that it
 * names, which is stored in the recording's folder.
 *
 * Thread: any.
 */
#ifndef WEIR_RECORDED_TEXT_H
#define WEIR_RECORDED_TEXT_H

#include "record/recording.h"

/* Stores the content of all files that the scenario names in the recording. Returns 0 or -errno. */
int recorded_files(struct recording *recording, const struct scenario *scenario);
/* Does the same, and returns the text, to be freed; NULL if a file could not be written, or there
 * is no memory. */
char *recorded_text(struct recording *recording, const struct scenario *scenario);
/* To be called before a change is posted: reports, in the log and in changes.jsonl ahead of the
 * change, what the change adds that needs more than the snap (snap_reach.h). */
void recorded_reach(struct recording *recording, const struct scenario *before,
                    const struct scenario *scenario);

#endif
