/* SPDX-License-Identifier: BSD-3-Clause */
#include "on/on.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "machine/clock.h"
#include "machine/run_log.h"

#define WAIT_NS (500 * SIMTIME_MS) /* between two looks whether a container runs */

struct kept {
	const char *container;
	pid_t child; /* 0: none */
	bool over;   /* it will have none any more */
};

struct keeping {
	const struct on_arguments *arguments;
	int (*run)(const struct on_arguments *arguments, const char *container);
	sigset_t before; /* the signals that were blocked before */
	pid_t parent;
	uint64_t end_ns; /* 0: without --for */
	struct kept kept[ON_CONTAINERS_MAX];
	uint32_t n;
	int status; /* the greatest of the children */
	bool ending;
};

/* A child ends with its parent, however that ends, and writes what it has to write. */
static void start(struct keeping *keeping, struct kept *kept)
{
	struct on_arguments arguments = *keeping->arguments;

	if (keeping->end_ns > 0)
		arguments.for_ns = keeping->end_ns - clock_machine_ns();
	fflush(NULL);
	kept->child = fork();
	if (kept->child < 0) {
		run_log(RUN_LOG_ERROR, "container %s: no process can be started: %s",
		        kept->container, strerror(errno));
		kept->child = 0;
		kept->over = true;
		keeping->status = 2;
		return;
	}
	if (kept->child > 0)
		return;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	sigprocmask(SIG_SETMASK, &keeping->before, NULL);
	exit(getppid() == keeping->parent ? keeping->run(&arguments, kept->container) : 0);
}

/* With --wait a container that does not run is no error. */
static void start_if_it_runs(struct keeping *keeping, struct kept *kept)
{
	struct problem problem;
	uint64_t pid;

	if (!keeping->arguments->wait || on_container_process(kept->container, &pid, &problem) == 0)
		start(keeping, kept);
}

static void child_ended(struct keeping *keeping, pid_t child, int status)
{
	const int result = WIFEXITED(status) ? WEXITSTATUS(status) : 1;

	for (uint32_t i = 0; i < keeping->n; i++) {
		struct kept *kept = &keeping->kept[i];
		const bool waits = result == ON_IS_GONE && keeping->arguments->wait;

		if (kept->child != child)
			continue;
		kept->child = 0;
		kept->over = !waits;
		if (waits)
			run_log(RUN_LOG_NOTICE, "waiting for container %s", kept->container);
		else if (result > keeping->status || result == ON_IS_GONE)
			keeping->status = result == ON_IS_GONE ? 1 : result;
	}
}

static void reap(struct keeping *keeping)
{
	int status;
	pid_t child;

	while ((child = waitpid(-1, &status, WNOHANG)) > 0)
		child_ended(keeping, child, status);
}

static void end_all(struct keeping *keeping)
{
	keeping->ending = true;
	for (uint32_t i = 0; i < keeping->n; i++) {
		keeping->kept[i].over = true;
		if (keeping->kept[i].child > 0)
			kill(keeping->kept[i].child, SIGTERM);
	}
}

static bool is_over(const struct keeping *keeping)
{
	for (uint32_t i = 0; i < keeping->n; i++) {
		if (keeping->kept[i].child > 0 || !keeping->kept[i].over)
			return false;
	}
	return true;
}

/* A child that could not begin ends the others: nothing is half on. */
static void keep(struct keeping *keeping, const sigset_t *signals)
{
	const struct timespec pause = {.tv_nsec = WAIT_NS};
	int got;

	while (!is_over(keeping)) {
		got = sigtimedwait(signals, NULL, &pause);
		reap(keeping);
		if (!keeping->ending &&
		    (got == SIGINT || got == SIGTERM || got == SIGHUP || keeping->status == 2 ||
		     (keeping->end_ns > 0 && clock_machine_ns() >= keeping->end_ns)))
			end_all(keeping);
		for (uint32_t i = 0; i < keeping->n; i++) {
			struct kept *kept = &keeping->kept[i];

			if (!kept->over && kept->child == 0)
				start_if_it_runs(keeping, kept);
		}
	}
}

int on_containers_keep(const struct on_arguments *arguments,
                       int (*run)(const struct on_arguments *arguments, const char *container))
{
	struct keeping keeping = {.arguments = arguments,
	                          .run = run,
	                          .parent = getpid(),
	                          .n = arguments->between ? 1 : arguments->n_containers};
	sigset_t signals;

	if (arguments->for_ns > 0)
		keeping.end_ns = clock_machine_ns() + arguments->for_ns;
	sigemptyset(&signals);
	for (size_t i = 0; i < 4; i++)
		sigaddset(&signals, (const int[]){SIGINT, SIGTERM, SIGHUP, SIGCHLD}[i]);
	sigprocmask(SIG_BLOCK, &signals, &keeping.before);
	for (uint32_t i = 0; i < keeping.n; i++) {
		keeping.kept[i].container = arguments->container[i];
		start_if_it_runs(&keeping, &keeping.kept[i]);
	}
	for (uint32_t i = 0; i < keeping.n; i++) {
		if (keeping.kept[i].child == 0 && !keeping.kept[i].over)
			run_log(RUN_LOG_NOTICE, "waiting for container %s",
			        keeping.kept[i].container);
	}
	keep(&keeping, &signals);
	sigprocmask(SIG_SETMASK, &keeping.before, NULL);
	return keeping.status;
}
