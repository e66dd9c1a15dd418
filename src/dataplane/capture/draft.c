/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/draft.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DRAFT_BUFFER_BYTES (1u << 20)
#define DRAFT_SUFFIX       ".weir-XXXXXX"

struct draft {
	char *path;      /* as the user wrote it, for messages */
	char *target;    /* what will be replaced; NULL: written directly */
	char *temporary; /* the file until then; NULL: written directly */
	char *buffer;
	FILE *stream; /* NULL once finished */
	int error;    /* the first errno of a failed write */
};

static void draft_free(struct draft *draft)
{
	if (draft->stream)
		fclose(draft->stream);
	free(draft->buffer);
	free(draft->temporary);
	free(draft->target);
	free(draft->path);
	free(draft);
}

/* Opens a new file beside the target, with the permissions that the target has or would get. */
static int open_beside(struct draft *draft, const struct stat *old)
{
	mode_t mask = umask(0);
	int fd;

	umask(mask);
	draft->target = old ? realpath(draft->path, NULL) : strdup(draft->path);
	if (!draft->target)
		return -1;
	if (asprintf(&draft->temporary, "%s%s", draft->target, DRAFT_SUFFIX) < 0) {
		draft->temporary = NULL;
		return -1;
	}
	fd = mkostemp(draft->temporary, O_CLOEXEC);
	if (fd < 0) {
		free(draft->temporary);
		draft->temporary = NULL;
		return -1;
	}
	if (fchmod(fd, old ? old->st_mode & 0777 : 0666 & ~mask) < 0)
		return fd; /* a file system without permissions: then there is nothing to set */
	return fd;
}

static int open_target(struct draft *draft)
{
	struct stat st;

	if (strcmp(draft->path, "-") == 0) {
		/* Closed by whoever started weir: held by a descriptor that cannot be written. */
		if ((fcntl(STDOUT_FILENO, F_GETFL) & O_ACCMODE) == O_RDONLY) {
			errno = EBADF;
			return -1;
		}
		return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	}
	if (stat(draft->path, &st) < 0)
		return errno == ENOENT ? open_beside(draft, NULL) : -1;
	if (S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		return -1;
	}
	if (!S_ISREG(st.st_mode))
		return open(draft->path, O_WRONLY | O_CLOEXEC);
	if (access(draft->path, W_OK) < 0)
		return -1;
	return open_beside(draft, &st);
}

int draft_open(const char *path, struct draft **draft, struct problem *problem)
{
	struct draft *d = calloc(1, sizeof(*d));
	int fd = -1;

	if (!d)
		goto err_memory;
	d->path = strdup(path);
	d->buffer = malloc(DRAFT_BUFFER_BYTES);
	if (!d->path || !d->buffer)
		goto err_memory;
	fd = open_target(d);
	if (fd < 0) {
		problem_set(problem, -1, "%s: cannot be written: %s", path, strerror(errno));
		draft_free(d);
		return -EINVAL;
	}
	d->stream = fdopen(fd, "w");
	if (!d->stream)
		goto err_memory;
	setvbuf(d->stream, d->buffer, _IOFBF, DRAFT_BUFFER_BYTES);
	__fsetlocking(d->stream, FSETLOCKING_BYCALLER);
	*draft = d;
	return 0;

err_memory:
	if (fd >= 0)
		close(fd);
	if (d)
		draft_discard(d);
	problem_set(problem, -1, "%s: no memory to write it", path);
	return -ENOMEM;
}

FILE *draft_stream(struct draft *draft)
{
	return draft->stream;
}

const char *draft_path(const struct draft *draft)
{
	return draft->path;
}

void draft_fail(struct draft *draft, int error)
{
	if (draft->error == 0)
		draft->error = error;
}

static int failed(struct draft *draft, int error, struct problem *problem)
{
	bool full;

	if (draft->error == 0)
		draft->error = error ? error : EIO;
	full = draft->error == ENOSPC || draft->error == EDQUOT;
	problem_set(problem, -1, "%s: writing failed: %s%s", draft->path, strerror(draft->error),
	            full ? "; make room, or write it elsewhere" : "");
	return full ? -ENOSPC : -EIO;
}

int draft_error(struct draft *draft, struct problem *problem)
{
	if (draft->error == 0 && (!draft->stream || !ferror(draft->stream)))
		return 0;
	/* errno is that of the write a moment ago: callers look after each batch. */
	return failed(draft, errno, problem);
}

int draft_finish(struct draft *draft, struct problem *problem)
{
	FILE *stream = draft->stream;
	int error = draft_error(draft, problem);

	if (error || !stream)
		return error;
	draft->stream = NULL;
	if (fflush(stream) != 0) {
		error = failed(draft, errno, problem);
		fclose(stream);
		return error;
	}
	/* Some file systems report a full disk only here. */
	return fclose(stream) == 0 ? 0 : failed(draft, errno, problem);
}

int draft_publish(struct draft *draft, struct problem *problem)
{
	int error = draft_finish(draft, problem);

	if (!error && draft->temporary && rename(draft->temporary, draft->target) < 0)
		error = failed(draft, errno, problem);
	if (error) {
		draft_discard(draft);
		return error;
	}
	draft_free(draft);
	return 0;
}

int draft_keep(struct draft *draft, struct problem *problem)
{
	FILE *stream = draft->stream;
	int error = 0;

	draft->stream = NULL;
	/* Some file systems report a full disk only here. */
	if (stream && fclose(stream) != 0)
		error = failed(draft, errno, problem);
	if (draft->temporary && rename(draft->temporary, draft->target) < 0) {
		problem_set(problem, -1, "%s: cannot be given this name (%s); it is %s",
		            draft->path, strerror(errno), draft->temporary);
		error = -EIO;
	}
	draft_free(draft);
	return error;
}

void draft_discard(struct draft *draft)
{
	if (!draft)
		return;
	if (draft->temporary)
		unlink(draft->temporary);
	draft_free(draft);
}
