/* SPDX-License-Identifier: BSD-3-Clause */
#include "socket/handed.h"

#include <errno.h>
#include <string.h>

int handed_put(struct handed *handed, struct file *file)
{
	uint64_t bytes = file->bytes;
	uint32_t at = handed->n;

	for (uint32_t i = 0; i < handed->n; i++) {
		if (strcmp(handed->file[i]->name, file->name) == 0)
			at = i;
		else
			bytes += handed->file[i]->bytes;
	}
	if (at == HANDED_MAX || bytes > HANDED_BYTES_MAX) {
		file_release(file);
		return -ENOSPC;
	}
	if (at < handed->n)
		file_release(handed->file[at]);
	else
		handed->n++;
	handed->file[at] = file;
	return 0;
}

void handed_clear(struct handed *handed)
{
	while (handed->n > 0)
		file_release(handed->file[--handed->n]);
}

void handed_copy(struct handed *to, const struct handed *from)
{
	to->may_open = from->may_open;
	for (to->n = 0; to->n < from->n; to->n++)
		to->file[to->n] = file_hold(from->file[to->n]);
}

static int handed_read(const struct file_source *source, const char *name, struct file **file,
                       struct language_error *error)
{
	const struct handed *handed = (const struct handed *)source;
	int result;

	for (uint32_t i = 0; i < handed->n; i++) {
		if (strcmp(handed->file[i]->name, name) == 0) {
			*file = file_hold(handed->file[i]);
			return 0;
		}
	}
	if (!handed->may_open)
		return language_error_set(
		        error, ERROR_BAD_FILE,
		        "the file `%.*s` did not come with the line: weir opens none for you; "
		        "`weir ctl` hands over what you may read, other clients by `file NAME`",
		        language_error_shown(name), name);
	result = file_read_own(name, FILE_CLIENT_BYTES_MAX, file, error);
	if (result == 0)
		(*file)->secret = true;
	return result;
}

void handed_use(struct handed *handed)
{
	if (handed != NULL)
		handed->source.read = handed_read;
	file_source_use(handed != NULL ? &handed->source : NULL);
}
