/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files that a client has handed over for the lines that name them. The client opens a file
 * itself, and sends the descriptor with a line `file NAME` (session.h). Files that weir opens
 * itself may be named only by a client that has weir's rights in any case: root, or the user that
 * weir runs as.
 *
 * Either way a file of a client has FILE_CLIENT_BYTES_MAX bytes at most, all files of a
 * conversation together have CLIENT_FILES_BYTES_MAX, and no answer contains anything of their
 * content.
 *
 * A file that weir has opened stays with the others, as long as there is room: the lines of a batch
 * may be executed again while others wait for their turn, and a disk may not answer then.
 *
 * Ownership: holds references to the files.
 * Thread: one at a time.
 */
#ifndef WEIR_CLIENT_FILES_H
#define WEIR_CLIENT_FILES_H

#include <stdbool.h>

#include "service/control.h"
#include "text/file_read.h"

#define CLIENT_FILES_MAX       64
#define CLIENT_FILES_BYTES_MAX (UINT64_C(16) << 20)

struct client_files {
	struct file_source source; /* must be first: client_files_use */
	bool may_open;             /* this process opens a file that is not in the array */
	const struct asker *asker; /* asked before that, which may take long; or NULL */
	uint32_t n;
	struct file *file[CLIENT_FILES_MAX];
};

/* Takes the reference, and replaces a file of the same name. Returns 0, or -ENOSPC if there are too
 * many files or they are too large; then the reference is released. */
int client_files_put(struct client_files *client_files, struct file *file);
void client_files_clear(struct client_files *client_files);
/* Makes `client_files` the source of this thread's files. NULL: this process opens them again. */
void client_files_use(struct client_files *client_files);

#endif
