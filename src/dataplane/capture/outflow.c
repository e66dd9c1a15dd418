/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/outflow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A multiple of every page and every file system's block: all writes but the last begin and end with
 * one. */
#define BLOCK_BYTES (512u << 10)
/* Where nobody else writes a block it had better still be in the processor's cache. */
#define BLOCK_BYTES_ALONE (64u << 10)

static uint8_t *block(const struct outflow *outflow, uint32_t which)
{
	return outflow->memory + which * outflow->block_bytes;
}

int outflow_open(struct outflow *outflow, int fd, struct porter *porter)
{
	*outflow = (struct outflow){
	        .porter = porter,
	        .block_bytes = porter ? BLOCK_BYTES : BLOCK_BYTES_ALONE,
	};
	outflow->memory = aligned_alloc(4096, 2 * outflow->block_bytes);
	if (!outflow->memory)
		return -ENOMEM;
	for (uint32_t i = 0; i < 2; i++)
		outflow->errands[i] =
		        (struct errand){.fd = fd, .write = true, .data = block(outflow, i)};
	outflow->at = outflow->memory;
	outflow->end = outflow->at + outflow->block_bytes;
	return 0;
}

static void settle(struct outflow *outflow, uint32_t which)
{
	struct errand *errand = &outflow->errands[which];

	porter_wait(outflow->porter, errand);
	if (outflow->error == 0)
		outflow->error = errand->error;
}

/* Sends the present block off and goes on to the other, whose bytes must be in the file by then. */
static void next_block(struct outflow *outflow)
{
	struct errand *errand = &outflow->errands[outflow->present];

	errand->bytes = (size_t)(outflow->at - block(outflow, outflow->present));
	if (outflow->error == 0 && errand->bytes > 0)
		porter_give(outflow->porter, errand);
	if (!outflow->porter)
		settle(outflow, outflow->present);
	outflow->present = !outflow->present;
	settle(outflow, outflow->present);
	outflow->at = block(outflow, outflow->present);
	outflow->end = outflow->at + outflow->block_bytes;
}

void outflow_put_across(struct outflow *outflow, const void *data, uint32_t bytes)
{
	const uint8_t *from = data;

	while (bytes > 0) {
		uint32_t room = (uint32_t)(outflow->end - outflow->at);
		uint32_t part = bytes < room ? bytes : room;

		memcpy(outflow->at, from, part);
		outflow->at += part;
		from += part;
		bytes -= part;
		if (outflow->at == outflow->end)
			next_block(outflow);
	}
}

int outflow_flush(struct outflow *outflow)
{
	next_block(outflow);
	settle(outflow, !outflow->present);
	return outflow->error;
}

void outflow_close(struct outflow *outflow)
{
	if (!outflow->memory)
		return;
	settle(outflow, 0);
	settle(outflow, 1);
	free(outflow->memory);
	outflow->memory = NULL;
}
