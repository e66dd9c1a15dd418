/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bytes on their way into a file, compressed by zstd (RFC 8878), on its fastest usual level: one
 * frame, with a checksum. What is written at one time can be unpacked at once, whatever becomes of
 * the rest: of a file that is cut off, all is there up to the last write that is whole (unpack.h).
 *
 * Ownership: the descriptor is the caller's. Thread: pack_written_bytes any; everything else one at
 * a time.
 */
#ifndef WEIR_PACK_H
#define WEIR_PACK_H

#include <stdint.h>

#include "capture/io_thread.h"

struct pack;

/* NULL: no memory. */
struct pack *pack_make(int fd);
void pack_free(struct pack *pack); /* NULL is allowed */
/* What takes the bytes, for an io_request. */
struct io_sink *pack_sink(struct pack *pack);
/* The end of the frame, when all requests are done. 0, or an errno. */
int pack_finish(struct pack *pack);
/* Bytes of the compressed file. */
uint64_t pack_written_bytes(const struct pack *pack);

#endif
