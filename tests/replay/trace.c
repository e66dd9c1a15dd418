/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FRAME_MAX     262144u
#define PCAP_NS       0xa1b23c4du
#define PCAP_US       0xa1b2c3d4u
#define PCAPNG_START  0x0a0d0d0au
#define PCAPNG_ORDER  0x1a2b3c4du
#define PCAPNG_IF     1u
#define PCAPNG_PACKET 6u

/* Any pattern that does not repeat soon will do. */
static uint64_t scatter(uint64_t i)
{
	i = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
	return i ^ (i >> 29);
}

uint64_t trace_instant_ns(const struct trace *trace, uint64_t i)
{
	uint64_t t_ns = trace->start_ns + i * trace->gap_ns;

	if (trace->jitter_ns)
		t_ns += scatter(i) % (trace->jitter_ns + 1);
	if (trace->back_every && i % trace->back_every == trace->back_every - 1)
		t_ns -= trace->back_ns;
	return t_ns;
}

uint32_t trace_bytes(const struct trace *trace, uint64_t i)
{
	if (trace->bytes_max <= trace->bytes)
		return trace->bytes;
	return trace->bytes + (uint32_t)(i % (trace->bytes_max - trace->bytes + 1));
}

/* Writes Ethernet, IPv4 and UDP; the payload begins with the number. */
static void fill_frame(const struct trace *trace, uint64_t i, uint8_t *frame, uint32_t bytes)
{
	static const uint8_t start[42] = {
	        2,    0,    0,    0,    0, 0x0b, 2, 0, 0,  0,  0, 0x0a, 8,  0, /* Ethernet */
	        0x45, 0,    0,    0,    0, 0,    0, 0, 64, 17, 0, 0,    10, 0,
	        0,    1,    10,   0,    1, 1,          /* IPv4 */
	        0x13, 0x88, 0x13, 0x89, 0, 0,    0, 0, /* UDP 5000 -> 5001 */
	};
	uint8_t head[50];

	memcpy(head, start, sizeof(start));
	if (trace->both && i % 2 == 1) {
		head[5] = 0x0a;
		head[11] = 0x0b;
		head[28] = 1;
		head[32] = 0;
		head[35] = 0x89;
		head[37] = 0x88;
	}
	memcpy(head + sizeof(start), &i, sizeof(i));
	memcpy(frame, head, bytes < sizeof(head) ? bytes : sizeof(head));
	for (uint32_t at = sizeof(head); at < bytes; at++)
		frame[at] = (uint8_t)(at + i);
}

static void put(FILE *file, uint32_t word)
{
	fwrite(&word, sizeof(word), 1, file);
}

static void write_head(FILE *file, const struct trace *trace)
{
	uint32_t link = trace->link_type ? (uint32_t)trace->link_type : 1;

	if (!trace->pcapng) {
		put(file, trace->microseconds ? PCAP_US : PCAP_NS);
		put(file, 2 | 4 << 16);
		put(file, 0);
		put(file, 0);
		put(file, FRAME_MAX);
		put(file, link);
		return;
	}
	put(file, PCAPNG_START);
	put(file, 28);
	put(file, PCAPNG_ORDER);
	put(file, 1);
	put(file, UINT32_MAX);
	put(file, UINT32_MAX);
	put(file, 28);
	put(file, PCAPNG_IF);
	put(file, 32);
	put(file, link);
	put(file, FRAME_MAX);
	put(file, 9 | 1 << 16); /* if_tsresol, 1 byte: */
	put(file, trace->microseconds ? 6 : 9);
	put(file, 0); /* end of options */
	put(file, 32);
}

static void write_record(FILE *file, const struct trace *trace, uint64_t t_ns, const void *frame,
                         uint32_t bytes)
{
	uint64_t unit_ns = trace->microseconds ? 1000 : 1, units = t_ns / unit_ns;
	uint32_t padded = (bytes + 3) / 4 * 4;

	if (!trace->pcapng) {
		put(file, (uint32_t)(t_ns / 1000000000));
		put(file, (uint32_t)(t_ns % 1000000000 / unit_ns));
		put(file, bytes);
		put(file, bytes + trace->wire_extra);
		fwrite(frame, 1, bytes, file);
		return;
	}
	put(file, PCAPNG_PACKET);
	put(file, 32 + padded);
	put(file, 0);
	put(file, (uint32_t)(units >> 32));
	put(file, (uint32_t)units);
	put(file, bytes);
	put(file, bytes + trace->wire_extra);
	fwrite(frame, 1, bytes, file);
	fwrite("\0\0\0", 1, padded - bytes, file);
	put(file, 32 + padded);
}

int trace_write(const struct trace *trace, const char *path)
{
	uint8_t *frame = malloc(FRAME_MAX);
	FILE *file = fopen(path, "wb");
	int error = -1;

	if (!frame || !file)
		goto out;
	write_head(file, trace);
	for (uint64_t i = 0; i < trace->packets; i++) {
		uint32_t bytes = trace_bytes(trace, i);

		fill_frame(trace, i, frame, bytes);
		write_record(file, trace, trace_instant_ns(trace, i), frame, bytes);
	}
	error = fflush(file) != 0 || ferror(file) ? -1 : 0;
	if (!error && trace->cut_bytes)
		error = ftruncate(fileno(file), ftell(file) - (long)trace->cut_bytes);
out:
	if (file && fclose(file) != 0)
		error = -1;
	free(frame);
	return error;
}
