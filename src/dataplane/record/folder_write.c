/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/folder_write.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
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

	return problem_set(problem, -1, "%s%s%s: cannot be written: %s%s", folder->path,
	                   *name ? "/" : "", name, strerror(error),
	                   error == EEXIST ? in_the_way(folder) : "");
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

static size_t line_bytes(const char *text)
{
	const char *end = strchr(text, '\n');

	return end ? (size_t)(end - text) + 1 : strlen(text);
}

static uint64_t count_lines(const char *text, const char *end)
{
	uint64_t n = 0;

	for (; text < end; text += line_bytes(text))
		n++;
	return n;
}

/* Writes a text in JSON's quotes. Other characters than ASCII are not escaped. */
static void put_text(FILE *out, const char *text, size_t bytes)
{
	fputc('"', out);
	for (size_t i = 0; i < bytes; i++) {
		const unsigned char c = (unsigned char)text[i];

		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < ' ')
			fprintf(out, "\\u%04x", c);
		else
			fputc(c, out);
	}
	fputc('"', out);
}

void scenario_lines_write(FILE *out, uint64_t change, const char *before, const char *after)
{
	const char *before_end = before + strlen(before), *after_end = after + strlen(after);
	const char *b = before, *a = after;
	uint64_t from = 0;

	while (*b && *a && line_bytes(b) == line_bytes(a) && memcmp(b, a, line_bytes(b)) == 0) {
		b += line_bytes(b);
		a += line_bytes(a);
		from++;
	}
	/* Finds the common lines at the end; a line counts only if it is whole. */
	for (const char *be = before_end, *ae = after_end; be > b && ae > a && be[-1] == ae[-1];) {
		be--;
		ae--;
		if ((be == b || be[-1] == '\n') && (ae == a || ae[-1] == '\n')) {
			before_end = be;
			after_end = ae;
		}
	}
	fprintf(out,
	        "{\"change\":%" PRIu64 ",\"from\":%" PRIu64 ",\"removed\":%" PRIu64 ",\"lines\":[",
	        change, from, count_lines(b, before_end));
	for (const char *line = a; line < after_end; line += line_bytes(line)) {
		const size_t bytes = line_bytes(line);

		if (line != a)
			fputc(',', out);
		put_text(out, line, bytes - (line[bytes - 1] == '\n'));
	}
	fputs("]}\n", out);
}

char *scenario_file_line(const char *name, const char *at)
{
	char *line = NULL;
	size_t bytes;
	FILE *out = open_memstream(&line, &bytes);

	if (!out)
		return NULL;
	fputs("{\"file\":", out);
	put_text(out, name, strlen(name));
	fprintf(out, ",\"at\":\"%s\"}", at);
	if (fclose(out) == 0)
		return line;
	free(line);
	return NULL;
}
