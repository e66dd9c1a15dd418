/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#define ZSTD_LEVEL   1
#define GZIP_LEVEL   1
#define XZ_LEVEL     1
#define GZIP_WINDOW  (16 + MAX_WBITS) /* 16: with gzip's header */
#define GZIP_MEMORY  8                /* zlib's default */
#define OUTPUT_BYTES (128u << 10)

/* Until when bytes are put: they may wait; all must be written; the stream ends. */
enum until { UNTIL_LATER, UNTIL_WRITTEN, UNTIL_END };

struct pack {
	struct io_sink sink; /* first */
	const struct format *format;
	int fd;
	enum until until; /* of each write */
	union {
		ZSTD_CCtx *zstd;
		z_stream gzip;
		lzma_stream xz;
	};
	uint64_t written_bytes;
	uint8_t output[OUTPUT_BYTES];
};

/* Bytes that are on their way from `in` to `output`. */
struct step {
	const uint8_t *in;
	size_t in_bytes, out_bytes;
	bool done; /* nothing is left of what `until` asks for */
};

struct format {
	const char *suffix;
	bool (*begin)(struct pack *pack);
	/* Returns 0 or an errno. */
	int (*step)(struct pack *pack, struct step *step, enum until until);
	void (*end)(struct pack *pack);
};

/* ---- zstd ---- */

static bool zstd_begin(struct pack *pack)
{
	pack->zstd = ZSTD_createCCtx();
	return pack->zstd &&
	       !ZSTD_isError(
	               ZSTD_CCtx_setParameter(pack->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL)) &&
	       !ZSTD_isError(ZSTD_CCtx_setParameter(pack->zstd, ZSTD_c_checksumFlag, 1));
}

static int zstd_step(struct pack *pack, struct step *step, enum until until)
{
	static const ZSTD_EndDirective how[] = {ZSTD_e_continue, ZSTD_e_flush, ZSTD_e_end};
	ZSTD_outBuffer out = {pack->output, sizeof(pack->output), 0};
	ZSTD_inBuffer in = {step->in, step->in_bytes, 0};
	const size_t left = ZSTD_compressStream2(pack->zstd, &out, &in, how[until]);

	if (ZSTD_isError(left))
		return ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation ? ENOMEM : EIO;
	step->in += in.pos;
	step->in_bytes -= in.pos;
	step->out_bytes = out.pos;
	step->done = until == UNTIL_LATER ? step->in_bytes == 0 : left == 0;
	return 0;
}

static void zstd_end(struct pack *pack)
{
	ZSTD_freeCCtx(pack->zstd);
}

/* ---- gzip ---- */

static bool gzip_begin(struct pack *pack)
{
	return deflateInit2(&pack->gzip, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
	                    Z_DEFAULT_STRATEGY) == Z_OK;
}

static int gzip_step(struct pack *pack, struct step *step, enum until until)
{
	static const int how[] = {Z_NO_FLUSH, Z_SYNC_FLUSH, Z_FINISH};
	const uInt bytes = (uInt)(step->in_bytes < UINT32_MAX ? step->in_bytes : UINT32_MAX);
	int result;

	pack->gzip.next_in = (Bytef *)(uintptr_t)step->in;
	pack->gzip.avail_in = bytes;
	pack->gzip.next_out = pack->output;
	pack->gzip.avail_out = sizeof(pack->output);
	result = deflate(&pack->gzip, how[until]);
	if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
		return EIO;
	step->in += bytes - pack->gzip.avail_in;
	step->in_bytes -= bytes - pack->gzip.avail_in;
	step->out_bytes = sizeof(pack->output) - pack->gzip.avail_out;
	step->done = until == UNTIL_END ? result == Z_STREAM_END
	                                : step->in_bytes == 0 && pack->gzip.avail_out > 0;
	return 0;
}

static void gzip_end(struct pack *pack)
{
	deflateEnd(&pack->gzip);
}

/* ---- xz ---- */

static bool xz_begin(struct pack *pack)
{
	pack->xz = (lzma_stream)LZMA_STREAM_INIT;
	return lzma_easy_encoder(&pack->xz, XZ_LEVEL, LZMA_CHECK_CRC64) == LZMA_OK;
}

static int xz_step(struct pack *pack, struct step *step, enum until until)
{
	static const lzma_action how[] = {LZMA_RUN, LZMA_SYNC_FLUSH, LZMA_FINISH};
	const size_t bytes = step->in_bytes;
	lzma_ret result;

	pack->xz.next_in = step->in;
	pack->xz.avail_in = bytes;
	pack->xz.next_out = pack->output;
	pack->xz.avail_out = sizeof(pack->output);
	result = lzma_code(&pack->xz, how[until]);
	if (result != LZMA_OK && result != LZMA_STREAM_END)
		return result == LZMA_MEM_ERROR ? ENOMEM : EIO;
	step->in += bytes - pack->xz.avail_in;
	step->in_bytes = pack->xz.avail_in;
	step->out_bytes = sizeof(pack->output) - pack->xz.avail_out;
	step->done = until == UNTIL_LATER ? step->in_bytes == 0 : result == LZMA_STREAM_END;
	return 0;
}

static void xz_end(struct pack *pack)
{
	lzma_end(&pack->xz);
}

/* ---- all formats ---- */

static const struct format formats[] = {
        {".zst", zstd_begin, zstd_step, zstd_end},
        {".gz", gzip_begin, gzip_step, gzip_end},
        {".xz", xz_begin, xz_step, xz_end},
};

static const struct format *format_of(const char *path)
{
	const size_t length = strlen(path);

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		const size_t bytes = strlen(formats[i].suffix);

		if (length > bytes && strcmp(path + length - bytes, formats[i].suffix) == 0)
			return &formats[i];
	}
	return NULL;
}

bool pack_wanted(const char *path)
{
	return format_of(path) != NULL;
}

static int write_all(struct pack *pack, size_t bytes)
{
	for (size_t done = 0; done < bytes;) {
		ssize_t n = write(pack->fd, pack->output + done, bytes - done);

		if (n < 0)
			return errno;
		done += (size_t)n;
	}
	__atomic_fetch_add(&pack->written_bytes, bytes, __ATOMIC_RELAXED);
	return 0;
}

static int put(struct pack *pack, const void *data, size_t bytes, enum until until)
{
	struct step step = {.in = data, .in_bytes = bytes};
	int error = 0;

	while (!step.done && !error) {
		error = pack->format->step(pack, &step, until);
		if (!error)
			error = write_all(pack, step.out_bytes);
	}
	return error;
}

static int sink_write(struct io_sink *sink, const void *data, size_t bytes)
{
	struct pack *pack = (struct pack *)sink;

	return bytes > 0 ? put(pack, data, bytes, pack->until) : 0;
}

static struct pack *make(const struct format *format, int fd, enum until until)
{
	struct pack *pack = calloc(1, sizeof(*pack));

	if (!pack)
		return NULL;
	pack->sink.write = sink_write;
	pack->format = format;
	pack->fd = fd;
	pack->until = until;
	if (format->begin(pack))
		return pack;
	pack_free(pack);
	return NULL;
}

struct pack *pack_make_for(const char *path, int fd)
{
	return make(format_of(path), fd, UNTIL_LATER);
}

struct pack *pack_make(int fd)
{
	return make(&formats[0], fd, UNTIL_WRITTEN);
}

void pack_free(struct pack *pack)
{
	if (!pack)
		return;
	pack->format->end(pack);
	free(pack);
}

struct io_sink *pack_sink(struct pack *pack)
{
	return &pack->sink;
}

int pack_finish(struct pack *pack)
{
	return put(pack, NULL, 0, UNTIL_END);
}

uint64_t pack_written_bytes(const struct pack *pack)
{
	return __atomic_load_n(&pack->written_bytes, __ATOMIC_RELAXED);
}
