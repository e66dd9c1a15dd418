/* SPDX-License-Identifier: BSD-3-Clause */
#include "text/file_read.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "text/array.h"
#include "text/word.h"

static _Thread_local bool refused;

void blocking_allow(bool allowed)
{
	refused = !allowed;
}

int blocking_begin(struct language_error *error)
{
	if (!refused)
		return 0;
	return language_error_set(error, ERROR_WOULD_BLOCK, "this takes long");
}

static int unreadable(const char *name, const char *why, struct language_error *error)
{
	return language_error_set(error, ERROR_BAD_FILE, "the file `%.*s` cannot be read: %s",
	                          SHOWN(name), why);
}

/* Returns the folder for a message, or `what` if its name is not valid text, or too long. */
static const char *shown(const char *folder, const char *what)
{
	return strlen(folder) <= 200 && word_is_text(folder) ? folder : what;
}

/* Sets the error for a file that does not exist, with the places where it was looked for: `folder`,
 * unless that is "", and the working directory. Returns -EINVAL. */
static int file_missing(const char *name, const char *folder, struct language_error *error)
{
	char here[PATH_MAX];

	if (*name == '/' || getcwd(here, sizeof(here)) == NULL)
		return unreadable(name, strerror(ENOENT), error);
	if (*folder == 0)
		return language_error_set(error, ERROR_BAD_FILE,
		                          "the file `%.*s` cannot be read: it is not in %s",
		                          SHOWN(name), shown(here, "the working directory"));
	return language_error_set(error, ERROR_BAD_FILE,
	                          "the file `%.*s` cannot be read: it is neither beside the "
	                          "scenario, in %s, nor in %s",
	                          SHOWN(name), shown(folder, "its folder"),
	                          shown(here, "the working directory"));
}

/* Reads the present content: the file may have shrunk since its size was read. */
static int fill(int fd, struct file *file, struct language_error *error)
{
	size_t done = 0;

	while (done < file->bytes) {
		ssize_t n = pread(fd, file->text + done, file->bytes - done, (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return unreadable(file->name, strerror(errno), error);
		if (n == 0)
			break;
		done += (size_t)n;
	}
	file->bytes = done;
	file->text[done] = 0;
	return 0;
}

int file_read_open(int fd, const char *name, uint64_t bytes_max, struct file **result,
                   struct language_error *error)
{
	struct file *file;
	struct stat stat;
	int rc;

	if (fstat(fd, &stat) != 0)
		return unreadable(name, strerror(errno), error);
	if (!S_ISREG(stat.st_mode))
		return unreadable(name, "it is not an ordinary file", error);
	if ((uint64_t)stat.st_size > bytes_max)
		return language_error_set(
		        error, ERROR_BAD_FILE,
		        "the file `%.*s` has %" PRIu64 " MiB; at most %" PRIu64 " MiB are read",
		        SHOWN(name), (uint64_t)stat.st_size >> 20, bytes_max >> 20);
	file = file_make(name, (size_t)stat.st_size);
	if (!file)
		return language_error_set(error, ERROR_NO_MEMORY, "no memory for the file `%.*s`",
		                          SHOWN(name));
	rc = fill(fd, file, error);
	if (rc != 0)
		file_release(file);
	else
		*result = file;
	return rc;
}

/* Opens a file as file_read_own does. Returns a descriptor, or -errno. */
static int file_open(const char *name)
{
	/* A pipe without a writer must not block the reader. */
	int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	return fd < 0 ? -errno : fd;
}

/* Opens `name` in the folder, which ends with a slash; if it is not there, or the folder is "",
 * in the working directory. */
static int open_in(const char *folder, const char *name)
{
	char path[2 * PATH_MAX];
	int fd = -ENOENT;

	if (*folder && *name != '/' &&
	    snprintf(path, sizeof(path), "%s%s", folder, name) < (int)sizeof(path))
		fd = file_open(path);
	return fd == -ENOENT || fd == -ENOTDIR ? file_open(name) : fd;
}

static int read_in(const char *folder, const char *name, uint64_t bytes_max, struct file **file,
                   struct language_error *error)
{
	int fd = open_in(folder, name), rc;

	if (fd == -ENOENT || (fd == -ENOTDIR && *folder))
		return file_missing(name, folder, error);
	if (fd < 0)
		return unreadable(name, strerror(-fd), error);
	rc = file_read_open(fd, name, bytes_max, file, error);
	close(fd);
	return rc;
}

int file_read_own(const char *name, uint64_t bytes_max, struct file **file,
                  struct language_error *error)
{
	return read_in("", name, bytes_max, file, error);
}

static _Thread_local const struct file_source *source;

void file_source_use(const struct file_source *used)
{
	source = used;
}

int file_read(const char *name, struct file **file, struct language_error *error)
{
	if (blocking_begin(error) != 0)
		return -EINVAL;
	if (source != NULL)
		return source->read(source, name, file, error);
	return file_read_own(name, FILE_BYTES_MAX, file, error);
}

char *file_read_stream(FILE *in, size_t bytes_max, size_t *bytes)
{
	const size_t step = 64 * 1024;
	size_t room = 0, n;
	char *text = NULL;

	*bytes = 0;
	do {
		if (!array_fits(&text, &room, *bytes + step + 1, 1))
			goto err_free;
		n = fread(text + *bytes, 1, step, in);
		*bytes += n;
	} while (n > 0 && *bytes <= bytes_max);
	if (*bytes > bytes_max)
		errno = EFBIG;
	if (ferror(in) || *bytes > bytes_max)
		goto err_free;
	text[*bytes] = '\0';
	return text;
err_free:
	free(text);
	return NULL;
}

/* Gets the folder of a file, ending with a slash, or "" if `path` has no folder. */
static void file_beside_folder(const char *path, char folder[PATH_MAX])
{
	const char *slash = strrchr(path, '/');
	int bytes = slash ? (int)(slash - path) + 1 : 0;

	snprintf(folder, PATH_MAX, "%.*s", bytes < PATH_MAX ? bytes : 0, path);
}

int file_beside_open(const char *path, const char *name)
{
	char folder[PATH_MAX];

	file_beside_folder(path ? path : "", folder);
	return open_in(folder, name);
}

static int read_beside(const struct file_source *from, const char *name, struct file **file,
                       struct language_error *error)
{
	const struct file_beside *beside = (const struct file_beside *)from;

	return read_in(beside->folder, name, FILE_BYTES_MAX, file, error);
}

void file_beside_begin(struct file_beside *beside, const char *path)
{
	beside->source.read = read_beside;
	beside->before = source;
	file_beside_folder(path, beside->folder);
	if (beside->before == NULL)
		file_source_use(&beside->source);
}

void file_beside_end(const struct file_beside *beside)
{
	file_source_use(beside->before);
}
