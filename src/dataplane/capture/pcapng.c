/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/pcapng.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/atomic_file.h"
#include "capture/block_writer.h"

#define SECTION_HEADER  0x0a0d0d0a
#define BYTE_ORDER_MARK 0x1a2b3c4d
#define INTERFACE       1
#define STATISTICS      5
#define ENHANCED_PACKET 6
#define LINK_ETHERNET   1

/* Options; a number has another meaning in each block. */
#define OPTION_COMMENT        1
#define OPTION_APPLICATION    4
#define OPTION_NAME           2
#define OPTION_DESCRIPTION    3
#define OPTION_TIME_UNIT      9
#define OPTION_FLAGS          2
#define OPTION_LOST           4
#define OPTION_PACKET         5
#define OPTION_RECEIVED       4
#define OPTION_DROPPED        5
#define TIME_UNIT_NANOSECONDS 9

#define BLOCK_BYTES_MAX   2048 /* but for packets */
#define TEXT_BYTES_MAX    640
#define BYTES_UNSPECIFIED UINT64_MAX
#define ROOM_FIRST        8

struct pcapng {
	struct atomic_file *atomic_file;
	struct block_writer block_writer; /* into the atomic file's file */
	uint32_t n, room;
	struct seen {
		uint64_t frames;
		simtime last_ns;
	} * interfaces;
};

/* A block that is being put together. */
struct block {
	uint32_t used;
	uint8_t bytes[BLOCK_BYTES_MAX];
};

static const uint8_t zeros[4];

static uint32_t padding(uint32_t bytes)
{
	return -bytes & 3;
}

static void add(struct block *block, const void *data, uint32_t bytes)
{
	memcpy(block->bytes + block->used, data, bytes);
	memset(block->bytes + block->used + bytes, 0, padding(bytes));
	block->used += bytes + padding(bytes);
}

static void add_u32(struct block *block, uint32_t value)
{
	add(block, &value, sizeof(value));
}

static void add_time(struct block *block, simtime t_ns)
{
	add_u32(block, (uint32_t)(t_ns >> 32));
	add_u32(block, (uint32_t)t_ns);
}

static void begin(struct block *block, uint32_t type)
{
	block->used = 0;
	add_u32(block, type);
	add_u32(block, 0); /* the length comes at the end */
}

static void add_option(struct block *block, uint16_t code, const void *data, uint32_t bytes)
{
	const uint16_t head[] = {code, (uint16_t)bytes};

	add(block, head, sizeof(head));
	add(block, data, bytes);
}

static void add_text(struct block *block, uint16_t code, const char *text)
{
	if (*text)
		add_option(block, code, text, (uint32_t)strnlen(text, TEXT_BYTES_MAX));
}

static void end(struct block *block, struct block_writer *to)
{
	uint32_t length;

	add_u32(block, 0); /* the end of the options */
	length = block->used + (uint32_t)sizeof(length);
	add_u32(block, length);
	memcpy(block->bytes + 4, &length, sizeof(length));
	block_writer_put(to, block->bytes, block->used);
}

static void write_section(struct pcapng *pcapng, const char *comment)
{
	static const uint16_t version[] = {1, 0};
	static const uint64_t section_bytes = BYTES_UNSPECIFIED;
	struct block block;

	begin(&block, SECTION_HEADER);
	add_u32(&block, BYTE_ORDER_MARK);
	add(&block, version, sizeof(version));
	add(&block, &section_bytes, sizeof(section_bytes));
	add_text(&block, OPTION_COMMENT, comment);
	add_text(&block, OPTION_APPLICATION, "weir");
	end(&block, &pcapng->block_writer);
}

int pcapng_interface_add(struct pcapng *pcapng, const struct pcapng_interface *interface)
{
	static const uint16_t link[] = {LINK_ETHERNET, 0};
	static const uint8_t unit = TIME_UNIT_NANOSECONDS;
	struct block block;

	if (pcapng->n == pcapng->room) {
		uint32_t room = 2 * pcapng->room + ROOM_FIRST;
		struct seen *seen = realloc(pcapng->interfaces, room * sizeof(*seen));

		if (!seen)
			return -ENOMEM;
		pcapng->interfaces = seen;
		pcapng->room = room;
	}
	begin(&block, INTERFACE);
	add(&block, link, sizeof(link));
	add_u32(&block, interface->snap);
	add_text(&block, OPTION_NAME, interface->name);
	add_text(&block, OPTION_DESCRIPTION, interface->description);
	add_option(&block, OPTION_TIME_UNIT, &unit, sizeof(unit));
	end(&block, &pcapng->block_writer);
	pcapng->interfaces[pcapng->n] = (struct seen){.frames = 0};
	return (int)pcapng->n++;
}

int pcapng_open(const char *path, const char *comment, const struct pcapng_interface *interfaces,
                uint32_t n, struct pcapng **pcapng, struct problem *problem)
{
	struct pcapng *p = calloc(1, sizeof(*p));
	int rc = -ENOMEM;

	if (!p)
		goto err_memory;
	rc = atomic_file_open(path, &p->atomic_file, problem);
	if (rc < 0)
		goto err_discard;
	rc = block_writer_open(&p->block_writer, fileno(atomic_file_stream(p->atomic_file)), NULL);
	if (rc < 0)
		goto err_memory;
	write_section(p, comment);
	for (uint32_t i = 0; i < n; i++) {
		rc = pcapng_interface_add(p, &interfaces[i]);
		if (rc < 0)
			goto err_memory;
	}
	*pcapng = p;
	return 0;

err_memory:
	problem_set(problem, -1, "%s: no memory to write it", path);
err_discard:
	pcapng_discard(p);
	return rc;
}

/* What is said of it, as far as there is anything. */
static void add_frame_options(struct block *block, const struct pcapng_frame *frame)
{
	const uint32_t flags = frame->way;

	block->used = 0;
	if (frame->way != PCAPNG_NO_WAY)
		add_option(block, OPTION_FLAGS, &flags, sizeof(flags));
	if (frame->lost > 0)
		add_option(block, OPTION_LOST, &frame->lost, sizeof(frame->lost));
	if (frame->packet != 0)
		add_option(block, OPTION_PACKET, &frame->packet, sizeof(frame->packet));
	if (frame->comment)
		add_text(block, OPTION_COMMENT, frame->comment);
	if (block->used > 0)
		add_u32(block, 0); /* the end of the options */
}

void pcapng_write(struct pcapng *pcapng, const struct pcapng_frame *frame)
{
	struct block_writer *to = &pcapng->block_writer;
	struct seen *seen = &pcapng->interfaces[frame->interface];
	const simtime t_ns = frame->t_ns;
	struct block options;
	uint32_t length;

	add_frame_options(&options, frame);
	length = 28 + frame->bytes + padding(frame->bytes) + options.used + 4;
	block_writer_put(to,
	                 (const uint32_t[]){ENHANCED_PACKET, length, frame->interface,
	                                    (uint32_t)(t_ns >> 32), (uint32_t)t_ns, frame->bytes,
	                                    frame->wire_bytes},
	                 28);
	block_writer_put(to, frame->data, frame->bytes);
	block_writer_put(to, zeros, padding(frame->bytes));
	block_writer_put(to, options.bytes, options.used);
	block_writer_put(to, &length, sizeof(length));
	seen->frames++;
	seen->last_ns = t_ns;
}

int pcapng_flush(struct pcapng *pcapng, struct problem *problem)
{
	int rc = block_writer_flush(&pcapng->block_writer);

	if (rc != 0)
		atomic_file_fail(pcapng->atomic_file, rc);
	return atomic_file_error(pcapng->atomic_file, problem);
}

int pcapng_finish(struct pcapng *pcapng, const uint64_t *missing, struct problem *problem)
{
	struct block_writer *to = &pcapng->block_writer;
	struct block block;
	int rc;

	for (uint32_t i = 0; i < pcapng->n; i++) {
		uint64_t received = pcapng->interfaces[i].frames + missing[i];

		begin(&block, STATISTICS);
		add_u32(&block, i);
		add_time(&block, pcapng->interfaces[i].last_ns);
		add_option(&block, OPTION_RECEIVED, &received, sizeof(received));
		add_option(&block, OPTION_DROPPED, &missing[i], sizeof(missing[i]));
		end(&block, to);
	}
	rc = pcapng_flush(pcapng, problem);
	return rc < 0 ? rc : atomic_file_finish(pcapng->atomic_file, problem);
}

int pcapng_publish(struct pcapng *pcapng, struct problem *problem)
{
	int rc;

	block_writer_close(&pcapng->block_writer);
	rc = atomic_file_publish(pcapng->atomic_file, problem);
	pcapng->atomic_file = NULL;
	pcapng_discard(pcapng);
	return rc;
}

void pcapng_discard(struct pcapng *pcapng)
{
	if (!pcapng)
		return;
	block_writer_close(&pcapng->block_writer);
	atomic_file_discard(pcapng->atomic_file);
	free(pcapng->interfaces);
	free(pcapng);
}
