/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A capture on a disk that is full for a while. The disk is write() itself, which this program
 * wraps: it accepts a number of bytes and then fails with ENOSPC, or with the error of the test.
 * The claims are exact: each frame is in the file or counted as lost, and the file ends with a
 * whole frame.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/capture.h"
#include "capture/dump.h"
#include "folder.h"
#include "runner/group.h"

#define EPOCH (UINT64_C(1700000000) * SIMTIME_S)
/* in 2106, one second beyond the range of a pcap */
#define LATER   (UINT64_C(4294967296) * SIMTIME_S)
#define PAUSE   (100 * SIMTIME_MS)
#define LONGEST 4000

static uint64_t disk_room = UINT64_MAX;
static int disk_error = ENOSPC;
static uint64_t disk_calls,
        disk_fails_at; /* the n-th call fails, whatever room there is; 0: none */

ssize_t __real_write(int fd, const void *data, size_t bytes);
ssize_t __wrap_write(int fd, const void *data, size_t bytes);
ssize_t __wrap_write(int fd, const void *data, size_t bytes)
{
	ssize_t n;

	if (++disk_calls == disk_fails_at || disk_room == 0) {
		errno = disk_error;
		return -1;
	}
	/* As a real disk does: the bytes that fit are written, and only the next call fails. */
	n = __real_write(fd, data, bytes < disk_room ? bytes : (size_t)disk_room);
	if (n > 0 && disk_room != UINT64_MAX)
		disk_room -= (uint64_t)n;
	return n;
}

static int start(void **state)
{
	disk_room = UINT64_MAX;
	disk_error = ENOSPC;
	disk_calls = disk_fails_at = 0;
	return enter_folder(state);
}

static struct recorder *opened(const char *path)
{
	struct recorder *recorder;
	struct problem problem;

	if (recorder_open(path, &recorder, &problem) != 0)
		fail_msg("%s", problem.text);
	return recorder;
}

static uint32_t bytes_of(uint32_t frame)
{
	return frame % 50 == 49 ? LONGEST : 60 + frame * 7 % 1000;
}

static void put(struct recorder *recorder, uint32_t first, uint32_t n)
{
	static uint8_t bytes[LONGEST];

	for (uint32_t i = first; i < first + n; i++) {
		memset(bytes, (int)i, sizeof(bytes));
		memcpy(bytes, &i, sizeof(i));
		recorder_put(recorder, EPOCH + i, bytes, bytes_of(i), bytes_of(i));
	}
}

static uint64_t record_bytes(uint32_t first, uint32_t n)
{
	uint64_t bytes = 0;

	for (uint32_t i = first; i < first + n; i++)
		bytes += sizeof(struct dump_record) + bytes_of(i);
	return bytes;
}

/* Asserts that the next frames of the capture are [first, first + n), without a gap. */
static void check_frames(struct capture *capture, uint32_t first, uint32_t n)
{
	struct capture_frame frame;
	uint32_t number;

	for (uint32_t i = first; i < first + n; i++) {
		assert_true(capture_next(capture, &frame));
		assert_int_equal(frame.t_ns, EPOCH + i);
		assert_int_equal(frame.bytes, bytes_of(i));
		memcpy(&number, frame.data, sizeof(number));
		assert_int_equal(number, i);
		assert_int_equal(frame.data[frame.bytes - 1], i & 0xff);
	}
}

static struct capture *capture_of(const char *path)
{
	struct capture *capture;
	struct problem problem;

	if (capture_open(path, NULL, NULL, &capture, &problem) != 0)
		fail_msg("%s", problem.text);
	return capture;
}

static void check_end(struct capture *capture)
{
	struct capture_frame frame;

	assert_false(capture_next(capture, &frame));
	assert_string_equal(capture_damage(capture), "");
	capture_close(capture);
}

/* Asserts that this file is the only one in the folder: no draft was left. */
static void check_alone(const char *name)
{
	char command[100];

	snprintf(command, sizeof(command), "test \"$(ls)\" = \"%s\"", name);
	assert_int_equal(system(command), 0);
}

static void with_room_every_frame_is_in_the_file(void **state)
{
	struct recorder *recorder = opened("x.pcap");
	struct problem problem;
	struct capture *capture;
	char line[400];
	(void)state;

	put(recorder, 0, 3000);
	assert_int_equal(recorder_close(recorder, &problem), 0);
	check_alone("x.pcap");
	capture = capture_of("x.pcap");
	check_frames(capture, 0, 3000);
	check_end(capture);
	recorder = opened("x.pcap");
	assert_false(recorder_event(recorder, line, sizeof(line)));
	recorder_discard(recorder);
	check_alone("x.pcap");
}

/* Every size of the disk from nothing to a few frames, byte by byte. */
static void wherever_the_disk_ends_the_file_ends_with_a_whole_frame(void **state)
{
	enum { FRAMES = 5 };
	(void)state;

	for (uint64_t room = 0; room <= record_bytes(0, FRAMES); room++) {
		struct recorder *recorder = opened("x.pcap");
		struct capture *capture;
		struct problem problem;
		uint32_t whole = 0;

		while (whole < FRAMES && record_bytes(0, whole + 1) <= room)
			whole++;
		disk_room = room;
		put(recorder, 0, FRAMES);
		recorder_finish(recorder);
		assert_int_equal(recorder_lost(recorder), FRAMES - whole);
		assert_int_equal(recorder_close(recorder, &problem), whole < FRAMES ? -EIO : 0);
		if (whole < FRAMES)
			assert_non_null(strstr(problem.text, "x.pcap: "));
		disk_room = UINT64_MAX;
		if (room % 64 == 0)
			check_alone("x.pcap");
		capture = capture_of("x.pcap");
		check_frames(capture, 0, whole);
		check_end(capture);
	}
}

static void what_is_missing_is_said_with_the_cause_and_the_number(void **state)
{
	struct recorder *recorder = opened("x.pcap");
	struct problem problem;
	(void)state;

	disk_room = record_bytes(0, 30) + 5;
	put(recorder, 0, 100);
	assert_int_equal(recorder_close(recorder, &problem), -EIO);
	assert_string_equal(problem.text,
	                    "x.pcap: 70 frames are missing in it, because they could not be "
	                    "written (No space left on device); the file holds the others");
}

/* A pipe cannot be truncated: that is no cause. */
static void of_a_pipe_without_a_reader_the_first_cause_is_said(void **state)
{
	struct recorder *recorder;
	struct problem problem;
	int held;
	(void)state;

	assert_int_equal(mkfifo("pipe", 0600), 0);
	held = open("pipe", O_RDWR | O_CLOEXEC);
	assert_true(held >= 0);
	recorder = opened("pipe");
	disk_room = record_bytes(0, 3) + 5;
	disk_error = EPIPE;
	put(recorder, 0, 10);
	assert_int_equal(recorder_close(recorder, &problem), -EIO);
	assert_string_equal(problem.text,
	                    "pipe: 7 frames are missing in it, because they could not be written "
	                    "(Broken pipe); the file holds the others");
	close(held);
}

static void a_trouble_and_its_end_are_said_once_each(void **state)
{
	struct recorder *recorder = opened("x.pcap");
	struct problem problem;
	char line[400];
	(void)state;

	put(recorder, 0, 10);
	recorder_keep(recorder, PAUSE);
	assert_false(recorder_event(recorder, line, sizeof(line)));
	for (uint32_t round = 1; round <= 3; round++) {
		disk_room = 0;
		put(recorder, 10 * round, 10);
		recorder_keep(recorder, (10 * round + 1) * PAUSE);
		assert_true(recorder_event(recorder, line, sizeof(line)));
		assert_non_null(strstr(line, "x.pcap cannot be written: No space left on device"));
		for (uint32_t i = 2; i < 5; i++) {
			recorder_keep(recorder, (10 * round + i) * PAUSE);
			assert_false(recorder_event(recorder, line, sizeof(line)));
		}
		disk_room = UINT64_MAX;
		recorder_keep(recorder, (10 * round + 5) * PAUSE);
		assert_true(recorder_event(recorder, line, sizeof(line)));
		assert_string_equal(line,
		                    "x.pcap can be written again; 0 frames are missing in it");
		assert_false(recorder_event(recorder, line, sizeof(line)));
	}
	assert_int_equal(recorder_close(recorder, &problem), 0);
}

/* The recorder was not polled meanwhile. */
static void a_trouble_that_is_over_before_it_is_told_is_told_all_the_same(void **state)
{
	struct recorder *recorder = opened("x.pcap");
	struct problem problem;
	char line[400];
	(void)state;

	disk_room = 0;
	put(recorder, 0, 4000);
	assert_true(recorder_lost(recorder) > 0);
	disk_room = UINT64_MAX;
	recorder_keep(recorder, PAUSE);
	assert_true(recorder_event(recorder, line, sizeof(line)));
	assert_non_null(strstr(line, "cannot be written"));
	assert_true(recorder_event(recorder, line, sizeof(line)));
	assert_non_null(strstr(line, "can be written again"));
	assert_false(recorder_event(recorder, line, sizeof(line)));
	assert_int_equal(recorder_close(recorder, &problem), -EIO);
}

/* Frames that wait in memory are not lost; the frames that found no room are, in one row. */
static void when_there_is_room_again_writing_goes_on(void **state)
{
	struct recorder *recorder = opened("x.pcap");
	uint32_t waited = 0, frames = 4000;
	struct capture *capture;
	struct problem problem;
	uint64_t lost;
	(void)state;

	put(recorder, 0, 200);
	recorder_keep(recorder, PAUSE);
	disk_room = 0;
	put(recorder, 200, frames);
	while (record_bytes(200, waited + 1) <= 1 << 20)
		waited++;
	/* A shorter frame may find room where a longer one did not. */
	lost = recorder_lost(recorder);
	assert_in_range(lost, frames - waited - 20, frames - waited);
	disk_room = UINT64_MAX;
	recorder_keep(recorder, 2 * PAUSE);
	put(recorder, 200 + frames, 300);
	assert_int_equal(recorder_lost(recorder), lost);
	assert_int_equal(recorder_close(recorder, &problem), -EIO);
	capture = capture_of("x.pcap");
	assert_int_equal(capture_order_counts(capture)->back, 0);
	check_frames(capture, 0, 200 + waited);
	for (uint64_t i = waited; i < frames - lost; i++) {
		struct capture_frame frame;

		assert_true(capture_next(capture, &frame));
	}
	check_frames(capture, 200 + frames, 300);
	check_end(capture);
}

/* Whichever call fails, if it fails only once: nothing is lost, because memory bridges it. */
static void a_single_failed_write_loses_nothing(void **state)
{
	enum { FRAMES = 700 };
	uint64_t calls = UINT64_MAX;
	(void)state;

	for (uint64_t n = 2; n <= calls; n++) {
		struct recorder *recorder;
		struct capture *capture;
		struct problem problem;

		disk_calls = 0;
		disk_fails_at = n;
		disk_error = n % 2 ? EIO : EINTR;
		recorder = opened("x.pcap");
		for (uint32_t i = 0; i < FRAMES; i += 100) {
			put(recorder, i, 100);
			recorder_keep(recorder, (i + 1) * PAUSE);
		}
		recorder_keep(recorder, FRAMES * 2 * PAUSE);
		assert_int_equal(recorder_close(recorder, &problem), 0);
		calls = disk_calls;
		capture = capture_of("x.pcap");
		check_frames(capture, 0, FRAMES);
		check_end(capture);
	}
	assert_true(calls > 5);
}

static void frames_wait_100_ms_at_most_for_company(void **state)
{
	struct recorder *recorder = opened("x.pcap");
	uint64_t before;
	(void)state;

	recorder_keep(recorder, 10 * PAUSE);
	put(recorder, 0, 1);
	recorder_keep(recorder, 10 * PAUSE + 1);
	put(recorder, 1, 1);
	before = disk_calls;
	recorder_keep(recorder, 11 * PAUSE);
	assert_int_equal(disk_calls, before);
	recorder_keep(recorder, 11 * PAUSE + 1);
	assert_int_equal(disk_calls, before + 1);
	recorder_discard(recorder);
}

static void a_limit_of_file_size_is_a_full_disk(void **state)
{
	struct recorder *recorder = opened("x.pcap");
	struct rlimit before, limit;
	struct capture *capture;
	struct problem problem;
	(void)state;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = (struct rlimit){.rlim_cur = DUMP_HEAD_BYTES + record_bytes(0, 50) + 100,
	                        .rlim_max = before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	put(recorder, 0, 60);
	assert_int_equal(recorder_close(recorder, &problem), -EIO);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_non_null(strstr(problem.text, "10 frames are missing"));
	assert_non_null(strstr(problem.text, strerror(EFBIG)));
	capture = capture_of("x.pcap");
	check_frames(capture, 0, 50);
	check_end(capture);
}

static void a_file_that_cannot_even_begin_is_refused_and_not_left(void **state)
{
	struct recorder *recorder;
	struct problem problem;
	(void)state;

	assert_int_equal(recorder_open("/dev/full", &recorder, &problem), -EINVAL);
	assert_string_equal(problem.text, "/dev/full: cannot be written: No space left on device");
	disk_room = DUMP_HEAD_BYTES - 1;
	assert_int_equal(recorder_open("x.pcap", &recorder, &problem), -EINVAL);
	check_alone("");
}

/* It is full, because nobody has read what an earlier writer wrote. */
static void a_pipe_whose_reader_does_not_read_is_refused(void **state)
{
	struct recorder *recorder;
	struct problem problem;
	char byte = 0;
	int held;
	(void)state;

	assert_int_equal(mkfifo("pipe", 0600), 0);
	held = open("pipe", O_RDWR | O_CLOEXEC | O_NONBLOCK);
	assert_true(held >= 0);
	while (write(held, &byte, 1) == 1)
		;
	assert_int_equal(recorder_open("pipe", &recorder, &problem), -EINVAL);
	assert_string_equal(problem.text, "pipe: cannot be written: its reader does not read");
	close(held);
}

static void an_instant_after_2106_is_lost_and_counted(void **state)
{
	struct recorder *recorder = opened("x.pcap");
	struct capture_frame frame;
	struct capture *capture;
	struct problem problem;
	char line[400];
	(void)state;

	put(recorder, 0, 2);
	recorder_put(recorder, LATER - 1, "frame", 5, 5);
	assert_false(recorder_event(recorder, line, sizeof(line)));
	recorder_put(recorder, LATER, "frame", 5, 5);
	assert_true(recorder_event(recorder, line, sizeof(line)));
	assert_non_null(strstr(line, "2106"));
	assert_int_equal(recorder_close(recorder, &problem), -EIO);
	assert_non_null(strstr(problem.text, "1 frames are missing"));
	capture = capture_of("x.pcap");
	check_frames(capture, 0, 2);
	assert_true(capture_next(capture, &frame));
	assert_int_equal(frame.t_ns, LATER - 1);
	check_end(capture);
}

static void a_file_that_cannot_have_its_name_stays_where_the_problem_says(void **state)
{
	struct recorder *recorder = opened("x.pcap");
	struct capture *capture;
	struct problem problem;
	char *from, *to;
	(void)state;

	put(recorder, 0, 5);
	assert_int_equal(mkdir("x.pcap", 0777), 0);
	assert_int_equal(recorder_close(recorder, &problem), -EIO);
	from = strstr(problem.text, "it is x.pcap.weir-");
	assert_non_null(from);
	from += strlen("it is ");
	to = from + strcspn(from, "; ");
	*to = '\0';
	capture = capture_of(from);
	check_frames(capture, 0, 5);
	check_end(capture);
}

GROUP(recorder)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(with_room_every_frame_is_in_the_file, start,
	                                        leave_folder),
	        cmocka_unit_test_setup_teardown(
	                wherever_the_disk_ends_the_file_ends_with_a_whole_frame, start,
	                leave_folder),
	        cmocka_unit_test_setup_teardown(
	                what_is_missing_is_said_with_the_cause_and_the_number, start, leave_folder),
	        cmocka_unit_test_setup_teardown(of_a_pipe_without_a_reader_the_first_cause_is_said,
	                                        start, leave_folder),
	        cmocka_unit_test_setup_teardown(a_trouble_and_its_end_are_said_once_each, start,
	                                        leave_folder),
	        cmocka_unit_test_setup_teardown(
	                a_trouble_that_is_over_before_it_is_told_is_told_all_the_same, start,
	                leave_folder),
	        cmocka_unit_test_setup_teardown(when_there_is_room_again_writing_goes_on, start,
	                                        leave_folder),
	        cmocka_unit_test_setup_teardown(a_single_failed_write_loses_nothing, start,
	                                        leave_folder),
	        cmocka_unit_test_setup_teardown(frames_wait_100_ms_at_most_for_company, start,
	                                        leave_folder),
	        cmocka_unit_test_setup_teardown(a_limit_of_file_size_is_a_full_disk, start,
	                                        leave_folder),
	        cmocka_unit_test_setup_teardown(
	                a_file_that_cannot_even_begin_is_refused_and_not_left, start, leave_folder),
	        cmocka_unit_test_setup_teardown(a_pipe_whose_reader_does_not_read_is_refused, start,
	                                        leave_folder),
	        cmocka_unit_test_setup_teardown(an_instant_after_2106_is_lost_and_counted, start,
	                                        leave_folder),
	        cmocka_unit_test_setup_teardown(
	                a_file_that_cannot_have_its_name_stays_where_the_problem_says, start,
	                leave_folder),
	};

	return cmocka_run_group_tests_name("recorder", tests, NULL, NULL);
}
