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
#define OPTION_RECEIVED       4
#define OPTION_DROPPED        5
#define TIME_UNIT_NANOSECONDS 9

#define BLOCK_BYTES_MAX   1024 /* but for packets */
#define TEXT_BYTES_MAX    200
#define INTERFACES_MAX    8
#define BYTES_UNSPECIFIED UINT64_MAX

struct pcapng {
	struct atomic_file *atomic_file;
	struct block_writer block_writer; /* into the atomic file's file */
	uint32_t n;
	struct {
		uint64_t frames;
		simtime last_ns;
	} interfaces[INTERFACES_MAX];
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

static void write_head(struct pcapng *pcapng, const char *comment,
                       const struct pcapng_interface *interfaces)
{
	static const uint16_t version[] = {1, 0};
	static const uint64_t section_bytes = BYTES_UNSPECIFIED;
	static const uint16_t link[] = {LINK_ETHERNET, 0};
	static const uint8_t unit = TIME_UNIT_NANOSECONDS;
	struct block block;

	begin(&block, SECTION_HEADER);
	add_u32(&block, BYTE_ORDER_MARK);
	add(&block, version, sizeof(version));
	add(&block, &section_bytes, sizeof(section_bytes));
	add_text(&block, OPTION_COMMENT, comment);
	add_text(&block, OPTION_APPLICATION, "weir");
	end(&block, &pcapng->block_writer);
	for (uint32_t i = 0; i < pcapng->n; i++) {
		begin(&block, INTERFACE);
		add(&block, link, sizeof(link));
		add_u32(&block, 0); /* frames are whole, whatever their length */
		add_text(&block, OPTION_NAME, interfaces[i].name);
		add_text(&block, OPTION_DESCRIPTION, interfaces[i].description);
		add_option(&block, OPTION_TIME_UNIT, &unit, sizeof(unit));
		end(&block, &pcapng->block_writer);
	}
}

int pcapng_open(const char *path, const char *comment, const struct pcapng_interface *interfaces,
                uint32_t n, struct pcapng **pcapng, struct problem *problem)
{
	struct pcapng *p = calloc(1, sizeof(*p));
	int rc = -ENOMEM;

	if (!p || n > INTERFACES_MAX)
		goto err_memory;
	p->n = n;
	rc = atomic_file_open(path, &p->atomic_file, problem);
	if (rc < 0)
		goto err_discard;
	rc = block_writer_open(&p->block_writer, fileno(atomic_file_stream(p->atomic_file)), NULL);
	if (rc < 0)
		goto err_memory;
	write_head(p, comment, interfaces);
	*pcapng = p;
	return 0;

err_memory:
	problem_set(problem, -1, "%s: no memory to write it", path);
err_discard:
	pcapng_discard(p);
	return rc;
}

void pcapng_write(struct pcapng *pcapng, uint32_t interface, enum pcapng_way way, simtime t_ns,
                  const void *data, uint32_t bytes, uint32_t wire_bytes)
{
	struct block_writer *to = &pcapng->block_writer;
	const uint32_t length = 28 + bytes + padding(bytes) + 12 + 4;
	const uint32_t head[] = {ENHANCED_PACKET, length, interface, (uint32_t)(t_ns >> 32),
	                         (uint32_t)t_ns,  bytes,  wire_bytes};
	const uint16_t option[] = {OPTION_FLAGS, 4};
	const uint32_t tail[] = {way, 0, length};

	block_writer_put(to, head, sizeof(head));
	block_writer_put(to, data, bytes);
	block_writer_put(to, zeros, padding(bytes));
	block_writer_put(to, option, sizeof(option));
	block_writer_put(to, tail, sizeof(tail));
	pcapng->interfaces[interface].frames++;
	pcapng->interfaces[interface].last_ns = t_ns;
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
	rc = block_writer_flush(to);
	if (rc != 0)
		atomic_file_fail(pcapng->atomic_file, rc);
	rc = atomic_file_error(pcapng->atomic_file, problem);
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
	free(pcapng);
}
