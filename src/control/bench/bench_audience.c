/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/bench_audience.h"

#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SELF    "/proc/self/exe"
#define ENDS_MS 2000
#define TOP     0
#define ROWS    24
#define COLUMNS 80

static void become(char *const words[], bool quiet)
{
	sigset_t none;
	int fd = quiet ? open("/dev/null", O_RDWR) : -1;

	for (int to = 0; fd >= 0 && to < 3; to++)
		dup2(fd, to);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setenv("TERM", "xterm", 1);
	/* The launcher has run already: SELF is the program that it has chosen. */
	execv(SELF, words);
	_exit(127);
}

static pid_t start(char *const words[])
{
	pid_t pid = fork();

	if (pid == 0)
		become(words, true);
	return pid < 0 ? 0 : pid;
}

void bench_audience_begin(struct bench_audience *audience, const char *socket)
{
	const struct winsize size = {.ws_row = ROWS, .ws_col = COLUMNS};
	char path[80], unix_path[96];
	char *top[] = {(char[]){"weir"}, (char[]){"top"}, (char[]){"-s"}, path, NULL};
	char *serve[] = {(char[]){"weir"},
	                 (char[]){"serve"},
	                 (char[]){"-s"},
	                 path,
	                 (char[]){"--listen"},
	                 unix_path,
	                 NULL};
	char *capture[] = {(char[]){"weir"},      (char[]){"ctl"},
	                   (char[]){"-s"},        path,
	                   (char[]){"capture"},   (char[]){"down"},
	                   (char[]){"drops"},     (char[]){"-o"},
	                   (char[]){"/dev/null"}, NULL};

	snprintf(path, sizeof(path), "%s", socket);
	snprintf(unix_path, sizeof(unix_path), "unix:%s-http", socket);
	memset(audience, 0, sizeof(*audience));
	audience->pid[TOP] = forkpty(&audience->terminal, NULL, NULL, &size);
	if (audience->pid[TOP] == 0)
		become(top, false);
	if (audience->pid[TOP] < 0) {
		audience->pid[TOP] = 0;
		audience->terminal = -1;
	} else {
		fcntl(audience->terminal, F_SETFL, O_NONBLOCK);
	}
	audience->pid[1] = start(serve);
	audience->pid[2] = start(capture);
}

uint32_t bench_audience_n(struct bench_audience *audience)
{
	char drawn[4096];
	uint32_t n = 0;

	while (audience->terminal >= 0 && read(audience->terminal, drawn, sizeof(drawn)) > 0)
		;
	for (int i = 0; i < BENCH_AUDIENCE; i++) {
		if (audience->pid[i] && waitpid(audience->pid[i], NULL, WNOHANG) != 0)
			audience->pid[i] = 0;
		n += audience->pid[i] != 0;
	}
	return n;
}

void bench_audience_end(struct bench_audience *audience)
{
	const struct timespec pause = {.tv_nsec = 10000000};

	for (int i = 0; i < BENCH_AUDIENCE; i++) {
		if (audience->pid[i])
			kill(audience->pid[i], SIGTERM);
	}
	for (int ms = 0; bench_audience_n(audience) > 0; ms += 10) {
		nanosleep(&pause, NULL);
		for (int i = 0; i < BENCH_AUDIENCE && ms == ENDS_MS; i++) {
			if (audience->pid[i])
				kill(audience->pid[i], SIGKILL);
		}
	}
	if (audience->terminal >= 0)
		close(audience->terminal);
}
