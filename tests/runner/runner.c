/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs groups of claims (group.h).
 *
 *   unit              every group, each in a process of its own
 *   unit NAME...      these groups; a single one in this process, for a debugger
 *   unit --list       prints their names
 *
 * Exit status: 0 if every claim of every group holds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include GROUPS_H /* generated from the table: GROUPS(ROW), a ROW(name, words) for each group */

#define DECLARE(name, words) int claims_##name(void);
GROUPS(DECLARE)

static const struct {
	const char *words;
	int (*run)(void);
} groups[] = {
#define ENTRY(name, words) {words, claims_##name},
        GROUPS(ENTRY)};

#define N_GROUPS (sizeof(groups) / sizeof(groups[0]))

static size_t find(const char *words)
{
	size_t i = 0;

	while (i < N_GROUPS && strcmp(groups[i].words, words) != 0)
		i++;
	return i;
}

/* Runs a group in a process of its own: a crash fails only this group, and no state remains for the
 * next. */
static int run_apart(size_t i)
{
	pid_t child;
	int status;

	printf("# %s\n", groups[i].words);
	fflush(stdout);
	child = fork();
	if (child < 0) {
		perror("fork");
		return 1;
	}
	if (child == 0)
		exit(groups[i].run() != 0);
	if (waitpid(child, &status, 0) != child) {
		perror("waitpid");
		return 1;
	}
	if (WIFSIGNALED(status))
		printf("# %s: ended by signal %d, %s\n", groups[i].words, WTERMSIG(status),
		       strsignal(WTERMSIG(status)));
	return status != 0;
}

int main(int argc, char **argv)
{
	int failed = 0;

	if (argc == 2 && strcmp(argv[1], "--list") == 0) {
		for (size_t i = 0; i < N_GROUPS; i++)
			puts(groups[i].words);
		return 0;
	}
	for (int i = 1; i < argc; i++) {
		if (find(argv[i]) == N_GROUPS) {
			fprintf(stderr, "%s: there is no group `%s`; see --list\n", argv[0],
			        argv[i]);
			return 2;
		}
	}
	if (argc == 2)
		return groups[find(argv[1])].run();
	for (int i = 1; i < argc; i++)
		failed += run_apart(find(argv[i]));
	for (size_t i = 0; argc == 1 && i < N_GROUPS; i++)
		failed += run_apart(i);
	if (failed)
		printf("# %d groups failed\n", failed);
	return failed != 0;
}
