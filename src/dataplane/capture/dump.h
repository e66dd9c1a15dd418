/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing a capture: pcap with nanoseconds, records up to 256 KiB. The file appears under
 * its name when it is complete (atomic_file.h), and leaves nothing behind when that fails.
 *
 * Ownership: dump_publish and dump_discard free the dump; one of them ends every dump.
 * Thread: one at a time.
 */
#ifndef WEIR_DUMP_H
#define WEIR_DUMP_H

#include <stdint.h>

#include "capture/io_thread.h"
#include "capture/link_layer.h"
#include "simtime.h"
#include "scenario/problem.h"

struct dump;

/* `io_thread` writes behind, or NULL (io_thread.h). `link_layer`: of which the frames shall be
 * again, or NULL: Ethernet. It stays the caller's. 0; -EINVAL with problem when the file cannot be
 * made; -ENOMEM. */
int dump_open(const char *path, struct io_thread *io_thread, const struct link_layer *link_layer,
              struct dump **dump, struct problem *problem);
/* Adds a frame of which `bytes` are present and `wire_bytes` were on the wire. Errors stay until
 * dump_error reads them. An instant after 2106 does not fit into a pcap and is an error too. */
void dump_write(struct dump *dump, simtime t_ns, const void *data, uint32_t bytes,
                uint32_t wire_bytes);
/* 0, or -EIO with problem (disk full), some blocks late. Call it after each batch. */
int dump_error(struct dump *dump, struct problem *problem);
int dump_finish(struct dump *dump, struct problem *problem);
int dump_publish(struct dump *dump, struct problem *problem);
void dump_discard(struct dump *dump); /* NULL is allowed */

/* For another writer of such captures (recorder.h): the file's header, as libpcap writes it, and
 * the header of each frame. */
#define DUMP_HEAD_BYTES 24
/* `link`: of libpcap, a DLT_. 0 or -ENOMEM. */
int dump_head(int link, uint8_t head[DUMP_HEAD_BYTES]);
struct dump_record {
	uint32_t seconds, fraction_ns, bytes, wire_bytes;
};

#endif
