/* SPDX-License-Identifier: BSD-3-Clause */
/* Files read ahead and written behind: the same bytes with an I/O thread and without, and the same
 * errors. Each test has a temporary folder as its working folder. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "capture/block_file.h"
#include "capture/frame_copy.h"
#include "folder.h"
#include "runner/group.h"

#define FILE_BYTES 3000001u

static uint8_t byte_at(uint64_t i)
{
	return (uint8_t)((i * UINT64_C(0x9e3779b97f4a7c15)) >> 56);
}

/* Pieces of every length that a record can have, from none to a quarter of a MiB. */
static uint32_t piece_at(uint32_t i)
{
	static const uint32_t pieces[] = {16, 0, 1, 64, 63, 65, 1500, 256, 257, 9000, 262144};

	return pieces[i % (sizeof(pieces) / sizeof(pieces[0]))];
}

static void write_pieces(struct io_thread *io_thread)
{
	int fd = open("file", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	uint8_t *piece = test_malloc(BLOCK_READER_REACH_MAX);
	struct block_writer block_writer;
	uint32_t done = 0;

	assert_true(fd >= 0);
	assert_int_equal(block_writer_open(&block_writer, fd, io_thread), 0);
	for (uint32_t i = 0; done < FILE_BYTES; i++) {
		uint32_t bytes = piece_at(i);

		if (bytes > FILE_BYTES - done)
			bytes = FILE_BYTES - done;
		for (uint32_t at = 0; at < bytes; at++)
			piece[at] = byte_at(done + at);
		block_writer_put(&block_writer, piece, bytes);
		done += bytes;
	}
	assert_int_equal(block_writer_flush(&block_writer), 0);
	block_writer_close(&block_writer);
	close(fd);
	test_free(piece);
}

static void read_pieces(struct io_thread *io_thread)
{
	int fd = open("file", O_RDONLY);
	struct block_reader block_reader;
	uint32_t done = 0;

	assert_true(fd >= 0);
	assert_int_equal(block_reader_open(&block_reader, fd, &(struct block_start){0}, io_thread),
	                 0);
	for (uint32_t i = 0; done < FILE_BYTES; i++) {
		uint32_t bytes = piece_at(i);

		if (bytes > FILE_BYTES - done)
			bytes = FILE_BYTES - done;
		assert_true(block_reader_has(&block_reader, bytes));
		for (uint32_t at = 0; at < bytes; at++) {
			if (block_reader.at[at] != byte_at(done + at))
				fail_msg("byte %u is another", done + at);
		}
		block_reader.at += bytes;
		done += bytes;
	}
	assert_false(block_reader_has(&block_reader, 1));
	assert_int_equal(block_reader.error, 0);
	block_reader_close(&block_reader);
}

static void what_is_put_is_what_is_looked_at_with_a_io_thread_and_without(void **state)
{
	(void)state;
	for (int way = 0; way < 4; way++) {
		struct io_thread *writer = way & 1 ? io_thread_make() : NULL;
		struct io_thread *reader = way & 2 ? io_thread_make() : NULL;

		write_pieces(writer);
		read_pieces(reader);
		io_thread_free(writer);
		io_thread_free(reader);
	}
}

static void io_requests_are_done_in_the_order_in_which_they_are_given(void **state)
{
	struct io_thread *io_thread = io_thread_make();
	struct io_request io_requests[64];
	uint8_t bytes[64];
	int fd = open("file", O_RDWR | O_CREAT, 0600);

	(void)state;
	for (uint32_t i = 0; i < 64; i++) {
		bytes[i] = (uint8_t)i;
		io_requests[i] =
		        (struct io_request){.fd = fd, .write = true, .data = &bytes[i], .bytes = 1};
		io_thread_give(io_thread, &io_requests[i]);
	}
	for (uint32_t i = 64; i-- > 0;) {
		io_thread_wait(io_thread, &io_requests[i]);
		assert_int_equal(io_requests[i].done, 1);
		assert_int_equal(io_requests[i].error, 0);
	}
	io_thread_free(io_thread);
	memset(bytes, 0xff, sizeof(bytes));
	assert_int_equal(pread(fd, bytes, sizeof(bytes), 0), sizeof(bytes));
	for (uint32_t i = 0; i < 64; i++)
		assert_int_equal(bytes[i], i);
	close(fd);
}

static void a_read_that_fails_is_an_error_and_no_end(void **state)
{
	(void)state;
	for (int with = 0; with < 2; with++) {
		struct io_thread *io_thread = with ? io_thread_make() : NULL;
		struct block_reader block_reader;

		/* A folder can be opened, but not read. */
		assert_int_equal(block_reader_open(&block_reader, open(".", O_RDONLY),
		                                   &(struct block_start){0}, io_thread),
		                 0);
		assert_false(block_reader_has(&block_reader, 1));
		assert_int_equal(block_reader.error, EISDIR);
		block_reader_close(&block_reader);
		io_thread_free(io_thread);
	}
}

static void a_full_disk_is_told_by_the_flush_and_before_when_there_was_more(void **state)
{
	struct rlimit limit, small;
	static uint8_t data[100000];

	(void)state;
	/* An unprivileged test cannot fill a disk; a limit of the file size replaces this. */
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &limit);
	small = (struct rlimit){.rlim_cur = 150000, .rlim_max = limit.rlim_max};
	for (int with = 0; with < 2; with++) {
		struct io_thread *io_thread = with ? io_thread_make() : NULL;
		int fd = open("file", O_WRONLY | O_CREAT | O_TRUNC, 0600);
		struct block_writer block_writer;

		assert_int_equal(block_writer_open(&block_writer, fd, io_thread), 0);
		setrlimit(RLIMIT_FSIZE, &small);
		block_writer_put(&block_writer, data, sizeof(data));
		block_writer_put(&block_writer, data, sizeof(data));
		assert_int_equal(block_writer_flush(&block_writer), EFBIG);
		block_writer_close(&block_writer);
		lseek(fd, 0, SEEK_SET);
		assert_int_equal(block_writer_open(&block_writer, fd, io_thread), 0);
		for (int i = 0; i < 100; i++)
			block_writer_put(&block_writer, data, sizeof(data));
		assert_int_equal(block_writer.error, EFBIG);
		setrlimit(RLIMIT_FSIZE, &limit);
		/* The error remains, whatever follows. */
		assert_int_equal(block_writer_flush(&block_writer), EFBIG);
		block_writer_close(&block_writer);
		block_writer_close(&block_writer);
		io_thread_free(io_thread);
		close(fd);
	}
}

static void a_copy_touches_the_frame_and_nothing_beside_it(void **state)
{
	uint8_t from[1024], to[1024];

	(void)state;
	for (uint32_t i = 0; i < sizeof(from); i++)
		from[i] = (uint8_t)(1 + i % 255);
	for (uint32_t bytes = 0; bytes <= 600; bytes++) {
		memset(to, 0, sizeof(to));
		frame_copy(to + 100, from + 7, bytes);
		assert_memory_equal(to + 100, from + 7, bytes);
		assert_int_equal(to[99], 0);
		assert_int_equal(to[100 + bytes], 0);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter_folder, leave_folder)

GROUP(io_thread)
{
	const struct CMUnitTest tests[] = {
	        TEST(what_is_put_is_what_is_looked_at_with_a_io_thread_and_without),
	        TEST(io_requests_are_done_in_the_order_in_which_they_are_given),
	        TEST(a_read_that_fails_is_an_error_and_no_end),
	        TEST(a_full_disk_is_told_by_the_flush_and_before_when_there_was_more),
	        TEST(a_copy_touches_the_frame_and_nothing_beside_it),
	};

	return cmocka_run_group_tests_name("I/O thread", tests, NULL, NULL);
}
