/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * While an experiment is being read, line by line: what the files that read it share. Errors are
 * returned as they are, with the message written: `NAME:LINE: ...`. Thread: control's.
 */
#ifndef WEIR_LAB_EXPERIMENT_READ_H
#define WEIR_LAB_EXPERIMENT_READ_H

#include "lab/lab_experiment.h"
#include "text/word.h"

struct experiment_reader {
	struct experiment *experiment;
	const char *name;
	uint32_t line;
	uint32_t of; /* the case that the line is in */
	char *message;
	size_t room;
	struct words words; /* of the line */
};

/* -EINVAL */
int experiment_fail(struct experiment_reader *reader, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
/* -ENOMEM */
int experiment_no_memory(struct experiment_reader *reader);
/* 0, or -EINVAL: too long. */
int experiment_name_copy(struct experiment_reader *reader, char to[EXPERIMENT_NAME_BYTES],
                         const char *from);
/* The caller's; NULL: no memory. */
char *experiment_copy_word(const struct experiment_reader *reader, uint32_t at,
                           const char *otherwise);

/* NULL: the line has fewer words. */
static inline const char *experiment_word(const struct experiment_reader *reader, uint32_t at)
{
	return at < reader->words.n ? reader->words.word[at].text : NULL;
}

int experiment_read_plot(struct experiment_reader *reader);
int experiment_read_bars(struct experiment_reader *reader);
int experiment_read_trace(struct experiment_reader *reader);
int experiment_read_point(struct experiment_reader *reader);

#endif
