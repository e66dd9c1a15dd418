/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/unpack.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#define INPUT_BYTES 65536u
static const char too_large[] = "not unpacked: that takes more than 128 MiB of memory";

/* A decoder of xz needs some tables besides its window. */
#define XZ_MEMORY_MAX (UNPACK_WINDOW_MAX + (16u << 20))
#define GZIP_WINDOW   (16 + MAX_WBITS) /* 16: only with gzip's header */

struct unpack {
	struct io_source source;
	const struct format *format;
	int fd;
	uint8_t *out; /* place of the next byte of output, and room there */
	size_t room;
	size_t at, end; /* in `input`: what was read and is not yet taken */
	bool input_ended;
	bool whole; /* what was taken so far could be a complete file */
	bool ended;
	uint64_t done_bytes;
	union {
		z_stream gzip;
		lzma_stream xz;
		ZSTD_DStream *zstd;
	};
	char damage[120];
	uint8_t input[INPUT_BYTES];
};

struct format {
	const char *name;
	uint8_t magic[UNPACK_HEAD_BYTES], mask[UNPACK_HEAD_BYTES];
	int (*begin)(struct unpack *unpack);
	/* Takes input and produces output, as far as both allow. Returns 0, or ENOMEM if there is
	 * no memory. */
	int (*step)(struct unpack *unpack);
	void (*end)(struct unpack *unpack);
};

static int end_damaged(struct unpack *unpack, const char *why)
{
	unpack->ended = true;
	snprintf(unpack->damage, sizeof(unpack->damage), "the %s stream is %s",
	         unpack->format->name, why);
	return 0;
}

static size_t input_bytes(const struct unpack *unpack)
{
	return unpack->end - unpack->at;
}

/* Ends the stream: all input is used up, and no more output comes. */
static int end_of_input(struct unpack *unpack)
{
	unpack->ended = true;
	return unpack->whole ? 0 : end_damaged(unpack, "cut off");
}

/* ---- gzip ---- */

static int gzip_begin(struct unpack *unpack)
{
	return inflateInit2(&unpack->gzip, GZIP_WINDOW) == Z_OK ? 0 : -ENOMEM;
}

static int gzip_step(struct unpack *unpack)
{
	z_stream *gzip = &unpack->gzip;
	int result;

	/* A gzip member has ended, and another follows. */
	if (unpack->whole && input_bytes(unpack) > 0 && inflateReset(gzip) != Z_OK)
		return ENOMEM;
	if (unpack->whole && input_bytes(unpack) == 0)
		return end_of_input(unpack);
	unpack->whole = false;
	gzip->next_in = unpack->input + unpack->at;
	gzip->avail_in = (uInt)input_bytes(unpack);
	gzip->next_out = unpack->out;
	gzip->avail_out = (uInt)unpack->room;
	result = inflate(gzip, Z_NO_FLUSH);
	unpack->at = unpack->end - gzip->avail_in;
	unpack->out = gzip->next_out;
	unpack->room = gzip->avail_out;
	switch (result) {
	case Z_STREAM_END:
		unpack->whole = true;
		return 0;
	case Z_OK:
		return 0;
	case Z_BUF_ERROR: /* more input is needed */
		return unpack->input_ended ? end_of_input(unpack) : 0;
	case Z_MEM_ERROR:
		return ENOMEM;
	default:
		return end_damaged(unpack, "damaged");
	}
}

static void gzip_end(struct unpack *unpack)
{
	inflateEnd(&unpack->gzip);
}

/* ---- xz ---- */

static int xz_begin(struct unpack *unpack)
{
	unpack->xz = (lzma_stream)LZMA_STREAM_INIT;
	return lzma_stream_decoder(&unpack->xz, XZ_MEMORY_MAX, LZMA_CONCATENATED) == LZMA_OK
	               ? 0
	               : -ENOMEM;
}

static int xz_step(struct unpack *unpack)
{
	lzma_stream *xz = &unpack->xz;
	lzma_ret result;

	xz->next_in = unpack->input + unpack->at;
	xz->avail_in = input_bytes(unpack);
	xz->next_out = unpack->out;
	xz->avail_out = unpack->room;
	result = lzma_code(xz, unpack->input_ended ? LZMA_FINISH : LZMA_RUN);
	unpack->at = unpack->end - xz->avail_in;
	unpack->out = xz->next_out;
	unpack->room = xz->avail_out;
	switch (result) {
	case LZMA_STREAM_END:
		unpack->ended = true;
		return 0;
	case LZMA_OK:
		return 0;
	case LZMA_BUF_ERROR:
		return unpack->input_ended ? end_of_input(unpack) : 0;
	case LZMA_MEM_ERROR:
		return ENOMEM;
	case LZMA_MEMLIMIT_ERROR:
		return end_damaged(unpack, too_large);
	case LZMA_OPTIONS_ERROR:
		return end_damaged(unpack, "of a kind that this liblzma does not support");
	default:
		return end_damaged(unpack, "damaged");
	}
}

static void xz_end(struct unpack *unpack)
{
	lzma_end(&unpack->xz);
}

/* ---- zstd ---- */

static int zstd_begin(struct unpack *unpack)
{
	unpack->zstd = ZSTD_createDStream();
	if (!unpack->zstd || ZSTD_isError(ZSTD_DCtx_setParameter(unpack->zstd, ZSTD_d_windowLogMax,
	                                                         UNPACK_WINDOW_LOG)))
		return -ENOMEM;
	return 0;
}

static int zstd_step(struct unpack *unpack)
{
	ZSTD_inBuffer in = {unpack->input + unpack->at, input_bytes(unpack), 0};
	ZSTD_outBuffer out = {unpack->out, unpack->room, 0};
	size_t result;

	if (unpack->whole && in.size == 0)
		return unpack->input_ended ? end_of_input(unpack) : 0;
	result = ZSTD_decompressStream(unpack->zstd, &out, &in);
	unpack->at += in.pos;
	unpack->out += out.pos;
	unpack->room -= out.pos;
	if (ZSTD_isError(result)) {
		switch (ZSTD_getErrorCode(result)) {
		case ZSTD_error_memory_allocation:
			return ENOMEM;
		case ZSTD_error_frameParameter_windowTooLarge:
			return end_damaged(unpack, too_large);
		default:
			return end_damaged(unpack, "damaged");
		}
	}
	/* True if a frame has ended and nothing of the next one was taken. */
	unpack->whole = result == 0;
	if (in.size == 0 && out.pos == 0 && unpack->input_ended)
		return end_of_input(unpack);
	return 0;
}

static void zstd_end(struct unpack *unpack)
{
	ZSTD_freeDStream(unpack->zstd);
}

/* ---- all formats ---- */

static const struct format formats[] = {
        {"gzip", {0x1f, 0x8b, 0x08}, {0xff, 0xff, 0xff}, gzip_begin, gzip_step, gzip_end},
        {"xz",
         {0xfd, '7', 'z', 'X', 'Z', 0},
         {0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
         xz_begin,
         xz_step,
         xz_end},
        {"zstd",
         {0x28, 0xb5, 0x2f, 0xfd},
         {0xff, 0xff, 0xff, 0xff},
         zstd_begin,
         zstd_step,
         zstd_end},
        /* Skippable frames, with which pzstd begins. */
        {"zstd",
         {0x50, 0x2a, 0x4d, 0x18},
         {0xf0, 0xff, 0xff, 0xff},
         zstd_begin,
         zstd_step,
         zstd_end},
};

static const struct format *find_format(const uint8_t *head, size_t bytes)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		bool fits = true;

		for (size_t j = 0; j < UNPACK_HEAD_BYTES && fits; j++)
			fits = ((j < bytes ? head[j] : 0) & formats[i].mask[j]) ==
			       formats[i].magic[j];
		if (fits)
			return &formats[i];
	}
	return NULL;
}

static int read_input(struct unpack *unpack)
{
	ssize_t n = read(unpack->fd, unpack->input, INPUT_BYTES);

	if (n < 0)
		return errno;
	unpack->at = 0;
	unpack->end = (size_t)n;
	unpack->input_ended = n == 0;
	__atomic_store_n(&unpack->done_bytes, unpack->done_bytes + (uint64_t)n, __ATOMIC_RELAXED);
	return 0;
}

/* Returns as soon as there is some output, so it reads no more from a pipe than that needs. */
static ssize_t read_unpacked(struct io_source *source, void *to, size_t bytes)
{
	struct unpack *unpack = (struct unpack *)source;
	int error = 0;

	unpack->out = to;
	unpack->room = bytes;
	while (unpack->room == bytes && bytes > 0 && !unpack->ended && !error) {
		if (input_bytes(unpack) == 0 && !unpack->input_ended)
			error = read_input(unpack);
		if (!error)
			error = unpack->format->step(unpack);
	}
	if (unpack->room == bytes && error) {
		errno = error;
		return -1;
	}
	return (ssize_t)(bytes - unpack->room);
}

int unpack_open(int fd, const uint8_t *head, size_t head_bytes, struct unpack **result)
{
	const struct format *format = find_format(head, head_bytes);
	struct unpack *unpack;

	*result = NULL;
	if (!format)
		return 0;
	unpack = calloc(1, sizeof(*unpack));
	if (!unpack)
		return -ENOMEM;
	unpack->source.read = read_unpacked;
	unpack->fd = fd;
	unpack->format = format;
	memcpy(unpack->input, head, head_bytes);
	unpack->end = head_bytes;
	unpack->done_bytes = head_bytes;
	if (format->begin(unpack)) {
		unpack_close(unpack);
		return -ENOMEM;
	}
	*result = unpack;
	return 0;
}

void unpack_close(struct unpack *unpack)
{
	if (!unpack)
		return;
	unpack->format->end(unpack);
	free(unpack);
}

struct io_source *unpack_source(struct unpack *unpack)
{
	return &unpack->source;
}

const char *unpack_damage(const struct unpack *unpack)
{
	return unpack->damage;
}

uint64_t unpack_done_bytes(const struct unpack *unpack)
{
	return __atomic_load_n(&unpack->done_bytes, __ATOMIC_RELAXED);
}
