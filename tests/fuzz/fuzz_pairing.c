/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzes what `weir learn` reads of captures: any bytes as two of them. The first byte says where
 * the second one begins in the rest, so that one file may be both. In the pairing, every frame
 * becomes exactly one row, or half of one, whatever the captures have; and the headers of the first
 * one (head_row.h) are read.
 */
#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "learn/head_row.h"
#include "learn/pairing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
	uint64_t rows[3], frames[2];
	volatile uint64_t sum;
};

static int take(void *argument, const struct pair_row *row)
{
	struct seen *seen = argument;

	assert(row->kind <= PAIR_COPY && row->side < 2 && row->damaged < 4);
	seen->rows[row->kind]++;
	for (uint32_t i = 0; i < 2; i++) {
		const bool has = row->kind == PAIR_BOTH || row->side == i;

		assert(!has || row->t_ns[i] != PAIRING_NEVER);
		seen->frames[i] += has;
	}
	seen->sum += row->wire_bytes + row->flow[0] + row->ecn[1];
	return 0;
}

/* A room of a few frames, so that frames are pushed out. */
static void pair(struct capture *const captures[2], uint32_t room)
{
	struct seen seen = {.sum = 0};
	struct pairing *pairing = pairing_make(room, captures, take, &seen);
	const struct pairing_counts *counts;

	if (!pairing || pairing_run(pairing))
		abort();
	counts = pairing_counts(pairing);
	assert(seen.rows[PAIR_BOTH] == counts->pairs);
	for (uint32_t i = 0; i < 2; i++) {
		assert(seen.frames[i] == counts->frames[i]);
		assert(counts->frames[i] == counts->pairs + counts->only[i] + counts->copies[i]);
	}
	pairing_free(pairing);
}

static void read_heads(struct capture *capture)
{
	struct capture_frame frame;

	while (capture_next(capture, &frame)) {
		struct packet_ends ends;
		struct head_row row;
		uint64_t digest;

		head_row_make(&row, &ends, &digest, &frame);
		assert(row.n_blocks <= HEAD_BLOCKS);
		assert(!(row.what & HEAD_TCP) || !(row.what & HEAD_UDP));
		assert(!(row.what & HEAD_SPIN) || (row.what & HEAD_QUIC_SHORT));
	}
}

/* Opens bytes as a capture. Returns whether it is one. */
static bool open_bytes(const uint8_t *data, size_t size, struct link_layer **link,
                       struct capture **capture)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct problem problem;
	char path[32];
	bool opened;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	opened = capture_open(path, NULL, link, capture, &problem) == 0;
	close(fd);
	return opened;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t half = size > 1 && data[0] ? 1 + (size - 1) * data[0] / 256 : 1;
	const size_t end = half > 1 ? half : size;
	struct capture *captures[3] = {NULL, NULL, NULL};
	struct link_layer *links[3] = {NULL, NULL, NULL};

	if (size == 0)
		return 0;
	if (open_bytes(data + 1, end - 1, &links[0], &captures[0]) &&
	    open_bytes(data + half, size - half, &links[1], &captures[1]))
		pair(captures, 8);
	if (captures[0] && open_bytes(data + 1, end - 1, &links[2], &captures[2]))
		read_heads(captures[2]);
	for (uint32_t i = 0; i < 3; i++) {
		capture_close(captures[i]);
		link_layer_free(links[i]);
	}
	return 0;
}
