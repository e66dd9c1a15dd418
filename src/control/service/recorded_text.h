/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A scenario as a recording has it (record/recording.h): its text, and the content of the files
 * that it names, which goes into the recording's folder.
 *
 * Thread: any.
 */
#ifndef WEIR_RECORDED_TEXT_H
#define WEIR_RECORDED_TEXT_H

#include "record/recording.h"

/* Puts the content of all files that the scenario names into the recording. 0 or -errno. */
int recorded_files(struct recording *recording, const struct scenario *scenario);
/* The same, and the text, to be freed. NULL: a file could not be written, or no memory. */
char *recorded_text(struct recording *recording, const struct scenario *scenario);
/* A change is about to be posted: what it brings that a snap hides something from (snap_reach.h) is
 * said in the log, and in changes.jsonl ahead of the change. */
void recorded_reach(struct recording *recording, const struct scenario *before,
                    const struct scenario *scenario);

#endif
