/* SPDX-License-Identifier: BSD-3-Clause */
/* Trains, with mempools that poison freed mbufs, and memory of exactly the promised size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "holding/train.h"
#include "poison_ops.h"
#include "rig.h"
#include "runner/group.h"

#define MBUFS  512u
#define CHUNKS 64u
#define ROOM   (RTE_PKTMBUF_HEADROOM + 2048u)
#define DUE    UINT64_C(1000)

static struct holder holder;
static struct log packets;
static void *memory;
static struct rte_mempool *foreign;
static struct rte_mbuf *burst[BURST_MAX];
static struct outlet outlet;
/* the departures, from the outlet or one by one, and then their records */
static struct rte_mbuf *out[OUTLET_ROOM];
static simtime due_ns[OUTLET_ROOM];
static struct held said[OUTLET_ROOM];

static void open_with(uint32_t chunks)
{
	memory = aligned_alloc(64, (size_t)chunks * CHUNK_BYTES);
	assert_non_null(memory);
	memset(&holder, 0, sizeof(holder));
	memset(&packets, 0, sizeof(packets));
	arena_init(&holder.arena, memory, (size_t)chunks * CHUNK_BYTES);
	holder.pool = poison_pool_make("near", MBUFS, PACKET_PRIVATE_BYTES, ROOM);
	foreign = poison_pool_make("far", MBUFS, PACKET_PRIVATE_BYTES, ROOM);
	assert_non_null(holder.pool);
	assert_non_null(foreign);
	holder.copy_bytes_max = HOLD_COPY_BYTES_DEFAULT;
	holder.kept_max = UINT32_MAX;
}

/* Asserts that every mbuf and every chunk was returned. */
static void close_all(void)
{
	assert_int_equal(packets.records, 0);
	log_clear(&packets, &holder.arena);
	assert_int_equal(holder.arena.used_chunks, 0);
	assert_int_equal(holder.kept, 0);
	hold_give_back(&holder, 0);
	assert_int_equal(poison_missing(holder.pool), 0);
	assert_int_equal(poison_missing(foreign), 0);
	poison_pool_free(holder.pool);
	poison_pool_free(foreign);
	free(memory);
}

static uint8_t byte_of(uint64_t number, uint32_t i)
{
	return (uint8_t)(number * 251 + i);
}

static struct rte_mbuf *packet_made(struct rte_mempool *pool, uint64_t number, uint32_t bytes)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);
	uint8_t *frame;

	assert_non_null(mbuf);
	frame = (uint8_t *)rte_pktmbuf_append(mbuf, (uint16_t)bytes);
	for (uint32_t i = 0; i < bytes; i++)
		frame[i] = byte_of(number, i);
	*packet_of(mbuf) = (struct packet){.number = number, .wire_bytes = bytes};
	return mbuf;
}

static void burst_made(uint64_t number, uint32_t n, uint32_t bytes)
{
	for (uint32_t i = 0; i < n; i++)
		burst[i] = packet_made(holder.pool, number + i, bytes);
}

static uint32_t trains(void)
{
	return (uint32_t)packets.records;
}

/* Takes up to `room` of the packets that are due by then. */
static uint32_t leave(simtime now, uint32_t room)
{
	const uint32_t before = OUTLET_ROOM - room;
	uint64_t bytes, sum = 0;
	uint32_t n;

	outlet.n = before;
	bytes = train_pop(&packets, &holder, now, &outlet, OUTLET_ROOM);
	n = outlet.n - before;
	for (uint32_t i = 0; i < n; i++) {
		out[i] = outlet.mbufs[before + i];
		due_ns[i] = outlet.due_ns[before + i];
		sum += outlet.wire_bytes[before + i];
	}
	assert_int_equal(bytes, sum);
	return n;
}

/* Takes all of them one by one, with their records. */
static uint32_t leave_one_by_one(simtime now)
{
	uint32_t n = 0;

	while (train_next(&packets) <= now) {
		train_front(&packets, &said[n]);
		outlet_clear(&outlet);
		train_pop(&packets, &holder, now, &outlet, 1);
		assert_int_equal(outlet.n, 1);
		out[n] = outlet.mbufs[0];
		due_ns[n] = said[n].t_ns;
		n++;
	}
	return n;
}

/* Asserts that the packet is that of packet_made, due then, and frees it. */
static void is_packet(uint32_t i, uint64_t number, uint32_t bytes, simtime due)
{
	const uint8_t *frame = rte_pktmbuf_mtod(out[i], const uint8_t *);

	assert_int_equal(due_ns[i], due);
	assert_int_equal(out[i]->pkt_len, bytes);
	assert_int_equal(out[i]->data_len, bytes);
	assert_int_equal(out[i]->nb_segs, 1);
	for (uint32_t k = 0; k < bytes; k++)
		assert_int_equal(frame[k], byte_of(number, k));
	rte_pktmbuf_free(out[i]);
}

/* Pushes packets with the values of their struct packet. */
static uint16_t push(struct rte_mbuf **mbufs, uint16_t n, simtime due)
{
	struct burst value;

	burst_read(&value, mbufs, n);
	return train_push(&packets, &holder, &value, 0, n, &due, true);
}

static void a_burst_of_like_packets_is_one_train_and_comes_back_as_it_went_in(void **state)
{
	(void)state;
	for (uint32_t bytes = 1; bytes <= 120; bytes++) {
		open_with(CHUNKS);
		burst_made(7, 31, bytes);
		assert_int_equal(push(burst, 31, DUE), 31);
		assert_int_equal(trains(), 1);
		assert_int_equal(train_next(&packets), DUE);
		assert_int_equal(packets.write - packets.read,
		                 sizeof(struct held) + 31 * RTE_ALIGN_CEIL(bytes, 8u));
		assert_int_equal(leave(DUE - 1, 64), 0);
		assert_int_equal(leave(DUE, 64), 31);
		for (uint32_t i = 0; i < 31; i++)
			is_packet(i, 7 + i, bytes, DUE);
		assert_int_equal(train_next(&packets), SIMTIME_NEVER);
		close_all();
	}
}

static void a_burst_as_it_was_received_needs_no_struct_packet(void **state)
{
	struct burst value;

	(void)state;
	open_with(CHUNKS);
	burst_made(100, 32, 64);
	for (uint32_t i = 0; i < 32; i++)
		memset(packet_of(burst[i]), 0xff, sizeof(struct packet));
	memcpy(value.mbuf, burst, 32 * sizeof(*burst));
	burst_received(&value, 32, 0, DUE, 100);
	assert_int_equal(train_push(&packets, &holder, &value, 0, 32, &(simtime){DUE}, true), 32);
	assert_int_equal(trains(), 1);
	assert_int_equal(leave_one_by_one(DUE), 32);
	for (uint32_t i = 0; i < 32; i++) {
		assert_int_equal(said[i].flags, 0);
		assert_int_equal(said[i].wire_bytes, 64);
		assert_int_equal(said[i].number, 100 + i);
		is_packet(i, 100 + i, 64, DUE);
	}
	close_all();
}

static void a_packet_that_differs_begins_another_train(void **state)
{
	(void)state;
	open_with(CHUNKS);
	burst_made(1, 9, 64);
	rte_pktmbuf_free(burst[2]);
	burst[2] = packet_made(holder.pool, 3, 65); /* longer: 2 trains, counting the way back */
	packet_of(burst[4])->flags = PACKET_MARKED; /* 2 trains */
	packet_of(burst[6])->wire_bytes = 1000;     /* 2 trains */
	packet_of(burst[8])->number = 77;           /* 1 train */
	assert_int_equal(push(burst, 9, DUE), 9);
	assert_int_equal(trains(), 8);
	assert_int_equal(leave_one_by_one(DUE), 9);
	assert_int_equal(said[4].flags, PACKET_MARKED);
	assert_int_equal(said[5].flags, 0);
	assert_int_equal(said[6].wire_bytes, 1000);
	assert_int_equal(said[7].wire_bytes, 64);
	assert_int_equal(said[8].number, 77);
	for (uint32_t i = 0; i < 9; i++)
		is_packet(i, 1 + i, i == 2 ? 65 : 64, DUE);
	close_all();
}

static void a_frame_that_begins_elsewhere_in_its_mbuf_comes_back_whole(void **state)
{
	(void)state;
	open_with(CHUNKS);
	burst_made(1, 4, 64);
	rte_pktmbuf_free(burst[1]);
	burst[1] = packet_made(holder.pool, 1, 65);
	/* Like number 2: byte i of that is byte i + 1 of this one. */
	for (uint32_t i = 0; i < 65; i++)
		rte_pktmbuf_mtod(burst[1], uint8_t *)[i] = byte_of(2, i - 1);
	rte_pktmbuf_adj(burst[1], 1);
	*packet_of(burst[1]) = (struct packet){.number = 2, .wire_bytes = 64};
	assert_int_equal(push(burst, 4, DUE), 4);
	assert_int_equal(leave(DUE, 64), 4);
	for (uint32_t i = 0; i < 4; i++)
		is_packet(i, 1 + i, 64, DUE);
	close_all();
}

static void of_a_train_as_many_leave_as_there_is_room_for(void **state)
{
	(void)state;
	open_with(CHUNKS);
	burst_made(1, 20, 64);
	assert_int_equal(push(burst, 20, DUE), 20);
	for (uint32_t i = 0; i < 7; i++) {
		assert_int_equal(leave(DUE, 1), 1);
		is_packet(0, 1 + i, 64, DUE);
	}
	assert_int_equal(leave(DUE, 5), 5);
	for (uint32_t i = 0; i < 5; i++)
		is_packet(i, 8 + i, 64, DUE);
	/* The rest leaves with the next packets that are due. */
	burst_made(21, 2, 64);
	assert_int_equal(push(burst, 2, DUE + 1), 2);
	assert_int_equal(leave(DUE + 1, 64), 10);
	for (uint32_t i = 0; i < 10; i++)
		is_packet(i, 13 + i, 64, i < 8 ? DUE : DUE + 1);
	close_all();
}

static void a_train_goes_on_in_the_next_chunk(void **state)
{
	(void)state;
	open_with(CHUNKS);
	for (uint32_t round = 0; round < 50; round++) {
		burst_made(1 + 32 * round, 32, 64);
		assert_int_equal(push(burst, 32, DUE + round), 32);
	}
	assert_in_range(holder.arena.used_chunks, 50 * 66 * 32 / CHUNK_BYTES,
	                50 * 68 * 32 / CHUNK_BYTES + 1);
	for (uint32_t round = 0; round < 50; round++) {
		assert_int_equal(leave(DUE + round, 64), 32);
		for (uint32_t i = 0; i < 32; i++)
			is_packet(i, 1 + 32 * round + i, 64, DUE + round);
	}
	close_all();
}

static void a_large_frame_stays_in_its_mbuf(void **state)
{
	(void)state;
	open_with(CHUNKS);
	burst_made(1, 8, 1000);
	assert_int_equal(push(burst, 8, DUE), 8);
	assert_int_equal(trains(), 1);
	assert_int_equal(holder.kept, 8);
	assert_int_equal(packets.write - packets.read, sizeof(struct held) + 8 * sizeof(void *));
	assert_int_equal(leave(DUE, 3), 3);
	assert_int_equal(holder.kept, 5);
	for (uint32_t i = 0; i < 3; i++) {
		assert_ptr_equal(out[i], burst[i]);
		is_packet(i, 1 + i, 1000, DUE);
	}
	assert_int_equal(leave(DUE, 64), 5);
	for (uint32_t i = 0; i < 5; i++) {
		assert_ptr_equal(out[i], burst[3 + i]);
		is_packet(i, 4 + i, 1000, DUE);
	}
	close_all();
}

static uint32_t mixed_bytes(uint64_t number)
{
	return number % 3 == 0 ? 64 : number % 5 == 0 ? 1000 : 600;
}

static void large_and_small_frames_leave_in_the_order_of_their_coming_across_chunks(void **state)
{
	uint64_t number = 1, left = 1;

	(void)state;
	open_with(CHUNKS);
	for (uint32_t round = 0; round < 40; round++) {
		for (uint32_t i = 0; i < 10; i++)
			burst[i] = packet_made(holder.pool, number + i, mixed_bytes(number + i));
		assert_int_equal(push(burst, 10, DUE + round), 10);
		number += 10;
	}
	assert_in_range(holder.arena.used_chunks, 4, CHUNKS);
	for (uint32_t round = 0; left < number; round += 3) {
		uint32_t n = leave(DUE + round, 1 + round % 37);

		for (uint32_t i = 0; i < n; i++, left++)
			is_packet(i, left, mixed_bytes(left), DUE + (left - 1) / 10);
	}
	close_all();
}

static void no_more_mbufs_are_kept_than_may_be(void **state)
{
	(void)state;
	open_with(CHUNKS);
	holder.kept_max = 5;
	burst_made(1, 8, 1000);
	assert_int_equal(push(burst, 8, DUE), 5);
	assert_int_equal(leave(DUE, 64), 5);
	for (uint32_t i = 0; i < 5; i++)
		is_packet(i, 1 + i, 1000, DUE);
	rte_pktmbuf_free_bulk(burst + 5, 3);
	close_all();
}

static void an_mbuf_that_others_hold_or_that_is_of_another_pool_is_not_spare(void **state)
{
	struct rte_mbuf *shared;

	(void)state;
	open_with(CHUNKS);
	burst_made(1, 6, 64);
	shared = burst[1];
	rte_mbuf_refcnt_update(shared, 1);
	rte_pktmbuf_free(burst[3]);
	burst[3] = packet_made(foreign, 4, 64);
	rte_pktmbuf_free(burst[5]);
	burst[5] = rte_pktmbuf_alloc(holder.pool);
	rte_pktmbuf_attach(burst[5], shared);
	*packet_of(burst[5]) = (struct packet){.number = 6, .wire_bytes = 64};
	assert_int_equal(rte_mbuf_refcnt_read(shared), 3);
	assert_int_equal(push(burst, 6, DUE), 6);
	assert_int_equal(rte_mbuf_refcnt_read(shared), 1);
	assert_int_equal(holder.n_spare, 3);
	assert_int_equal(poison_missing(foreign), 0);
	assert_int_equal(leave(DUE, 64), 6);
	for (uint32_t i = 0; i < 5; i++)
		is_packet(i, 1 + i, 64, DUE);
	/* The mbuf was attached to the frame of number 2. */
	is_packet(5, 2, 64, DUE);
	rte_pktmbuf_free(shared);
	close_all();
}

static void those_there_is_no_memory_for_stay_the_callers(void **state)
{
	uint32_t pushed = 0;
	uint16_t n;

	(void)state;
	open_with(1);
	do {
		burst_made(1 + pushed, 32, 64);
		n = push(burst, 32, DUE);
		pushed += n;
	} while (n == 32);
	rte_pktmbuf_free_bulk(burst + n, 32 - n);
	assert_int_equal(pushed, 62); /* in 4,016 bytes: two trains of 24 bytes, and 64 a frame */
	for (uint32_t left = 0; left < pushed;) {
		uint32_t k = leave(DUE, 64);

		assert_true(k > 0);
		for (uint32_t i = 0; i < k; i++)
			is_packet(i, 1 + left + i, 64, DUE);
		left += k;
	}
	close_all();
}

static void without_mbufs_they_stay_on_the_train(void **state)
{
	struct rte_mbuf *taken[MBUFS];

	(void)state;
	open_with(CHUNKS);
	burst_made(1, 20, 64);
	assert_int_equal(push(burst, 20, DUE), 20);
	hold_give_back(&holder, 0);
	assert_int_equal(rte_pktmbuf_alloc_bulk(holder.pool, taken, MBUFS), 0);
	assert_int_equal(leave(DUE, 64), 0);
	rte_pktmbuf_free(taken[0]);
	assert_int_equal(leave(DUE, 64), 1);
	is_packet(0, 1, 64, DUE);
	rte_pktmbuf_free_bulk(taken + 1, MBUFS - 1);
	assert_int_equal(leave(DUE, 64), 19);
	for (uint32_t i = 0; i < 19; i++)
		is_packet(i, 2 + i, 64, DUE);
	close_all();
}

static void more_spare_mbufs_than_may_be_go_back_to_the_pool(void **state)
{
	(void)state;
	open_with(CHUNKS);
	for (uint32_t round = 0; round < 20; round++) {
		burst_made(1 + 32 * round, 32, 64);
		assert_int_equal(push(burst, 32, DUE), 32);
		assert_in_range(holder.n_spare, 1, HOLD_SPARE_MAX);
	}
	for (uint32_t round = 0; round < 20; round++) {
		assert_int_equal(leave(DUE, 32), 32);
		for (uint32_t i = 0; i < 32; i++)
			is_packet(i, 1 + 32 * round + i, 64, DUE);
	}
	close_all();
}

/* Trains of 1 to 3 packets, due 10 ns apart; every seventh train keeps its mbufs. */
static void trains_of_every_kind_leave_in_their_order_as_far_as_they_are_due(void **state)
{
	uint32_t lengths[600], n = 0, done = 0;
	simtime due[600], now = DUE;

	(void)state;
	open_with(CHUNKS);
	for (uint32_t k = 0; k < 200; k++) {
		const uint32_t many = 1 + k % 5 / 3 + k % 11 / 10,
		               bytes = k % 7 == 6 ? 1000 : 60 + k % 9;

		burst_made(1 + n, many, bytes);
		assert_int_equal(push(burst, (uint16_t)many, DUE + k * 10), many);
		for (uint32_t i = 0; i < many; i++, n++) {
			lengths[n] = bytes;
			due[n] = DUE + k * 10;
		}
	}
	while (done < n) {
		const uint32_t room = 1 + done % 13, left = leave(now, room);
		uint32_t are_due = 0;

		while (done + are_due < n && due[done + are_due] <= now)
			are_due++;
		assert_int_equal(left, RTE_MIN(room, are_due));
		for (uint32_t i = 0; i < left; i++, done++)
			is_packet(i, 1 + done, lengths[done], due[done]);
		now += 35;
	}
	assert_int_equal(trains(), 0);
	close_all();
}

static void what_has_not_left_is_dropped_one_by_one(void **state)
{
	(void)state;
	open_with(CHUNKS);
	burst_made(1, 10, 1000);
	assert_int_equal(push(burst, 10, DUE), 10);
	burst_made(11, 12, 64);
	assert_int_equal(push(burst, 12, DUE), 12);
	assert_int_equal(leave(DUE, 4), 4);
	for (uint32_t i = 0; i < 4; i++)
		is_packet(i, 1 + i, 1000, DUE);
	for (uint32_t i = 0; i < 6 + 12; i++)
		train_drop(&packets, &holder);
	assert_int_equal(trains(), 0);
	close_all();
}

GROUP(train)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_burst_of_like_packets_is_one_train_and_comes_back_as_it_went_in),
	        cmocka_unit_test(a_burst_as_it_was_received_needs_no_struct_packet),
	        cmocka_unit_test(a_packet_that_differs_begins_another_train),
	        cmocka_unit_test(a_frame_that_begins_elsewhere_in_its_mbuf_comes_back_whole),
	        cmocka_unit_test(of_a_train_as_many_leave_as_there_is_room_for),
	        cmocka_unit_test(a_train_goes_on_in_the_next_chunk),
	        cmocka_unit_test(a_large_frame_stays_in_its_mbuf),
	        cmocka_unit_test(
	                large_and_small_frames_leave_in_the_order_of_their_coming_across_chunks),
	        cmocka_unit_test(no_more_mbufs_are_kept_than_may_be),
	        cmocka_unit_test(an_mbuf_that_others_hold_or_that_is_of_another_pool_is_not_spare),
	        cmocka_unit_test(those_there_is_no_memory_for_stay_the_callers),
	        cmocka_unit_test(without_mbufs_they_stay_on_the_train),
	        cmocka_unit_test(more_spare_mbufs_than_may_be_go_back_to_the_pool),
	        cmocka_unit_test(trains_of_every_kind_leave_in_their_order_as_far_as_they_are_due),
	        cmocka_unit_test(what_has_not_left_is_dropped_one_by_one),
	};

	return cmocka_run_group_tests(tests, rig_group_setup, rig_group_teardown);
}
