/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/recorded_file.h"

#include "record/recorded_block.h"

/* A block that is being put together: the head of the file, or all of a packet but its frame. */
struct block {
	uint32_t used;
	uint8_t bytes[256];
};

static void add(struct block *block, const void *data, uint32_t bytes)
{
	memcpy(block->bytes + block->used, data, bytes);
	memset(block->bytes + block->used + bytes, 0, -bytes & 3);
	block->used += bytes + (-bytes & 3);
}

static void add_u32(struct block *block, uint32_t value)
{
	add(block, &value, sizeof(value));
}

static void add_option(struct block *block, uint16_t code, const void *data, uint16_t bytes)
{
	const uint16_t head[] = {code, bytes};

	add(block, head, sizeof(head));
	add(block, data, bytes);
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

void recorded_begin(struct block_writer *to, const struct scenario *scenario, uint32_t snap)
{
	static const uint16_t version[] = {1, 0}, link[] = {BLOCK_LINK_ETHERNET, 0};
	static const uint64_t unspecified = UINT64_MAX;
	static const uint8_t nanoseconds = 9;
	struct block block = {0};

	add_u32(&block, BLOCK_SECTION);
	add_u32(&block, 0);
	add_u32(&block, BLOCK_ORDER_MARK);
	add(&block, version, sizeof(version));
	add(&block, &unspecified, sizeof(unspecified));
	add_option(&block, BLOCK_OPTION_APPLICATION, RECORDED_APPLICATION,
	           sizeof(RECORDED_APPLICATION) - 1);
	end(&block, to);
	for (uint32_t port = 0; port < scenario->n_ports; port++) {
		const char *name = scenario->ports[port].name;

		block.used = 0;
		add_u32(&block, BLOCK_INTERFACE);
		add_u32(&block, 0);
		add(&block, link, sizeof(link));
		add_u32(&block, snap);
		add_option(&block, BLOCK_OPTION_NAME, name, (uint16_t)strlen(name));
		add_option(&block, BLOCK_OPTION_TIME_UNIT, &nanoseconds, sizeof(nanoseconds));
		end(&block, to);
	}
}

/* What stands behind each frame. */
static void add_options(struct block *block, uint32_t worker, uint64_t number, uint32_t age_ns)
{
	static const uint32_t inbound = 1;

	add_option(block, BLOCK_OPTION_FLAGS, &inbound, sizeof(inbound));
	add_option(block, BLOCK_OPTION_PACKET, &number, sizeof(number));
	add_option(block, BLOCK_OPTION_QUEUE, &worker, sizeof(worker));
	if (age_ns > 0)
		add_option(block, RECORDED_AGE, &age_ns, sizeof(age_ns));
	add_u32(block, 0);
}

static uint64_t put_packets(struct block_writer *to, uint32_t worker,
                            const struct tape_entry *entry)
{
	static const uint8_t zeros[4];
	const uint8_t *at = (const uint8_t *)(entry + 1);
	const uint32_t *ages = NULL;
	uint64_t written = 0;

	if (entry->flags & TAPE_AGES) {
		ages = (const uint32_t *)(const void *)at;
		at += tape_padded(entry->n * (uint32_t)sizeof(*ages));
	}
	for (uint32_t i = 0; i < entry->n; i++) {
		const struct tape_frame *frame = (const struct tape_frame *)(const void *)at;
		const uint32_t padding = -frame->bytes & 3;
		struct block options = {0};
		uint32_t length;

		add_options(&options, worker, entry->number + i, ages ? ages[i] : 0);
		length = BLOCK_PACKET_HEAD + frame->bytes + padding + options.used + 4;
		block_writer_put(to,
		                 (const uint32_t[]){BLOCK_PACKET, length, entry->port,
		                                    (uint32_t)(entry->t_ns >> 32),
		                                    (uint32_t)entry->t_ns, frame->bytes,
		                                    frame->wire_bytes},
		                 BLOCK_PACKET_HEAD);
		block_writer_put(to, at + sizeof(*frame), frame->bytes);
		block_writer_put(to, zeros, padding);
		add_u32(&options, length);
		block_writer_put(to, options.bytes, options.used);
		written += length;
		at += sizeof(*frame) + tape_padded(frame->bytes);
	}
	return written;
}

uint64_t recorded_put(struct block_writer *to, uint32_t worker, const struct tape_entry *entry)
{
	const uint32_t length = BLOCK_ENTRY_HEAD + entry->bytes + 4;

	if (entry->kind == TAPE_PACKETS)
		return put_packets(to, worker, entry);
	block_writer_put(to, (const uint32_t[]){RECORDED_ENTRY, length, worker, 0},
	                 BLOCK_ENTRY_HEAD);
	block_writer_put(to, entry, entry->bytes);
	block_writer_put(to, &length, sizeof(length));
	return length;
}
