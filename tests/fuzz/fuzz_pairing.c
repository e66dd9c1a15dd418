/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzes the pairing of packets: any bytes as two captures. The first byte says where the second
 * one begins in the rest, so that one file may be both. Every frame becomes exactly one row, or
 * half of one, whatever the captures have.
 */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t half = size > 1 && data[0] ? 1 + (size - 1) * data[0] / 256 : 1;
	const size_t begin[2] = {1, half};
	struct capture *captures[2] = {NULL, NULL};
	struct link_layer *links[2] = {NULL, NULL};
	struct problem problem;
	int opened = 0;

	for (uint32_t i = 0; i < 2 && size > 0; i++) {
		const size_t end = i == 0 && half > 1 ? half : size;
		int fd = memfd_create("fuzz", MFD_CLOEXEC);
		char path[32];

		if (fd < 0 ||
		    write(fd, data + begin[i], end - begin[i]) != (ssize_t)(end - begin[i]))
			abort();
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		opened += capture_open(path, NULL, &links[i], &captures[i], &problem) == 0;
		close(fd);
	}
	if (opened == 2)
		pair(captures, 8);
	for (uint32_t i = 0; i < 2; i++) {
		capture_close(captures[i]);
		link_layer_free(links[i]);
	}
	return 0;
}
