/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A recording that is being made: a folder, the tapes of the workers (tape.h), and the thread that
 * writes down what is on them.
 *
 *   recording.json   what is not in the scenario: workers, which of them has which port, memory
 *   scenario.weir    in force at the beginning, with the seed
 *   ingress.pcapng   all that the engines met (recorded_file.h); compressed, ingress.pcapng.zst
 *   changes.jsonl    what each change has made of the scenario, in lines of its text
 *   files/N          the content of files that a scenario names
 *
 * The writer never delays a worker: what it does not come to write, a worker leaves out, and counts
 * (TAPE_GAP). What is on the tapes lies in the file within 0.1 s, so that of a weir that is killed
 * no more is lost. When the disk is full, or the limit is reached, the recording ends, and the run
 * goes on.
 *
 * Ownership: recording_free ends every recording; the tapes must outlive the workers.
 * Thread: control's, but recording_change, recording_note and recording_file any.
 */
#ifndef WEIR_RECORDING_H
#define WEIR_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scenario/problem.h"
#include "scenario/scenario.h"

struct recording;
struct tape;

#define RECORDING_TAPE_BYTES (UINT64_C(32) << 20) /* a worker */

struct recording_plan {
	const char *folder;
	const char *weir;     /* which one records */
	uint32_t snap;        /* bytes of a frame that are kept; 0: all */
	uint64_t limit_bytes; /* of ingress.pcapng; 0: none */
	bool zstd;            /* that is compressed, as ingress.pcapng.zst */
	uint64_t tape_bytes;  /* a power of two; 0: RECORDING_TAPE_BYTES */
};

/* Makes the folder; one that holds a recording already is refused. `text`: of the scenario. 0;
 * -EINVAL with problem; -ENOMEM. */
int recording_open(const struct recording_plan *plan, const struct scenario *scenario,
                   const char *text, struct recording **recording, struct problem *problem);
/* Before workers run: `emulator[port]` has the clouds of a port, with so much memory. 0, or -errno
 * with problem. */
int recording_begin(struct recording *recording, uint32_t workers, const uint32_t *emulator,
                    uint64_t memory_bytes, struct problem *problem);
struct tape *recording_tape(struct recording *recording, uint32_t worker);
/* A change is about to be posted. The text, of what the scenario becomes, passes. */
void recording_change(struct recording *recording, uint64_t number, char *text);
/* A line of JSON for changes.jsonl, which passes; NULL: there was no memory for it. */
void recording_note(struct recording *recording, char *line);
/* The content of a file that the scenario names, unless it is there already. 0 or -errno. */
int recording_file(struct recording *recording, const char *name, const void *content,
                   size_t bytes);
/* Workers stand still, and have said their last word: all is written. */
void recording_finish(struct recording *recording);
/* True, with a line about it, once for each trouble: the disk is full, the limit is reached. */
bool recording_trouble(struct recording *recording, char *line, size_t room);

struct recording_counts {
	uint64_t packets, bytes; /* recorded; in the file */
	uint64_t missed;         /* packets that found no room */
	bool ended;              /* before the run did */
};
void recording_counts(const struct recording *recording, struct recording_counts *counts);
const char *recording_folder(const struct recording *recording);
uint32_t recording_snap(const struct recording *recording);
void recording_free(struct recording *recording); /* NULL is allowed */

#endif
