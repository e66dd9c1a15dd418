/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A capture file as a port, on a fake clock. Its thread reads ahead in its own time. The claims: no
 * frame comes before its instant, and after it all come, in order.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/capture.h"
#include "capture/dump.h"
#include "eal/offline_eal.h"
#include "machine/pool.h"
#include "packet/packet.h"
#include "port/port_kinds.h"
#include "runner/group.h"

#define MBUFS   4095
#define FRAMES  1500 /* more than a ring holds */
#define GAP_NS  UINT64_C(1000)
#define EPOCH   (UINT64_C(1700000000) * SIMTIME_S)
#define START   UINT64_C(777000)
#define LONGEST 9000

static struct rte_mempool *pool;
static char folder[] = "/tmp/weir-paced-XXXXXX";
static char in_path[64], out_path[64], pipe_path[64];

static uint32_t bytes_of(uint32_t frame)
{
	return frame % 100 == 99 ? LONGEST : 60 + frame % 1000;
}

static void capture_make(void)
{
	static uint8_t bytes[LONGEST];
	struct problem problem;
	struct dump *dump;

	assert_int_equal(dump_open(in_path, NULL, NULL, &dump, &problem), 0);
	for (uint32_t i = 0; i < FRAMES; i++) {
		memset(bytes, (int)i, sizeof(bytes));
		memcpy(bytes, &i, sizeof(i));
		dump_write(dump, EPOCH + i * GAP_NS, bytes, bytes_of(i), bytes_of(i));
	}
	assert_int_equal(dump_finish(dump, &problem), 0);
	assert_int_equal(dump_publish(dump, &problem), 0);
}

static struct paced_file *open_file(const char *arguments)
{
	struct paced_file *file;
	struct problem problem;
	char device[200];

	snprintf(device, sizeof(device), "file:%s%s", in_path, arguments);
	assert_int_equal(paced_file_open(device, NULL, pool, &file, &problem), 0);
	assert_int_equal(paced_file_start(file, START, &problem), 0);
	return file;
}

static void check_frame(struct rte_mbuf *mbuf, uint32_t frame)
{
	static uint8_t room[LONGEST];
	const uint8_t *bytes = rte_pktmbuf_read(mbuf, 0, mbuf->pkt_len, room);
	uint32_t number;

	assert_int_equal(mbuf->pkt_len, bytes_of(frame));
	memcpy(&number, bytes, sizeof(number));
	assert_int_equal(number, frame);
	assert_int_equal(bytes[mbuf->pkt_len - 1], frame & 0xff);
}

/* How long a test waits for the file's thread, in polls of at least a millisecond. The speed of a
 * busy machine is not tested. */
#define PATIENCE 60000

/* Takes `n` frames that are due by `now`, waiting for the file's thread. */
static void take(struct paced_file *file, simtime now, uint32_t first, uint32_t n)
{
	struct rte_mbuf *mbufs[32];
	uint32_t taken = 0;

	for (int patience = 0; taken < n && patience < PATIENCE; patience++) {
		uint16_t got = paced_file_receive(file, mbufs, 32, now);

		for (uint16_t i = 0; i < got; i++) {
			check_frame(mbufs[i], (first + taken++) % FRAMES);
			rte_pktmbuf_free(mbufs[i]);
		}
		if (got == 0)
			usleep(1000);
	}
	assert_int_equal(taken, n);
	assert_int_equal(paced_file_receive(file, mbufs, 32, now), 0);
}

static void frames_come_at_their_instants_and_not_before(void **state)
{
	struct paced_file *file = open_file("");
	struct problem problem;
	struct rte_mbuf *mbuf;
	char line[200];
	(void)state;

	usleep(20000); /* the thread may read ahead; nothing must be delivered */
	assert_int_equal(paced_file_receive(file, &mbuf, 1, START - 1), 0);
	take(file, START, 0, 1);
	take(file, START + GAP_NS - 1, 1, 0);
	take(file, START + GAP_NS, 1, 1);
	take(file, START + 100 * GAP_NS, 2, 99);
	assert_false(paced_file_event(file, line, sizeof(line)));
	take(file, START + FRAMES * GAP_NS, 101, FRAMES - 101);
	take(file, START + SIMTIME_S, FRAMES, 0);
	for (int patience = 0; !paced_file_event(file, line, sizeof(line)); patience++) {
		assert_true(patience < PATIENCE);
		usleep(1000);
	}
	assert_non_null(strstr(line, "has been played to its end: 1500 frames"));
	assert_false(paced_file_event(file, line, sizeof(line)));
	assert_int_equal(paced_file_close(file, &problem), 0);
	assert_int_equal(pool_available(pool), MBUFS);
}

static void
a_long_silence_is_announced_and_the_end_is_told_when_the_last_frame_has_come(void **state)
{
	struct paced_file *file;
	struct problem problem;
	struct rte_mbuf *mbuf = NULL;
	struct dump *dump;
	char line[1000];
	const simtime pause_ns = 100 * SIMTIME_S;

	(void)state;
	assert_int_equal(dump_open(out_path, NULL, NULL, &dump, &problem), 0);
	dump_write(dump, START, "frame 1", 7, 7);
	dump_write(dump, START + pause_ns, "frame 2", 7, 7);
	assert_int_equal(dump_finish(dump, &problem), 0);
	assert_int_equal(dump_publish(dump, &problem), 0);
	snprintf(line, sizeof(line), "file:%s", out_path);
	assert_int_equal(paced_file_open(line, NULL, pool, &file, &problem), 0);
	assert_int_equal(paced_file_start(file, START, &problem), 0);
	for (int patience = 0; patience < PATIENCE; patience++) {
		if (paced_file_receive(file, &mbuf, 1, START) == 1)
			rte_pktmbuf_free(mbuf);
		if (paced_file_event(file, line, sizeof(line)))
			break;
		usleep(1000);
	}
	assert_non_null(strstr(line, ": nothing comes for 100 s, until frame 2; `speed=N` plays"));
	assert_int_equal(paced_file_receive(file, &mbuf, 1, START + pause_ns - 1), 0);
	assert_false(paced_file_event(file, line, sizeof(line)));
	assert_int_equal(paced_file_receive(file, &mbuf, 1, START + pause_ns), 1);
	rte_pktmbuf_free(mbuf);
	assert_true(paced_file_event(file, line, sizeof(line)));
	assert_non_null(strstr(line, " has been played to its end: 2 frames"));
	assert_int_equal(paced_file_close(file, &problem), 0);
	unlink(out_path);
	assert_int_equal(pool_available(pool), MBUFS);
}

/* How long a worker may sleep that plays a file. */
static void the_next_frame_is_announced_with_its_instant(void **state)
{
	struct paced_file *file = open_file("");
	struct problem problem;
	(void)state;

	/* Nothing to sleep by until the thread has read it. */
	for (int patience = 0; patience < PATIENCE; patience++) {
		simtime next = paced_file_next(file, START / 2);

		if (next == START)
			break;
		assert_true(next > START / 2 && next < START);
		usleep(1000);
	}
	assert_int_equal(paced_file_next(file, START), START);
	take(file, START + 10 * GAP_NS, 0, 11);
	assert_int_equal(paced_file_next(file, START + 10 * GAP_NS), START + 11 * GAP_NS);
	take(file, START + FRAMES * GAP_NS, 11, FRAMES - 11);
	for (int patience = 0; patience < PATIENCE; patience++) {
		if (paced_file_next(file, START + FRAMES * GAP_NS) == SIMTIME_NEVER)
			break;
		usleep(1000);
	}
	assert_int_equal(paced_file_next(file, START + FRAMES * GAP_NS), SIMTIME_NEVER);
	assert_int_equal(paced_file_close(file, &problem), 0);
}

static void with_loop_it_starts_over_one_gap_after_its_end(void **state)
{
	struct paced_file *file = open_file(",loop");
	struct problem problem;
	(void)state;

	take(file, START + (FRAMES - 1) * GAP_NS, 0, FRAMES);
	take(file, START + FRAMES * GAP_NS - 1, FRAMES, 0);
	take(file, START + FRAMES * GAP_NS, FRAMES, 1);
	take(file, START + (3 * FRAMES - 1) * GAP_NS, FRAMES + 1, 2 * FRAMES - 1);
	assert_int_equal(paced_file_close(file, &problem), 0);
	assert_int_equal(pool_available(pool), MBUFS);
}

static void what_is_sent_is_written_with_the_instants_at_which_it_was_due(void **state)
{
	char arguments[100];
	struct capture_frame frame;
	struct capture *capture;
	struct paced_file *file;
	struct problem problem;
	uint32_t number;
	(void)state;

	snprintf(arguments, sizeof(arguments), ",out=%s", out_path);
	file = open_file(arguments);
	take(file, START, 0, 1); /* so the time axis is the capture's */
	for (uint32_t i = 0; i < 200; i++) {
		struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);
		simtime due_ns = START + 5 + i * 10;

		memcpy(rte_pktmbuf_append(mbuf, 60), &i, sizeof(i));
		while (paced_file_transmit(file, &mbuf, &due_ns, 1) == 0)
			usleep(100);
	}
	assert_int_equal(access(out_path, F_OK), -1);
	assert_int_equal(paced_file_close(file, &problem), 0);
	assert_int_equal(pool_available(pool), MBUFS);
	assert_int_equal(capture_open(out_path, NULL, NULL, &capture, &problem), 0);
	for (uint32_t i = 0; i < 200; i++) {
		assert_true(capture_next(capture, &frame));
		assert_int_equal(frame.t_ns, EPOCH + 5 + i * 10);
		memcpy(&number, frame.data, sizeof(number));
		assert_int_equal(number, i);
	}
	assert_false(capture_next(capture, &frame));
	capture_close(capture);
}

/* A limit of the file size stands for a full disk: 50 frames fit. */
static void what_cannot_be_written_is_counted_once_it_halts_and_the_rest_is_kept(void **state)
{
	const struct rlimit limit = {24 + 50 * (16 + 60) + 40, RLIM_INFINITY};
	struct capture_frame frame;
	struct capture *capture;
	struct paced_file *file;
	struct problem problem;
	struct rlimit before;
	char device[100], line[400];
	(void)state;

	snprintf(device, sizeof(device), "file:,out=%s", out_path);
	assert_int_equal(paced_file_open(device, NULL, pool, &file, &problem), 0);
	assert_int_equal(paced_file_start(file, START, &problem), 0);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (uint32_t i = 0; i < 80; i++) {
		struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);
		simtime due_ns = START + i;

		memset(rte_pktmbuf_append(mbuf, 60), (int)i, 60);
		while (paced_file_transmit(file, &mbuf, &due_ns, 1) == 0)
			usleep(100);
	}
	for (int patience = 0; !paced_file_event(file, line, sizeof(line)); patience++) {
		assert_true(patience < PATIENCE);
		usleep(1000);
	}
	assert_non_null(strstr(line, strerror(EFBIG)));
	assert_false(paced_file_event(file, line, sizeof(line)));
	paced_file_halt(file);
	assert_int_equal(paced_file_not_written(file), 30);
	assert_int_equal(pool_available(pool), MBUFS);
	assert_int_equal(paced_file_close(file, &problem), -EIO);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_non_null(strstr(problem.text, "30 frames are missing"));
	assert_int_equal(capture_open(out_path, NULL, NULL, &capture, &problem), 0);
	for (uint32_t i = 0; i < 50; i++) {
		assert_true(capture_next(capture, &frame));
		assert_int_equal(frame.bytes, 60);
		assert_int_equal(frame.data[59], i);
	}
	assert_false(capture_next(capture, &frame));
	assert_string_equal(capture_damage(capture), "");
	capture_close(capture);
}

/* Makes a pipe, and holds both of its ends, so that it neither ends nor is read. */
static int pipe_make(void)
{
	int fd;

	assert_int_equal(mkfifo(pipe_path, 0600), 0);
	fd = open(pipe_path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

static void send_frames(struct paced_file *file, uint32_t n, uint16_t bytes)
{
	for (uint32_t i = 0; i < n; i++) {
		struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);
		simtime due_ns = START + i;

		memset(rte_pktmbuf_append(mbuf, bytes), (int)i, bytes);
		for (int patience = 0; paced_file_transmit(file, &mbuf, &due_ns, 1) == 0;
		     patience++) {
			assert_true(patience < PATIENCE);
			usleep(1000);
		}
	}
}

static void a_silent_pipe_holds_up_neither_what_is_sent_nor_the_end(void **state)
{
	enum { SENT = 5 * PACED_FILE_RING, BEGIN_BYTES = DUMP_HEAD_BYTES + 16 + 60 };
	uint8_t begin[BEGIN_BYTES];
	struct capture_frame frame;
	struct capture *capture;
	struct paced_file *file;
	struct problem problem;
	char device[200];
	int held = pipe_make(), fd = open(in_path, O_RDONLY | O_CLOEXEC);
	(void)state;

	/* The first frame; then nothing more comes. */
	assert_int_equal(read(fd, begin, sizeof(begin)), sizeof(begin));
	close(fd);
	assert_int_equal(write(held, begin, sizeof(begin)), sizeof(begin));
	snprintf(device, sizeof(device), "file:%s,out=%s", pipe_path, out_path);
	assert_int_equal(paced_file_open(device, NULL, pool, &file, &problem), 0);
	assert_int_equal(paced_file_start(file, START, &problem), 0);
	take(file, START, 0, 1);
	send_frames(file, SENT, 60);
	paced_file_halt(file);
	assert_int_equal(paced_file_not_written(file), 0);
	assert_int_equal(paced_file_close(file, &problem), 0);
	close(held);
	unlink(pipe_path);
	assert_int_equal(pool_available(pool), MBUFS);
	assert_int_equal(capture_open(out_path, NULL, NULL, &capture, &problem), 0);
	for (uint32_t i = 0; i < SENT; i++) {
		assert_true(capture_next(capture, &frame));
		assert_int_equal(frame.t_ns, EPOCH + i);
	}
	assert_false(capture_next(capture, &frame));
	capture_close(capture);
}

static void a_pipe_that_nobody_reads_does_not_hold_up_the_end(void **state)
{
	struct paced_file *file;
	struct problem problem;
	char device[200];
	int held = pipe_make();
	(void)state;

	snprintf(device, sizeof(device), "file:,out=%s", pipe_path);
	assert_int_equal(paced_file_open(device, NULL, pool, &file, &problem), 0);
	assert_int_equal(paced_file_start(file, START, &problem), 0);
	send_frames(file, PACED_FILE_RING - 1, 1400); /* far more than a pipe holds */
	paced_file_halt(file);
	assert_in_range(paced_file_not_written(file), 1, PACED_FILE_RING - 2);
	assert_int_equal(pool_available(pool), MBUFS);
	assert_int_equal(paced_file_close(file, &problem), -EIO);
	assert_non_null(strstr(problem.text, "its reader does not read"));
	close(held);
	unlink(pipe_path);
}

static void without_an_output_what_is_sent_is_discarded(void **state)
{
	struct paced_file *file = open_file("");
	struct rte_mbuf *mbufs[20];
	const simtime due_ns[20] = {0};
	struct problem problem;
	(void)state;

	assert_int_equal(rte_pktmbuf_alloc_bulk(pool, mbufs, 20), 0);
	assert_int_equal(paced_file_transmit(file, mbufs, due_ns, 20), 20);
	assert_int_equal(paced_file_close(file, &problem), 0);
	assert_int_equal(pool_available(pool), MBUFS);
}

static void a_device_text_that_is_wrong_is_refused_and_leaves_no_file(void **state)
{
	static const struct {
		const char *device, *says;
	} cases[] = {
	        {"file:", "names no file"},
	        {"file:,loop", "names no file"},
	        {"file:/nowhere/x.pcap", "/nowhere/x.pcap"},
	        {"file:/etc/passwd", "/etc/passwd"},
	        {"file:/tmp/x.pcap,lop", "`lop` is unknown"},
	        {"file:/tmp/x.pcap,out=", "`out=` is unknown"},
	        {"file:,out=/nowhere/x.pcap", "/nowhere/x.pcap"},
	};
	(void)state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct paced_file *file;
		struct problem problem;

		assert_true(paced_file_open(cases[i].device, NULL, pool, &file, &problem) < 0);
		assert_non_null(strstr(problem.text, cases[i].says));
	}
}

/* A truncated path would name another file. */
static void a_path_that_is_too_long_is_refused_instead_of_cut(void **state)
{
	static const char *const forms[] = {"file:", "file:,out="};
	static char device[PATH_MAX + 32];
	char says[64];
	(void)state;

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		const size_t bytes = strlen(forms[i]);
		struct paced_file *file;
		struct problem problem;

		/* `/tmp/././...` is a folder that exists. */
		snprintf(device, sizeof(device), "%s/tmp", forms[i]);
		for (size_t at = strlen(device); at < bytes + PATH_MAX; at++)
			device[at] = "/."[at % 2];
		device[bytes + PATH_MAX] = '\0';
		snprintf(says, sizeof(says), "the path has %d bytes; at most %d", PATH_MAX,
		         PATH_MAX - 1);
		assert_int_equal(paced_file_open(device, NULL, pool, &file, &problem),
		                 -ENAMETOOLONG);
		assert_non_null(strstr(problem.text, says));
		assert_int_equal(paced_file_check(device, NULL, &problem), -ENAMETOOLONG);
	}
}

static void a_capture_is_looked_for_beside_the_scenario_first(void **state)
{
	const char *name = strrchr(in_path, '/') + 1;
	struct paced_file *file;
	struct problem problem;
	char device[200], beside[100];
	(void)state;

	snprintf(device, sizeof(device), "file:%s,loop", name);
	snprintf(beside, sizeof(beside), "%s/", folder);
	assert_int_equal(paced_file_check(device, beside, &problem), 0);
	assert_int_equal(paced_file_open(device, beside, pool, &file, &problem), 0);
	assert_int_equal(paced_file_close(file, &problem), 0);
	/* There is none in the working folder. */
	assert_true(paced_file_check(device, NULL, &problem) < 0);
	assert_int_equal(paced_file_check(device, "/nowhere/", &problem), -ENOENT);
	assert_non_null(strstr(problem.text, name));
	assert_non_null(strstr(problem.text, "neither in /nowhere/ nor where weir was started"));
	assert_int_equal(paced_file_open(device, "/nowhere/", pool, &file, &problem), -ENOENT);
	/* An absolute name is used as it is. */
	snprintf(device, sizeof(device), "file:%s", in_path);
	assert_int_equal(paced_file_check(device, "/nowhere/", &problem), 0);
	/* An output file is written in the working folder, and is not searched for. */
	assert_int_equal(paced_file_check("file:,out=there.pcap", "/nowhere/", &problem), 0);
}

static void a_path_may_have_commas_behind_backslashes(void **state)
{
	struct paced_file *file;
	struct problem problem;
	char device[300], comma[150];
	(void)state;

	snprintf(comma, sizeof(comma), "%s/a,loop", folder);
	assert_int_equal(symlink(in_path, comma), 0);
	snprintf(device, sizeof(device), "file:%s/a\\,loop,speed=2,out=%s/b\\,c", folder, folder);
	assert_int_equal(paced_file_check(device, NULL, &problem), 0);
	assert_int_equal(paced_file_open(device, NULL, pool, &file, &problem), 0);
	assert_int_equal(paced_file_start(file, 0, &problem), 0);
	assert_int_equal(paced_file_close(file, &problem), 0);
	unlink(comma);
	snprintf(comma, sizeof(comma), "%s/b,c", folder);
	assert_int_equal(unlink(comma), 0);
	snprintf(device, sizeof(device), "file:%s/a,c", folder);
	assert_true(paced_file_check(device, NULL, &problem) < 0);
	assert_non_null(strstr(problem.text, "a comma in a path is written `\\,`"));
}

static int start(void **state)
{
	struct problem problem;
	(void)state;

	if (offline_eal_start(64, &problem) < 0 || !mkdtemp(folder))
		return -1;
	snprintf(in_path, sizeof(in_path), "%s/in.pcap", folder);
	snprintf(out_path, sizeof(out_path), "%s/out.pcap", folder);
	snprintf(pipe_path, sizeof(pipe_path), "%s/pipe", folder);
	pool = pool_make("paced-file-test", MBUFS, NULL);
	if (!pool)
		return -1;
	capture_make();
	return 0;
}

static int stop(void **state)
{
	(void)state;
	unlink(in_path);
	unlink(out_path);
	unlink(pipe_path);
	rmdir(folder);
	pool_free(pool);
	offline_eal_stop();
	return 0;
}

GROUP(paced_file)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(frames_come_at_their_instants_and_not_before),
	        cmocka_unit_test(
	                a_long_silence_is_announced_and_the_end_is_told_when_the_last_frame_has_come),
	        cmocka_unit_test(the_next_frame_is_announced_with_its_instant),
	        cmocka_unit_test(with_loop_it_starts_over_one_gap_after_its_end),
	        cmocka_unit_test(what_is_sent_is_written_with_the_instants_at_which_it_was_due),
	        cmocka_unit_test(
	                what_cannot_be_written_is_counted_once_it_halts_and_the_rest_is_kept),
	        cmocka_unit_test(a_silent_pipe_holds_up_neither_what_is_sent_nor_the_end),
	        cmocka_unit_test(a_pipe_that_nobody_reads_does_not_hold_up_the_end),
	        cmocka_unit_test(without_an_output_what_is_sent_is_discarded),
	        cmocka_unit_test(a_capture_is_looked_for_beside_the_scenario_first),
	        cmocka_unit_test(a_path_may_have_commas_behind_backslashes),
	        cmocka_unit_test(a_device_text_that_is_wrong_is_refused_and_leaves_no_file),
	        cmocka_unit_test(a_path_that_is_too_long_is_refused_instead_of_cut),
	};

	return cmocka_run_group_tests_name("paced_file", tests, start, stop);
}
