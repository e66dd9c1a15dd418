/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `weir` where there is a program for each of several processors: becomes the one for the highest
 * level of x86-64 that this processor has, weir-v2, weir-v3 or weir-v4. They lie in the folder of
 * this program (a build folder), or installed in WEIR_PROGRAMS_FROM as seen from it, wherever that
 * was moved to; where /proc is missing, in WEIR_PROGRAMS.
 *
 * $WEIR_LEVEL, as `v2`, chooses another one, for tests and to compare. Nothing else of a program
 * depends on which it is: the same seed gives the same bytes.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher_level.h"
#include "weir_programs.h"

#define STATUS_MISSING 127

/* 0: what it says is wrong, and that is said. */
static int level_wanted(void)
{
	const char *text = getenv("WEIR_LEVEL");
	int most = level_of_processor(), level;

	if (!text || !text[0])
		return most;
	level = text[0] == 'v' && text[1] && !text[2] ? text[1] - '0' : 0;
	if (level >= LEVEL_LEAST && level <= most)
		return level;
	if (level > most && level <= LEVEL_MOST)
		fprintf(stderr, "weir: WEIR_LEVEL=%s: this processor has x86-64-v%d\n", text, most);
	else
		fprintf(stderr, "weir: WEIR_LEVEL=%.40s: no level; v%d to v%d would be right\n",
		        text, LEVEL_LEAST, LEVEL_MOST);
	return 0;
}

/* Where this program lies, with a slash at the end; false, and "": nobody knows. */
static bool own_folder(char folder[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", folder, PATH_MAX - 1);
	char *slash;

	folder[n > 0 ? n : 0] = '\0';
	slash = strrchr(folder, '/');
	folder[slash ? slash + 1 - folder : 0] = '\0';
	return slash != NULL;
}

/* Comes back if there is none. */
static void become(const char *folder, const char *way, int level, char **argv)
{
	char path[2 * PATH_MAX];

	snprintf(path, sizeof(path), "%s%sweir-v%d", folder, way, level);
	execv(path, argv);
}

int main(int argc, char **argv)
{
	char folder[PATH_MAX];
	int level = level_wanted();
	(void)argc;

	if (level == 0)
		return 2;
	if (own_folder(folder)) {
		become(folder, "", level, argv);
		become(folder, WEIR_PROGRAMS_FROM, level, argv);
	} else {
		become("", WEIR_PROGRAMS, level, argv);
	}
	fprintf(stderr, "weir: the program for x86-64-v%d, %s%sweir-v%d, cannot be started: %s\n",
	        level, folder, folder[0] ? WEIR_PROGRAMS_FROM : WEIR_PROGRAMS, level,
	        strerror(errno));
	return STATUS_MISSING;
}
