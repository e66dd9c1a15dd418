/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/recorded_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "capture/unpack.h"
#include "capture/pcapng.h"

void recorded_begin(struct block_writer *to, const struct scenario *scenario, uint32_t snap)
{
	struct pcapng_block block;

	pcapng_begin_section(&block);
	pcapng_add_text(&block, PCAPNG_OPTION_APPLICATION, RECORDED_APPLICATION);
	pcapng_end(&block, to);
	for (uint32_t port = 0; port < scenario->n_ports; port++)
		pcapng_put_interface(to, scenario->ports[port].name, "", snap);
}

/* Adds the options that follow each frame. */
static void add_options(struct pcapng_block *block, uint32_t worker, uint64_t number,
                        uint32_t age_ns)
{
	static const uint32_t inbound = 1;

	block->used = 0;
	pcapng_add_option(block, PCAPNG_OPTION_FLAGS, &inbound, sizeof(inbound));
	pcapng_add_option(block, PCAPNG_OPTION_PACKET, &number, sizeof(number));
	pcapng_add_option(block, PCAPNG_OPTION_QUEUE, &worker, sizeof(worker));
	if (age_ns > 0)
		pcapng_add_option(block, RECORDED_AGE, &age_ns, sizeof(age_ns));
}

static uint64_t put_packets(struct block_writer *to, uint32_t worker,
                            const struct tape_entry *entry)
{
	const uint8_t *at = (const uint8_t *)(entry + 1);
	const struct tape_frame *frames;
	struct pcapng_packet packet = {.interface = entry->port, .t_ns = entry->t_ns};
	const uint32_t *ages = NULL;
	struct pcapng_block options;
	uint64_t written = 0;

	if (entry->flags & TAPE_AGES) {
		ages = (const uint32_t *)(const void *)at;
		at += tape_padded(entry->n * (uint32_t)sizeof(*ages));
	}
	frames = (const struct tape_frame *)(const void *)at;
	at += entry->n * sizeof(*frames);
	for (uint32_t i = 0; i < entry->n; i++) {
		packet.data = at;
		packet.bytes = frames[i].bytes;
		packet.wire_bytes = frames[i].wire_bytes;
		add_options(&options, worker, entry->number + i, ages ? ages[i] : 0);
		written += pcapng_put_packet(to, &packet, &options);
		at += tape_padded(frames[i].bytes);
	}
	return written;
}

uint64_t recorded_put(struct block_writer *to, uint32_t worker, const struct tape_entry *entry)
{
	const uint32_t length = RECORDED_ENTRY_HEAD + entry->bytes + 4;

	if (entry->kind == TAPE_PACKETS)
		return put_packets(to, worker, entry);
	block_writer_put(to, (const uint32_t[]){RECORDED_ENTRY, length, worker, 0},
	                 RECORDED_ENTRY_HEAD);
	block_writer_put(to, entry, entry->bytes);
	block_writer_put(to, &length, sizeof(length));
	return length;
}

struct recorded_reader {
	struct block_reader block_reader;
	struct unpack *unpack; /* NULL: the file is not compressed */
	bool open;
	uint32_t worker;
	uint32_t ports;
	uint64_t at;   /* of the current block, in the uncompressed file */
	uint32_t next; /* length of the current block */
	char damage[160];
};

static uint32_t word(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

/* At the end of the file, returns the damage of the compressed stream, if there is any, else
 * `why`. */
static const char *end_reason(const struct recorded_reader *reader, const char *why)
{
	const char *unpacked =
	        reader->unpack && reader->block_reader.ended ? unpack_damage(reader->unpack) : "";

	return *unpacked ? unpacked : why;
}

static bool damaged(struct recorded_reader *reader, const char *what)
{
	snprintf(reader->damage, sizeof(reader->damage), "byte %" PRIu64 ": %s", reader->at, what);
	return false;
}

/* Returns the next block, of reader->next bytes, or NULL if there is none. */
static const uint8_t *block_next(struct recorded_reader *reader)
{
	struct block_reader *from = &reader->block_reader;
	uint32_t length;

	from->at += reader->next;
	reader->at += reader->next;
	reader->next = 0;
	if (!block_reader_has(from, PCAPNG_BLOCK_LEAST)) {
		const char *why = end_reason(
		        reader, block_reader_has(from, 1) ? "ends in the middle of a block" : "");

		if (*why)
			damaged(reader, why);
		return NULL;
	}
	length = word(from->at + 4);
	if (length < PCAPNG_BLOCK_LEAST || length % 4 != 0 || length > BLOCK_READER_REACH_MAX) {
		damaged(reader, "a block of an impossible length");
		return NULL;
	}
	if (!block_reader_has(from, length)) {
		damaged(reader, end_reason(reader, "ends in the middle of a block"));
		return NULL;
	}
	if (word(from->at + length - 4) != length) {
		damaged(reader, "a block whose two lengths differ");
		return NULL;
	}
	reader->next = length;
	return from->at;
}

static int open_failed(struct recorded_reader *reader, const char *path, const char *why,
                       struct problem *problem)
{
	problem_set(problem, -1, "%s: %s", path, why);
	recorded_close(reader);
	return -EINVAL;
}

int recorded_open(const char *path, uint32_t worker, struct recorded_reader **result,
                  struct problem *problem)
{
	struct recorded_reader *reader = calloc(1, sizeof(*reader));
	uint8_t head[UNPACK_HEAD_BYTES];
	struct block_start start = {.head = head};
	const uint8_t *block;
	ssize_t n;
	int fd;

	if (!reader) {
		problem_set(problem, -1, "no memory");
		return -ENOMEM;
	}
	reader->worker = worker;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return open_failed(reader, path, strerror(errno), problem);
	n = read(fd, head, sizeof(head));
	start.head_bytes = n > 0 ? (uint32_t)n : 0;
	if (unpack_open(fd, head, start.head_bytes, &reader->unpack)) {
		close(fd);
		return open_failed(reader, path, "no memory", problem);
	}
	if (reader->unpack)
		start = (struct block_start){.source = unpack_source(reader->unpack)};
	if (block_reader_open(&reader->block_reader, fd, &start, NULL) < 0)
		return open_failed(reader, path, "no memory", problem);
	reader->open = true;
	block = block_next(reader);
	if (!block || word(block) != PCAPNG_SECTION || reader->next < 32 ||
	    word(block + 8) != PCAPNG_BYTE_ORDER_MARK)
		return open_failed(reader, path,
		                   "is not a recording made by weir (pcapng, little-endian)",
		                   problem);
	*result = reader;
	return 0;
}

void recorded_close(struct recorded_reader *reader)
{
	if (!reader)
		return;
	if (reader->open)
		block_reader_close(&reader->block_reader);
	unpack_close(reader->unpack);
	free(reader);
}

/* ---- packets ---- */

/* Reads an option; unknown ones are skipped. Returns false if a known option has a wrong length. */
static bool option_read(struct recorded *recorded, uint16_t code, const uint8_t *data,
                        uint16_t bytes)
{
	if (code == PCAPNG_OPTION_PACKET && bytes == 8)
		memcpy(&recorded->entry.number, data, 8);
	else if (code == PCAPNG_OPTION_QUEUE && bytes == 4)
		recorded->worker = word(data);
	else if (code == RECORDED_AGE && bytes == 4)
		recorded->age_ns = word(data);
	else
		return code != PCAPNG_OPTION_PACKET && code != PCAPNG_OPTION_QUEUE &&
		       code != RECORDED_AGE;
	return true;
}

static bool options_read_all(struct recorded *recorded, const uint8_t *at, uint32_t bytes)
{
	while (bytes >= 4) {
		const uint16_t code = (uint16_t)(at[0] | at[1] << 8);
		const uint16_t length = (uint16_t)(at[2] | at[3] << 8);
		const uint32_t whole = 4 + ((length + 3u) & ~3u);

		if (code == 0)
			return true;
		if (whole > bytes || !option_read(recorded, code, at + 4, length))
			return false;
		at += whole;
		bytes -= whole;
	}
	return bytes == 0;
}

static bool packet_read(struct recorded_reader *reader, const uint8_t *block,
                        struct recorded *recorded)
{
	const uint32_t room = reader->next - 4;
	uint32_t padded;

	if (reader->next < PCAPNG_PACKET_HEAD_BYTES + 4)
		return damaged(reader, "a packet without a header");
	*recorded = (struct recorded){
	        .worker = UINT32_MAX,
	        .entry = {.kind = TAPE_PACKETS,
	                  .n = 1,
	                  .port = (uint16_t)word(block + 8),
	                  .t_ns = (uint64_t)word(block + 12) << 32 | word(block + 16)},
	        .data = block + PCAPNG_PACKET_HEAD_BYTES,
	        .bytes = word(block + 20),
	        .wire_bytes = word(block + 24),
	};
	if (word(block + 8) >= reader->ports)
		return damaged(reader, "a packet of a port that does not exist");
	if (recorded->bytes > PACKET_BYTES_MAX || recorded->wire_bytes < recorded->bytes ||
	    recorded->wire_bytes > INT32_MAX)
		return damaged(reader, "a packet of an impossible length");
	padded = (recorded->bytes + 3) & ~UINT32_C(3);
	if (PCAPNG_PACKET_HEAD_BYTES + padded > room ||
	    !options_read_all(recorded, block + PCAPNG_PACKET_HEAD_BYTES + padded,
	                      room - PCAPNG_PACKET_HEAD_BYTES - padded) ||
	    recorded->worker == UINT32_MAX || recorded->entry.number == 0)
		return damaged(reader, "a packet with options that weir does not write");
	return true;
}

/* ---- entries ---- */

/* Returns how many bytes must follow an entry. */
static uint64_t behind(const struct tape_entry *entry)
{
	switch (entry->kind) {
	case TAPE_INSERTION:
		return TAPE_CLOUD_BYTES + (uint64_t)entry->n * entry->number;
	case TAPE_SNAPSHOT:
		return entry->bytes - sizeof(*entry);
	case TAPE_DEPARTURES:
		return (uint64_t)entry->n * sizeof(uint32_t);
	default:
		return 0;
	}
}

static bool entry_read(struct recorded_reader *reader, const uint8_t *block,
                       struct recorded *recorded)
{
	const uint32_t bytes = reader->next - RECORDED_ENTRY_HEAD - 4;
	struct tape_entry *entry = &recorded->entry;

	if (reader->next < RECORDED_ENTRY_HEAD + 4 + sizeof(*entry))
		return damaged(reader, "an entry without a header");
	*recorded = (struct recorded){.worker = word(block + 8),
	                              .data = block + RECORDED_ENTRY_HEAD + sizeof(*entry),
	                              .bytes = bytes - (uint32_t)sizeof(*entry)};
	memcpy(entry, block + RECORDED_ENTRY_HEAD, sizeof(*entry));
	if (entry->bytes != bytes || entry->kind <= TAPE_PACKETS || entry->kind >= TAPE_KINDS)
		return damaged(reader, "an entry that this weir does not know");
	if ((entry->kind == TAPE_INSERTION &&
	     (entry->number > UINT16_MAX || entry->n > UINT16_MAX)) ||
	    behind(entry) > recorded->bytes || entry->port >= SCENARIO_PORTS_MAX)
		return damaged(reader, "an incomplete entry");
	return true;
}

bool recorded_next(struct recorded_reader *reader, struct recorded *recorded)
{
	const uint8_t *block;

	while (!reader->damage[0] && (block = block_next(reader))) {
		const uint32_t type = word(block);

		if (type == PCAPNG_INTERFACE && reader->ports < SCENARIO_PORTS_MAX)
			reader->ports++;
		if (type != PCAPNG_PACKET && type != RECORDED_ENTRY)
			continue;
		if (!(type == PCAPNG_PACKET ? packet_read(reader, block, recorded)
		                            : entry_read(reader, block, recorded)))
			return false;
		if (recorded->entry.t_ns >= SIMTIME_HORIZON)
			return damaged(reader, "an instant after the end of time (2^63 ns)");
		if (reader->worker == RECORDED_ALL || reader->worker == recorded->worker)
			return true;
	}
	return false;
}

const char *recorded_damage(const struct recorded_reader *reader)
{
	return reader->damage;
}

uint64_t recorded_done_bytes(const struct recorded_reader *reader)
{
	return reader->unpack ? unpack_done_bytes(reader->unpack) : reader->at;
}
