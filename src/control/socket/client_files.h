/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files that a client has handed over for the lines that name them: he opens a file himself,
 * and sends the descriptor with a line `file NAME` (session.h). Of weir's own files he may name
 * some only if weir's rights are his in any case: if he is root, or the user that weir runs as.
 *
 * Whatever its way, a file of a client's has FILE_CLIENT_BYTES_MAX at most, all of a conversation
 * together CLIENT_FILES_BYTES_MAX, and nothing of its content stands in an answer.
 *
 * Ownership: holds references to the files. Thread: one at a time.
 */
#ifndef WEIR_CLIENT_FILES_H
#define WEIR_CLIENT_FILES_H

#include <stdbool.h>

#include "text/file_read.h"

#define CLIENT_FILES_MAX       64
#define CLIENT_FILES_BYTES_MAX (UINT64_C(16) << 20)

struct client_files {
	struct file_source source; /* first: client_files_use */
	bool may_open;             /* what is not here, this process opens */
	uint32_t n;
	struct file *file[CLIENT_FILES_MAX];
};

/* Takes the reference, in the place of one of the same name. 0; -ENOSPC: too many, or too large,
 * and then the reference is given back. */
int client_files_put(struct client_files *client_files, struct file *file);
void client_files_clear(struct client_files *client_files);
/* `to` is empty. */
void client_files_copy(struct client_files *to, const struct client_files *from);
/* The files of this thread come from here; NULL: they are this process's again. */
void client_files_use(struct client_files *client_files);

#endif
