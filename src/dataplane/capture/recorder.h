/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes a capture while packets come, onto a disk that may be full for a while. That is what a
 * live port does (paced_file.h), whose packets cannot be had again. A replay can be repeated, and
 * writes all or nothing (dump.h).
 *
 * Frames are collected, and written when they are 64 KiB or 100 ms have passed. A failed write
 * begins a *trouble*: recorder_event reports it once. During a trouble the recorder retries every
 * 100 ms; frames wait in 1 MiB of memory, and frames that find no room there are lost, and counted.
 * When all that waited is written, the trouble is over, and recorder_event reports that, too.
 *
 * The file holds whole records only once it is finished. It takes its name at the end
 * (atomic_file.h), and keeps what could be written, whatever went wrong.
 *
 * Ownership: recorder_close and recorder_discard free it; one of them ends every recorder.
 * Thread: `put`, `keep`: one at a time, the writer. `event`, `lost`: control, meanwhile. Everything
 * else: control, when the writer has ended.
 */
#ifndef WEIR_RECORDER_H
#define WEIR_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simtime.h"
#include "scenario/problem.h"

struct recorder;

/* 0; -EINVAL with problem: the file cannot be made, or not even its head can be written;
 * -ENOMEM. */
int recorder_open(const char *path, struct recorder **recorder, struct problem *problem);
/* Adds a frame of which `bytes` (up to CAPTURE_FRAME_MAX) are at hand and `wire_bytes` were on the
 * wire. One after 2106 does not fit into a pcap, and is lost. */
void recorder_put(struct recorder *recorder, simtime t_ns, const void *data, uint32_t bytes,
                  uint32_t wire_bytes);
/* To be called now and then, also when nothing comes: writes what has waited for 100 ms. `now_ns`:
 * of any clock that goes on. */
void recorder_keep(struct recorder *recorder, uint64_t now_ns);
/* Writes what can be written; what cannot is lost. From now on `lost` stands still. */
void recorder_finish(struct recorder *recorder);
/* Finishes and gives the file its name: 0; or -EIO with problem: frames are missing in it, or it
 * could not be given its name, and then the problem says where it is. */
int recorder_close(struct recorder *recorder, struct problem *problem);
void recorder_discard(struct recorder *recorder); /* NULL is allowed */

/* True, with a line about it, once for each trouble that has begun and each that is over. */
bool recorder_event(struct recorder *recorder, char *line, size_t room);
/* Frames that could not be written. */
uint64_t recorder_lost(const struct recorder *recorder);

#endif
