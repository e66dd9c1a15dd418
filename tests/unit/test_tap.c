/* SPDX-License-Identifier: BSD-3-Clause */
/* Observers of packets: the ring to another process, and an engine that is followed. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/fate_ring.h"
#include "group.h"
#include "live/tap.h"
#include "rig.h"
#include "trial.h"

#define MEMORY (1u << 20)

/* ---- the bytes of a frame ---- */

/* A frame of 3, 2 and 4 bytes is cut everywhere. If nothing is known of a frame, not even its
 * place, nothing is copied. */
static void the_pieces_of_a_frame_lie_side_by_side_and_are_cut_anywhere(void **state)
{
	static uint8_t first[] = {1, 2, 3}, second[] = {4, 5}, third[] = {6, 7, 8, 9};
	/* An mbuf begins at a cache line; a variable on AddressSanitizer's stack does not. */
	static struct rte_mbuf last = {.buf_addr = third, .data_len = sizeof(third)};
	static struct rte_mbuf next = {
	        .buf_addr = second, .data_len = sizeof(second), .next = &last};
	const struct fate_frame frame = {.data = first, .bytes = sizeof(first), .more = &next};
	const struct fate_frame nothing = {.data = NULL};

	(void)state;
	for (uint32_t most = 0; most <= 12; most++) {
		uint8_t copy[13] = {0};
		uint32_t bytes = fate_frame_bytes(&frame, most);

		assert_int_equal(bytes, RTE_MIN(most, 9u));
		fate_frame_copy(copy, &frame, bytes);
		for (uint32_t i = 0; i < sizeof(copy); i++)
			assert_int_equal(copy[i], i < bytes ? i + 1 : 0);
	}
	assert_int_equal(fate_frame_bytes(&nothing, 100), 0);
	fate_frame_copy(first, &nothing, 0);
	assert_int_equal(first[0], 1);
}

/* ---- the ring ---- */

struct pipe {
	int fd;
	void *ours, *theirs; /* the mappings of the reader and of the workers */
	size_t bytes;
	struct fate_ring rings[2];
};

static void open_pipe(struct pipe *pipe)
{
	struct scenario *scenario = scenario_make();
	struct problem problem = {.text = ""};
	int fd = fate_reader_make(MEMORY, &pipe->ours);

	assert_non_null(scenario);
	assert_true(fd >= 0);
	pipe->fd = fd;
	assert_int_equal(scenario_add_port(scenario, "left", NULL, NULL), 0);
	assert_int_equal(
	        fate_memory_take(fd, 2, pipe->rings, &pipe->theirs, &pipe->bytes, &problem), 0);
	fate_memory_begin(pipe->theirs, scenario, 5);
	scenario_free(scenario);
}

static void close_pipe(struct pipe *pipe)
{
	fate_memory_leave(pipe->theirs, pipe->bytes);
	munmap(pipe->ours, MEMORY);
	close(pipe->fd);
}

/* Writes the bytes of fate i. */
static void fill(uint8_t *data, uint32_t bytes, uint64_t i)
{
	for (uint32_t k = 0; k < bytes; k++)
		data[k] = (uint8_t)(i * 31 + k);
}

static struct fate fate_of(uint64_t i, uint8_t *data)
{
	uint32_t bytes = (uint32_t)(i * 37 % 1500);

	fill(data, bytes, i);
	return (struct fate){.packet = i,
	                     .port = 3,
	                     .to_port = 4,
	                     .kind = (enum fate_kind)(FATE_ARRIVED + i % 3),
	                     .reason = (enum reason)(i % REASON_COUNT),
	                     .wire_bytes = bytes + 4,
	                     .at_ns = i * 10,
	                     .t_in_ns = i * 9,
	                     .t_out_ns = i * 11,
	                     .cloud = i & 1 ? "down" : "up/10.0.0.1",
	                     .stage = i & 2 ? "loss" : NULL,
	                     .changed = i & 4,
	                     .flags = (uint8_t)i,
	                     .queue_bytes = i * 3,
	                     .queue_average_bytes = i * 2,
	                     .frame = {.data = data, .bytes = bytes}};
}

static void assert_fate(const struct fate *seen, uint64_t i, uint32_t snap)
{
	uint8_t data[1500];
	const struct fate put = fate_of(i, data);

	assert_int_equal(seen->packet, put.packet);
	assert_int_equal(seen->port, put.port);
	assert_int_equal(seen->to_port, put.to_port);
	assert_int_equal(seen->kind, put.kind);
	assert_int_equal(seen->reason, put.reason);
	assert_int_equal(seen->wire_bytes, put.wire_bytes);
	assert_int_equal(seen->at_ns, put.at_ns);
	assert_int_equal(seen->t_in_ns, put.t_in_ns);
	assert_int_equal(seen->t_out_ns, put.t_out_ns);
	assert_string_equal(seen->cloud, put.cloud);
	assert_int_equal(seen->stage != NULL, put.stage != NULL);
	if (put.stage)
		assert_string_equal(seen->stage, put.stage);
	assert_int_equal(seen->changed, put.changed);
	assert_int_equal(seen->flags, put.flags);
	assert_int_equal(seen->queue_bytes, put.queue_bytes);
	assert_int_equal(seen->queue_average_bytes, put.queue_average_bytes);
	assert_int_equal(seen->frame.bytes, RTE_MIN(put.frame.bytes, snap));
	assert_memory_equal(seen->frame.data, data, seen->frame.bytes);
}

/* 20,000 fates of up to 1.6 kB go round a ring of half a MiB some thirty times. */
static void what_a_worker_puts_comes_out_as_it_was_whatever_its_length(void **state)
{
	struct pipe pipe;
	uint64_t next = 1;

	(void)state;
	open_pipe(&pipe);
	for (uint64_t i = 1; i <= 20000; i++) {
		uint8_t data[1500];
		struct fate fate = fate_of(i, data);
		struct fate_taken taken;
		bool broken = false;

		fate_ring_put(&pipe.rings[1], &fate, 1000, i);
		if (i % 50 != 0)
			continue;
		while (fate_reader_look(pipe.ours, MEMORY, 1, &taken, &broken)) {
			assert_fate(&taken.fate, next, 1000);
			assert_int_equal(taken.poll_ns, next);
			assert_int_equal(taken.missed, 0);
			fate_reader_pass(&taken);
			next++;
		}
		assert_false(broken);
		assert_false(fate_reader_look(pipe.ours, MEMORY, 0, &taken, &broken));
	}
	assert_int_equal(next, 20001);
	assert_int_equal(((struct fate_memory *)pipe.ours)->wall_ns, 5);
	assert_string_equal(((struct fate_memory *)pipe.ours)->ports[0], "left");
	close_pipe(&pipe);
}

struct emptied {
	uint64_t next;
	uint32_t most;
};

static void take(void *argument, const struct fate *const fates[], uint32_t n)
{
	struct emptied *emptied = argument;

	for (uint32_t i = 0; i < n; i++)
		assert_fate(fates[i], emptied->next++, 1000);
	emptied->most = RTE_MAX(emptied->most, n);
}

/* A group goes across the end of the ring, and its bytes stay there until it is taken. */
static void fates_come_out_in_groups_as_they_were(void **state)
{
	struct emptied emptied = {.next = 1};
	struct pipe pipe;

	(void)state;
	open_pipe(&pipe);
	for (uint64_t i = 1; i <= 20000; i++) {
		uint8_t data[1500];
		struct fate fate = fate_of(i, data);

		fate_ring_put(&pipe.rings[1], &fate, 1000, i);
		if (i % 50 != 0)
			continue;
		assert_int_equal(fate_reader_empty(pipe.ours, MEMORY, take, &emptied), 50);
		assert_int_equal(fate_reader_empty(pipe.ours, MEMORY, take, &emptied), 0);
	}
	assert_int_equal(emptied.next, 20001);
	assert_int_equal(emptied.most, FATE_READER_AT_ONCE);
	close_pipe(&pipe);
}

static void what_finds_no_room_is_counted_exactly_by_its_kind(void **state)
{
	uint64_t put[FATE_KINDS] = {0}, seen[FATE_KINDS] = {0}, last[FATE_KINDS] = {0};
	struct fate_taken taken;
	bool broken = false;
	struct pipe pipe;

	(void)state;
	open_pipe(&pipe);
	for (uint64_t i = 1; i <= 20000; i++) {
		uint8_t data[1500];
		struct fate fate = fate_of(i, data);

		fate_ring_put(&pipe.rings[0], &fate, 1500, i);
		put[fate.kind]++;
		/* The reader takes one of three. */
		if (i % 3 == 0 && fate_reader_look(pipe.ours, MEMORY, 0, &taken, &broken)) {
			assert_fate(&taken.fate, taken.fate.packet, 1500);
			seen[taken.fate.kind]++;
			/* `missed` counts the fates of its kind that are missing ahead of it. */
			last[taken.fate.kind] = taken.missed;
			fate_reader_pass(&taken);
		}
	}
	while (fate_reader_look(pipe.ours, MEMORY, 0, &taken, &broken)) {
		seen[taken.fate.kind]++;
		assert_true(taken.missed >= last[taken.fate.kind]);
		last[taken.fate.kind] = taken.missed;
		fate_reader_pass(&taken);
	}
	assert_false(broken);
	for (int kind = FATE_ARRIVED; kind < FATE_ARRIVED + 3; kind++) {
		assert_true(fate_reader_missed(pipe.ours, MEMORY, (enum fate_kind)kind) > 1000);
		assert_int_equal(put[kind], seen[kind] + fate_reader_missed(pipe.ours, MEMORY,
		                                                            (enum fate_kind)kind));
	}
	close_pipe(&pipe);
}

/* Whatever the reader writes into the ring, only its own reading suffers. */
static void a_reader_that_writes_nonsense_harms_no_worker(void **state)
{
	static const uint64_t nonsense[] = {UINT64_MAX, UINT64_MAX / 2, 1, 7, 1u << 19, 1u << 21};
	uint8_t data[1500];
	struct pipe pipe;

	(void)state;
	open_pipe(&pipe);
	for (uint64_t i = 1; i <= 20000; i++) {
		struct fate fate = fate_of(i, data);

		fate_ring_put(&pipe.rings[0], &fate, 1500, i);
		/* The reader's word, and all words that a worker has written. */
		pipe.rings[0].state->taken = nonsense[i % LENGTH(nonsense)];
		pipe.rings[0].state->written = nonsense[(i + 1) % LENGTH(nonsense)];
		pipe.rings[0].state->missed[FATE_ARRIVED] = i;
		memset(pipe.rings[0].data, (int)i, 4096);
	}
	/* A reader of nonsense reports this, and reads nothing beyond the memory. */
	for (uint64_t i = 0; i < 2000; i++) {
		struct fate_taken taken;
		bool broken = false;

		memset(pipe.rings[0].data, (int)i, 4096);
		pipe.rings[0].state->taken = (i % 64) * 8;
		pipe.rings[0].state->written = pipe.rings[0].state->taken + (i % 300) * 8;
		if (fate_reader_look(pipe.ours, MEMORY, 0, &taken, &broken)) {
			const uint8_t *end = (const uint8_t *)(pipe.rings[0].state + 1) -
			                     (uint8_t *)pipe.theirs + (uint8_t *)pipe.ours +
			                     pipe.rings[0].bytes;

			assert_true(taken.fate.frame.data + taken.fate.frame.bytes <= end);
		}
	}
	close_pipe(&pipe);
}

/* A `weir ctl` beside a running weir of another version. */
static void a_reader_says_which_format_it_was_given_and_which_it_reads(void **state)
{
	struct fate_memory *head;
	struct fate_taken taken;
	struct problem problem;
	bool broken = false;
	char theirs[80];
	struct pipe pipe;

	(void)state;
	open_pipe(&pipe);
	head = pipe.theirs;
	head->version = FATE_VERSION + 7;
	snprintf(theirs, sizeof(theirs),
	         "writes packets in format %u, this program reads format %u", FATE_VERSION + 7,
	         FATE_VERSION);
	assert_false(fate_reader_look(pipe.ours, MEMORY, 0, &taken, &broken));
	assert_true(broken);
	fate_reader_why(pipe.ours, &problem);
	assert_non_null(strstr(problem.text, theirs));
	head->version = FATE_VERSION;
	fate_reader_why(pipe.ours, &problem);
	assert_null(strstr(problem.text, "format"));
	close_pipe(&pipe);
}

/* The reader may have other rights, and more. */
static void a_writer_that_says_nonsense_of_its_rings_harms_no_reader(void **state)
{
	struct fate_memory *head;
	struct fate_taken taken;
	uint8_t data[1500];
	struct fate fate = fate_of(1, data);
	struct pipe pipe;

	(void)state;
	open_pipe(&pipe);
	head = pipe.theirs;
	fate_ring_put(&pipe.rings[0], &fate, 1500, 1);
	for (uint32_t i = 0; i < 5; i++) {
		static const struct {
			uint32_t n_rings;
			uint64_t ring_bytes;
		} nonsense[] = {{0, 1},
		                {FATE_RINGS_MAX + 1, 8},
		                {UINT32_MAX, UINT64_MAX},
		                {2, UINT64_MAX / 2},
		                {1, 4096}};
		bool broken = false;

		head->n_rings = nonsense[i].n_rings;
		head->ring_bytes = nonsense[i].ring_bytes;
		assert_false(fate_reader_look(pipe.ours, MEMORY, 0, &taken, &broken));
		assert_true(broken);
		assert_int_equal(fate_reader_missed(pipe.ours, MEMORY, FATE_ARRIVED), 0);
	}
	close_pipe(&pipe);
}

/* The names that a reader received stay as they were, whatever happens to the memory. */
static void the_names_of_a_fate_are_the_readers(void **state)
{
	struct fate_taken taken;
	bool broken = false;
	uint8_t data[1500];
	struct fate fate = fate_of(3, data);
	struct pipe pipe;

	(void)state;
	open_pipe(&pipe);
	fate_ring_put(&pipe.rings[0], &fate, 1500, 1);
	assert_true(fate_reader_look(pipe.ours, MEMORY, 0, &taken, &broken));
	memset(pipe.rings[0].data, 'x', 4096);
	assert_string_equal(taken.fate.cloud, "down");
	assert_string_equal(taken.fate.stage, "loss");
	fate_reader_pass(&taken);
	assert_false(fate_reader_look(pipe.ours, MEMORY, 0, &taken, &broken));
	assert_false(broken);
	close_pipe(&pipe);
}

static void refused(int fd, const char *words)
{
	struct fate_ring rings[2];
	struct problem problem = {.text = ""};
	size_t bytes;
	void *memory;

	assert_int_equal(fate_memory_take(fd, 2, rings, &memory, &bytes, &problem), -EINVAL);
	assert_non_null(strstr(problem.text, words));
	close(fd);
}

static int memory_of(size_t bytes, bool allocated, unsigned seals)
{
	int fd = memfd_create("test", MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
	if (allocated)
		assert_int_equal(posix_fallocate(fd, 0, (off_t)bytes), 0);
	if (seals)
		assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

/* If a file shrinks while a worker uses it, the worker crashes. */
static void memory_that_could_go_away_under_a_worker_is_refused(void **state)
{
	(void)state;
	refused(open("/dev/zero", O_RDWR), "not a memfd with a sealed size");
	refused(memory_of(MEMORY, true, 0), "not a memfd with a sealed size");
	refused(memory_of(MEMORY, true, F_SEAL_GROW), "not a memfd with a sealed size");
	refused(memory_of(MEMORY, false, F_SEAL_GROW | F_SEAL_SHRINK), "fallocate()");
	refused(memory_of(4096, true, F_SEAL_GROW | F_SEAL_SHRINK), "1 MiB to 1 GiB");
	refused(memory_of(MEMORY, true, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL),
	        "takes no more seals");
}

/* The pages of a hole would be allocated again when a worker writes there, at weir's expense. */
static void nobody_punches_a_hole_into_memory_that_workers_have(void **state)
{
	struct pipe pipe;

	(void)state;
	open_pipe(&pipe);
	assert_int_equal(fallocate(pipe.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, MEMORY),
	                 -1);
	assert_int_equal(errno, EPERM);
	/* qemu-user ignores all advice except MADV_DONTNEED, and returns 0, also for invalid
	 * advice. */
	if (madvise(pipe.ours, MEMORY, 12345) < 0)
		assert_int_equal(madvise(pipe.ours, MEMORY, MADV_REMOVE), -1);
	else
		print_message("# MADV_REMOVE is not tried: an emulator takes no advice\n");
	close_pipe(&pipe);
}

/* ---- an engine that is followed ---- */

struct ear {
	struct witness witness; /* first */
	uint64_t told[FATE_KINDS], removed;
	uint64_t ids; /* the sum of the packets' numbers */
};

static void hear(struct witness *witness, const struct fate *fate)
{
	struct ear *ear = (struct ear *)witness;

	ear->told[fate->kind]++;
	if (fate->kind == FATE_DROPPED && fate->reason == REASON_REMOVED) {
		ear->removed++;
		ear->ids += fate->packet;
		assert_true(fate->frame.bytes > 0);
	}
}

static struct ear ear_on_the_way(void)
{
	return (struct ear){.witness = {.tell = hear, .way = UINT32_MAX}};
}

static struct witness *choose(void *ear, const struct engine_followed *cloud)
{
	return strcmp(cloud->name, "y") == 0 ? NULL : ear;
}

static void scenario_of(struct rig *rig, bool meet)
{
	rig_cloud(rig, "x", 0, 1);
	rig_cloud(rig, "y", 2, meet ? 1 : 3);
	rig_put(rig, "x", trial_conf("loss random 5%"));
	rig_put(rig, "x", trial_conf("duplicate random 5%"));
	rig_rate(rig, "x", 50 * 1000 * 1000, 0, LIMIT_BYTES, 20000);
	rig_put(rig, "x", trial_conf("red min 2kB max 10kB max-p 20%"));
	rig_delay(rig, "x", 3 * SIMTIME_MS, SIMTIME_MS, DELAY_UNIFORM, ORDER_ALLOW);
	rig_delay(rig, "y", SIMTIME_MS, 0, DELAY_UNIFORM, ORDER_KEEP);
	rig_apply(rig, 0);
}

/* Plays 6,000 packets in bursts. If there is an ear, it follows the engine from the 2,000th to the
 * 4,000th packet. */
static struct rig *play(bool meet, struct ear *ear)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 9, .hosts = 4});
	struct rte_mbuf *mbufs[8];

	scenario_of(rig, meet);
	for (uint64_t i = 0; i < 6000; i += 8) {
		simtime t = i * 10 * SIMTIME_US;

		if (ear && i == 2000)
			engine_follow(rig->engine,
			              &(struct engine_follower){.choose = choose, .argument = ear});
		if (ear && i == 4000)
			engine_follow(rig->engine, &(struct engine_follower){.choose = NULL});
		for (uint64_t k = 0; k < 8; k++)
			mbufs[k] = rig_packet(rig, RIG_PLAIN, (i / 8) % 2 ? 2 : 0, i + k + 1,
			                      100 + (uint32_t)(i + k) % 600, 0, t);
		rig_ingress(rig, mbufs, 8);
		rig_advance(rig, t);
	}
	rig_run_out(rig);
	return rig;
}

static void to_be_followed_for_a_while_changes_nothing_and_all_is_told(void **state)
{
	(void)state;
	for (int meet = 0; meet < 2; meet++) {
		struct ear ear = ear_on_the_way();
		struct rig *alone = play(meet, NULL), *followed = play(meet, &ear);
		uint64_t named = 0;

		assert_int_equal(followed->n_departures, alone->n_departures);
		for (uint32_t i = 0; i < alone->n_departures; i++) {
			const struct departure *a = &alone->departures[i];
			const struct departure *f = &followed->departures[i];

			assert_int_equal(f->due_ns, a->due_ns);
			assert_int_equal(f->port, a->port);
			assert_int_equal(f->frame_bytes, a->frame_bytes);
			assert_int_equal(f->digest, a->digest);
			assert_false(a->named);
			named += f->named;
		}
		/* The packets whose departure is reported have their names in the outlet, and no
		 * others. */
		assert_int_equal(named, ear.told[FATE_LEFT]);
		/* Half of the 2,000 packets came to x. With copies of one in twenty, each was
		 * dropped or let into the queue: 47 copies are expected, and 8 sigma allowed. */
		assert_int_equal(ear.told[FATE_ARRIVED], 1000);
		assert_in_range(ear.told[FATE_QUEUED] + ear.told[FATE_DROPPED], 1000, 1104);
		assert_true(ear.told[FATE_DROPPED] > 20);
		assert_true(ear.told[FATE_LEFT] > 200);
		rig_close(alone);
		rig_close(followed);
	}
}

static void what_an_engine_holds_at_its_end_is_told_as_removed(void **state)
{
	static const char *const queues[] = {"rate 1mbit queue 1MB", "rate 1mbit queue 1MB",
	                                     "delay 1s"};

	(void)state;
	for (size_t i = 0; i < LENGTH(queues); i++) {
		struct ear ear = ear_on_the_way();
		struct rig *rig = rig_open(
		        &(struct rig_setup){.seed = 1, .hosts = 4, .witness = &ear.witness});

		rig_cloud(rig, "x", 0, 1);
		rig_put(rig, "x", trial_conf(queues[i]));
		if (i == 1)
			rig_put(rig, "x", trial_conf("fq-codel"));
		rig_apply(rig, 0);
		for (uint64_t k = 0; k < 20; k++)
			rig_send(rig, 0, k % 2 ? 100 : 1400, k);
		assert_int_equal(rig_report(rig, "x")->held_packets, 20);
		rig_close(rig);
		assert_int_equal(ear.removed, 20);
		assert_int_equal(ear.ids, 20 * 21 / 2);
	}
}

GROUP(tap)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_pieces_of_a_frame_lie_side_by_side_and_are_cut_anywhere),
	        cmocka_unit_test(what_a_worker_puts_comes_out_as_it_was_whatever_its_length),
	        cmocka_unit_test(fates_come_out_in_groups_as_they_were),
	        cmocka_unit_test(what_finds_no_room_is_counted_exactly_by_its_kind),
	        cmocka_unit_test(a_reader_that_writes_nonsense_harms_no_worker),
	        cmocka_unit_test(a_writer_that_says_nonsense_of_its_rings_harms_no_reader),
	        cmocka_unit_test(a_reader_says_which_format_it_was_given_and_which_it_reads),
	        cmocka_unit_test(the_names_of_a_fate_are_the_readers),
	        cmocka_unit_test(memory_that_could_go_away_under_a_worker_is_refused),
	        cmocka_unit_test(nobody_punches_a_hole_into_memory_that_workers_have),
	        cmocka_unit_test(to_be_followed_for_a_while_changes_nothing_and_all_is_told),
	        cmocka_unit_test(what_an_engine_holds_at_its_end_is_told_as_removed),
	};

	return cmocka_run_group_tests_name("tap", tests, rig_group_setup, rig_group_teardown);
}
