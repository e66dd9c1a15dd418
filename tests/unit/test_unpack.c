/* SPDX-License-Identifier: BSD-3-Clause */
/* Compressed captures: the output is the input, or its beginning and the error. Each test works in
 * a folder of its own. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include "capture/capture.h"
#include "capture/unpack.h"
#include "folder.h"
#include "trace.h"
#include "runner/group.h"

#define FRAMES     200
#define PACKED_MAX (1u << 20)

static size_t gzip(const uint8_t *data, size_t bytes, uint8_t *to)
{
	z_stream stream = {.next_in = (Bytef *)(uintptr_t)data,
	                   .avail_in = (uInt)bytes,
	                   .next_out = to,
	                   .avail_out = PACKED_MAX};

	assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 9, 0), Z_OK);
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	deflateEnd(&stream);
	return PACKED_MAX - stream.avail_out;
}

static size_t xz(const uint8_t *data, size_t bytes, uint8_t *to)
{
	size_t at = 0;

	assert_int_equal(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, NULL, data, bytes, to, &at,
	                                         PACKED_MAX),
	                 LZMA_OK);
	return at;
}

/* Compresses with a checksum, as the command does. */
static size_t zstd(const uint8_t *data, size_t bytes, uint8_t *to)
{
	ZSTD_CCtx *cctx = ZSTD_createCCtx();
	size_t packed;

	ZSTD_CCtx_setParameter(cctx, ZSTD_c_checksumFlag, 1);
	packed = ZSTD_compress2(cctx, to, PACKED_MAX, data, bytes);
	assert_false(ZSTD_isError(packed));
	ZSTD_freeCCtx(cctx);
	return packed;
}

static const struct {
	const char *name;
	size_t (*pack)(const uint8_t *data, size_t bytes, uint8_t *to);
} formats[] = {{"gzip", gzip}, {"xz", xz}, {"zstd", zstd}};

#define FORMATS (sizeof(formats) / sizeof(formats[0]))

static uint8_t plain[PACKED_MAX], packed[2 * PACKED_MAX];
static size_t plain_bytes;

static void make_plain(uint64_t packets)
{
	struct trace trace = {.packets = packets,
	                      .bytes = 60,
	                      .start_ns = UINT64_C(1500000000123456789),
	                      .gap_ns = 1001};
	FILE *file;

	assert_int_equal(trace_write(&trace, "plain"), 0);
	file = fopen("plain", "rb");
	assert_non_null(file);
	plain_bytes = fread(plain, 1, sizeof(plain), file);
	fclose(file);
	assert_true(plain_bytes > 0 && plain_bytes < sizeof(plain));
}

static void write_packed(size_t bytes)
{
	FILE *file;

	/* To truncate an existing file may make a file system wait for the disk. */
	unlink("packed");
	file = fopen("packed", "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(packed, 1, bytes, file), bytes);
	assert_int_equal(fclose(file), 0);
}

/* Returns how many frames are those of `plain`; all that are read must be. `damage` is the message
 * at the end, or "refused". */
static uint64_t read_packed(struct io_thread *io_thread, char damage[200])
{
	struct capture *capture = NULL, *as_it_was = NULL;
	struct capture_frame frame, expected;
	struct problem problem;
	uint64_t frames = 0;

	snprintf(damage, 200, "refused");
	if (capture_open("packed", io_thread, NULL, &capture, &problem)) {
		assert_null(capture);
		return 0;
	}
	assert_int_equal(capture_open("plain", NULL, NULL, &as_it_was, &problem), 0);
	while (capture_next(capture, &frame)) {
		assert_true(capture_next(as_it_was, &expected));
		assert_int_equal(frame.t_ns, expected.t_ns);
		assert_int_equal(frame.bytes, expected.bytes);
		assert_int_equal(frame.wire_bytes, expected.wire_bytes);
		assert_memory_equal(frame.data, expected.data, frame.bytes);
		frames++;
	}
	snprintf(damage, 200, "%s", capture_damage(capture));
	assert_int_equal(capture_error(capture), 0);
	capture_close(capture);
	capture_close(as_it_was);
	return frames;
}

static void what_was_compressed_reads_as_it_was(void **state)
{
	struct io_thread *io_thread = io_thread_make();
	char damage[200];

	(void)state;
	make_plain(FRAMES);
	for (size_t i = 0; i < FORMATS; i++) {
		write_packed(formats[i].pack(plain, plain_bytes, packed));
		assert_int_equal(read_packed(NULL, damage), FRAMES);
		assert_string_equal(damage, "");
		assert_int_equal(read_packed(io_thread, damage), FRAMES);
		assert_string_equal(damage, "");
	}
	io_thread_free(io_thread);
}

static void a_file_compressed_in_parts_is_one(void **state)
{
	char damage[200];

	(void)state;
	make_plain(FRAMES);
	for (size_t i = 0; i < FORMATS; i++) {
		for (size_t cut = 0; cut < plain_bytes; cut += 977) {
			size_t first = formats[i].pack(plain, cut, packed);

			write_packed(first + formats[i].pack(plain + cut, plain_bytes - cut,
			                                     packed + first));
			assert_int_equal(read_packed(NULL, damage), FRAMES);
			assert_string_equal(damage, "");
		}
	}
}

static void a_file_that_is_cut_gives_its_beginning_and_says_so(void **state)
{
	char damage[200];

	(void)state;
	make_plain(FRAMES);
	for (size_t i = 0; i < FORMATS; i++) {
		size_t bytes = formats[i].pack(plain, plain_bytes, packed);
		uint64_t before = 0;

		for (size_t cut = 0; cut < bytes; cut += 1 + bytes / 97) {
			uint64_t frames;

			write_packed(cut);
			frames = read_packed(NULL, damage);
			assert_true(frames >= before && frames <= FRAMES);
			before = frames;
			if (strcmp(damage, "refused") != 0 && !strstr(damage, "is cut off"))
				fail_msg("%s, %zu of %zu bytes: \"%s\"", formats[i].name, cut,
				         bytes, damage);
		}
	}
}

/* Returns true if all frames came unchanged, without a message. */
static bool reads_well(void)
{
	struct capture *capture = NULL, *as_it_was = NULL;
	struct capture_frame frame, expected;
	struct problem problem;
	bool well = capture_open("packed", NULL, NULL, &capture, &problem) == 0;

	assert_int_equal(capture_open("plain", NULL, NULL, &as_it_was, &problem), 0);
	while (capture && capture_next(capture, &frame))
		well &= capture_next(as_it_was, &expected) && frame.t_ns == expected.t_ns &&
		        frame.bytes == expected.bytes &&
		        memcmp(frame.data, expected.data, frame.bytes) == 0;
	if (capture && capture_damage(capture)[0] == '\0' &&
	    (!well || capture_counts(capture)->frames != FRAMES))
		fail_msg("what is wrong passes, and nothing is said");
	well &= capture && capture_damage(capture)[0] == '\0';
	capture_close(capture);
	capture_close(as_it_was);
	return well;
}

/* A few bits have no meaning for a decoder: then all frames are right. */
static void a_wrong_byte_is_found_by_the_checksum(void **state)
{
	(void)state;
	make_plain(FRAMES);
	for (size_t i = 0; i < FORMATS; i++) {
		size_t bytes = formats[i].pack(plain, plain_bytes, packed);
		uint32_t well = 0, tried = 0;

		for (size_t at = 10; at < bytes; at += 1 + bytes / 211, tried++) {
			packed[at] ^= 0x10;
			write_packed(bytes);
			packed[at] ^= 0x10;
			well += reads_well();
		}
		assert_true(tried > 100 && well < 3);
	}
}

static void what_follows_that_is_not_compressed_is_said(void **state)
{
	char damage[200];

	(void)state;
	make_plain(FRAMES);
	for (size_t i = 0; i < FORMATS; i++) {
		size_t bytes = formats[i].pack(plain, plain_bytes, packed);

		memcpy(packed + bytes, "and then some text", 18);
		write_packed(bytes + 18);
		assert_int_equal(read_packed(NULL, damage), FRAMES);
		assert_non_null(strstr(damage, formats[i].name));
	}
}

/* Otherwise a decoder allocates the whole window that the file claims, before its first byte. */
static void a_window_of_more_than_128_mib_is_refused(void **state)
{
	static const uint8_t header[] = {0x28, 0xb5, 0x2f, 0xfd, 0, (28 - 10) << 3, 1, 0, 0};
	lzma_options_lzma lzma;
	lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &lzma}, {LZMA_VLI_UNKNOWN, NULL}};
	lzma_stream stream = LZMA_STREAM_INIT;
	struct problem problem;
	struct capture *capture = NULL;

	(void)state;
	memcpy(packed, header, sizeof(header));
	write_packed(sizeof(header));
	assert_int_equal(capture_open("packed", NULL, NULL, &capture, &problem), -EINVAL);
	assert_non_null(strstr(problem.text, "more than 128 MiB"));

	/* The encoder uses the memory of a small dictionary; the decoder believes the size in the
	 * header of the block. */
	lzma_lzma_preset(&lzma, 0);
	assert_int_equal(lzma_stream_encoder(&stream, filters, LZMA_CHECK_NONE), LZMA_OK);
	stream.next_in = (const uint8_t *)"x";
	stream.avail_in = 1;
	stream.next_out = packed;
	stream.avail_out = sizeof(packed);
	assert_int_equal(lzma_code(&stream, LZMA_FINISH), LZMA_STREAM_END);
	lzma_end(&stream);
	{
		/* Header of the block: size, flags, filter 0x21, size of properties 1,
		 * dictionary. */
		uint8_t *block = packed + 12;
		uint32_t crc;

		assert_int_equal(block[2], 0x21);
		block[4] = 40; /* 4 GiB - 1 */
		crc = lzma_crc32(block, (block[0] + 1u) * 4 - 4, 0);
		memcpy(block + (block[0] + 1u) * 4 - 4, &crc, 4);
	}
	write_packed(sizeof(packed) - stream.avail_out);
	assert_int_equal(capture_open("packed", NULL, NULL, &capture, &problem), -EINVAL);
	assert_non_null(strstr(problem.text, "more than 128 MiB"));
}

/* 1 GiB of zeros in 1 MB of gzip is not a capture, which shows at its beginning. */
static void a_bomb_is_refused_at_its_beginning(void **state)
{
	z_stream stream = {.next_out = packed, .avail_out = sizeof(packed)};
	struct problem problem;
	struct capture *capture = NULL;

	(void)state;
	memset(plain, 0, sizeof(plain));
	assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 9, 0), Z_OK);
	for (int i = 0; i < 64; i++) {
		stream.next_in = plain;
		stream.avail_in = sizeof(plain);
		assert_int_equal(deflate(&stream, i == 63 ? Z_FINISH : Z_NO_FLUSH),
		                 i == 63 ? Z_STREAM_END : Z_OK);
	}
	deflateEnd(&stream);
	write_packed(sizeof(packed) - stream.avail_out);
	assert_int_equal(capture_open("packed", NULL, NULL, &capture, &problem), -EINVAL);
	assert_non_null(strstr(problem.text, "is not a readable capture"));
}

/* A reader of a pipe must not wait for more than the next frame. */
static void a_frame_comes_out_of_a_pipe_before_its_writer_goes_on(void **state)
{
	z_stream stream = {.next_out = packed, .avail_out = sizeof(packed)};
	struct capture *capture = NULL;
	struct capture_frame frame;
	struct problem problem;
	char path[32];
	int ends[2];
	size_t bytes;

	(void)state;
	make_plain(2);
	assert_int_equal(pipe(ends), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", ends[0]);
	assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 9, 0), Z_OK);
	stream.next_in = plain;
	stream.avail_in = 24 + 16 + 60;
	assert_int_equal(deflate(&stream, Z_SYNC_FLUSH), Z_OK);
	bytes = sizeof(packed) - stream.avail_out;
	assert_int_equal(write(ends[1], packed, bytes), (ssize_t)bytes);
	assert_int_equal(capture_open_with(path, &(struct capture_options){.live = true}, &capture,
	                                   &problem),
	                 0);
	assert_true(capture_next(capture, &frame));
	assert_memory_equal(frame.data, plain + 40, 60);
	close(ends[1]);
	assert_false(capture_next(capture, &frame));
	assert_non_null(strstr(capture_damage(capture), "is cut off"));
	capture_close(capture);
	deflateEnd(&stream);
	close(ends[0]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter_folder, leave_folder)

GROUP(unpack)
{
	const struct CMUnitTest tests[] = {
	        TEST(what_was_compressed_reads_as_it_was),
	        TEST(a_file_compressed_in_parts_is_one),
	        TEST(a_file_that_is_cut_gives_its_beginning_and_says_so),
	        TEST(a_wrong_byte_is_found_by_the_checksum),
	        TEST(what_follows_that_is_not_compressed_is_said),
	        TEST(a_window_of_more_than_128_mib_is_refused),
	        TEST(a_bomb_is_refused_at_its_beginning),
	        TEST(a_frame_comes_out_of_a_pipe_before_its_writer_goes_on),
	};

	return cmocka_run_group_tests_name("unpack", tests, NULL, NULL);
}
