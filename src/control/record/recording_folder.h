/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the folder of a recording (record/recording.h): which run it was, with which scenario, and
 * the scenario after each change.
 *
 * Ownership: recording_folder_close frees all of it.
 * Thread: one.
 */
#ifndef WEIR_RECORDING_FOLDER_H
#define WEIR_RECORDING_FOLDER_H

#include <limits.h>

#include "record/rerun.h"

struct recording_folder;

struct recording_about {
	char weir[40]; /* the version that recorded it */
	uint32_t workers, snap;
	bool flight; /* the recording begins in the middle of the run */
	uint64_t memory_bytes;
	uint32_t emulator[SCENARIO_PORTS_MAX];
	uint64_t changes; /* number of the last one that is known */
	char ingress[PATH_MAX];
};

#define RERUN_SETS_MAX 32u

/* What a command asks of a rerun. */
struct rerun_asked {
	const char *config;              /* a scenario in place of the recorded ones; or NULL */
	const char *set[RERUN_SETS_MAX]; /* lines that change each of them */
	uint32_t n_set;
	uint64_t seed, until_ns; /* until_ns 0: to the end */
	bool seed_given, ideal;
};

/* Opens the folder. In a flight, `config` and `set` apply only after its beginning. `asked` must
 * outlive the folder. Returns 0, or -errno with problem. */
int recording_folder_open(const char *path, const struct rerun_asked *asked,
                          struct recording_folder **folder, struct problem *problem);
void recording_folder_close(struct recording_folder *folder); /* NULL is allowed */
const struct recording_about *recording_folder_about(const struct recording_folder *folder);
#define RECORDING_OTHER_BYTES 160
/* Returns what to add to the difference of a rerun: that another version of weir recorded the run;
 * "" if this one did. */
const char *recording_other_version(const struct recording_about *about,
                                    char text[RECORDING_OTHER_BYTES]);
/* Returns the i-th warning about the snap that the run gave when a change came, or NULL if there
 * are no more. */
const char *recording_folder_warning(const struct recording_folder *folder, size_t i);
/* Returns the scenario in force at the beginning; its seed is the recorded one. */
const struct scenario *recording_folder_first(const struct recording_folder *folder);
/* Returns how to run it again as it was asked, with `replay`, whose memory gets room for all that
 * the recorded run held. */
struct rerun_options recording_folder_rerun(struct recording_folder *folder,
                                            struct replay_options *replay);

#endif
