/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/recorded_file.h"

#include "capture/pcapng.h"
#include "record/recorded_block.h"

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
