/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames of a live run on their way from the workers into a capture with several interfaces. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <pcap/pcap.h>

#include "capture/frame_queue.h"
#include "capture/pcapng.h"
#include "poison_ops.h"
#include "rig.h"
#include "one_processor.h"
#include "runner/group.h"
#include "unable.h"

#define FRAMES 20000u

static struct rte_mempool *make_pool(const char *name)
{
	struct rte_mempool *pool = poison_pool_make(name, 127, 0, RTE_MBUF_DEFAULT_BUF_SIZE);

	assert_non_null(pool);
	return pool;
}

static void free_pool(struct rte_mempool *pool)
{
	assert_int_equal(poison_missing(pool), 0);
	poison_pool_free(pool);
}

/* A frame's bytes follow from its number, and so does its length. */
static uint32_t length_of(uint32_t number)
{
	return 60 + number % 1455;
}

static struct rte_mbuf *frame_of(struct rte_mempool *pool, uint32_t number)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);
	uint32_t bytes = length_of(number);

	assert_non_null(mbuf);
	memset(rte_pktmbuf_append(mbuf, (uint16_t)bytes), (int)(number & 0xff), bytes);
	memcpy(rte_pktmbuf_mtod(mbuf, void *), &number, sizeof(number));
	return mbuf;
}

static void put(struct frame_queue *frame_queue, struct rte_mempool *pool, uint16_t port,
                uint32_t number)
{
	struct rte_mbuf *mbuf = frame_of(pool, number);

	frame_queue_put(frame_queue, port, number & 1, number * 7, &mbuf, 1);
	rte_pktmbuf_free(mbuf);
}

static uint32_t check(const struct queued_frame *frame)
{
	uint8_t rest[FRAME_QUEUE_FRAME_MAX];
	uint32_t number;

	memcpy(&number, frame->data, sizeof(number));
	assert_int_equal(frame->bytes, length_of(number));
	assert_int_equal(frame->wire_bytes, frame->bytes);
	assert_int_equal(frame->t_ns, number * 7);
	assert_int_equal(frame->sent, number & 1);
	memset(rest, (int)(number & 0xff), frame->bytes - sizeof(number));
	assert_memory_equal(frame->data + sizeof(number), rest, frame->bytes - sizeof(number));
	return number;
}

static void what_finds_no_room_is_counted_and_the_rest_comes_whole_and_in_order(void **state)
{
	struct rte_mempool *pool = make_pool("frames");
	struct frame_queue *frame_queue = frame_queue_make();
	uint32_t put_in = 0, out = 0;
	struct queued_frame frame;

	(void)state;
	assert_non_null(frame_queue);
	while (frame_queue_missed(frame_queue, 1) == 0)
		put(frame_queue, pool, 1, put_in++);
	assert_int_equal(frame_queue_missed(frame_queue, 0), 0);
	/* The longest frame takes 1,539 bytes, and a hole of 63. */
	assert_true(put_in > FRAME_QUEUE_BYTES / 1664);
	while (frame_queue_take(frame_queue, &frame)) {
		assert_int_equal(frame.port, 1);
		assert_int_equal(check(&frame), out++);
	}
	assert_int_equal(out, put_in - 1);
	put(frame_queue, pool, 0, 5);
	assert_true(frame_queue_take(frame_queue, &frame));
	assert_int_equal(check(&frame), 5);
	assert_false(frame_queue_take(frame_queue, &frame));
	frame_queue_free(frame_queue);
	free_pool(pool);
}

static void a_frame_in_several_mbufs_is_one_and_of_a_giant_the_beginning_is_kept(void **state)
{
	struct rte_mempool *pool = make_pool("frames");
	struct frame_queue *frame_queue = frame_queue_make();
	struct rte_mbuf *whole = frame_of(pool, 1400);
	struct queued_frame frame;
	uint32_t bytes = length_of(1400);

	(void)state;
	for (uint32_t i = 1; i < 20; i++, bytes += length_of(1400))
		assert_int_equal(rte_pktmbuf_chain(whole, frame_of(pool, 1400)), 0);
	frame_queue_put(frame_queue, 0, true, 9, &whole, 1);
	assert_true(frame_queue_take(frame_queue, &frame));
	assert_int_equal(frame.wire_bytes, bytes);
	assert_int_equal(frame.bytes, FRAME_QUEUE_FRAME_MAX);
	for (uint32_t i = 0; i < frame.bytes; i += length_of(1400))
		assert_memory_equal(frame.data + i, rte_pktmbuf_mtod(whole, void *), 4);
	rte_pktmbuf_free(whole);
	frame_queue_free(frame_queue);
	free_pool(pool);
}

struct worker {
	struct frame_queue *frame_queue;
	struct rte_mempool *pool;
	uint16_t port;
	uint32_t over;
};

static void *work(void *argument)
{
	struct worker *worker = argument;

	for (uint32_t i = 0; i < FRAMES; i++)
		put(worker->frame_queue, worker->pool, worker->port, i);
	__atomic_store_n(&worker->over, 1, __ATOMIC_RELEASE);
	return NULL;
}

static bool is_over(const struct worker *worker)
{
	return __atomic_load_n(&worker->over, __ATOMIC_ACQUIRE);
}

/* Two workers put frames in, at once or in turn. Every frame is taken, intact, or counted; those of
 * one worker are in order. */
static void put_and_take(bool in_turn)
{
	struct frame_queue *frame_queue = frame_queue_make();
	uint32_t taken[2] = {0}, next[2] = {0};
	struct worker workers[2];
	pthread_t threads[2];
	struct queued_frame frame;
	bool over = false;

	for (uint16_t i = 0; i < 2; i++)
		workers[i] = (struct worker){frame_queue, make_pool(i ? "b" : "a"), i, 0};
	for (uint16_t begun = 0;;) {
		for (; begun < 2 && (begun == 0 || !in_turn || is_over(&workers[0])); begun++)
			assert_int_equal(
			        pthread_create(&threads[begun], NULL, work, &workers[begun]), 0);
		while (frame_queue_take(frame_queue, &frame)) {
			uint32_t number = check(&frame);

			assert_true(number >= next[frame.port]);
			next[frame.port] = number + 1;
			taken[frame.port]++;
		}
		if (over)
			break;
		over = is_over(&workers[0]) && is_over(&workers[1]);
	}
	for (uint16_t i = 0; i < 2; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(taken[i] + frame_queue_missed(frame_queue, i), FRAMES);
		free_pool(workers[i].pool);
	}
	frame_queue_free(frame_queue);
}

static void two_workers_put_while_control_takes(void **state)
{
	(void)state;
	put_and_take(false);
}

static void workers_that_share_a_processor_do_not_wait_for_each_other(void **state)
{
	const uint64_t in_turn_ns = one_processor(put_and_take, true);

	(void)state;
	assert_true(one_processor(put_and_take, false) < ONE_PROCESSOR_MORE * in_turn_ns);
}

/* libpcap reads the capture back. */
static void a_capture_of_two_interfaces_is_read_back_to_the_nanosecond(void **state)
{
	const struct pcapng_interface interfaces[] = {{"world", "far", 0}, {"command", "", 0}};
	const uint64_t missing[] = {0, 3};
	char path[] = "/tmp/weir-pcapng-XXXXXX", why[PCAP_ERRBUF_SIZE];
	uint8_t data[1514];
	struct pcapng *pcapng;
	struct problem problem;
	struct pcap_pkthdr *head;
	const u_char *bytes;
	pcap_t *pcap;

	(void)state;
	close(mkstemp(path));
	assert_int_equal(pcapng_open(path, "seed 1", interfaces, 2, &pcapng, &problem), 0);
	for (uint32_t i = 0; i < 1000; i++) {
		memset(data, (int)(i & 0xff), sizeof(data));
		pcapng_write(pcapng,
		             &(struct pcapng_frame){.interface = i & 1,
		                                    .way = i & 2 ? PCAPNG_INBOUND : PCAPNG_OUTBOUND,
		                                    .t_ns = UINT64_C(1795458649436020258) +
		                                            i * SIMTIME_S + i,
		                                    .data = data,
		                                    .bytes = 60 + i,
		                                    .wire_bytes = 61 + i});
	}
	assert_int_equal(pcapng_finish(pcapng, missing, &problem), 0);
	assert_int_equal(pcapng_publish(pcapng, &problem), 0);

	pcap = pcap_open_offline_with_tstamp_precision(path, PCAP_TSTAMP_PRECISION_NANO, why);
	assert_non_null(pcap);
	for (uint32_t i = 0; i < 1000; i++) {
		assert_int_equal(pcap_next_ex(pcap, &head, &bytes), 1);
		assert_int_equal(head->caplen, 60 + i);
		assert_int_equal(head->len, 61 + i);
		assert_int_equal(head->ts.tv_sec, 1795458649 + i);
		assert_int_equal(head->ts.tv_usec, 436020258 + i);
		assert_int_equal(bytes[59 + i], i & 0xff);
	}
	assert_int_equal(pcap_next_ex(pcap, &head, &bytes), PCAP_ERROR_BREAK);
	pcap_close(pcap);
	unlink(path);
}

static void a_full_disk_is_said_and_leaves_no_file(void **state)
{
	const struct pcapng_interface interface = {"world", "", 0};
	const uint64_t missing = 0;
	const uint8_t data[1514] = {0};
	struct pcapng *pcapng;
	struct problem problem = {.text = ""};

	(void)state;
	if (access("/dev/full", W_OK) < 0)
		UNABLE("this machine has no /dev/full");
	assert_int_equal(pcapng_open("/dev/full", "", &interface, 1, &pcapng, &problem), 0);
	for (uint32_t i = 0; i < 1000; i++)
		pcapng_write(pcapng, &(struct pcapng_frame){.way = PCAPNG_INBOUND,
		                                            .t_ns = i,
		                                            .data = data,
		                                            .bytes = sizeof(data),
		                                            .wire_bytes = sizeof(data)});
	assert_true(pcapng_finish(pcapng, &missing, &problem) < 0);
	assert_non_null(strstr(problem.text, "/dev/full"));
	pcapng_discard(pcapng);
}

GROUP(frame_queue)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(
	                what_finds_no_room_is_counted_and_the_rest_comes_whole_and_in_order),
	        cmocka_unit_test(
	                a_frame_in_several_mbufs_is_one_and_of_a_giant_the_beginning_is_kept),
	        cmocka_unit_test(two_workers_put_while_control_takes),
	        cmocka_unit_test(workers_that_share_a_processor_do_not_wait_for_each_other),
	        cmocka_unit_test(a_capture_of_two_interfaces_is_read_back_to_the_nanosecond),
	        cmocka_unit_test(a_full_disk_is_said_and_leaves_no_file),
	};

	return cmocka_run_group_tests_name("frame_queue", tests, rig_group_setup,
	                                   rig_group_teardown);
}
