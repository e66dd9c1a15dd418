/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs fuzz targets over files, and the files in folders, so that earlier finds stay tests.
 *
 * usage: finds TARGET FILE-OR-FOLDER...
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* generated from the table: GROUPS(ROW), a ROW(name, words) for each target */
#include "finds_targets.h"

/* Each target is compiled with this name in place of LLVMFuzzerTestOneInput (meson.build). */
#define DECLARE(name, words) int finds_##name(const uint8_t *data, size_t size);
GROUPS(DECLARE)

static const struct target {
	const char *words;
	int (*run)(const uint8_t *data, size_t size);
} targets[] = {
#define ENTRY(name, words) {words, finds_##name},
        GROUPS(ENTRY)};

static const struct target *target;
static unsigned files;

static int run_file(const char *path, size_t bytes)
{
	uint8_t *data = malloc(bytes ? bytes : 1);
	FILE *file = fopen(path, "rb");

	if (data == NULL || file == NULL || fread(data, 1, bytes, file) != bytes) {
		fprintf(stderr, "%s: cannot be read\n", path);
		return 1;
	}
	fclose(file);
	fprintf(stderr, "%s\n", path); /* the last file printed is the one that failed */
	target->run(data, bytes);
	free(data);
	files++;
	return 0;
}

static int run_path(const char *path)
{
	struct dirent *entry;
	struct stat stat_of;
	int result = 0;
	DIR *folder;

	if (stat(path, &stat_of) != 0) {
		perror(path);
		return 1;
	}
	if (!S_ISDIR(stat_of.st_mode))
		return run_file(path, (size_t)stat_of.st_size);
	folder = opendir(path);
	if (folder == NULL) {
		perror(path);
		return 1;
	}
	while (result == 0 && (entry = readdir(folder)) != NULL) {
		char inner[4096];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(inner, sizeof(inner), "%s/%s", path, entry->d_name);
		result = run_path(inner);
	}
	closedir(folder);
	return result;
}

int main(int argc, char **argv)
{
	int result = 0;

	for (size_t i = 0; argc > 1 && i < sizeof(targets) / sizeof(targets[0]); i++) {
		if (strcmp(targets[i].words, argv[1]) == 0)
			target = &targets[i];
	}
	if (target == NULL) {
		fprintf(stderr, "usage: %s TARGET FILE-OR-FOLDER...\n", argv[0]);
		return 2;
	}
	for (int i = 2; i < argc && result == 0; i++)
		result = run_path(argv[i]);
	if (result == 0)
		printf("%u files\n", files);
	return result != 0 || files == 0;
}
