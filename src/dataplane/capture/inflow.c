/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/inflow.h"

#include <errno.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK_BYTES (512u << 10)
/* Where nobody else reads a block it is used while it is in the processor's cache. */
#define BLOCK_BYTES_ALONE (64u << 10)
/* In front of each block is room for what is left of the one before. */
#define LEFT_BYTES  (320u << 10)
#define BLOCK_PITCH (LEFT_BYTES + BLOCK_BYTES)

_Static_assert(LEFT_BYTES >= INFLOW_REACH_MAX, "what is left is less than what was asked for");

static uint8_t *block(const struct inflow *inflow, uint32_t which)
{
	return inflow->memory + (size_t)which * BLOCK_PITCH + LEFT_BYTES;
}

static void fetch(struct inflow *inflow, uint32_t which)
{
	porter_give(inflow->porter, &inflow->errands[which]);
}

int inflow_open(struct inflow *inflow, int fd, struct porter *porter)
{
	*inflow = (struct inflow){.porter = porter};
	inflow->memory = aligned_alloc(4096, 2 * BLOCK_PITCH);
	for (uint32_t i = 0; i < 2; i++)
		inflow->errands[i] = (struct errand){
		        .fd = fd, .bytes = porter ? BLOCK_BYTES : BLOCK_BYTES_ALONE};
	if (!inflow->memory) {
		close(fd);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < 2; i++)
		inflow->errands[i].data = block(inflow, i);
	inflow->at = inflow->end = block(inflow, 0);
	inflow->present = 1;
	if (porter)
		fetch(inflow, 0);
	return 0;
}

void inflow_close(struct inflow *inflow)
{
	if (!inflow->memory)
		return;
	for (uint32_t i = 0; i < 2; i++)
		porter_wait(inflow->porter, &inflow->errands[i]);
	close(inflow->errands[0].fd);
	free(inflow->memory);
	inflow->memory = NULL;
}

/* Goes on to the other block, with what is left of this one in front of it. */
static void next_block(struct inflow *inflow)
{
	uint32_t next = !inflow->present;
	struct errand *errand = &inflow->errands[next];
	size_t left = (size_t)(inflow->end - inflow->at);
	uint8_t *start = block(inflow, next);

	if (inflow->porter)
		porter_wait(inflow->porter, errand);
	else
		fetch(inflow, next);
	inflow->error = errand->error;
	inflow->ended = errand->error || errand->done == 0;
	if (left > 0)
		memcpy(start - left, inflow->at, left);
	inflow->at = start - left;
	inflow->end = start + errand->done;
	inflow->present = next;
	if (inflow->porter && !inflow->ended)
		fetch(inflow, !next);
}

bool inflow_reach(struct inflow *inflow, uint32_t bytes)
{
	while ((size_t)(inflow->end - inflow->at) < bytes && !inflow->ended)
		next_block(inflow);
	return (size_t)(inflow->end - inflow->at) >= bytes;
}

static ssize_t stream_read(void *argument, char *to, size_t bytes)
{
	struct inflow *inflow = argument;
	size_t has;

	if (!inflow_has(inflow, 1)) {
		if (!inflow->error)
			return 0;
		errno = inflow->error;
		return -1;
	}
	has = (size_t)(inflow->end - inflow->at);
	if (bytes > has)
		bytes = has;
	memcpy(to, inflow->at, bytes);
	inflow->at += bytes;
	return (ssize_t)bytes;
}

FILE *inflow_stream(struct inflow *inflow)
{
	FILE *stream = fopencookie(inflow, "r", (cookie_io_functions_t){.read = stream_read});

	if (!stream)
		return NULL;
	setvbuf(stream, NULL, _IONBF, 0);
	__fsetlocking(stream, FSETLOCKING_BYCALLER);
	return stream;
}
