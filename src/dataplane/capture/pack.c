/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/pack.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <zstd.h>
#include <zstd_errors.h>

#define LEVEL        1
#define OUTPUT_BYTES (128u << 10)

struct pack {
	struct io_sink sink; /* first */
	int fd;
	ZSTD_CCtx *zstd;
	uint64_t written_bytes;
	uint8_t output[OUTPUT_BYTES];
};

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

/* Compresses and writes. `how`: until all output is written, or also ends the frame. */
static int put(struct pack *pack, const void *data, size_t bytes, ZSTD_EndDirective how)
{
	ZSTD_inBuffer in = {data, bytes, 0};
	size_t left;

	do {
		ZSTD_outBuffer out = {pack->output, sizeof(pack->output), 0};
		int error;

		left = ZSTD_compressStream2(pack->zstd, &out, &in, how);
		if (ZSTD_isError(left))
			return ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation ? ENOMEM
			                                                               : EIO;
		error = write_all(pack, out.pos);
		if (error)
			return error;
	} while (left > 0);
	return 0;
}

static int sink_write(struct io_sink *sink, const void *data, size_t bytes)
{
	return put((struct pack *)sink, data, bytes, ZSTD_e_flush);
}

struct pack *pack_make(int fd)
{
	struct pack *pack = calloc(1, sizeof(*pack));

	if (!pack)
		return NULL;
	pack->sink.write = sink_write;
	pack->fd = fd;
	pack->zstd = ZSTD_createCCtx();
	if (!pack->zstd ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(pack->zstd, ZSTD_c_compressionLevel, LEVEL)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(pack->zstd, ZSTD_c_checksumFlag, 1))) {
		pack_free(pack);
		return NULL;
	}
	return pack;
}

void pack_free(struct pack *pack)
{
	if (!pack)
		return;
	ZSTD_freeCCtx(pack->zstd);
	free(pack);
}

struct io_sink *pack_sink(struct pack *pack)
{
	return &pack->sink;
}

int pack_finish(struct pack *pack)
{
	return put(pack, NULL, 0, ZSTD_e_end);
}

uint64_t pack_written_bytes(const struct pack *pack)
{
	return __atomic_load_n(&pack->written_bytes, __ATOMIC_RELAXED);
}
