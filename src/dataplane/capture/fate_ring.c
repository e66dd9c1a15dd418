/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/fate_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>

#include "capture/fate_frame.h"

static int check_pages(int fd, struct problem *problem)
{
	struct stat status;

	if (fstat(fd, &status) != 0 ||
	    (uint64_t)status.st_blocks * 512 < (uint64_t)status.st_size) {
		problem_set(problem, -1,
		            "not all pages of the memory are allocated: call fallocate() first, so "
		            "that they are charged to the client");
		return -EINVAL;
	}
	return 0;
}

static int check(int fd, struct stat *status, struct problem *problem)
{
	int seals = fcntl(fd, F_GET_SEALS);

	if (seals < 0 || (seals & FATE_SEALS) != FATE_SEALS || fstat(fd, status) != 0) {
		problem_set(problem, -1,
		            "the descriptor is not a memfd with a sealed size (F_SEAL_SHRINK, "
		            "F_SEAL_GROW)");
		return -EINVAL;
	}
	if ((uint64_t)status->st_size < FATE_MEMORY_MIN ||
	    (uint64_t)status->st_size > FATE_MEMORY_MAX || status->st_size % FATE_PAGE != 0) {
		problem_set(problem, -1,
		            "the memory has %lld bytes: it must be 1 MiB to 1 GiB, and a multiple "
		            "of 4 KiB",
		            (long long)status->st_size);
		return -EINVAL;
	}
	return check_pages(fd, problem);
}

/* Seals the memory, which is mapped already, and checks its pages: all of them must be there, and
 * from now on none can be removed. */
static int keep_pages(int fd, struct problem *problem)
{
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE) != 0) {
		problem_set(problem, -1,
		            "the memory takes no more seals: weir has to add F_SEAL_FUTURE_WRITE, "
		            "so F_SEAL_SEAL must not be set");
		return -EINVAL;
	}
	return check_pages(fd, problem);
}

int fate_memory_take(int fd, uint32_t n, struct fate_ring *rings, void **memory, size_t *bytes,
                     struct problem *problem)
{
	struct fate_memory *head;
	struct stat status;
	uint64_t each;
	void *mapped;
	int rc = check(fd, &status, problem);

	if (rc < 0)
		return rc;
	*bytes = (size_t)status.st_size;
	each = fate_ring_bytes(*bytes, n);
	if (n > FATE_RINGS_MAX || each < FATE_PAGE) {
		problem_set(problem, -1, "the memory is too small for %u workers", n);
		return -EINVAL;
	}
	mapped = mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
	if (mapped == MAP_FAILED) {
		rc = -errno;
		problem_set(problem, -1, "the memory cannot be mapped: %s", strerror(-rc));
		return rc;
	}
	rc = keep_pages(fd, problem);
	if (rc < 0) {
		munmap(mapped, *bytes);
		return rc;
	}
	/* Locked, so that no access waits for a page. If that is not allowed, an access may
	 * wait. */
	if (mlock(mapped, *bytes) != 0)
		errno = 0;
	head = *memory = mapped;
	memset(head, 0, sizeof(*head));
	for (uint32_t i = 0; i < n; i++) {
		uint8_t *at = fate_ring_at(mapped, each, i);

		memset(at, 0, sizeof(struct fate_ring_state));
		rings[i] = (struct fate_ring){.state = (struct fate_ring_state *)(void *)at,
		                              .data = at + sizeof(struct fate_ring_state),
		                              .bytes = each};
	}
	head->version = FATE_VERSION;
	head->n_rings = n;
	head->ring_bytes = each;
	return 0;
}

void fate_memory_begin(void *memory, const struct scenario *scenario, int64_t wall_ns)
{
	struct fate_memory *head = memory;

	head->wall_ns = wall_ns;
	head->n_ports = scenario->n_ports;
	for (uint32_t i = 0; i < scenario->n_ports; i++)
		strncpy(head->ports[i], scenario->ports[i].name, SCENARIO_NAME_BYTES - 1);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	memcpy(head->magic, FATE_MAGIC, sizeof(head->magic));
}

void fate_memory_settle(void *memory, simtime settled_ns)
{
	struct fate_memory *head = memory;

	__atomic_store_n(&head->settled_ns, settled_ns, __ATOMIC_RELEASE);
}

void fate_memory_leave(void *memory, size_t bytes)
{
	munmap(memory, bytes);
}

/* Returns the place for `bytes` contiguous bytes, or NULL if there is no room. */
static uint8_t *reserve(struct fate_ring *ring, uint32_t bytes)
{
	uint64_t at = ring->written % ring->bytes, padding = 0, free;
	uint32_t words[2] = {0, FATE_PADDING};

	if (at + bytes > ring->bytes)
		padding = ring->bytes - at;
	free = ring->bytes - (ring->written - ring->taken);
	if (unlikely(free < padding + bytes)) {
		uint64_t taken = __atomic_load_n(&ring->state->taken, __ATOMIC_ACQUIRE);

		/* The reader wrote it, so it is checked: it must not exceed what was written, nor
		 * go back. */
		if (taken < ring->taken || taken > ring->written)
			return NULL;
		ring->taken = taken;
		free = ring->bytes - (ring->written - ring->taken);
		if (free < padding + bytes)
			return NULL;
	}
	if (padding > 0) {
		words[0] = (uint32_t)padding;
		memcpy(ring->data + at, words, sizeof(words));
		ring->written += padding;
		at = 0;
	}
	return ring->data + at;
}

static uint8_t name_bytes(const char *name)
{
	return name ? (uint8_t)(strnlen(name, UINT8_MAX - 1) + 1) : 0;
}

void fate_ring_put(struct fate_ring *ring, const struct fate *fate, uint32_t snap, simtime poll_ns)
{
	uint8_t cloud = name_bytes(fate->cloud), stage = name_bytes(fate->stage);
	uint32_t frame = fate_frame_bytes(&fate->frame, RTE_MIN(snap, (uint32_t)FATE_SNAP_MAX));
	uint32_t bytes = RTE_ALIGN_CEIL(
	        (uint32_t)sizeof(struct fate_record) + cloud + stage + frame, (uint32_t)FATE_ALIGN);
	uint64_t *missed = &ring->state->missed[fate->kind];
	struct fate_record *record = (struct fate_record *)(void *)reserve(ring, bytes);

	if (unlikely(!record)) {
		__atomic_store_n(missed, *missed + 1, __ATOMIC_RELAXED);
		return;
	}
	*record = (struct fate_record){
	        .bytes = bytes,
	        .kind = fate->kind,
	        .packet = fate->packet,
	        .at_ns = fate->at_ns,
	        .t_in_ns = fate->t_in_ns,
	        .t_out_ns = fate->t_out_ns,
	        .poll_ns = poll_ns,
	        .queue_bytes = fate->queue_bytes,
	        .queue_average_bytes = fate->queue_average_bytes,
	        .missed = *missed,
	        .wire_bytes = fate->wire_bytes,
	        .frame_bytes = frame,
	        .port = (uint16_t)fate->port,
	        .to_port = (uint16_t)fate->to_port,
	        .reason = (uint8_t)fate->reason,
	        .flags = fate->flags,
	        .changed = fate->changed,
	        .cloud_bytes = cloud,
	        .stage_bytes = stage,
	};
	if (cloud) {
		memcpy(record->names, fate->cloud, cloud - 1u);
		record->names[cloud - 1] = 0;
	}
	if (stage) {
		memcpy(record->names + cloud, fate->stage, stage - 1u);
		record->names[cloud + stage - 1] = 0;
	}
	fate_frame_copy((uint8_t *)record->names + cloud + stage, &fate->frame, frame);
	ring->written += bytes;
	__atomic_store_n(&ring->state->written, ring->written, __ATOMIC_RELEASE);
}
