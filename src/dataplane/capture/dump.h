/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes a capture: a pcap with nanoseconds and records up to 256 KiB. The file appears under its
 * name when it is complete (atomic_file.h). If that fails, nothing is left behind.
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

/* `io_thread` writes behind; NULL: the caller writes (io_thread.h). `link_layer` is the link that
 * the written frames have; NULL: Ethernet. It stays the caller's. Returns 0; -EINVAL with problem
 * if the file cannot be created; or -ENOMEM. */
int dump_open(const char *path, struct io_thread *io_thread, const struct link_layer *link_layer,
              struct dump **dump, struct problem *problem);
/* Adds a frame of which `bytes` are present and `wire_bytes` were on the wire. Errors are kept
 * until dump_error reads them. An instant after 2106 does not fit into a pcap and is an error,
 * too. */
void dump_write(struct dump *dump, simtime t_ns, const void *data, uint32_t bytes,
                uint32_t wire_bytes);
/* Returns 0, or with problem -ENOSPC (disk full) or -EIO. An error shows some blocks after its
 * write. To be called after each batch. */
int dump_error(struct dump *dump, struct problem *problem);
int dump_finish(struct dump *dump, struct problem *problem);
int dump_publish(struct dump *dump, struct problem *problem);
void dump_discard(struct dump *dump); /* NULL is allowed */

/* For other writers of such captures (recorder.h): the header of the file, as libpcap writes it,
 * and the header of each frame. */
#define DUMP_HEAD_BYTES 24
/* Returns 0 or -ENOMEM. `link` is a DLT_ value of libpcap. */
int dump_head(int link, uint8_t head[DUMP_HEAD_BYTES]);
struct dump_record {
	uint32_t seconds, fraction_ns, bytes, wire_bytes;
};

#endif
