/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compresses bytes on their way into a file: zstd (RFC 8878), on its fastest usual level, as one
 * frame with a checksum. Each write can be decompressed without the later ones: a truncated file
 * can be read up to its last complete write (unpack.h).
 *
 * Ownership: the descriptor is the caller's.
 * Thread: pack_written_bytes: any; everything else: one at a time.
 */
#ifndef WEIR_PACK_H
#define WEIR_PACK_H

#include <stdint.h>

#include "capture/io_thread.h"

struct pack;

/* Returns NULL if there is no memory. */
struct pack *pack_make(int fd);
void pack_free(struct pack *pack); /* NULL is allowed */
/* Returns the sink for an io_request. */
struct io_sink *pack_sink(struct pack *pack);
/* Ends the frame. All requests must be done. Returns 0 or an errno. */
int pack_finish(struct pack *pack);
/* Returns the number of bytes written to the compressed file. */
uint64_t pack_written_bytes(const struct pack *pack);

#endif
