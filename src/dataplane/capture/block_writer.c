/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/block_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A multiple of every page size and of every file system's block size, so all writes but the last
 * begin and end at such a boundary. */
#define BLOCK_BYTES (512u << 10)
/* If no other thread writes a block, it should still be in the processor's cache. */
#define BLOCK_BYTES_ALONE (64u << 10)

static uint8_t *block(const struct block_writer *block_writer, uint32_t which)
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
		        .fd = fd, .write = true, .data = block(block_writer, i)};
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
static void next_block(struct block_writer *block_writer)
{
	struct io_request *io_request = &block_writer->io_requests[block_writer->present];

	io_request->bytes = (size_t)(block_writer->at - block(block_writer, block_writer->present));
	if (block_writer->error == 0 && io_request->bytes > 0)
		io_thread_give(block_writer->io_thread, io_request);
	if (!block_writer->io_thread)
		settle(block_writer, block_writer->present);
	block_writer->present = !block_writer->present;
	settle(block_writer, block_writer->present);
	block_writer->at = block(block_writer, block_writer->present);
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
			next_block(block_writer);
	}
}

int block_writer_flush(struct block_writer *block_writer)
{
	next_block(block_writer);
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
