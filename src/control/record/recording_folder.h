/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the folder of a recording (record/recording.h): what run it was, with which scenario, and
 * what each change has made of it.
 *
 * Ownership: recording_folder_close frees all of it. Thread: one.
 */
#ifndef WEIR_RECORDING_FOLDER_H
#define WEIR_RECORDING_FOLDER_H

#include <limits.h>

#include "record/rerun.h"

struct recording_folder;

struct recording_about {
	char weir[40]; /* which one has recorded it */
	uint32_t workers, snap;
	bool flight; /* it begins in the middle of the run */
	uint64_t memory_bytes;
	uint32_t emulator[SCENARIO_PORTS_MAX];
	uint64_t changes; /* that are known */
	char ingress[PATH_MAX];
};

/* `config`: another scenario in the place of the recorded ones; NULL: none. `edits`: n_edits lines
 * that change each of them; of a flight both are for what comes after its beginning. 0, or -errno
 * with problem. */
int recording_folder_open(const char *path, const char *config, const char *const *edits,
                          uint32_t n_edits, struct recording_folder **folder,
                          struct problem *problem);
void recording_folder_close(struct recording_folder *folder); /* NULL is allowed */
const struct recording_about *recording_folder_about(const struct recording_folder *folder);
/* The i-th line that the run has said about its snap, when a change came; NULL: there are no
 * more. */
const char *recording_folder_warning(const struct recording_folder *folder, size_t i);
/* In force at the beginning. */
const struct scenario *recording_folder_first(const struct recording_folder *folder);
/* rerun_options.change; `argument` is the folder. */
const struct scenario *recording_folder_change(void *argument, uint32_t worker, uint64_t number,
                                               struct problem *problem);

/* rerun_options.begun: likewise. */
const struct scenario *recording_folder_begun(void *argument, uint32_t worker,
                                              struct problem *problem);

#endif
