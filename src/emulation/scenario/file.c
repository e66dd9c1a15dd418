/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenario/file.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct file *file_make(const char *name, size_t bytes)
{
	struct file *file = calloc(1, sizeof(*file));

	if (!file)
		return NULL;
	file->references = 1;
	file->bytes = bytes;
	file->name = strdup(name);
	file->text = malloc(bytes + 1);
	if (!file->name || !file->text) {
		file_release(file);
		return NULL;
	}
	file->text[bytes] = 0;
	return file;
}

struct file *file_hold(struct file *file)
{
	if (file)
		__atomic_add_fetch(&file->references, 1, __ATOMIC_RELAXED);
	return file;
}

void file_release(struct file *file)
{
	if (!file || __atomic_sub_fetch(&file->references, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	free(file->name);
	free(file->text);
	free(file);
}

bool file_equal(const struct file *a, const struct file *b)
{
	if (a == b || !a || !b)
		return a == b;
	return strcmp(a->name, b->name) == 0 && a->bytes == b->bytes &&
	       memcmp(a->text, b->text, a->bytes) == 0;
}

bool file_next_line(const struct file *file, struct file_line *line)
{
	static const char mark[] = "\xef\xbb\xbf"; /* the byte-order mark: no part of a line */
	const char *end = file->text + file->bytes, *at = file->text, *stop;

	if (file->bytes >= strlen(mark) && memcmp(at, mark, strlen(mark)) == 0)
		at += strlen(mark);
	if (line->text) {
		at = line->text + line->bytes;
		at += at < end && *at == '\r';
		at += at < end && *at == '\n';
	}
	if (at >= end)
		return false;
	stop = memchr(at, '\n', (size_t)(end - at));
	line->text = at;
	line->bytes = (size_t)((stop ? stop : end) - at);
	line->bytes -= line->bytes > 0 && at[line->bytes - 1] == '\r';
	line->number++;
	return true;
}

struct file_shown file_shown(const struct file *file, const char *text, size_t bytes)
{
	struct file_shown shown = {"..."};
	size_t n = bytes < FILE_SHOWN_BYTES ? bytes : FILE_SHOWN_BYTES;

	if (file->secret)
		return shown;
	for (size_t i = 0; i < n; i++)
		shown.text[i] = isprint((unsigned char)text[i]) ? text[i] : '?';
	shown.text[n] = 0;
	return shown;
}
