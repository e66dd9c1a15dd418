/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a fuzz target over files, and the files in folders: what was found once stays a test. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
	fprintf(stderr, "%s\n", path); /* the last one named is the one that failed */
	LLVMFuzzerTestOneInput(data, bytes);
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

	for (int i = 1; i < argc && result == 0; i++)
		result = run_path(argv[i]);
	if (result == 0)
		printf("%u files\n", files);
	return result != 0 || files == 0;
}
