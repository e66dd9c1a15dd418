/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/pcapng.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/atomic_file.h"
#include "capture/block_file.h"

void pcapng_end(struct pcapng_block *block, struct block_writer *to)
{
	uint32_t length;

	pcapng_add_u32(block, 0); /* the end of the options */
	length = block->used + (uint32_t)sizeof(length);
	pcapng_add_u32(block, length);
	memcpy(block->bytes + 4, &length, sizeof(length));
	block_writer_put(to, block->bytes, block->used);
}

void pcapng_begin_section(struct pcapng_block *block)
{
	static const uint16_t version[] = {1, 0};
	static const uint64_t unspecified = UINT64_MAX;

	pcapng_begin(block, PCAPNG_SECTION);
	pcapng_add_u32(block, PCAPNG_BYTE_ORDER_MARK);
	pcapng_add(block, version, sizeof(version));
	pcapng_add(block, &unspecified, sizeof(unspecified));
}

void pcapng_put_interface(struct block_writer *to, const char *name, const char *description,
                          uint32_t snap)
{
	static const uint16_t link[] = {PCAPNG_LINK_ETHERNET, 0};
	static const uint8_t unit = PCAPNG_UNIT_NANOSECONDS;
	struct pcapng_block block;

	pcapng_begin(&block, PCAPNG_INTERFACE);
	pcapng_add(&block, link, sizeof(link));
	pcapng_add_u32(&block, snap);
	pcapng_add_text(&block, PCAPNG_OPTION_NAME, name);
	pcapng_add_text(&block, PCAPNG_OPTION_DESCRIPTION, description);
	pcapng_add_option(&block, PCAPNG_OPTION_TIME_UNIT, &unit, sizeof(unit));
	pcapng_end(&block, to);
}

uint32_t pcapng_put_packet(struct block_writer *to, const struct pcapng_packet *packet,
                           struct pcapng_block *options)
{
	static const uint8_t zeros[4];
	const uint32_t padding = pcapng_padding(packet->bytes);
	uint32_t length;

	if (options->used > 0)
		pcapng_add_u32(options, 0); /* the end of the options */
	length = PCAPNG_PACKET_HEAD_BYTES + packet->bytes + padding + options->used + 4;
	block_writer_put(to,
	                 (const uint32_t[]){PCAPNG_PACKET, length, packet->interface,
	                                    (uint32_t)(packet->t_ns >> 32), (uint32_t)packet->t_ns,
	                                    packet->bytes, packet->wire_bytes},
	                 PCAPNG_PACKET_HEAD_BYTES);
	block_writer_put(to, packet->data, packet->bytes);
	block_writer_put(to, zeros, padding);
	pcapng_add_u32(options, length);
	block_writer_put(to, options->bytes, options->used);
	return length;
}

#define ROOM_FIRST 8

struct pcapng {
	struct atomic_file *atomic_file;
	struct block_writer block_writer; /* into the file of the atomic file */
	uint32_t n, room;
	struct seen {
		uint64_t frames;
		simtime last_ns;
	} * interfaces;
};

static void write_section(struct pcapng *pcapng, const char *comment)
{
	struct pcapng_block block;

	pcapng_begin_section(&block);
	pcapng_add_text(&block, PCAPNG_OPTION_COMMENT, comment);
	pcapng_add_text(&block, PCAPNG_OPTION_APPLICATION, "weir");
	pcapng_end(&block, &pcapng->block_writer);
}

int pcapng_interface_add(struct pcapng *pcapng, const struct pcapng_interface *interface)
{
	if (pcapng->n == pcapng->room) {
		uint32_t room = 2 * pcapng->room + ROOM_FIRST;
		struct seen *seen = realloc(pcapng->interfaces, room * sizeof(*seen));

		if (!seen)
			return -ENOMEM;
		pcapng->interfaces = seen;
		pcapng->room = room;
	}
	pcapng_put_interface(&pcapng->block_writer, interface->name, interface->description,
	                     interface->snap);
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
	rc = block_writer_open(&p->block_writer, atomic_file_descriptor(p->atomic_file), NULL);
	if (rc < 0)
		goto err_memory;
	if (atomic_file_sink(p->atomic_file))
		block_writer_through(&p->block_writer, atomic_file_sink(p->atomic_file));
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

void pcapng_write(struct pcapng *pcapng, const struct pcapng_frame *frame)
{
	const struct pcapng_packet packet = {.interface = frame->interface,
	                                     .t_ns = frame->t_ns,
	                                     .data = frame->data,
	                                     .bytes = frame->bytes,
	                                     .wire_bytes = frame->wire_bytes};
	struct seen *seen = &pcapng->interfaces[frame->interface];
	struct pcapng_block options;

	const uint32_t flags = frame->way;

	options.used = 0;
	if (frame->way != PCAPNG_NO_WAY)
		pcapng_add_option(&options, PCAPNG_OPTION_FLAGS, &flags, sizeof(flags));
	if (frame->lost > 0)
		pcapng_add_option(&options, PCAPNG_OPTION_LOST, &frame->lost, sizeof(frame->lost));
	if (frame->packet != 0)
		pcapng_add_option(&options, PCAPNG_OPTION_PACKET, &frame->packet,
		                  sizeof(frame->packet));
	if (frame->comment)
		pcapng_add_text(&options, PCAPNG_OPTION_COMMENT, frame->comment);
	pcapng_put_packet(&pcapng->block_writer, &packet, &options);
	seen->frames++;
	seen->last_ns = frame->t_ns;
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
	struct pcapng_block block;
	int rc;

	for (uint32_t i = 0; i < pcapng->n; i++) {
		uint64_t received = pcapng->interfaces[i].frames + missing[i];

		pcapng_begin(&block, PCAPNG_STATISTICS);
		pcapng_add_u32(&block, i);
		pcapng_add_time(&block, pcapng->interfaces[i].last_ns);
		pcapng_add_option(&block, PCAPNG_OPTION_RECEIVED, &received, sizeof(received));
		pcapng_add_option(&block, PCAPNG_OPTION_DROPPED, &missing[i], sizeof(missing[i]));
		pcapng_end(&block, to);
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

int pcapng_keep(struct pcapng *pcapng, struct problem *problem)
{
	int rc;

	block_writer_flush(&pcapng->block_writer);
	rc = atomic_file_keep(pcapng->atomic_file, problem);
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
