/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/folder_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MODE_FOLDER 0777

struct folder_file {
	struct folder_file *next;
	char name[32];
};

static void path_in(const struct folder *folder, const char *name, char path[FOLDER_PATH_BYTES])
{
	if (snprintf(path, FOLDER_PATH_BYTES, "%s/%s", folder->path, name) >= FOLDER_PATH_BYTES)
		*path = '\0';
}

/* Says why a file that exists already is in the way. */
static const char *in_the_way(const struct folder *folder)
{
	char about[FOLDER_PATH_BYTES];

	path_in(folder, "recording.json", about);
	return access(about, F_OK) == 0
	               ? "; the folder holds a recording already: give another folder"
	               : "; it is in the way of a new recording: remove it, or give another folder";
}

int folder_file_failed(const struct folder *folder, const char *name, struct problem *problem)
{
	const int error = errno;

	problem_set(problem, -1, "%s%s%s: cannot be written: %s%s", folder->path, *name ? "/" : "",
	            name, strerror(error), error == EEXIST ? in_the_way(folder) : "");
	return -EINVAL;
}

int folder_file_new(struct folder *folder, const char *name)
{
	struct folder_file *file = malloc(sizeof(*file));
	char path[FOLDER_PATH_BYTES];
	int fd;

	path_in(folder, name, path);
	fd = file ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666) : -1;
	if (fd < 0) {
		free(file);
		return -1;
	}
	snprintf(file->name, sizeof(file->name), "%s", name);
	file->next = folder->files;
	folder->files = file;
	return fd;
}

int folder_text_put(struct folder *folder, const char *name, const void *text, size_t bytes,
                    struct problem *problem)
{
	int fd = folder_file_new(folder, name);
	FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
	bool written;

	if (!file) {
		int rc = folder_file_failed(folder, name, problem);

		if (fd >= 0)
			close(fd);
		return rc;
	}
	written = fwrite(text, 1, bytes, file) == bytes;
	if (fclose(file) != 0 || !written)
		return folder_file_failed(folder, name, problem);
	return 0;
}

int folder_make(struct folder *folder, const char *path, struct problem *problem)
{
	char files[FOLDER_PATH_BYTES];

	*folder = (struct folder){.made = mkdir(path, MODE_FOLDER) == 0};
	snprintf(folder->path, sizeof(folder->path), "%s", path);
	if (!folder->made && errno != EEXIST)
		return folder_file_failed(folder, "", problem);
	path_in(folder, "files", files);
	folder->made_files = mkdir(files, MODE_FOLDER) == 0;
	return folder->made_files || errno == EEXIST ? 0
	                                             : folder_file_failed(folder, "files", problem);
}

void folder_keep(struct folder *folder)
{
	struct folder_file *file;

	while ((file = folder->files)) {
		folder->files = file->next;
		free(file);
	}
	folder->made = folder->made_files = false;
}

void folder_remove(struct folder *folder)
{
	char path[FOLDER_PATH_BYTES];

	for (const struct folder_file *file = folder->files; file; file = file->next) {
		path_in(folder, file->name, path);
		unlink(path);
	}
	path_in(folder, "files", path);
	if (folder->made_files)
		rmdir(path);
	if (folder->made)
		rmdir(folder->path);
	folder_keep(folder);
}
