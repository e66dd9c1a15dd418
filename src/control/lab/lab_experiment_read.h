/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of reading an experiment line by line, for the files that share this. On an error they
 * write the message, `NAME:LINE: ...`, and return the error.
 * Thread: control's.
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

/* Returns -EINVAL. */
int experiment_fail(struct experiment_reader *reader, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
/* Returns -ENOMEM. */
int experiment_no_memory(struct experiment_reader *reader);
/* Returns 0, or -EINVAL if the name is too long. */
int experiment_name_copy(struct experiment_reader *reader, char to[EXPERIMENT_NAME_BYTES],
                         const char *from);
/* Returns a copy of a word, or of `otherwise` if the line has fewer words. The copy is the
 * caller's. Returns NULL if there is no memory. */
char *experiment_copy_word(const struct experiment_reader *reader, uint32_t at,
                           const char *otherwise);

/* Returns NULL if the line has fewer words. */
static inline const char *experiment_word(const struct experiment_reader *reader, uint32_t at)
{
	return at < reader->words.n ? reader->words.word[at].text : NULL;
}

int experiment_read_plot(struct experiment_reader *reader);
int experiment_read_bars(struct experiment_reader *reader);
int experiment_read_trace(struct experiment_reader *reader);
int experiment_read_point(struct experiment_reader *reader);

#endif
