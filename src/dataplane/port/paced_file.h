/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A capture file as a live port: `file:PATH[,interface=NAME][,speed=N][,loop][,out=PATH]`.
 *
 * On reception the port plays the capture PATH or, if PATH is the folder of a recording, what came
 * in during that recording (record/recording.h). Its first frame comes when the port starts, each
 * further frame as much later as its time stamp says, divided by `speed`; with `loop` it starts
 * over at the end, one last gap later. With `interface`, only the frames of a pcapng that were seen
 * at the interface of that name are played; the start of the port then corresponds to the first
 * packet of all interfaces, so that what several ports play from one file stays in step. Without
 * PATH (`file:,out=PATH`) nothing is received. What is sent to the port is counted and discarded,
 * or written to the capture of `out`, with the instants at which it was due, on the time axis of
 * the capture that is played (of real time, if none is, or if a pipe gives no frame in the first
 * 100 ms).
 *
 * One thread reads, another one writes; they exchange frames with the worker over two rings, so the
 * worker never waits for a disk, and a pipe that falls silent does not hold up the output. If the
 * disk cannot keep up, frames come late, and what is sent is refused, as by a device: it is lost
 * 100 ms later. If the disk is full, an event reports that, lost frames are counted, and what was
 * written is kept (recorder.h).
 *
 * Ownership: mbufs of the pool lie in the rings, PACED_FILE_MBUFS at most.
 *
 * Thread: receive and transmit: one worker each. Everything else: control.
 */
#ifndef WEIR_PACED_FILE_H
#define WEIR_PACED_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "simtime.h"
#include "scenario/problem.h"

#define PACED_FILE_RING  1024
#define PACED_FILE_MBUFS (2 * PACED_FILE_RING + 64)

struct paced_file;

/* Opens the files. A relative PATH is searched in `folder` first (NULL, or ending with a slash),
 * then in the working directory; the PATH of `out` is relative to the working directory. Returns 0,
 * or -errno with problem: no such file, no capture, the output cannot be made. */
int paced_file_open(const char *device, const char *folder, struct rte_mempool *pool,
                    struct paced_file **file, struct problem *problem);
/* Checks that the text is right, and the file can be read. Returns 0, or -errno with problem. */
int paced_file_check(const char *device, const char *folder, struct problem *problem);
int paced_file_start(struct paced_file *file, simtime now, struct problem *problem);
/* Ends playing, even if a pipe is silent. Ends sending: writes what is on its way; a pipe that
 * nobody reads holds it up for a second at most. From now on the count of frames not written
 * stays. */
void paced_file_halt(struct paced_file *file);
/* Halts, and frees. Returns 0, or an error with problem, as recorder_close: -EIO if frames are
 * missing in the output. A file that was never started leaves no output. */
int paced_file_close(struct paced_file *file, struct problem *problem);

/* Returns the instant of the next frame. If the reader has not read that yet, returns an instant
 * shortly after `now`; SIMTIME_NEVER if there is none. Thread: the receiving worker's. */
simtime paced_file_next(struct paced_file *file, simtime now);
uint16_t paced_file_receive(struct paced_file *file, struct rte_mbuf **mbufs, uint16_t n,
                            simtime now);
uint16_t paced_file_transmit(struct paced_file *file, struct rte_mbuf **mbufs,
                             const simtime *due_ns, uint16_t n);

/* Returns true, with a line about it, once for each event: the next frame does not come for ten
 * seconds or longer, the capture has come to its end, the output cannot be written, it can be
 * written again. */
bool paced_file_event(struct paced_file *file, char *line, size_t room);
/* Returns the frames that were sent to the port and could not be written. */
uint64_t paced_file_not_written(const struct paced_file *file);

#endif
