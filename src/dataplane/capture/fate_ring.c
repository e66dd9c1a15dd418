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
#include <rte_mbuf.h>

uint32_t fate_frame_bytes(const struct fate_frame *frame, uint32_t most)
{
	uint64_t bytes = frame->bytes;

	for (const struct rte_mbuf *more = frame->more; more && bytes < most; more = more->next)
		bytes += more->data_len;
	return (uint32_t)RTE_MIN(bytes, (uint64_t)most);
}

void fate_frame_copy(uint8_t *to, const struct fate_frame *frame, uint32_t bytes)
{
	uint32_t done = RTE_MIN(frame->bytes, bytes);

	/* If nothing is known of the frame, `data` is not valid. */
	if (done > 0)
		memcpy(to, frame->data, done);
	for (const struct rte_mbuf *more = frame->more; more && done < bytes; more = more->next) {
		uint32_t part = RTE_MIN((uint32_t)more->data_len, bytes - done);

		memcpy(to + done, rte_pktmbuf_mtod(more, const uint8_t *), part);
		done += part;
	}
}

static int check_pages(int fd, struct problem *problem)
{
	struct stat status;

	if (fstat(fd, &status) != 0 || (uint64_t)status.st_blocks * 512 < (uint64_t)status.st_size)
		return problem_set(
		        problem, -1,
		        "not all pages of the memory are allocated: call fallocate() first, so "
		        "that they are charged to the client");
	return 0;
}

static int check(int fd, struct stat *status, struct problem *problem)
{
	int seals = fcntl(fd, F_GET_SEALS);

	if (seals < 0 || (seals & FATE_SEALS) != FATE_SEALS || fstat(fd, status) != 0)
		return problem_set(
		        problem, -1,
		        "the descriptor is not a memfd with a sealed size (F_SEAL_SHRINK, "
		        "F_SEAL_GROW)");
	if ((uint64_t)status->st_size < FATE_MEMORY_MIN ||
	    (uint64_t)status->st_size > FATE_MEMORY_MAX || status->st_size % FATE_PAGE != 0)
		return problem_set(
		        problem, -1,
		        "the memory has %lld bytes: it must be 1 MiB to 1 GiB, and a multiple "
		        "of 4 KiB",
		        (long long)status->st_size);
	return check_pages(fd, problem);
}

/* Seals the memory, which is mapped already, and checks its pages: all of them must be there, and
 * from now on none can be removed. */
static int keep_pages(int fd, struct problem *problem)
{
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE) != 0)
		return problem_set(
		        problem, -1,
		        "the memory takes no more seals: weir has to add F_SEAL_FUTURE_WRITE, "
		        "so F_SEAL_SEAL must not be set");
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
	if (n > FATE_RINGS_MAX || each < FATE_PAGE)
		return problem_set(problem, -1, "the memory is too small for %u workers", n);
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
	        .entered_ns = fate->entered_ns,
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
	struct fate *fate = &taken->fate;

	memcpy(taken->names, names, cloud + stage);
	if ((cloud > 0 && taken->names[cloud - 1] != '\0') ||
	    (stage > 0 && taken->names[cloud + stage - 1] != '\0'))
		return false;
	taken->missed = record->missed;
	taken->poll_ns = record->poll_ns;
	fate->packet = record->packet;
	fate->port = record->port;
	fate->to_port = record->to_port;
	fate->kind = (enum fate_kind)record->kind;
	fate->reason = (enum reason)record->reason;
	fate->wire_bytes = record->wire_bytes;
	fate->at_ns = record->at_ns;
	fate->t_in_ns = record->t_in_ns;
	fate->t_out_ns = record->t_out_ns;
	fate->entered_ns = record->entered_ns;
	fate->late_ns = 0;
	fate->cloud = cloud > 0 ? taken->names : "";
	fate->stage = stage > 0 ? taken->names + cloud : NULL;
	fate->changed = record->changed;
	fate->sent = false;
	fate->flags = record->flags;
	fate->queue_bytes = record->queue_bytes;
	fate->queue_average_bytes = record->queue_average_bytes;
	fate->frame = (struct fate_frame){names + cloud + stage, record->frame_bytes, NULL};
	return true;
}

/* Bytes between the record that is read and what is fetched. */
#define AHEAD 1024

/* A ring, as its reader has found it. */
struct found {
	struct fate_ring_state *state;
	const uint8_t *data;
	uint64_t bytes;
};

/* Returns false if the memory is not ready, or has no such ring; *broken: it never has. */
static bool find_ring(void *memory, size_t bytes, uint32_t ring, struct found *found, bool *broken)
{
	const struct fate_memory *head = memory;
	uint32_t n;

	*broken = false;
	if (memcmp(head->magic, FATE_MAGIC, sizeof(head->magic)) != 0)
		return false;
	*broken = head->version != FATE_VERSION || !find_rings(memory, bytes, &n, &found->bytes);
	if (*broken || ring >= n)
		return false;
	found->state = (struct fate_ring_state *)(void *)fate_ring_at(memory, found->bytes, ring);
	found->data = (const uint8_t *)(found->state + 1);
	return true;
}

/* Reads the record behind the first `done` bytes of a ring. */
static bool look(const struct found *ring, uint64_t done, struct fate_taken *taken, bool *broken)
{
	for (;;) {
		uint64_t written = __atomic_load_n(&ring->state->written, __ATOMIC_ACQUIRE);
		uint64_t at = done % ring->bytes, room = RTE_MIN(written - done, ring->bytes - at);
		struct fate_record record;

		*broken = false;
		if (written == done)
			return false;
		*broken = written - done > ring->bytes || at % FATE_ALIGN != 0 || room < FATE_ALIGN;
		if (*broken)
			return false;
		/* The ring comes from another processor's caches. */
		for (uint64_t ahead = AHEAD; ahead < AHEAD + sizeof(record); ahead += 64)
			__builtin_prefetch((const void *)((uintptr_t)ring->data + at + ahead));
		/* Of padding, no more may be there. */
		if (room >= sizeof(record))
			memcpy(&record, ring->data + at, sizeof(record));
		else
			memcpy(&record, ring->data + at, FATE_ALIGN);
		if (record.kind != FATE_PADDING) {
			*broken = !is_whole(&record, room) ||
			          !read_record(&record, ring->data + at + sizeof(record), taken);
			taken->ring = ring->state;
			taken->after = done + record.bytes;
			return !*broken;
		}
		*broken = record.bytes != ring->bytes - at;
		if (*broken)
			return false;
		done += record.bytes;
	}
}

bool fate_reader_look(void *memory, size_t bytes, uint32_t ring, struct fate_taken *taken,
                      bool *broken)
{
	struct found found;

	return find_ring(memory, bytes, ring, &found, broken) &&
	       look(&found, __atomic_load_n(&found.state->taken, __ATOMIC_RELAXED), taken, broken);
}

void fate_reader_why(const void *memory, struct problem *problem)
{
	const struct fate_memory *head = memory;

	if (head->version != FATE_VERSION)
		problem_set(problem, -1,
		            "the weir that runs writes packets in format %u, this program reads "
		            "format %u: use the program of its version",
		            head->version, FATE_VERSION);
	else
		problem_set(problem, -1, "the memory for packets is damaged");
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

static int empty_ring(void *memory, size_t bytes, uint32_t ring, fate_reader_take *take,
                      void *argument)
{
	struct fate_taken taken[FATE_READER_AT_ONCE];
	const struct fate *fates[FATE_READER_AT_ONCE];
	struct found found;
	uint64_t done;
	bool broken, more = find_ring(memory, bytes, ring, &found, &broken);
	int all = 0;

	while (more && all < FATE_READER_MOST) {
		uint32_t n = 0;

		done = __atomic_load_n(&found.state->taken, __ATOMIC_RELAXED);
		while (n < FATE_READER_AT_ONCE && (more = look(&found, done, &taken[n], &broken))) {
			done = taken[n].after;
			fates[n] = &taken[n].fate;
			n++;
		}
		if (n == 0)
			break;
		take(argument, fates, n);
		fate_reader_pass(&taken[n - 1]);
		all += (int)n;
	}
	return broken ? -EPROTO : all;
}

int fate_reader_empty(void *memory, size_t bytes, fate_reader_take *take, void *argument)
{
	uint64_t ring_bytes;
	uint32_t rings;
	int n = 0;

	if (memcmp(memory, FATE_MAGIC, sizeof(((struct fate_memory *)memory)->magic)) != 0)
		return 0;
	if (!find_rings(memory, bytes, &rings, &ring_bytes))
		return -EPROTO;
	for (uint32_t i = 0; i < rings; i++) {
		int of_ring = empty_ring(memory, bytes, i, take, argument);

		if (of_ring < 0)
			return of_ring;
		n += of_ring;
	}
	return n;
}
