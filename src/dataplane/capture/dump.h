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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/block_file.h"
#include "capture/link_layer.h"
#include "scenario/problem.h"
#include "simtime.h"

struct dump;

/* `io_thread` writes behind; NULL: the caller writes (block_file.h). `link_layer` is the link that
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

/* The header of the file, as libpcap writes it, and the header of each frame. */
#define DUMP_HEAD_BYTES 24
struct dump_record {
	uint32_t seconds, fraction_ns, bytes, wire_bytes;
};

/*
 * Writes a capture while packets come, onto a disk that may be full for a while. A live port does
 * this (port_kinds.h), because its packets cannot be obtained again. A replay can be repeated, and
 * writes all or nothing.
 *
 * Frames are collected, and written when they are 64 KiB or 100 ms have passed. A failed write
 * begins a *trouble*: recorder_event reports it once. During a trouble the recorder retries every
 * 100 ms. Frames wait in 1 MiB of memory; frames that find no room there are lost, and counted.
 * When all waiting frames are written, the trouble is over, and recorder_event reports that, too.
 *
 * Only after recorder_finish does the file consist of whole records. It takes its name at the end
 * (atomic_file.h), and keeps what could be written, whatever failed.
 *
 * The file is never compressed: its name must not ask for that (pack.h).
 *
 * Ownership: recorder_close and recorder_discard free it; one of them ends every recorder.
 * Thread: `put`, `keep`: one at a time, the writer. `event`, `lost`: control, meanwhile; `hurry`,
 * too. Everything else: control, when the writer has ended.
 */

struct recorder;

/* Returns 0; -EINVAL with problem if the file cannot be created, or not even its head can be
 * written, for which a pipe may take one second; or -ENOMEM with problem. */
int recorder_open(const char *path, struct recorder **recorder, struct problem *problem);
/* Adds a frame of which `bytes` (up to CAPTURE_FRAME_MAX) are in memory and `wire_bytes` were on
 * the wire. An instant after 2106 does not fit into a pcap: such a frame is lost. */
void recorder_put(struct recorder *recorder, simtime t_ns, const void *data, uint32_t bytes,
                  uint32_t wire_bytes);
/* Writes what has waited for 100 ms. To be called now and then, also when no frames come. `now_ns`
 * is the time of any clock that advances. */
void recorder_keep(struct recorder *recorder, uint64_t now_ns);
/* To be called at the end of the run. Until then a pipe whose reader does not read holds the writer
 * up; from now on, for one second at most. */
void recorder_hurry(struct recorder *recorder);
/* Writes what can be written; the rest is lost. From now on `lost` does not change. */
void recorder_finish(struct recorder *recorder);
/* Finishes, and gives the file its name. Returns 0, or an error with problem: -EIO if frames are
 * missing in the file; or as atomic_file_keep does, for example if the file could not be given its
 * name; then the problem says where it is. */
int recorder_close(struct recorder *recorder, struct problem *problem);
void recorder_discard(struct recorder *recorder); /* NULL is allowed */

/* Returns true, with a line of text, once for each trouble that has begun, and once for each that
 * is over. */
bool recorder_event(struct recorder *recorder, char *line, size_t room);
/* Returns the number of frames that could not be written. */
uint64_t recorder_lost(const struct recorder *recorder);

#endif
