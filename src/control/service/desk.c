/* SPDX-License-Identifier: BSD-3-Clause */
#include "service/desk.h"

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
#define STACK_ROOM (2u << 20) /* a line's command and errors lie there: some 100 kB */

struct desk {
	pthread_mutex_t lock;
	int fd;
	uint32_t running, forgotten;
};

struct desk *desk_make(void)
{
	struct desk *desk = calloc(1, sizeof(*desk));

	if (desk == NULL)
		return NULL;
	desk->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (desk->fd < 0) {
		free(desk);
		return NULL;
	}
	pthread_mutex_init(&desk->lock, NULL);
	return desk;
}

static uint32_t desk_running(struct desk *desk)
{
	uint32_t running;

	pthread_mutex_lock(&desk->lock);
	running = desk->running;
	pthread_mutex_unlock(&desk->lock);
	return running;
}

void desk_close(struct desk *desk, uint64_t patience_ns)
{
	const struct timespec pause = {.tv_nsec = LOOK_NS};

	if (desk == NULL)
		return;
	for (uint64_t waited_ns = 0; desk_running(desk) > 0; waited_ns += LOOK_NS) {
		if (waited_ns >= patience_ns)
			return;
		nanosleep(&pause, NULL);
	}
	close(desk->fd);
	pthread_mutex_destroy(&desk->lock);
	free(desk);
}

int desk_fd(const struct desk *desk)
{
	return desk != NULL ? desk->fd : -1;
}

void desk_heard(struct desk *desk)
{
	uint64_t count;
	ssize_t ignored = read(desk->fd, &count, sizeof(count));

	(void)ignored;
}

/* The last that is done with the desk is under its lock: it may be closed right after. */
static void *desk_thread(void *argument)
{
	struct job *job = argument;
	struct desk *desk = job->desk;
	const uint64_t one = 1;
	bool forgotten;
	ssize_t ignored;

	/* Of this thread alone, as Linux has it. */
	setpriority(PRIO_PROCESS, 0, NICENESS);
	job->work(job);
	pthread_mutex_lock(&desk->lock);
	forgotten = job->forgotten;
	__atomic_store_n(&job->done, true, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&desk->lock);
	if (forgotten)
		job->release(job);
	pthread_mutex_lock(&desk->lock);
	desk->forgotten -= forgotten;
	desk->running--;
	ignored = write(desk->fd, &one, sizeof(one));
	(void)ignored;
	pthread_mutex_unlock(&desk->lock);
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
	sigfillset(&all); /* signals are control's */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	result = pthread_create(&thread, &attributes, desk_thread, job);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return result == 0 ? 0 : -EAGAIN;
}

int job_give(struct desk *desk, struct job *job)
{
	bool full;

	job->desk = desk;
	job->done = job->forgotten = false;
	job->given = true;
	if (desk == NULL) {
		job->work(job);
		job->done = true;
		return 0;
	}
	pthread_mutex_lock(&desk->lock);
	full = desk->forgotten >= DESK_FORGOTTEN_MAX;
	desk->running += !full;
	pthread_mutex_unlock(&desk->lock);
	if (!full && thread_start(job) == 0)
		return 0;
	pthread_mutex_lock(&desk->lock);
	desk->running -= !full;
	pthread_mutex_unlock(&desk->lock);
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
	if (job->given && job->desk != NULL) {
		pthread_mutex_lock(&job->desk->lock);
		over = job->done;
		job->forgotten = !over;
		job->desk->forgotten += !over;
		pthread_mutex_unlock(&job->desk->lock);
	}
	if (over)
		job->release(job);
}
