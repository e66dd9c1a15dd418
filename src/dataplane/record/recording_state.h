/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of a recording, shared by recording.c, which makes it, recording_writer.c, which
 * empties the tapes, and recording_dump.c, which writes a flight down. */
#ifndef WEIR_RECORDING_STATE_H
#define WEIR_RECORDING_STATE_H

#include <pthread.h>
#include <stdio.h>

#include "capture/block_writer.h"
#include "capture/io_thread.h"
#include "capture/pack.h"
#include "record/flight.h"
#include "record/recording.h"
#include "record/tape.h"

/* What stands in changes.jsonl, in order. */
struct note {
	struct note *next;
	uint64_t change; /* 0: a line */
	char *text;
};

struct known_file {
	struct known_file *next;
	char *name;
	char at[24]; /* where it lies in the folder */
	size_t bytes;
	void *content;
};

struct recording {
	struct recording_plan plan;
	char *folder;
	struct scenario *scenario;
	struct tape *tapes;
	uint32_t n_tapes;
	pthread_t thread;
	bool running, stop;
	/* the writer's */
	int fd;
	struct io_thread *io_thread;
	struct block_writer block_writer;
	struct pack *pack; /* NULL: it is not compressed */
	FILE *changes;
	pthread_mutex_t changes_lock; /* of `changes` and its text */
	pthread_mutex_t dump_lock;    /* one dump at a time */
	char *before;                 /* the scenario's text ahead of the next change */
	uint64_t bytes;               /* before they are compressed */
	bool ended;
	int error;              /* an errno of a write */
	struct flight *flight;  /* in place of the files; or NULL */
	struct tape_part *part; /* of a snapshot that goes there */
	char *text, *about;     /* of a flight: scenario.weir, recording.json */
	char *changes_text;     /* what has come into `changes` */
	size_t changes_bytes;
	/* with the lock */
	pthread_mutex_t lock;
	struct note *first, **last;
	struct known_file *files;
	uint32_t n_files;
	bool told;
};

/* The thread; the argument is the recording. It ends when it is to stop and the tapes are empty. */
void *recording_writer(void *argument);
/* The recording goes no further: for an errno, or, with 0, for its limit. */
void recording_end_early(struct recording *recording, int error);
/* Of ingress.pcapng, but for what is on its way. */
uint64_t recording_file_bytes(const struct recording *recording);

#endif
