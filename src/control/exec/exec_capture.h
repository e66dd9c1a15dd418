/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The capture of a run of `weir exec`: what crossed both ends of the path, as the hosts there saw
 * it. Each end is an interface of the capture, with the name of its port; outbound is what the host
 * at that end sent. A packet from the command is outbound at the command's end with the instant at
 * which weir took it, and inbound at the far end with the one at which weir handed it over.
 *
 * Instants are of weir's own clock, which runs evenly, moved to the time of day once, at the start:
 * differences between two packets are as exact as weir's timing.
 *
 * Ownership: exec_capture_close frees it.
 * Thread: control; the workers put frames into the queue.
 */
#ifndef WEIR_EXEC_CAPTURE_H
#define WEIR_EXEC_CAPTURE_H

#include "capture/frame_queue.h"
#include "scenario/scenario.h"

/* How often exec_capture_take must come: the queue then keeps up with 50 Gbit/s. */
#define EXEC_CAPTURE_PACE_MS 10

struct exec_capture;

/* `near`: the command's port. 0; -EINVAL with problem: the file cannot be made; -ENOMEM. */
int exec_capture_open(const char *path, const struct scenario *scenario, uint32_t near,
                      struct exec_capture **capture, struct problem *problem);
struct frame_queue *exec_capture_frames(struct exec_capture *capture);
/* What the clock of the run reads now. */
void exec_capture_begin(struct exec_capture *capture, uint64_t now_ns);
/* Writes what has come. */
void exec_capture_take(struct exec_capture *capture);
/* 0, or -errno with problem. Says on standard error how many frames are missing. */
int exec_capture_finish(struct exec_capture *capture, struct problem *problem);
int exec_capture_publish(struct exec_capture *capture, struct problem *problem);
/* When no worker is left. NULL is allowed. */
void exec_capture_close(struct exec_capture *capture);

#endif
