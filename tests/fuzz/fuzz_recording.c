/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzes the reader of recordings: any bytes as an ingress.pcapng. It must end, and the entries
 * that it reports must lie in the file.
 */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/recorded_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(const struct recorded *recorded)
{
	const struct tape_entry *entry = &recorded->entry;
	volatile uint64_t sum = 0;

	assert(entry->kind >= TAPE_PACKETS && entry->kind < TAPE_KINDS);
	assert(entry->port < SCENARIO_PORTS_MAX && entry->t_ns < SIMTIME_HORIZON);
	for (uint32_t i = 0; i < recorded->bytes; i++)
		sum += recorded->data[i];
	if (entry->kind == TAPE_PACKETS)
		assert(entry->n == 1 && recorded->bytes <= recorded->wire_bytes);
	if (entry->kind == TAPE_DEPARTURES)
		assert(recorded->bytes >= (uint64_t)entry->n * sizeof(uint32_t));
	if (entry->kind == TAPE_INSERTION)
		assert(recorded->bytes >= TAPE_CLOUD_BYTES + entry->n * entry->number);
	(void)sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct recorded_reader *reader;
	struct recorded recorded;
	struct problem problem;
	char path[32];
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (recorded_open(path, RECORDED_ALL, &reader, &problem) == 0) {
		while (recorded_next(reader, &recorded))
			look(&recorded);
		assert(recorded_done_bytes(reader) <= size);
		recorded_close(reader);
	}
	close(fd);
	return 0;
}
