/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine/priority.h"

#include <errno.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RESET_ON_FORK UINT64_C(1) /* SCHED_FLAG_RESET_ON_FORK */

/* The kernel's struct sched_attr, as of Linux 3.14. glibc has it from 2.41 on. */
struct attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime_ns, deadline_ns, period_ns;
};

/* ---- the calling thread ---- */

static int attributes_get(struct attributes *attributes)
{
	memset(attributes, 0, sizeof(*attributes));
	return syscall(SYS_sched_getattr, 0, attributes, sizeof(*attributes), 0) < 0 ? -errno : 0;
}

static int attributes_set(const struct attributes *attributes)
{
	return syscall(SYS_sched_setattr, 0, attributes, 0) < 0 ? -errno : 0;
}

/* An ordinary thread with this slice, 0: the kernel's own. A process without rights must keep the
 * flags. Only system calls: the handler below comes here, too. */
static int become_ordinary(uint64_t slice_ns)
{
	struct attributes own;
	int rc = attributes_get(&own);

	if (rc < 0)
		return rc;
	own.size = sizeof(own);
	if (own.policy != SCHED_BATCH && own.policy != SCHED_IDLE)
		own.policy = SCHED_OTHER;
	own.priority = 0;
	own.runtime_ns = slice_ns;
	own.deadline_ns = own.period_ns = 0;
	return attributes_set(&own);
}

static int become_fifo(uint32_t level)
{
	const struct attributes fifo = {.size = sizeof(fifo),
	                                .policy = SCHED_FIFO,
	                                .flags = RESET_ON_FORK,
	                                .priority = level};

	return attributes_set(&fifo);
}

/* ---- rights ---- */

/* Raises the limit, so that a thread that has lowered itself may come back, even if weir has given
 * up its capabilities meanwhile. */
static void raise_limit(uint32_t level)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_RTPRIO, &limit) < 0 || limit.rlim_cur >= level)
		return;
	limit.rlim_cur = level;
	if (limit.rlim_max < level)
		limit.rlim_max = level;
	setrlimit(RLIMIT_RTPRIO, &limit);
}

struct attempt {
	uint32_t level;
	struct priority_rights *rights;
};

static void *attempt(void *argument)
{
	const struct attempt *attempt = argument;
	struct attributes own;

	/* An older kernel ignores the slice, and any kernel does so under SCHED_IDLE. */
	attempt->rights->slices = become_ordinary(PRIORITY_SLICE_NS) == 0 &&
	                          attributes_get(&own) == 0 && own.runtime_ns == PRIORITY_SLICE_NS;
	if (become_fifo(attempt->level) == 0)
		attempt->rights->fifo_most = attempt->level;
	return NULL;
}

void priority_rights_read(uint32_t level, struct priority_rights *rights)
{
	struct attempt wanted = {.level = level, .rights = rights};
	pthread_t thread;

	memset(rights, 0, sizeof(*rights));
	raise_limit(level);
	/* A thread of its own leaves the caller's policy and slice as they are: the kernel does not
	 * tell whether a slice is its own. */
	if (pthread_create(&thread, NULL, attempt, &wanted) == 0)
		pthread_join(thread, NULL);
}

/* ---- the decision ---- */

static int refuse(struct problem *problem, const char *text)
{
	problem_set(problem, -1, "%s", text);
	return -EPERM;
}

int priority_decide(const struct priority *wish, const struct priority_rights *rights, bool sleeps,
                    struct priority *decided, struct problem *problem)
{
	*decided = (struct priority){.kind = wish->kind, .level = wish->level};
	switch (wish->kind) {
	case PRIORITY_NONE:
		break;
	case PRIORITY_SLICE:
		if (!rights->slices)
			return refuse(problem,
			              "--priority slice: the kernel gives no time slices of a "
			              "thread's own; that takes Linux 6.12, and not SCHED_IDLE");
		break;
	case PRIORITY_FIFO:
		if (!sleeps)
			return refuse(problem,
			              "--priority fifo is for workers that sleep; one that polls "
			              "would take its whole processor: add --sleep 100us");
		if (rights->fifo_most < wish->level) {
			problem_set(problem, -1,
			            "--priority fifo:%u is not permitted: it takes root, "
			            "CAP_SYS_NICE, or a limit that allows it (ulimit -r %u)",
			            wish->level, wish->level);
			return -EPERM;
		}
		break;
	case PRIORITY_BEST:
		decided->kind = !sleeps                            ? PRIORITY_NONE
		                : rights->fifo_most >= wish->level ? PRIORITY_FIFO
		                : rights->slices                   ? PRIORITY_SLICE
		                                                   : PRIORITY_NONE;
		break;
	}
	return 0;
}

uint64_t priority_capabilities(const struct priority *priority)
{
	struct rlimit limit;

	if (priority->kind != PRIORITY_FIFO ||
	    (getrlimit(RLIMIT_RTPRIO, &limit) == 0 && limit.rlim_cur >= priority->level))
		return 0;
	return UINT64_C(1) << CAP_SYS_NICE;
}

void priority_text(const struct priority *priority, char *text, size_t room)
{
	text[0] = '\0';
	if (priority->kind == PRIORITY_FIFO)
		snprintf(text, room, "SCHED_FIFO %u", priority->level);
	else if (priority->kind == PRIORITY_SLICE)
		snprintf(text, room, "slices of 300us");
}

/* ---- a thread's own ---- */

/* The kernel signals the thread that has run for so long, unless that blocks the signal. */
static void runaway(int number)
{
	struct attributes own;
	int error = errno;

	(void)number;
	if (attributes_get(&own) == 0 && own.policy == SCHED_FIFO)
		become_ordinary(PRIORITY_SLICE_NS);
	errno = error;
}

int priority_take(struct priority *priority)
{
	/* Otherwise the kernel lets timers of ordinary threads expire up to 50 us late, to save
	 * power. */
	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
	priority->lowered = false;
	if (priority->kind == PRIORITY_SLICE)
		return become_ordinary(PRIORITY_SLICE_NS);
	if (priority->kind != PRIORITY_FIFO)
		return 0;
	struct sigaction action = {.sa_handler = runaway, .sa_flags = SA_RESTART};
	struct rlimit limit;
	sigset_t set;

	sigemptyset(&action.sa_mask);
	sigaction(SIGXCPU, &action, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGXCPU);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	if (getrlimit(RLIMIT_RTTIME, &limit) == 0 &&
	    limit.rlim_cur > PRIORITY_RUNAWAY_NS / SIMTIME_US) {
		limit.rlim_cur = PRIORITY_RUNAWAY_NS / SIMTIME_US;
		setrlimit(RLIMIT_RTTIME, &limit);
	}
	return become_fifo(priority->level);
}

void priority_lower(struct priority *priority, simtime now)
{
	/* What is made up by sleep does not grow for ever. */
	priority->even_ns = now - PRIORITY_MOST_NS;
	if (priority->lowered)
		return;
	priority->lowered = true;
	become_ordinary(PRIORITY_SLICE_NS);
}

void priority_raise(struct priority *priority)
{
	/* If that is no longer permitted, the thread stays as it is. */
	priority->lowered = false;
	become_fifo(priority->level);
}
