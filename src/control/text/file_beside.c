/* SPDX-License-Identifier: BSD-3-Clause */
#include "text/file_beside.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SHOWN(text) language_error_shown(text), text

void file_beside_folder(const char *path, char folder[PATH_MAX])
{
	const char *slash = strrchr(path, '/');
	int bytes = slash ? (int)(slash - path) + 1 : 0;

	snprintf(folder, PATH_MAX, "%.*s", bytes < PATH_MAX ? bytes : 0, path);
}

/* Opens `name` in the folder or, if it is not there, in the working directory. */
static int open_in(const char *folder, const char *name)
{
	char path[2 * PATH_MAX];
	int fd = -ENOENT;

	if (*folder && *name != '/' &&
	    snprintf(path, sizeof(path), "%s%s", folder, name) < (int)sizeof(path))
		fd = file_open(path);
	return fd == -ENOENT || fd == -ENOTDIR ? file_open(name) : fd;
}

int file_beside_open(const char *path, const char *name)
{
	char folder[PATH_MAX];

	file_beside_folder(path ? path : "", folder);
	return open_in(folder, name);
}

static int read_beside(const struct file_source *source, const char *name, struct file **file,
                       struct language_error *error)
{
	const struct file_beside *beside = (const struct file_beside *)source;
	int fd = open_in(beside->folder, name), result;

	if (fd == -ENOENT || fd == -ENOTDIR)
		return file_missing(name, beside->folder, error);
	if (fd < 0)
		return language_error_set(error, ERROR_BAD_FILE,
		                          "the file `%.*s` cannot be read: %s", SHOWN(name),
		                          strerror(-fd));
	result = file_read_open(fd, name, FILE_BYTES_MAX, file, error);
	close(fd);
	return result;
}

void file_beside_begin(struct file_beside *beside, const char *path)
{
	beside->source.read = read_beside;
	beside->before = file_source_used();
	file_beside_folder(path, beside->folder);
	if (beside->before == NULL)
		file_source_use(&beside->source);
}

void file_beside_end(const struct file_beside *beside)
{
	file_source_use(beside->before);
}
