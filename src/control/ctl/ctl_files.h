/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens the files that a line names, with the rights of the user who typed it; a relative name
 * begins at that user's working directory.
 *
 * Thread: the caller's, one.
 */
#ifndef WEIR_CTL_FILES_H
#define WEIR_CTL_FILES_H

#include <stdint.h>

#define CTL_FILES_MAX 16 /* of one line */

struct ctl_files {
	uint32_t n;
	char *name[CTL_FILES_MAX];
	int fd[CTL_FILES_MAX];
};

/* Opens the files that `line` names. `path`: the file that contains the line, whose folder is
 * searched first; or NULL. A file that cannot be opened is left out: weir reports why. */
void ctl_files_open(struct ctl_files *files, const char *path, const char *line);
void ctl_files_close(struct ctl_files *files);

#endif
