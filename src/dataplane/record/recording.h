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
/* Of a flight, a worker: the room for a snapshot, at first and at most, which the writer makes
 * larger when one does not fit and the machine has the memory; and the time between two snapshots,
 * at least. */
#define RECORDING_SNAPSHOT_BYTES (UINT64_C(8) << 20)
#define RECORDING_SNAPSHOT_MOST  (UINT64_C(1) << 30)
#define RECORDING_SNAPSHOT_NS    (100 * SIMTIME_MS)
/* What usual ones have: memory of one that is as long as is said, and how many packets a snapshot
 * may hold, which takes a worker some 1.5 ms. */
#define RECORDING_FLIGHT_BYTES (UINT64_C(256) << 20)
#define RECORDING_FLIGHT_HELD  16384

struct recording_plan {
	const char *folder;   /* NULL: a flight, which is kept in memory */
	const char *weir;     /* which one records */
	uint32_t snap;        /* bytes of a frame that are kept; 0: all */
	uint64_t limit_bytes; /* of ingress.pcapng; 0: none */
	bool zstd;            /* that is compressed, as ingress.pcapng.zst */
	uint64_t tape_bytes;  /* a power of two; 0: RECORDING_TAPE_BYTES */
	/* of a flight */
	uint64_t flight_bytes; /* a worker: at most so much memory */
	simtime flight_ns;     /* reaches back so far, at least; 0: as far as memory allows */
	uint64_t held_max;     /* while an engine holds more packets it has no snapshot */
};

/* Makes the folder, unless it is a flight; one that holds a recording already is refused. `text`:
 * of the scenario. 0; -EINVAL with problem; -ENOMEM. */
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

/* What was dumped. */
struct recording_dump {
	simtime from_ns, to_ns; /* of the worker that begins first; of all */
	uint64_t packets, bytes;
	uint32_t workers; /* that are in it */
	uint32_t without; /* that have met packets, and have no snapshot yet: they are not */
};

/* The flight into a folder, as a recording that begins in the middle of the run. Takes as long as
 * the disk does; the run goes on, and so does the flight. Any thread, one at a time. 0; -ENODATA
 * with problem: there is nothing yet; another -errno with problem. */
int recording_dump(struct recording *recording, const char *folder, struct recording_dump *dump,
                   struct problem *problem);
/* Whether it is a flight, and not a recording. */
bool recording_is_flight(const struct recording *recording);

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
