/* SPDX-License-Identifier: BSD-3-Clause */
/* The properties of a burst's packets, however the burst was formed, compared with a list of
 * facts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frame.h"
#include "packet/burst.h"
#include "random/draw.h"
#include "runner/group.h"

/* An mbuf with its private area, and a frame. */
struct lone_mbuf {
	struct rte_mbuf mbuf;
	uint8_t private[PACKET_PRIVATE_BYTES];
	uint8_t frame[FRAME_BYTES_MAX];
};

static void lone_make(struct lone_mbuf *lone, const struct frame_shape *shape)
{
	uint32_t bytes = frame_make(lone->frame, shape);

	lone->mbuf = (struct rte_mbuf){.buf_addr = lone->frame,
	                               .data_len = (uint16_t)bytes,
	                               .pkt_len = bytes,
	                               .refcnt = 1,
	                               .nb_segs = 1};
}

struct dice {
	struct draw_key key;
	uint64_t drawn;
};

static uint64_t roll(struct dice *dice, uint64_t sides)
{
	return draw_u64(dice->key, dice->drawn++, 0) % sides;
}

/* ---- headers ---- */

static void headers_are_read_once_and_again_when_they_are_forgotten(void **state)
{
	const struct frame_shape shape = {.ip = 4, .protocol = FRAME_UDP, .payload_bytes = 10};
	static struct lone_mbuf lone __rte_cache_aligned;
	uint32_t bytes = frame_make(lone.frame, &shape);
	struct headers first;
	struct burst burst;

	(void)state;
	lone_make(&lone, &shape);
	burst_one(&burst, &lone.mbuf, 0, 0, 1, lone.mbuf.pkt_len, 0);
	assert_true(headers_find(lone.frame, bytes, bytes, &first));
	assert_memory_equal(burst_headers(&burst, 0), &first, sizeof(first));
	memcpy(lone.frame + 12, "\x08\x06", 2);
	burst_headers_forget(&burst, 0);
	assert_int_equal(burst_headers(&burst, 0)->ip, 0);
	assert_int_equal(burst_headers(&burst, 0)->ethertype, 0x0806);
	/* In another burst, the mbuf is another packet: its headers are read again. */
	memcpy(lone.frame + 12, "\x08\x00", 2);
	burst_one(&burst, &lone.mbuf, 0, 0, 2, lone.mbuf.pkt_len, 0);
	assert_memory_equal(burst_headers(&burst, 0), &first, sizeof(first));
}

static void usual_is_plain_ipv4_that_nobody_else_sees(void **state)
{
	static const struct {
		struct frame_shape shape;
		uint16_t segments, references;
		bool usual;
	} rows[] = {
	        {{.ip = 4, .protocol = FRAME_UDP}, 1, 1, true},
	        {{.ip = 4, .protocol = FRAME_TCP, .padding_bytes = 9}, 1, 1, true},
	        {{.ip = 4, .protocol = 253}, 1, 1, true},
	        {{.ip = 4, .protocol = FRAME_UDP}, 2, 1, false},
	        {{.ip = 4, .protocol = FRAME_UDP}, 1, 2, false},
	        {{.ip = 4, .protocol = FRAME_UDP, .n_tags = 1}, 1, 1, false},
	        {{.ip = 4, .protocol = FRAME_UDP, .option_words = 1}, 1, 1, false},
	        {{.ip = 4, .protocol = FRAME_UDP, .fragment = 185, .payload_bytes = 9},
	         1,
	         1,
	         false},
	        {{.ip = 6, .protocol = FRAME_UDP}, 1, 1, false},
	};
	static struct lone_mbuf lone __rte_cache_aligned;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct headers found;
		struct burst burst;

		lone_make(&lone, &rows[i].shape);
		lone.mbuf.refcnt = rows[i].references;
		lone.mbuf.nb_segs = rows[i].segments;
		burst_one(&burst, &lone.mbuf, 0, 0, 1, lone.mbuf.pkt_len, 0);
		/* Computed first, then read back; for one packet, and for all. */
		for (uint32_t k = 0; k < 2; k++) {
			if (burst_usual(&burst, 0) != rows[i].usual ||
			    burst_all_usual(&burst) != rows[i].usual)
				fail_msg("row %zu", i);
		}
		assert_true(headers_find(lone.frame, lone.mbuf.pkt_len, lone.mbuf.pkt_len, &found));
		assert_memory_equal(burst_headers(&burst, 0), &found, sizeof(found));
		burst_headers_forget(&burst, 0);
		lone.frame[12] = 0x09;
		assert_false(burst_usual(&burst, 0));
		assert_false(burst_all_usual(&burst));
	}
}

/* ---- the life of a burst ---- */

/* The facts of a packet. */
struct fact {
	struct rte_mbuf *mbuf;
	simtime t;
	uint64_t number;
	uint32_t wire_bytes, age_ns;
	uint8_t flags;
	uint8_t protocol; /* in its headers */
};

struct facts {
	uint16_t n;
	struct fact fact[BURST_ROOM];
};

/* Compares only with the burst's own data. */
static void assert_says(struct burst *burst, const struct facts *facts)
{
	uint64_t bytes = 0;
	const simtime *times;
	uint32_t numbers[BURST_ROOM];

	assert_int_equal(burst->n, facts->n);
	assert_false(burst->gaps);
	for (uint16_t i = 0; i < facts->n; i++) {
		const struct fact *fact = &facts->fact[i];

		assert_ptr_equal(burst->mbuf[i], fact->mbuf);
		assert_int_equal(burst_t(burst, i), fact->t);
		assert_int_equal(burst_number(burst, i), fact->number);
		assert_int_equal(burst_wire_bytes(burst, i), fact->wire_bytes);
		assert_int_equal(burst_age_ns(burst, i), fact->age_ns);
		assert_int_equal(burst_flags(burst, i), fact->flags);
		assert_int_equal(burst_headers(burst, i)->protocol, fact->protocol);
		bytes += fact->wire_bytes;
	}
	assert_int_equal(burst->bytes, bytes);
	burst_numbers(burst, 0, burst->n, numbers);
	times = burst_times(burst);
	for (uint16_t i = 0; i < facts->n; i++) {
		assert_int_equal(numbers[i], (uint32_t)facts->fact[i].number);
		assert_int_equal(times[i], facts->fact[i].t);
	}
}

/* Packets as they are received; or as they come from a replay or another worker: then they differ
 * in the properties whose bits are set in `unlike`. */
enum unlike { INSTANTS = 1, NUMBERS = 2, LENGTHS = 4, UNLIKE_ALL = 7 };

#define LONE_MAX (4 * BURST_ROOM)
static struct lone_mbuf lone[LONE_MAX] __rte_cache_aligned;

static void burst_any(struct dice *dice, uint32_t unlike, struct burst *burst, struct facts *facts)
{
	struct rte_mbuf *mbufs[BURST_MAX];
	uint16_t n = (uint16_t)(1 + roll(dice, BURST_MAX));

	facts->n = n;
	for (uint16_t i = 0; i < n; i++) {
		const struct frame_shape shape = {.ip = 4,
		                                  .protocol = (uint8_t)(100 + roll(dice, 99)),
		                                  .n_tags = (uint32_t)roll(dice, 4) == 0,
		                                  .payload_bytes = (uint32_t)roll(dice, 30)};
		struct fact *fact = &facts->fact[i];

		lone_make(&lone[i], &shape);
		mbufs[i] = &lone[i].mbuf;
		*fact = (struct fact){.mbuf = mbufs[i],
		                      .t = 1000,
		                      .number = 77u + i,
		                      .wire_bytes = mbufs[i]->pkt_len,
		                      .protocol = shape.protocol};
		if (unlike & INSTANTS)
			fact->t += i / 3;
		if (unlike & NUMBERS)
			fact->number += i / 2;
		if (unlike & LENGTHS) {
			fact->wire_bytes += (uint32_t)roll(dice, 3);
			fact->age_ns = (uint32_t)roll(dice, 2);
			fact->flags = (uint32_t)roll(dice, 2) ? PACKET_GENERATED : 0;
		}
		*packet_of(mbufs[i]) = (struct packet){.t_ns = fact->t,
		                                       .number = fact->number,
		                                       .wire_bytes = fact->wire_bytes,
		                                       .age_ns = fact->age_ns,
		                                       .flags = fact->flags};
	}
	if (unlike == 0 && roll(dice, 2)) {
		memcpy(burst->mbuf, mbufs, n * sizeof(*mbufs));
		burst_received(burst, n, 0, 1000, 77);
	} else {
		burst_read(burst, mbufs, n);
	}
}

static void take(struct dice *dice, struct burst *burst, struct facts *facts)
{
	struct facts left = {.n = 0};
	uint16_t at = (uint16_t)roll(dice, facts->n + 1u), ahead = 0;

	for (uint16_t i = 0; i < facts->n; i++) {
		if ((uint32_t)roll(dice, 4)) {
			left.fact[left.n++] = facts->fact[i];
			continue;
		}
		assert_ptr_equal(burst_take(burst, i), facts->fact[i].mbuf);
		ahead += i < at;
	}
	assert_int_equal(burst_close(burst, at), ahead);
	*facts = left;
}

static void insert(struct dice *dice, struct burst *burst, struct facts *facts, uint32_t lone_at)
{
	const struct frame_shape shape = {.ip = 4, .protocol = 7};
	uint16_t i = (uint16_t)roll(dice, facts->n);
	struct fact fact = facts->fact[i];

	lone_make(&lone[lone_at], &shape);
	fact.mbuf = &lone[lone_at].mbuf;
	fact.wire_bytes = fact.mbuf->pkt_len + (uint32_t)roll(dice, 2);
	fact.protocol = 7;
	burst_insert(burst, i, fact.mbuf, fact.wire_bytes);
	memmove(&facts->fact[i + 2], &facts->fact[i + 1],
	        (facts->n - i - 1u) * sizeof(facts->fact[0]));
	facts->fact[i + 1] = fact;
	facts->n++;
}

static void a_burst_says_of_each_packet_what_it_is_whatever_happens_to_the_others(void **state)
{
	struct dice dice = {draw_key_make(14, "burst", "steps"), 0};

	(void)state;
	for (uint32_t round = 0; round < 4000; round++) {
		uint32_t used = BURST_ROOM;
		struct burst burst;
		struct facts facts;

		burst_any(&dice, round % 2 ? 0 : (uint32_t)roll(&dice, UNLIKE_ALL + 1), &burst,
		          &facts);
		for (uint32_t step = 0; step < 6 && facts.n > 0; step++) {
			uint16_t i = (uint16_t)roll(&dice, facts.n);

			switch ((uint32_t)roll(&dice, 5)) {
			case 0:
				take(&dice, &burst, &facts);
				break;
			case 1:
				insert(&dice, &burst, &facts, used++);
				break;
			case 2:
				burst_flag(&burst, i, PACKET_COPY);
				facts.fact[i].flags |= PACKET_COPY;
				break;
			case 3:
				burst_headers(&burst, i);
				break;
			default:
				burst_headers_read_all(&burst);
			}
		}
		assert_says(&burst, &facts);
	}
}

static void a_slice_says_of_each_packet_what_the_burst_does(void **state)
{
	struct dice dice = {draw_key_make(15, "burst", "slices"), 0};

	(void)state;
	for (uint32_t round = 0; round < 2000; round++) {
		struct burst burst, slice;
		struct facts facts;
		uint16_t from;

		burst_any(&dice, round % 2 ? 0 : (uint32_t)roll(&dice, UNLIKE_ALL + 1), &burst,
		          &facts);
		if ((uint32_t)roll(&dice, 2))
			burst_headers_read_all(&burst);
		from = (uint16_t)roll(&dice, facts.n);
		facts.n = (uint16_t)(facts.n - from);
		memmove(facts.fact, &facts.fact[from], facts.n * sizeof(facts.fact[0]));
		burst_slice(&slice, &burst, from, facts.n);
		assert_says(&slice, &facts);
	}
}

GROUP(burst)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(headers_are_read_once_and_again_when_they_are_forgotten),
	        cmocka_unit_test(usual_is_plain_ipv4_that_nobody_else_sees),
	        cmocka_unit_test(
	                a_burst_says_of_each_packet_what_it_is_whatever_happens_to_the_others),
	        cmocka_unit_test(a_slice_says_of_each_packet_what_the_burst_does),
	};

	return cmocka_run_group_tests_name("burst", tests, NULL, NULL);
}
