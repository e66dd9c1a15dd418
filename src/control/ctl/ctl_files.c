/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/ctl_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "language/language.h"
#include "text/blocking.h"
#include "text/file_read.h"

/* A source of files that collects those that a line names while it is parsed. */
struct collector {
	struct file_source source;
	const char *path;
	struct ctl_files *files;
};

static int collect(const struct file_source *source, const char *name, struct file **file,
                   struct language_error *error)
{
	const struct collector *collector = (const struct collector *)source;
	struct ctl_files *files = collector->files;
	int fd = file_beside_open(collector->path, name), result;

	if (fd < 0)
		return language_error_set(error, ERROR_BAD_FILE, "%s", strerror(-fd));
	result = file_read_open(fd, name, FILE_CLIENT_BYTES_MAX, file, error);
	if (result == 0 && files->n < CTL_FILES_MAX &&
	    (files->name[files->n] = strdup(name)) != NULL)
		files->fd[files->n++] = fd;
	else
		close(fd);
	return result;
}

static void parse(const char *line)
{
	struct language_error ignored;
	struct command command;

	if (language_parse(line, &command, &ignored) == 0)
		language_release(&command);
}

static bool names_none(const char *line)
{
	struct language_error error = {.name = ""};
	struct command command;
	int result;

	blocking_allow(false);
	result = language_parse(line, &command, &error);
	blocking_allow(true);
	if (result == 0)
		language_release(&command);
	return result == 0 || strcmp(error.name, ERROR_WOULD_BLOCK) != 0;
}

void ctl_files_open(struct ctl_files *files, const char *path, const char *line)
{
	struct collector collector = {.source = {.read = collect}, .path = path, .files = files};

	files->n = 0;
	if (names_none(line))
		return;
	file_source_use(&collector.source);
	parse(line);
	file_source_use(NULL);
}

void ctl_files_close(struct ctl_files *files)
{
	while (files->n > 0) {
		files->n--;
		close(files->fd[files->n]);
		free(files->name[files->n]);
	}
}
