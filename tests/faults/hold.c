/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hold TID: stops that single thread of another process, prints `held`, and continues it when
 * standard input ends. SIGSTOP would stop all threads.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static int complain(const char *what)
{
	fprintf(stderr, "hold: %s: %s\n", what, strerror(errno));
	return 1;
}

int main(int argc, char **argv)
{
	pid_t thread = argc == 2 ? atoi(argv[1]) : 0;
	char byte;
	int status;

	if (thread <= 0) {
		fputs("usage: hold TID\n", stderr);
		return 2;
	}
	if (ptrace(PTRACE_SEIZE, thread, NULL, NULL) < 0)
		return complain("PTRACE_SEIZE");
	if (ptrace(PTRACE_INTERRUPT, thread, NULL, NULL) < 0)
		return complain("PTRACE_INTERRUPT");
	if (waitpid(thread, &status, __WALL) != thread || !WIFSTOPPED(status))
		return complain("waitpid");
	puts("held");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	/* It may have ended with its process. */
	if (ptrace(PTRACE_DETACH, thread, NULL, NULL) < 0 && errno != ESRCH)
		return complain("PTRACE_DETACH");
	return 0;
}
