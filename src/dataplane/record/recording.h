/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A recording of a live run: a folder, the tapes of the workers (tape.h), and the thread that
 * writes the tapes to disk.
 *
 *   recording.json   what is not in the scenario: workers, which of them has which port, memory
 *   scenario.weir    in force at the beginning, with the seed
 *   ingress.pcapng   all that the engines met (recorded_file.h); compressed, ingress.pcapng.zst
 *   changes.jsonl    what each change has made of the scenario, in lines of its text
 *   files/N          the content of files that a scenario names
 *
 * The writer never delays a worker: if the writer is too slow, a worker leaves entries out, and
 * counts them (TAPE_GAP). What is on the tapes is in the file within 0.1 s, so no more than that is
 * lost if weir is killed. When the disk is full, or the limit is reached, the recording ends, and
 * the run goes on.
 *
 * Ownership: recording_free or recording_discard ends every recording; the tapes must outlive the
 * workers.
 * Thread: control, but recording_change and recording_note: any; recording_file: any, one at a
 * time.
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

#define RECORDING_TAPE_BYTES (UINT64_C(32) << 20) /* for each worker */
/* Of a flight, for each worker: the room for a snapshot, at first and at most, and the least time
 * between two snapshots. The writer enlarges the room if a snapshot does not fit and the machine
 * has the memory. */
#define RECORDING_SNAPSHOT_BYTES (UINT64_C(8) << 20)
#define RECORDING_SNAPSHOT_MOST  (UINT64_C(1) << 30)
#define RECORDING_SNAPSHOT_NS    (100 * SIMTIME_MS)
/* Usual values of a flight: the memory if a time is given, and how many packets a snapshot may
 * hold, which takes a worker some 1.5 ms. */
#define RECORDING_FLIGHT_BYTES (UINT64_C(256) << 20)
#define RECORDING_FLIGHT_HELD  16384
/* Real losses take at most this part of the memory of all workers, in addition. */
#define RECORDING_FLIGHT_LOSSES 4

struct recording_plan {
	const char *folder;   /* NULL: a flight, kept in memory */
	const char *weir;     /* version of the weir that records */
	uint32_t snap;        /* bytes kept of a frame; 0: all */
	uint64_t limit_bytes; /* of ingress.pcapng; 0: none */
	bool zstd;            /* compress it, as ingress.pcapng.zst */
	uint64_t tape_bytes;  /* a power of two; 0: RECORDING_TAPE_BYTES */
	/* of a flight */
	uint64_t flight_bytes; /* most memory for each worker */
	simtime flight_ns;     /* least time that it covers; 0: as much as memory allows */
	uint64_t held_max;     /* while an engine holds more packets, no snapshot is taken */
};

/* Makes the folder, unless it is a flight; refuses a folder that holds a recording already. `text`
 * is the text of the scenario. Returns 0; -EINVAL with problem; or -ENOMEM. */
int recording_open(const struct recording_plan *plan, const struct scenario *scenario,
                   const char *text, struct recording **recording, struct problem *problem);
/* Makes the tapes and starts the thread, before workers run. `emulator[port]` is the worker that
 * has the clouds of a port; `memory_bytes` is the memory of an engine. Returns 0, or -errno with
 * problem. */
int recording_begin(struct recording *recording, uint32_t workers, const uint32_t *emulator,
                    uint64_t memory_bytes, struct problem *problem);
struct tape *recording_tape(struct recording *recording, uint32_t worker);
/* Notes a change that is about to be posted. `text` is the new text of the scenario.
 * Ownership: takes it. */
void recording_change(struct recording *recording, uint64_t number, char *text);
/* Adds a line of JSON to changes.jsonl. NULL: there was no memory for it. Ownership: takes the
 * line. */
void recording_note(struct recording *recording, char *line);
/* Stores the content of a file that the scenario names, unless it is stored already. Returns 0 or
 * -errno. */
int recording_file(struct recording *recording, const char *name, const void *content,
                   size_t bytes);
/* Writes everything and ends the thread. Workers have stopped, and have ended their tapes. */
void recording_finish(struct recording *recording);
/* Returns true, with a line of text, once for each trouble: the disk is full, the limit is
 * reached. */
bool recording_trouble(struct recording *recording, char *line, size_t room);

/* The contents of a dump. */
struct recording_dump {
	simtime from_ns, to_ns; /* of the worker that begins first; of the latest entry */
	uint64_t packets, bytes;
	uint32_t workers; /* in the dump */
	uint32_t without; /* not in it: have met packets, but have no snapshot yet */
};

/* Writes the flight into a folder, as a recording that begins in the middle of the run. Takes as
 * long as the disk does; the run and the flight go on. Returns 0; -ENODATA with problem if there is
 * nothing yet; or another -errno with problem. Thread: any, one at a time. */
int recording_dump(struct recording *recording, const char *folder, struct recording_dump *dump,
                   struct problem *problem);
/* Returns true for a flight, false for a recording. */
bool recording_is_flight(const struct recording *recording);

struct recording_counts {
	uint64_t packets, bytes; /* recorded; in the file */
	uint64_t missed;         /* packets that found no room */
	bool ended;              /* ended before the run, at `until_ns` */
	int error;               /* errno that ended it; the file may have more than `packets` */
	simtime lacked_ns;       /* when memory was first short; SIMTIME_NEVER: never */
	simtime until_ns;
};
void recording_counts(const struct recording *recording, struct recording_counts *counts);
const char *recording_folder(const struct recording *recording);
uint32_t recording_snap(const struct recording *recording);
void recording_free(struct recording *recording); /* NULL is allowed */
/* Also removes what it has made on the disk, because the run has not begun. NULL is allowed. */
void recording_discard(struct recording *recording);

#endif
