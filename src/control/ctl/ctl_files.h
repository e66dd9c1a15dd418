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

/* `path`: of the file that the line stands in, beside which they are looked for first; or NULL.
 * What cannot be opened is not there: weir says why. */
void ctl_files_open(struct ctl_files *files, const char *path, const char *line);
void ctl_files_close(struct ctl_files *files);

#endif
