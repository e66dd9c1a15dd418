/* SPDX-License-Identifier: BSD-3-Clause */
#include "socket/client_files.h"

#include <errno.h>
#include <string.h>

int client_files_put(struct client_files *client_files, struct file *file)
{
	uint64_t bytes = file->bytes;
	uint32_t at = client_files->n;

	for (uint32_t i = 0; i < client_files->n; i++) {
		if (strcmp(client_files->file[i]->name, file->name) == 0)
			at = i;
		else
			bytes += client_files->file[i]->bytes;
	}
	if (at == CLIENT_FILES_MAX || bytes > CLIENT_FILES_BYTES_MAX) {
		file_release(file);
		return -ENOSPC;
	}
	if (at < client_files->n)
		file_release(client_files->file[at]);
	else
		client_files->n++;
	client_files->file[at] = file;
	return 0;
}

void client_files_clear(struct client_files *client_files)
{
	while (client_files->n > 0)
		file_release(client_files->file[--client_files->n]);
}

static int client_files_read(const struct file_source *source, const char *name, struct file **file,
                             struct language_error *error)
{
	struct client_files *client_files = (struct client_files *)(uintptr_t)source;
	const struct asker *asker = client_files->asker;
	int result;

	for (uint32_t i = 0; i < client_files->n; i++) {
		if (strcmp(client_files->file[i]->name, name) == 0) {
			*file = file_hold(client_files->file[i]);
			return 0;
		}
	}
	if (!client_files->may_open)
		return language_error_set(
		        error, ERROR_BAD_FILE,
		        "the file `%.*s` did not come with the line: weir opens none for you; "
		        "`weir ctl` hands over what you may read, other clients by `file NAME`",
		        language_error_shown(name), name);
	if (asker != NULL && !asker->waits(asker->argument))
		return language_error_set(error, ERROR_BAD_FILE, "nobody waits for it");
	result = file_read_own(name, FILE_CLIENT_BYTES_MAX, file, error);
	if (result != 0)
		return result;
	(*file)->secret = true;
	client_files_put(client_files, file_hold(*file)); /* if there is room */
	return 0;
}

void client_files_use(struct client_files *client_files)
{
	if (client_files != NULL)
		client_files->source.read = client_files_read;
	file_source_use(client_files != NULL ? &client_files->source : NULL);
}
