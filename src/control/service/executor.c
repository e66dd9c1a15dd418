/* SPDX-License-Identifier: BSD-3-Clause */
#include "service/executor.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "simtime.h"

#define NICENESS   10
#define LOOK_NS    SIMTIME_MS
#define STACK_ROOM (2u << 20) /* for a line's command and errors, some 100 kB */

struct executor {
	pthread_mutex_t lock;
	int fd;
	uint32_t running, forgotten;
};

struct executor *executor_make(void)
{
	struct executor *executor = calloc(1, sizeof(*executor));

	if (executor == NULL)
		return NULL;
	executor->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (executor->fd < 0) {
		free(executor);
		return NULL;
	}
	pthread_mutex_init(&executor->lock, NULL);
	return executor;
}

static uint32_t executor_running(struct executor *executor)
{
	uint32_t running;

	pthread_mutex_lock(&executor->lock);
	running = executor->running;
	pthread_mutex_unlock(&executor->lock);
	return running;
}

void executor_close(struct executor *executor, uint64_t patience_ns)
{
	const struct timespec pause = {.tv_nsec = LOOK_NS};

	if (executor == NULL)
		return;
	for (uint64_t waited_ns = 0; executor_running(executor) > 0; waited_ns += LOOK_NS) {
		if (waited_ns >= patience_ns)
			return;
		nanosleep(&pause, NULL);
	}
	close(executor->fd);
	pthread_mutex_destroy(&executor->lock);
	free(executor);
}

int executor_fd(const struct executor *executor)
{
	return executor != NULL ? executor->fd : -1;
}

void executor_drain(struct executor *executor)
{
	uint64_t count;
	ssize_t ignored = read(executor->fd, &count, sizeof(count));

	(void)ignored;
}

/* Uses the executor for the last time under its lock: it may be closed right after. */
static void *executor_thread(void *argument)
{
	struct job *job = argument;
	struct executor *executor = job->executor;
	const uint64_t one = 1;
	bool forgotten;
	ssize_t ignored;

	/* On Linux this applies to the thread, not to the process. */
	setpriority(PRIO_PROCESS, 0, NICENESS);
	job->work(job);
	pthread_mutex_lock(&executor->lock);
	forgotten = job->forgotten;
	__atomic_store_n(&job->done, true, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&executor->lock);
	if (forgotten)
		job->release(job);
	pthread_mutex_lock(&executor->lock);
	executor->forgotten -= forgotten;
	executor->running--;
	ignored = write(executor->fd, &one, sizeof(one));
	(void)ignored;
	pthread_mutex_unlock(&executor->lock);
	return NULL;
}

static int thread_start(struct job *job)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	pthread_t thread;
	int result;

	if (pthread_attr_init(&attributes) != 0)
		return -EAGAIN;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, STACK_ROOM);
	sigfillset(&all); /* signals are handled by control */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	result = pthread_create(&thread, &attributes, executor_thread, job);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return result == 0 ? 0 : -EAGAIN;
}

int job_submit(struct executor *executor, struct job *job)
{
	bool full;

	job->executor = executor;
	job->done = job->forgotten = false;
	job->given = true;
	if (executor == NULL) {
		job->work(job);
		job->done = true;
		return 0;
	}
	pthread_mutex_lock(&executor->lock);
	full = executor->forgotten >= EXECUTOR_FORGOTTEN_MAX;
	executor->running += !full;
	pthread_mutex_unlock(&executor->lock);
	if (!full && thread_start(job) == 0)
		return 0;
	pthread_mutex_lock(&executor->lock);
	executor->running -= !full;
	pthread_mutex_unlock(&executor->lock);
	job->given = false;
	return -EAGAIN;
}

bool job_done(struct job *job)
{
	return __atomic_load_n(&job->done, __ATOMIC_ACQUIRE);
}

void job_forget(struct job *job)
{
	bool over = true;

	if (job == NULL)
		return;
	if (job->given && job->executor != NULL) {
		pthread_mutex_lock(&job->executor->lock);
		over = job->done;
		job->forgotten = !over;
		job->executor->forgotten += !over;
		pthread_mutex_unlock(&job->executor->lock);
	}
	if (over)
		job->release(job);
}
