/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of a recording, shared by recording.c (making it) and recording_writer.c (emptying the
 * tapes, and writing a flight to disk). */
#ifndef WEIR_RECORDING_STATE_H
#define WEIR_RECORDING_STATE_H

#include <pthread.h>
#include <stdio.h>

#include "capture/block_file.h"
#include "capture/pack.h"
#include "record/flight.h"
#include "record/folder_write.h"
#include "record/recording.h"
#include "record/tape.h"

/* A line for changes.jsonl; notes are in order. */
struct note {
	struct note *next;
	uint64_t change; /* number of a change; 0: `text` is a line */
	char *text;
};

struct known_file {
	struct known_file *next;
	char *name;
	char at[24]; /* path in the folder */
	size_t bytes;
	void *content;
};

/* How far a recording has come. */
struct reached {
	uint64_t packets, bytes;
	simtime until_ns;
};

struct recording {
	struct recording_plan plan;
	struct folder folder;
	struct scenario *scenario;
	struct tape *tapes;
	uint32_t n_tapes;
	pthread_t thread;
	bool running, stop;
	/* of the writer */
	int fd;
	struct io_thread *io_thread;
	struct block_writer block_writer;
	struct pack *pack; /* NULL: not compressed */
	FILE *changes;
	pthread_mutex_t changes_lock; /* protects `changes` and its text */
	pthread_mutex_t dump_lock;    /* one dump at a time */
	char *before;                 /* text of the scenario before the next change */
	struct reached put;           /* handed to the block writer; uncompressed bytes */
	struct reached flushed;       /* known to be in the file */
	bool ended;
	int error;              /* errno of a failed write */
	struct flight *flight;  /* in place of the files; or NULL */
	struct tape_part *part; /* the part of a snapshot that is put into the flight */
	char *text, *about;     /* of a flight: contents of scenario.weir and recording.json */
	char *changes_text;     /* of a flight: the text in `changes` */
	size_t changes_bytes;
	/* protected by `lock` */
	pthread_mutex_t lock;
	struct note *first, **last;
	struct known_file *files;
	uint32_t n_files;
	bool told;
};

/* The thread; the argument is the recording. It ends when `stop` is set and the tapes are empty. */
void *recording_writer(void *argument);
/* Ends the recording before the run: because of an errno, or, if `error` is 0, of the limit. */
void recording_end_early(struct recording *recording, int error);
/* Returns the size of ingress.pcapng, without what is on its way. */
uint64_t recording_file_bytes(const struct recording *recording);

#endif
