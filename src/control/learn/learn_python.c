/* SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "learn/learn.h"

/* What the estimation needs: a bit of the exit status of the look for each. */
static const char *const needs[] = {"numpy", "scipy", "weir"};
#define NEEDS (sizeof(needs) / sizeof(needs[0]))

static char look[] = "import importlib.util as u, sys\n"
                     "sys.exit(sys.version_info < (3, 11) and 8 or sum(1 << i for i, name in "
                     "enumerate(('numpy', 'scipy', 'weir')) if not u.find_spec(name)))";

enum { LOOK_FINE = 0, LOOK_OLD = 8, LOOK_FAILED = 127 };

/* Asks an interpreter what it lacks. */
static int look_at(const char *python)
{
	char *const words[] = {(char *)python, "-c", look, NULL};
	const pid_t child = fork();
	int status;

	if (child < 0)
		return LOOK_FAILED;
	if (child == 0) {
		execvp(python, words);
		_exit(LOOK_FAILED);
	}
	if (waitpid(child, &status, 0) < 0 || !WIFEXITED(status))
		return LOOK_FAILED;
	return WEXITSTATUS(status);
}

/* Prints what is missing, and how to get it. */
static void say_missing(const char *python, int lacks)
{
	const char *join = "";

	if (lacks == LOOK_FAILED) {
		fputs("weir learn: there is no python3; install it, and python3-numpy, "
		      "python3-scipy and python3-weir\n",
		      stderr);
		return;
	}
	if (lacks == LOOK_OLD) {
		fprintf(stderr,
		        "weir learn: %s is older than Python 3.11; name another one in "
		        "$WEIR_PYTHON\n",
		        python);
		return;
	}
	fprintf(stderr, "weir learn: %s lacks ", python);
	for (size_t i = 0; i < NEEDS; i++) {
		if (lacks & 1 << i) {
			fprintf(stderr, "%s%s", join, needs[i]);
			join = " and ";
		}
	}
	fputs("; apt install python3-numpy python3-scipy python3-weir, or pip install "
	      "'weir[learn]'; $WEIR_PYTHON names another interpreter\n",
	      stderr);
}

/* The estimation calls this program. */
static void name_this_program(void)
{
	char path[PATH_MAX];
	const ssize_t bytes = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (bytes > 0) {
		path[bytes] = 0;
		setenv("WEIR", path, 0);
	}
}

int learn_python(int argc, char **argv)
{
	const char *named = getenv("WEIR_PYTHON");
	const char *const tries[] = {named ? named : "python3", named ? NULL : "/usr/bin/python3"};
	const char *python = NULL;
	int lacks = LOOK_FAILED;
	char **words;

	for (size_t i = 0; i < 2 && tries[i] && (python == NULL || lacks != LOOK_FINE); i++) {
		const int here = look_at(tries[i]);

		if (python == NULL || here < lacks) {
			python = tries[i];
			lacks = here;
		}
	}
	if (lacks != LOOK_FINE) {
		say_missing(python, lacks);
		return 2;
	}
	words = calloc((size_t)argc + 4, sizeof(*words));
	if (words) {
		words[0] = (char *)python;
		words[1] = "-m";
		words[2] = "weir.learn";
		memcpy(words + 3, argv + 1, (size_t)(argc - 1) * sizeof(*words));
		name_this_program();
		execvp(python, words);
	}
	perror("weir learn");
	free(words);
	return 2;
}
