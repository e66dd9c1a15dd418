/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/block_file.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
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

/* A multiple of every page size and of every file system's block size, so all writes but the last
 * begin and end at such a boundary. */
#define BLOCK_BYTES (512u << 10)
/* If no other thread reads or writes a block, it should still be in the processor's cache. */
#define BLOCK_BYTES_ALONE (64u << 10)
/* In front of each block is room for what is left of the previous block. */
#define LEFT_BYTES  (320u << 10)
#define BLOCK_PITCH (LEFT_BYTES + BLOCK_BYTES)

_Static_assert(LEFT_BYTES >= BLOCK_READER_REACH_MAX,
               "what is left is less than what was asked for");

static uint8_t *block(const struct block_reader *block_reader, uint32_t which)
{
	return block_reader->memory + (size_t)which * BLOCK_PITCH + LEFT_BYTES;
}

static void fetch(struct block_reader *block_reader, uint32_t which)
{
	io_thread_give(block_reader->io_thread, &block_reader->io_requests[which]);
}

int block_reader_open(struct block_reader *block_reader, int fd, const struct block_start *start,
                      struct io_thread *io_thread)
{
	*block_reader = (struct block_reader){.io_thread = io_thread};
	block_reader->memory = aligned_alloc(4096, 2 * BLOCK_PITCH);
	for (uint32_t i = 0; i < 2; i++)
		block_reader->io_requests[i] =
		        (struct io_request){.fd = fd,
		                            .source = start->source,
		                            .bytes = io_thread ? BLOCK_BYTES : BLOCK_BYTES_ALONE};
	if (!block_reader->memory) {
		close(fd);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < 2; i++)
		block_reader->io_requests[i].data = block(block_reader, i);
	block_reader->at = block_reader->end = block(block_reader, 1);
	block_reader->present = 1;
	if (start->head_bytes > 0)
		block_reader->end = mempcpy(block(block_reader, 1), start->head, start->head_bytes);
	if (io_thread)
		fetch(block_reader, 0);
	return 0;
}

void block_reader_close(struct block_reader *block_reader)
{
	if (!block_reader->memory)
		return;
	for (uint32_t i = 0; i < 2; i++)
		io_thread_wait(block_reader->io_thread, &block_reader->io_requests[i]);
	close(block_reader->io_requests[0].fd);
	free(block_reader->memory);
	block_reader->memory = NULL;
}

/* Switches to the other block. Copies what is left of the present block in front of it. */
static void next_block(struct block_reader *block_reader)
{
	uint32_t next = !block_reader->present;
	struct io_request *io_request = &block_reader->io_requests[next];
	size_t left = (size_t)(block_reader->end - block_reader->at);
	uint8_t *start = block(block_reader, next);

	if (block_reader->io_thread)
		io_thread_wait(block_reader->io_thread, io_request);
	else
		fetch(block_reader, next);
	block_reader->error = io_request->error;
	block_reader->ended = io_request->error || io_request->done == 0;
	if (left > 0)
		memcpy(start - left, block_reader->at, left);
	block_reader->at = start - left;
	block_reader->end = start + io_request->done;
	block_reader->present = next;
	if (block_reader->io_thread && !block_reader->ended)
		fetch(block_reader, !next);
}

bool block_reader_reach(struct block_reader *block_reader, uint32_t bytes)
{
	while ((size_t)(block_reader->end - block_reader->at) < bytes && !block_reader->ended)
		next_block(block_reader);
	return (size_t)(block_reader->end - block_reader->at) >= bytes;
}

static uint8_t *room_of(const struct block_writer *block_writer, uint32_t which)
{
	return block_writer->memory + which * block_writer->block_bytes;
}

int block_writer_open(struct block_writer *block_writer, int fd, struct io_thread *io_thread)
{
	*block_writer = (struct block_writer){
	        .io_thread = io_thread,
	        .block_bytes = io_thread ? BLOCK_BYTES : BLOCK_BYTES_ALONE,
	};
	block_writer->memory = aligned_alloc(4096, 2 * block_writer->block_bytes);
	if (!block_writer->memory)
		return -ENOMEM;
	for (uint32_t i = 0; i < 2; i++)
		block_writer->io_requests[i] = (struct io_request){
		        .fd = fd, .write = true, .data = room_of(block_writer, i)};
	block_writer->at = block_writer->memory;
	block_writer->end = block_writer->at + block_writer->block_bytes;
	return 0;
}

void block_writer_through(struct block_writer *block_writer, struct io_sink *sink)
{
	for (uint32_t i = 0; i < 2; i++)
		block_writer->io_requests[i].sink = sink;
}

static void settle(struct block_writer *block_writer, uint32_t which)
{
	struct io_request *io_request = &block_writer->io_requests[which];

	io_thread_wait(block_writer->io_thread, io_request);
	if (block_writer->error == 0)
		block_writer->error = io_request->error;
}

/* Writes the present block and switches to the other one, which must be in the file by then. */
static void pass_block(struct block_writer *block_writer)
{
	struct io_request *io_request = &block_writer->io_requests[block_writer->present];

	io_request->bytes =
	        (size_t)(block_writer->at - room_of(block_writer, block_writer->present));
	if (block_writer->error == 0 && io_request->bytes > 0)
		io_thread_give(block_writer->io_thread, io_request);
	if (!block_writer->io_thread)
		settle(block_writer, block_writer->present);
	block_writer->present = !block_writer->present;
	settle(block_writer, block_writer->present);
	block_writer->at = room_of(block_writer, block_writer->present);
	block_writer->end = block_writer->at + block_writer->block_bytes;
}

void block_writer_put_across(struct block_writer *block_writer, const void *data, uint32_t bytes)
{
	const uint8_t *from = data;

	while (bytes > 0) {
		uint32_t room = (uint32_t)(block_writer->end - block_writer->at);
		uint32_t part = bytes < room ? bytes : room;

		memcpy(block_writer->at, from, part);
		block_writer->at += part;
		from += part;
		bytes -= part;
		if (block_writer->at == block_writer->end)
			pass_block(block_writer);
	}
}

int block_writer_flush(struct block_writer *block_writer)
{
	pass_block(block_writer);
	settle(block_writer, !block_writer->present);
	return block_writer->error;
}

void block_writer_close(struct block_writer *block_writer)
{
	if (!block_writer->memory)
		return;
	settle(block_writer, 0);
	settle(block_writer, 1);
	free(block_writer->memory);
	block_writer->memory = NULL;
}
