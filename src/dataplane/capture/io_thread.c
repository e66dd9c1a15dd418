/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/io_thread.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

struct io_thread {
	pthread_t thread;
	pthread_mutex_t lock; /* protects everything below, and `given` in requests */
	pthread_cond_t work, done;
	struct io_request *first, **end;
	bool stop;
};

static void carry(struct io_request *io_request)
{
	io_request->done = 0;
	io_request->error = 0;
	if (io_request->sink) {
		io_request->error = io_request->sink->write(io_request->sink, io_request->data,
		                                            io_request->bytes);
		io_request->done = io_request->error ? 0 : io_request->bytes;
		return;
	}
	do {
		char *at = (char *)io_request->data + io_request->done;
		size_t left = io_request->bytes - io_request->done;
		ssize_t n = io_request->write ? write(io_request->fd, at, left)
		            : io_request->source
		                    ? io_request->source->read(io_request->source, at, left)
		                    : read(io_request->fd, at, left);

		if (n < 0) {
			io_request->error = errno;
			return;
		}
		io_request->done += (size_t)n;
	} while (io_request->write && io_request->done < io_request->bytes);
}

static void *io_thread_thread(void *argument)
{
	struct io_thread *io_thread = argument;

	pthread_mutex_lock(&io_thread->lock);
	for (;;) {
		struct io_request *io_request = io_thread->first;

		if (!io_request) {
			if (io_thread->stop)
				break;
			pthread_cond_wait(&io_thread->work, &io_thread->lock);
			continue;
		}
		io_thread->first = io_request->next;
		if (!io_thread->first)
			io_thread->end = &io_thread->first;
		pthread_mutex_unlock(&io_thread->lock);
		carry(io_request);
		pthread_mutex_lock(&io_thread->lock);
		io_request->given = false;
		pthread_cond_signal(&io_thread->done);
	}
	pthread_mutex_unlock(&io_thread->lock);
	return NULL;
}

static bool has_two_processors(void)
{
	cpu_set_t cpus;

	return sched_getaffinity(0, sizeof(cpus), &cpus) == 0 && CPU_COUNT(&cpus) > 1;
}

struct io_thread *io_thread_make(void)
{
	struct io_thread *io_thread = has_two_processors() ? calloc(1, sizeof(*io_thread)) : NULL;
	sigset_t all, before;
	int error;

	if (!io_thread)
		return NULL;
	pthread_mutex_init(&io_thread->lock, NULL);
	pthread_cond_init(&io_thread->work, NULL);
	pthread_cond_init(&io_thread->done, NULL);
	io_thread->end = &io_thread->first;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&io_thread->thread, NULL, io_thread_thread, io_thread);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!error)
		return io_thread;
	free(io_thread);
	return NULL;
}

void io_thread_free(struct io_thread *io_thread)
{
	if (!io_thread)
		return;
	pthread_mutex_lock(&io_thread->lock);
	io_thread->stop = true;
	pthread_cond_signal(&io_thread->work);
	pthread_mutex_unlock(&io_thread->lock);
	pthread_join(io_thread->thread, NULL);
	assert(!io_thread->first);
	pthread_cond_destroy(&io_thread->done);
	pthread_cond_destroy(&io_thread->work);
	pthread_mutex_destroy(&io_thread->lock);
	free(io_thread);
}

void io_thread_give(struct io_thread *io_thread, struct io_request *io_request)
{
	assert(!io_request->given);
	if (!io_thread) {
		carry(io_request);
		return;
	}
	io_request->next = NULL;
	pthread_mutex_lock(&io_thread->lock);
	io_request->given = true;
	*io_thread->end = io_request;
	io_thread->end = &io_request->next;
	pthread_cond_signal(&io_thread->work);
	pthread_mutex_unlock(&io_thread->lock);
}

void io_thread_wait(struct io_thread *io_thread, struct io_request *io_request)
{
	if (!io_thread)
		return;
	pthread_mutex_lock(&io_thread->lock);
	while (io_request->given)
		pthread_cond_wait(&io_thread->done, &io_thread->lock);
	pthread_mutex_unlock(&io_thread->lock);
}
