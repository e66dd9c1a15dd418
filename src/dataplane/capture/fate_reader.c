/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/fate_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int fate_reader_make(size_t bytes, void **memory)
{
	int fd = memfd_create("weir-capture", MFD_CLOEXEC | MFD_ALLOW_SEALING), error;

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)bytes) != 0)
		goto err_close;
	error = posix_fallocate(fd, 0, (off_t)bytes);
	if (error != 0) {
		errno = error;
		goto err_close;
	}
	if (fcntl(fd, F_ADD_SEALS, FATE_SEALS) != 0)
		goto err_close;
	*memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
	if (*memory != MAP_FAILED)
		return fd;

err_close:
	error = errno;
	close(fd);
	return -error;
}

/* Reads the number of the rings and the size of each. Returns false if they do not fit the size of
 * the memory, from which the positions of the rings follow; nothing else in the memory is
 * trusted. */
static bool find_rings(const void *memory, size_t bytes, uint32_t *n, uint64_t *ring_bytes)
{
	const struct fate_memory *head = memory;

	*n = __atomic_load_n(&head->n_rings, __ATOMIC_RELAXED);
	*ring_bytes = __atomic_load_n(&head->ring_bytes, __ATOMIC_RELAXED);
	return *n > 0 && *n <= FATE_RINGS_MAX && *ring_bytes > 0 &&
	       *ring_bytes == fate_ring_bytes(bytes, *n);
}

/* Returns true if the record, with its names and its frame, lies within `room` bytes and is
 * valid. */
static bool is_whole(const struct fate_record *record, uint64_t room)
{
	return room >= sizeof(*record) && record->bytes <= room &&
	       record->bytes % FATE_ALIGN == 0 &&
	       record->bytes >= sizeof(*record) + record->cloud_bytes + record->stage_bytes +
	                                (uint64_t)record->frame_bytes &&
	       record->frame_bytes <= FATE_SNAP_MAX && record->kind < FATE_KINDS &&
	       record->reason <= REASON_COUNT;
}

/* Converts a record to a fate. `names` is what follows the record in the ring. Returns false if the
 * names are not terminated. */
static bool read_record(const struct fate_record *record, const uint8_t *names,
                        struct fate_taken *taken)
{
	const uint32_t cloud = record->cloud_bytes, stage = record->stage_bytes;

	memcpy(taken->names, names, cloud + stage);
	if ((cloud > 0 && taken->names[cloud - 1] != '\0') ||
	    (stage > 0 && taken->names[cloud + stage - 1] != '\0'))
		return false;
	taken->missed = record->missed;
	taken->poll_ns = record->poll_ns;
	taken->fate = (struct fate){
	        .packet = record->packet,
	        .port = record->port,
	        .to_port = record->to_port,
	        .kind = (enum fate_kind)record->kind,
	        .reason = (enum reason)record->reason,
	        .wire_bytes = record->wire_bytes,
	        .at_ns = record->at_ns,
	        .t_in_ns = record->t_in_ns,
	        .t_out_ns = record->t_out_ns,
	        .cloud = cloud > 0 ? taken->names : "",
	        .stage = stage > 0 ? taken->names + cloud : NULL,
	        .changed = record->changed,
	        .flags = record->flags,
	        .queue_bytes = record->queue_bytes,
	        .queue_average_bytes = record->queue_average_bytes,
	        .frame = {.data = names + cloud + stage, .bytes = record->frame_bytes},
	};
	return true;
}

bool fate_reader_look(void *memory, size_t bytes, uint32_t ring, struct fate_taken *taken,
                      bool *broken)
{
	const struct fate_memory *head = memory;
	struct fate_ring_state *state;
	const uint8_t *data;
	uint64_t size, done;
	uint32_t n;

	if (memcmp(head->magic, FATE_MAGIC, sizeof(head->magic)) != 0)
		return false;
	*broken = head->version != FATE_VERSION || !find_rings(memory, bytes, &n, &size);
	if (*broken || ring >= n)
		return false;
	state = (struct fate_ring_state *)(void *)fate_ring_at(memory, size, ring);
	data = (const uint8_t *)(state + 1);
	done = __atomic_load_n(&state->taken, __ATOMIC_RELAXED);
	for (;;) {
		uint64_t written = __atomic_load_n(&state->written, __ATOMIC_ACQUIRE);
		uint64_t at = done % size, room = RTE_MIN(written - done, size - at);
		struct fate_record record;

		if (written == done)
			return false;
		*broken = written - done > size || at % FATE_ALIGN != 0 || room < FATE_ALIGN;
		if (*broken)
			return false;
		memcpy(&record, data + at, RTE_MIN(room, sizeof(record)));
		if (record.kind != FATE_PADDING) {
			*broken = !is_whole(&record, room) ||
			          !read_record(&record, data + at + sizeof(record), taken);
			taken->ring = state;
			taken->after = done + record.bytes;
			return !*broken;
		}
		*broken = record.bytes != size - at;
		if (*broken)
			return false;
		done += record.bytes;
		__atomic_store_n(&state->taken, done, __ATOMIC_RELEASE);
	}
}

void fate_reader_pass(const struct fate_taken *taken)
{
	__atomic_store_n(&taken->ring->taken, taken->after, __ATOMIC_RELEASE);
}

simtime fate_reader_settled(const void *memory)
{
	const struct fate_memory *head = memory;

	return __atomic_load_n(&head->settled_ns, __ATOMIC_ACQUIRE);
}

uint64_t fate_reader_missed(void *memory, size_t bytes, enum fate_kind kind)
{
	uint64_t missed = 0, size;
	uint32_t n;

	if (!find_rings(memory, bytes, &n, &size))
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct fate_ring_state *state =
		        (const struct fate_ring_state *)(const void *)fate_ring_at(memory, size, i);

		missed += __atomic_load_n(&state->missed[kind], __ATOMIC_RELAXED);
	}
	return missed;
}
