/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/porter.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

struct porter {
	pthread_t thread;
	pthread_mutex_t lock; /* of everything below, and of `given` in errands */
	pthread_cond_t work, done;
	struct errand *first, **end;
	bool stop;
};

static void carry(struct errand *errand)
{
	errand->done = 0;
	errand->error = 0;
	do {
		char *at = (char *)errand->data + errand->done;
		size_t left = errand->bytes - errand->done;
		ssize_t n =
		        errand->write ? write(errand->fd, at, left) : read(errand->fd, at, left);

		if (n < 0) {
			errand->error = errno;
			return;
		}
		errand->done += (size_t)n;
	} while (errand->write && errand->done < errand->bytes);
}

static void *porter_thread(void *argument)
{
	struct porter *porter = argument;

	pthread_mutex_lock(&porter->lock);
	for (;;) {
		struct errand *errand = porter->first;

		if (!errand) {
			if (porter->stop)
				break;
			pthread_cond_wait(&porter->work, &porter->lock);
			continue;
		}
		porter->first = errand->next;
		if (!porter->first)
			porter->end = &porter->first;
		pthread_mutex_unlock(&porter->lock);
		carry(errand);
		pthread_mutex_lock(&porter->lock);
		errand->given = false;
		pthread_cond_signal(&porter->done);
	}
	pthread_mutex_unlock(&porter->lock);
	return NULL;
}

static bool has_two_processors(void)
{
	cpu_set_t cpus;

	return sched_getaffinity(0, sizeof(cpus), &cpus) == 0 && CPU_COUNT(&cpus) > 1;
}

struct porter *porter_make(void)
{
	struct porter *porter = has_two_processors() ? calloc(1, sizeof(*porter)) : NULL;
	sigset_t all, before;
	int error;

	if (!porter)
		return NULL;
	pthread_mutex_init(&porter->lock, NULL);
	pthread_cond_init(&porter->work, NULL);
	pthread_cond_init(&porter->done, NULL);
	porter->end = &porter->first;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&porter->thread, NULL, porter_thread, porter);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!error)
		return porter;
	free(porter);
	return NULL;
}

void porter_free(struct porter *porter)
{
	if (!porter)
		return;
	pthread_mutex_lock(&porter->lock);
	porter->stop = true;
	pthread_cond_signal(&porter->work);
	pthread_mutex_unlock(&porter->lock);
	pthread_join(porter->thread, NULL);
	assert(!porter->first);
	pthread_cond_destroy(&porter->done);
	pthread_cond_destroy(&porter->work);
	pthread_mutex_destroy(&porter->lock);
	free(porter);
}

void porter_give(struct porter *porter, struct errand *errand)
{
	assert(!errand->given);
	if (!porter) {
		carry(errand);
		return;
	}
	errand->next = NULL;
	pthread_mutex_lock(&porter->lock);
	errand->given = true;
	*porter->end = errand;
	porter->end = &errand->next;
	pthread_cond_signal(&porter->work);
	pthread_mutex_unlock(&porter->lock);
}

void porter_wait(struct porter *porter, struct errand *errand)
{
	if (!porter)
		return;
	pthread_mutex_lock(&porter->lock);
	while (errand->given)
		pthread_cond_wait(&porter->done, &porter->lock);
	pthread_mutex_unlock(&porter->lock);
}
