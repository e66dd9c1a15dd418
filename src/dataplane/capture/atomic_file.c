/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/pack.h"

#define ATOMIC_FILE_BUFFER_BYTES (1u << 20)
#define ATOMIC_FILE_SUFFIX       ".weir-XXXXXX"
#define LINKS_MAX                40 /* as in the kernel */

struct atomic_file {
	char *path;      /* as the user wrote it, for messages */
	char *target;    /* the file to replace; NULL: written directly */
	char *temporary; /* name of the new file until then; NULL: written directly */
	char *buffer;
	FILE *stream; /* NULL after atomic_file_finish */
	int fd;
	struct pack *pack; /* the name asks for compression; the descriptor is then its own */
	int error;         /* the first errno of a failed write */
};

static void atomic_file_free(struct atomic_file *atomic_file)
{
	if (atomic_file->stream)
		fclose(atomic_file->stream);
	pack_free(atomic_file->pack);
	free(atomic_file->buffer);
	free(atomic_file->temporary);
	free(atomic_file->target);
	free(atomic_file->path);
	free(atomic_file);
}

/* Returns the file to which the path leads if symbolic links are followed, whether that file exists
 * or not; NULL with errno. The caller frees it. */
static char *follow_links(const char *path)
{
	char *at = strdup(path), link[PATH_MAX];

	for (int i = 0; at && i < LINKS_MAX; i++) {
		ssize_t n = readlink(at, link, sizeof(link) - 1);
		const char *slash = strrchr(at, '/');
		int folder = slash ? (int)(slash + 1 - at) : 0;
		char *next;

		if (n < 0)
			return at;
		link[n] = '\0';
		if (asprintf(&next, "%.*s%s", link[0] == '/' ? 0 : folder, at, link) < 0)
			next = NULL;
		free(at);
		at = next;
	}
	errno = at ? ELOOP : ENOMEM;
	free(at);
	return NULL;
}

/* Opens a new file beside the target, with the permissions that the target has or would get. */
static int open_beside(struct atomic_file *atomic_file, const struct stat *old)
{
	mode_t mask = umask(0);
	int fd;

	umask(mask);
	atomic_file->target = follow_links(atomic_file->path);
	if (!atomic_file->target)
		return -1;
	if (asprintf(&atomic_file->temporary, "%s%s", atomic_file->target, ATOMIC_FILE_SUFFIX) <
	    0) {
		atomic_file->temporary = NULL;
		return -1;
	}
	fd = mkostemp(atomic_file->temporary, O_CLOEXEC);
	if (fd < 0) {
		free(atomic_file->temporary);
		atomic_file->temporary = NULL;
		return -1;
	}
	if (fchmod(fd, old ? old->st_mode & 0777 : 0666 & ~mask) < 0)
		return fd; /* the file system has no permissions, so there is nothing to set */
	return fd;
}

static int open_target(struct atomic_file *atomic_file)
{
	struct stat st;

	if (strcmp(atomic_file->path, "-") == 0) {
		/* The program that started weir had closed standard output, and now a read-only
		 * descriptor holds its place. */
		if ((fcntl(STDOUT_FILENO, F_GETFL) & O_ACCMODE) == O_RDONLY) {
			errno = EBADF;
			return -1;
		}
		return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	}
	if (stat(atomic_file->path, &st) < 0)
		return errno == ENOENT ? open_beside(atomic_file, NULL) : -1;
	if (S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		return -1;
	}
	if (!S_ISREG(st.st_mode))
		return open(atomic_file->path, O_WRONLY | O_CLOEXEC);
	if (access(atomic_file->path, W_OK) < 0)
		return -1;
	return open_beside(atomic_file, &st);
}

/* ---- a stream that is compressed ---- */

static ssize_t packed_write(void *argument, const char *data, size_t bytes)
{
	struct atomic_file *atomic_file = argument;
	const int error =
	        pack_sink(atomic_file->pack)->write(pack_sink(atomic_file->pack), data, bytes);

	if (error)
		atomic_file_fail(atomic_file, error);
	errno = error;
	return error ? 0 : (ssize_t)bytes;
}

/* Completes the compressed stream, when its last byte was put. */
static int packed_close(void *argument)
{
	struct atomic_file *atomic_file = argument;
	const int error = atomic_file->error ? 0 : pack_finish(atomic_file->pack);
	const int closed = close(atomic_file->fd);

	if (error)
		errno = error;
	return error ? -1 : closed;
}

/* Opens the stream of the descriptor, which is closed with it. */
static FILE *stream_open(struct atomic_file *atomic_file)
{
	const cookie_io_functions_t packed = {.write = packed_write, .close = packed_close};

	if (!pack_wanted(atomic_file->path))
		return fdopen(atomic_file->fd, "w");
	atomic_file->pack = pack_make_for(atomic_file->path, atomic_file->fd);
	return atomic_file->pack ? fopencookie(atomic_file, "w", packed) : NULL;
}

struct io_sink *atomic_file_sink(struct atomic_file *atomic_file)
{
	return atomic_file->pack ? pack_sink(atomic_file->pack) : NULL;
}

int atomic_file_descriptor(const struct atomic_file *atomic_file)
{
	return atomic_file->fd;
}

int atomic_file_open(const char *path, struct atomic_file **atomic_file, struct problem *problem)
{
	struct atomic_file *d = calloc(1, sizeof(*d));
	int fd = -1;

	if (!d)
		goto err_memory;
	d->path = strdup(path);
	d->buffer = malloc(ATOMIC_FILE_BUFFER_BYTES);
	if (!d->path || !d->buffer)
		goto err_memory;
	fd = open_target(d);
	if (fd < 0) {
		problem_set(problem, -1, "%s: cannot be written: %s", path, strerror(errno));
		atomic_file_free(d);
		return -EINVAL;
	}
	d->fd = fd;
	d->stream = stream_open(d);
	if (!d->stream)
		goto err_memory;
	setvbuf(d->stream, d->buffer, _IOFBF, ATOMIC_FILE_BUFFER_BYTES);
	__fsetlocking(d->stream, FSETLOCKING_BYCALLER);
	*atomic_file = d;
	return 0;

err_memory:
	if (fd >= 0)
		close(fd);
	if (d)
		atomic_file_discard(d);
	problem_set(problem, -1, "%s: no memory to write it", path);
	return -ENOMEM;
}

FILE *atomic_file_stream(struct atomic_file *atomic_file)
{
	return atomic_file->stream;
}

const char *atomic_file_path(const struct atomic_file *atomic_file)
{
	return atomic_file->path;
}

void atomic_file_fail(struct atomic_file *atomic_file, int error)
{
	if (atomic_file->error == 0)
		atomic_file->error = error;
}

static int failed(struct atomic_file *atomic_file, int error, struct problem *problem)
{
	bool full;

	if (atomic_file->error == 0)
		atomic_file->error = error ? error : EIO;
	full = atomic_file->error == ENOSPC || atomic_file->error == EDQUOT;
	problem_set(problem, -1, "%s: writing failed: %s%s", atomic_file->path,
	            strerror(atomic_file->error), full ? "; make room, or write it elsewhere" : "");
	return full ? -ENOSPC : -EIO;
}

int atomic_file_error(struct atomic_file *atomic_file, struct problem *problem)
{
	if (atomic_file->error == 0 && (!atomic_file->stream || !ferror(atomic_file->stream)))
		return 0;
	/* Callers check after each batch, so errno is that of the last write. */
	return failed(atomic_file, errno, problem);
}

int atomic_file_finish(struct atomic_file *atomic_file, struct problem *problem)
{
	FILE *stream = atomic_file->stream;
	int error = atomic_file_error(atomic_file, problem);

	if (error || !stream)
		return error;
	atomic_file->stream = NULL;
	if (fflush(stream) != 0) {
		error = failed(atomic_file, errno, problem);
		fclose(stream);
		return error;
	}
	/* Some file systems report a full disk only here. */
	return fclose(stream) == 0 ? 0 : failed(atomic_file, errno, problem);
}

int atomic_file_publish(struct atomic_file *atomic_file, struct problem *problem)
{
	int error = atomic_file_finish(atomic_file, problem);

	if (!error && atomic_file->temporary &&
	    rename(atomic_file->temporary, atomic_file->target) < 0)
		error = failed(atomic_file, errno, problem);
	if (error) {
		atomic_file_discard(atomic_file);
		return error;
	}
	atomic_file_free(atomic_file);
	return 0;
}

int atomic_file_keep(struct atomic_file *atomic_file, struct problem *problem)
{
	FILE *stream = atomic_file->stream;
	int error = 0;

	atomic_file->stream = NULL;
	/* Some file systems report a full disk only here. */
	if (stream && fclose(stream) != 0)
		error = failed(atomic_file, errno, problem);
	if (atomic_file->temporary && rename(atomic_file->temporary, atomic_file->target) < 0) {
		problem_set(problem, -1, "%s: cannot be given this name (%s); it is %s",
		            atomic_file->path, strerror(errno), atomic_file->temporary);
		error = -EIO;
	}
	atomic_file_free(atomic_file);
	return error;
}

void atomic_file_discard(struct atomic_file *atomic_file)
{
	if (!atomic_file)
		return;
	if (atomic_file->temporary)
		unlink(atomic_file->temporary);
	atomic_file_free(atomic_file);
}
