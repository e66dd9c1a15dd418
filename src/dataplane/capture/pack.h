/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compresses bytes on their way into a file: gzip (RFC 1952), xz or zstd (RFC 8878), on a fast
 * level, with a checksum. unpack.h is the reverse.
 *
 * Each write of pack_make can be decompressed without the later ones: a truncated file can be read
 * up to its last complete write. pack_make_for does not do that, so what it writes depends only on
 * the bytes, and not on their division into writes.
 *
 * Ownership: the descriptor is the caller's.
 * Thread: pack_written_bytes: any; everything else: one at a time.
 */
#ifndef WEIR_PACK_H
#define WEIR_PACK_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/block_file.h"

struct pack;

/* Returns true if the name of a file ends with .gz, .xz or .zst: its bytes are to be compressed. */
bool pack_wanted(const char *path);
/* Compresses in the format that the name of the file asks for. Returns NULL if there is no
 * memory. */
struct pack *pack_make_for(const char *path, int fd);
/* Compresses with zstd. Returns NULL if there is no memory. */
struct pack *pack_make(int fd);
void pack_free(struct pack *pack); /* NULL is allowed */
/* Returns the sink for an io_request. */
struct io_sink *pack_sink(struct pack *pack);
/* Completes the stream. All requests must be done. Returns 0 or an errno. */
int pack_finish(struct pack *pack);
/* Returns the number of bytes written to the compressed file. */
uint64_t pack_written_bytes(const struct pack *pack);

#endif
