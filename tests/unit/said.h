/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Captures the output of a piece of code to a standard stream, as text:
 *
 *   said_begin(stderr);
 *   status = parse(...);
 *   said_end(stderr, text, sizeof(text));
 */
#ifndef WEIR_TEST_SAID_H
#define WEIR_TEST_SAID_H

#include <assert.h>
#include <stdio.h>
#include <unistd.h>

static FILE *said_file[3];
static int said_kept[3];

/* Redirects stdout or stderr to a file of its own. */
static inline void said_begin(FILE *stream)
{
	int fd = fileno(stream);

	fflush(stream);
	said_kept[fd] = dup(fd);
	said_file[fd] = tmpfile();
	assert(said_kept[fd] >= 0 && said_file[fd]);
	dup2(fileno(said_file[fd]), fd);
}

/* Ends the redirection; `text` gets the first room - 1 bytes. */
static inline void said_end(FILE *stream, char *text, size_t room)
{
	int fd = fileno(stream);

	fflush(stream);
	dup2(said_kept[fd], fd);
	close(said_kept[fd]);
	rewind(said_file[fd]);
	text[fread(text, 1, room - 1, said_file[fd])] = '\0';
	fclose(said_file[fd]);
}

#endif
