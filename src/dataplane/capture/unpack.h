/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decompresses a file: gzip (RFC 1952, also several members in a row, as pigz and bgzip write
 * them), xz, zstd (RFC 8878). The first bytes of the file tell the format; its name does not
 * matter.
 *
 * What a file can cost: it is unpacked block by block, as it is read. The memory for that is the
 * window that the format requires, UNPACK_WINDOW_MAX at most, and 64 KiB of input. So a small file
 * that unpacks to a large one costs time, but no memory. A file that requires more is treated as
 * damaged.
 *
 * Damage. If a file is truncated or invalid, it ends with the last byte that could be unpacked, and
 * unpack_damage() returns what was wrong. The checksums of the formats are verified; that of gzip
 * is at its end, when everything before it has been handed out.
 *
 * Why not libarchive, which knows all three: version 3.6 does not verify gzip's checksum. It passes
 * a file with a changed byte as whole, and of one that lacks its last three bytes it returns
 * nothing.
 *
 * Ownership: the descriptor is the caller's.
 * Thread: unpack_done_bytes: any; unpack_damage: when the last read has ended; everything else: one
 * at a time.
 */
#ifndef WEIR_UNPACK_H
#define WEIR_UNPACK_H

#include <stddef.h>
#include <stdint.h>

#include "capture/block_file.h"

/* The number of first bytes of a file that tell whether it is compressed, and how. */
#define UNPACK_HEAD_BYTES 6

#define UNPACK_WINDOW_LOG 27
#define UNPACK_WINDOW_MAX (1u << UNPACK_WINDOW_LOG)

struct unpack;

/* `head` holds what was already read from the descriptor. Returns 0 or -ENOMEM. Sets *unpack to
 * NULL if the file is not compressed, or in none of the three formats. */
int unpack_open(int fd, const uint8_t *head, size_t head_bytes, struct unpack **unpack);
void unpack_close(struct unpack *unpack); /* NULL is allowed */

/* Returns the source of the unpacked bytes, for an io_request; it behaves like read(2). */
struct io_source *unpack_source(struct unpack *unpack);
/* Returns "" if nothing was wrong so far. */
const char *unpack_damage(const struct unpack *unpack);
/* Returns how many bytes of the compressed file were read. */
uint64_t unpack_done_bytes(const struct unpack *unpack);

#endif
