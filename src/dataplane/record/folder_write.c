/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/folder_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MODE_FOLDER 0777

static void path_in(const char *folder, const char *name, char path[FOLDER_PATH_BYTES])
{
	snprintf(path, FOLDER_PATH_BYTES, "%s/%s", folder, name);
}

int folder_file_failed(const char *path, struct problem *problem)
{
	const int error = errno;

	problem_set(problem, -1, "%s: cannot be written: %s%s", path, strerror(error),
	            error == EEXIST ? "; the folder holds a recording already: give another folder"
	                            : "");
	return -EINVAL;
}

int folder_file_new(const char *folder, const char *name, char path[FOLDER_PATH_BYTES])
{
	path_in(folder, name, path);
	return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

int folder_text_put(const char *folder, const char *name, const void *text, size_t bytes,
                    struct problem *problem)
{
	char path[FOLDER_PATH_BYTES];
	int fd = folder_file_new(folder, name, path);
	FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
	bool written;

	if (!file) {
		int rc = folder_file_failed(path, problem);

		if (fd >= 0)
			close(fd);
		return rc;
	}
	written = fwrite(text, 1, bytes, file) == bytes;
	if (fclose(file) != 0 || !written)
		return folder_file_failed(path, problem);
	return 0;
}

int folder_make(const char *folder, struct problem *problem)
{
	char files[FOLDER_PATH_BYTES];

	if (mkdir(folder, MODE_FOLDER) < 0 && errno != EEXIST)
		return folder_file_failed(folder, problem);
	path_in(folder, "files", files);
	if (mkdir(files, MODE_FOLDER) < 0 && errno != EEXIST)
		return folder_file_failed(files, problem);
	return 0;
}
