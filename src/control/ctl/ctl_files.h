/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files that a line names, opened by who says the line: with his rights, a relative name from
 * his working directory.
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

/* What cannot be opened is not there: weir says why. */
void ctl_files_open(struct ctl_files *files, const char *line);
void ctl_files_close(struct ctl_files *files);

#endif
