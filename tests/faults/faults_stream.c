/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files as streams: libc reads and writes them internally, out of reach of --wrap. So a stream that
 * weir opens is replaced by one of ours, over a descriptor, and each of its reads and writes may
 * fail.
 *
 * Two other kinds of streams fail as a whole, when they are flushed or closed: streams in memory,
 * as if there were no memory to grow; and the standard ones, as on a full disk.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "faults.h"

#define STREAMS 64

FILE *__real_fopencookie(void *cookie, const char *mode, cookie_io_functions_t functions);
ssize_t __real_read(int fd, void *bytes, size_t n);
ssize_t __real_write(int fd, const void *bytes, size_t n);
int __real_fileno(FILE *stream);
int __wrap_fileno(FILE *stream);
FILE *__real_open_memstream(char **text, size_t *n);
FILE *__wrap_open_memstream(char **text, size_t *n);
int __real_fclose(FILE *stream);
int __wrap_fclose(FILE *stream);
int __real_fflush(FILE *stream);
int __wrap_fflush(FILE *stream);
FILE *__wrap_fdopen(int fd, const char *mode);
FILE *__wrap_fopen64(const char *path, const char *mode);

/* The descriptor of each stream, for fileno(); one thread opens them. */
static struct {
	FILE *stream;
	int fd;
} streams[STREAMS];

/* The pointers that each stream in memory sets for its owner; any thread opens them. */
static struct text {
	FILE *stream;
	char **text;
	size_t *n;
} texts[STREAMS];

static ssize_t stream_read(void *cookie, char *bytes, size_t n)
{
	if (fault(FAULT_SYSTEM, "read of a stream")) {
		errno = EIO;
		return -1;
	}
	return __real_read((int)(intptr_t)cookie, bytes, n);
}

static ssize_t stream_write(void *cookie, const char *bytes, size_t n)
{
	ssize_t done;

	if (fault(FAULT_WRITE, "write of a stream")) {
		errno = ENOSPC;
		return 0;
	}
	done = __real_write((int)(intptr_t)cookie, bytes, n);
	return done < 0 ? 0 : done;
}

static int stream_seek(void *cookie, off64_t *at, int whence)
{
	*at = lseek((int)(intptr_t)cookie, *at, whence);
	return *at < 0 ? -1 : 0;
}

static int stream_close(void *cookie)
{
	int fd = (int)(intptr_t)cookie;

	for (int i = 0; i < STREAMS; i++) {
		if (streams[i].stream && streams[i].fd == fd)
			streams[i].stream = NULL;
	}
	if (close(fd) < 0)
		return -1;
	if (fault(FAULT_WRITE, "close of a stream")) {
		errno = EIO;
		return -1;
	}
	return 0;
}

static FILE *stream_over(int fd, const char *mode)
{
	const cookie_io_functions_t functions = {.read = stream_read,
	                                         .write = stream_write,
	                                         .seek = stream_seek,
	                                         .close = stream_close};
	FILE *stream = __real_fopencookie((void *)(intptr_t)fd, mode, functions);

	for (int i = 0; stream && i < STREAMS; i++) {
		if (!streams[i].stream) {
			streams[i].stream = stream;
			streams[i].fd = fd;
			break;
		}
	}
	return stream;
}

static struct text *text_of(const FILE *stream)
{
	for (int i = 0; stream && i < STREAMS; i++) {
		if (texts[i].stream == stream)
			return &texts[i];
	}
	return NULL;
}

FILE *__wrap_open_memstream(char **text, size_t *n)
{
	FILE *stream =
	        fault(FAULT_MEMORY, "open_memstream") ? NULL : __real_open_memstream(text, n);
	FILE *none = NULL;

	if (!stream) {
		errno = ENOMEM;
		return NULL;
	}
	for (int i = 0; i < STREAMS; i++) {
		if (__atomic_compare_exchange_n(&texts[i].stream, &none, stream, false,
		                                __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
			texts[i].text = text;
			texts[i].n = n;
			break;
		}
		none = NULL;
	}
	return stream;
}

/* Returns true, and sets errno, if what was written to the stream is lost. */
static bool loses(FILE *stream, const char *call)
{
	bool standard = stream == stdout || stream == stderr;

	if (!standard && !text_of(stream))
		return false;
	if (!fault(standard ? FAULT_WRITE : FAULT_MEMORY, call))
		return false;
	errno = standard ? ENOSPC : ENOMEM;
	return true;
}

int __wrap_fflush(FILE *stream)
{
	bool lost = loses(stream, "fflush");
	int error = errno, rc = lost && stream == stdout ? EOF : __real_fflush(stream);

	if (!lost)
		return rc;
	if (stream == stdout)
		stream->_flags |= 0x20; /* the flag of glibc that ferror() reads */
	errno = error;
	return EOF;
}

/* The stream is closed even if it fails, and its owner has the text as far as there was memory for
 * it. */
int __wrap_fclose(FILE *stream)
{
	bool lost = loses(stream, "fclose");
	struct text *text = text_of(stream), kept = {0};
	int error = errno, rc;

	if (text) {
		kept = *text;
		__atomic_store_n(&text->stream, NULL, __ATOMIC_RELEASE);
	}
	rc = __real_fclose(stream);
	if (!lost)
		return rc;
	if (kept.stream && *kept.text) {
		*kept.n /= 2;
		(*kept.text)[*kept.n] = '\0';
	}
	errno = error;
	return EOF;
}

int __wrap_fileno(FILE *stream)
{
	for (int i = 0; i < STREAMS; i++) {
		if (stream && streams[i].stream == stream)
			return streams[i].fd;
	}
	return __real_fileno(stream);
}

FILE *__wrap_fdopen(int fd, const char *mode)
{
	if (fault(FAULT_MEMORY, "fdopen")) {
		errno = ENOMEM;
		return NULL;
	}
	return stream_over(fd, mode);
}

FILE *__wrap_fopen64(const char *path, const char *mode)
{
	int flags = mode[0] == 'r'   ? O_RDONLY
	            : mode[0] == 'w' ? O_WRONLY | O_CREAT | O_TRUNC
	                             : O_WRONLY | O_CREAT | O_APPEND;
	FILE *stream;
	int fd;

	if (fault(FAULT_SYSTEM, "fopen")) {
		errno = EMFILE;
		return NULL;
	}
	fd = open(path, flags | O_CLOEXEC, 0666);
	if (fd < 0)
		return NULL;
	stream = stream_over(fd, mode);
	if (!stream)
		close(fd);
	return stream;
}
