/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A compressed file as the bytes that were compressed: gzip (RFC 1952, also several members in a
 * row, as pigz and bgzip write them), xz, zstd (RFC 8878). The first bytes of a file say which it
 * is; its name does not matter.
 *
 * What a file can cost: it is unpacked block by block, as it is read. The memory for that is the
 * window that the format asks for, UNPACK_WINDOW_MAX at most, and 64 KiB of input; so a small file
 * that unpacks to a large one costs time, and no memory. A file that asks for more is damaged.
 *
 * Damage. If a file is cut or not what it should be, it ends with the last byte that could be
 * unpacked, and unpack_damage() says what was wrong. The checksums of the formats are verified;
 * gzip's stand at its end, when all before them has been handed out.
 *
 * Ownership: the descriptor is the caller's. Thread: unpack_done_bytes any; unpack_damage when the
 * last read has ended; everything else one at a time.
 */
#ifndef WEIR_UNPACK_H
#define WEIR_UNPACK_H

#include <stddef.h>
#include <stdint.h>

#include "capture/io_thread.h"

/* How many of a file's first bytes say whether it is compressed, and how. */
#define UNPACK_HEAD_BYTES 6

#define UNPACK_WINDOW_LOG 27
#define UNPACK_WINDOW_MAX (1u << UNPACK_WINDOW_LOG)

struct unpack;

/* `head` was read from the descriptor already. 0; -ENOMEM. *unpack NULL: it is not compressed, or
 * by none of the three. */
int unpack_open(int fd, const uint8_t *head, size_t head_bytes, struct unpack **unpack);
void unpack_close(struct unpack *unpack); /* NULL is allowed */

/* What reads the unpacked bytes, for an io_request: like read(2). */
struct io_source *unpack_source(struct unpack *unpack);
/* "" if nothing (so far). */
const char *unpack_damage(const struct unpack *unpack);
/* Bytes of the compressed file that were read. */
uint64_t unpack_done_bytes(const struct unpack *unpack);

#endif
