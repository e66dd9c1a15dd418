/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A capture file as a live port: `file:PATH[,interface=NAME][,speed=N][,loop][,out=PATH]`.
 *
 * On reception the port plays the capture PATH, or what came in of the recording in the folder PATH
 * (record/recording.h): its first frame comes when the port starts, each further one as much later
 * as its time stamp says, divided by `speed`; with `loop` it starts over at the end, one last gap
 * later. With `interface`, of a pcapng only what was seen at the interface of that name; then the
 * first packet of all interfaces would come when the port starts, so that what several ports play
 * of one file stays together. Without PATH (`file:,out=PATH`) nothing is
 * received. What is sent to the port is counted and discarded, or written to the capture of `out`,
 * with the instants at which it was due, on the time axis of the capture that is played (of the
 * real time, if there is none).
 *
 * A thread of its own reads and writes the files; the worker meets it over two rings and never
 * waits for a disk. If the disk cannot keep up, frames come late, and what is sent waits in the
 * engine. If it is full, an event reports that, lost frames are counted, and what was written is
 * kept (recorder.h).
 *
 * Ownership: mbufs of the pool lie in the rings, PACED_FILE_MBUFS at most.
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

/* A relative PATH is looked for in `folder` first (NULL, or ending with a slash), then here; that
 * of `out` is here. 0, or -errno with problem: no such file, no capture, the output cannot be
 * made. */
int paced_file_open(const char *device, const char *folder, struct rte_mempool *pool,
                    struct paced_file **file, struct problem *problem);
/* Whether the text is right, and the file can be read. 0, or -errno with problem. */
int paced_file_check(const char *device, const char *folder, struct problem *problem);
int paced_file_start(struct paced_file *file, simtime now, struct problem *problem);
/* Ends sending: writes what is on its way. From now on the count of what was not written stays. */
void paced_file_halt(struct paced_file *file);
/* Halts, and frees. 0, or -EIO with problem: frames are missing in the output. What was never
 * started leaves none. */
int paced_file_close(struct paced_file *file, struct problem *problem);

uint16_t paced_file_receive(struct paced_file *file, struct rte_mbuf **mbufs, uint16_t n,
                            simtime now);
uint16_t paced_file_transmit(struct paced_file *file, struct rte_mbuf **mbufs,
                             const simtime *due_ns, uint16_t n);

/* True, with a line about it, once for each event: the capture has come to its end, the output
 * cannot be written, it can again. */
bool paced_file_event(struct paced_file *file, char *line, size_t room);
/* Frames that were sent to the port and could not be written. */
uint64_t paced_file_not_written(const struct paced_file *file);

#endif
