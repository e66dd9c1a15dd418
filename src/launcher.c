/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `weir` where programs for several levels of the processor are installed: becomes the program for
 * the highest level of x86-64 that this processor has, weir-v2, weir-v3 or weir-v4. They lie in the
 * folder of this program (in a build folder). Installed, they lie in WEIR_PROGRAMS_FROM, relative
 * to that folder, wherever the installation was moved; if /proc is missing, in WEIR_PROGRAMS.
 *
 * $WEIR_LEVEL, as `v2`, chooses another level, for tests and comparisons. Nothing else of a program
 * depends on the level: the same seed gives the same bytes.
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

/* Returns the level to run. If WEIR_LEVEL is wrong, prints why and returns 0. */
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
		fprintf(stderr, "weir: WEIR_LEVEL=%s: this processor has only x86-64-v%d\n", text,
		        most);
	else
		fprintf(stderr, "weir: WEIR_LEVEL=%.40s is not a level; use v%d to v%d\n", text,
		        LEVEL_LEAST, LEVEL_MOST);
	return 0;
}

/* Writes the folder of this program, with a slash at the end. Returns false, and "", if it is not
 * known. */
static bool own_folder(char folder[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", folder, PATH_MAX - 1);
	char *slash;

	folder[n > 0 ? n : 0] = '\0';
	slash = strrchr(folder, '/');
	folder[slash ? slash + 1 - folder : 0] = '\0';
	return slash != NULL;
}

struct place {
	const char *folder, *way;
};

/* Returns if the program is not there. If it is there and cannot be started, exits: the other place
 * may have another weir. */
static void become(const struct place *place, int level, char **argv)
{
	char path[2 * PATH_MAX];
	int error;

	snprintf(path, sizeof(path), "%s%sweir-v%d", place->folder, place->way, level);
	execv(path, argv);
	error = errno;
	if (access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR))
		return;
	fprintf(stderr, "weir: %s cannot be started: %s\n", path, strerror(error));
	exit(STATUS_MISSING);
}

/* A lower level would work, but it would hide that this installation is incomplete. */
static void say_missing(const struct place *places, int n, int level)
{
	fprintf(stderr, "weir: the program for x86-64-v%d is missing:", level);
	for (int i = 0; i < n; i++)
		fprintf(stderr, "%s %s%sweir-v%d",
		        i > 0   ? " nor"
		        : n > 1 ? " neither"
		                : "",
		        places[i].folder, places[i].way, level);
	fprintf(stderr, " is %s; %s\n", n > 1 ? "there" : "not there",
	        n > 1 ? "install weir again"
	              : "without /proc, weir does not know its own folder: mount -t proc proc "
	                "/proc");
}

int main(int argc, char **argv)
{
	char folder[PATH_MAX];
	const bool found = own_folder(folder);
	const struct place places[] = {{folder, found ? "" : WEIR_PROGRAMS},
	                               {folder, WEIR_PROGRAMS_FROM}};
	const int n = found ? 2 : 1, level = level_wanted();
	(void)argc;

	if (level == 0)
		return 2;
	for (int i = 0; i < n; i++)
		become(&places[i], level, argv);
	say_missing(places, n, level);
	return STATUS_MISSING;
}
