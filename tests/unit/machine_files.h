/* SPDX-License-Identifier: BSD-3-Clause */
/* A fake machine: files in a folder of the test's own, with the content that /proc and /sys would
 * have. */
#ifndef WEIR_TEST_MACHINE_FILES_H
#define WEIR_TEST_MACHINE_FILES_H

#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char root[] = "/tmp/weir-machine-XXXXXX";

static int machine_begin(void)
{
	strcpy(root + strlen(root) - 6, "XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int machine_remove(const char *path, const struct stat *stat, int flag, struct FTW *ftw)
{
	(void)stat;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static int remove_root(void **state)
{
	(void)state;
	return nftw(root, machine_remove, 16, FTW_DEPTH | FTW_PHYS);
}

/* Writes a file of that machine, and makes the folders above it. */
static void put(const char *path, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(const char *path, const char *format, ...)
{
	char whole[400];
	va_list arguments;
	FILE *file;

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	for (char *slash = strchr(whole + strlen(root) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(whole, 0700);
		*slash = '/';
	}
	file = fopen(whole, "w");
	assert_non_null(file);
	va_start(arguments, format);
	vfprintf(file, format, arguments);
	va_end(arguments);
	fclose(file);
}

#endif
