/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The capture of a run of `weir exec`: the packets at both ends of the path, as the hosts there see
 * them. Each end is an interface of the capture, named like its port; outbound is what the host at
 * that end sent. A packet from the command is outbound at the command's end, at the instant when
 * the kernel sent it to weir, and inbound at the far end, at the instant when weir handed it over.
 *
 * Instants are of weir's own clock, which runs evenly, shifted to the time of day once, at the
 * start: differences between two packets are as exact as weir's timing.
 *
 * Ownership: exec_capture_close frees it.
 * Thread: control; the workers put frames into the queue.
 */
#ifndef WEIR_EXEC_CAPTURE_H
#define WEIR_EXEC_CAPTURE_H

#include "capture/frame_queue.h"
#include "scenario/scenario.h"

/* How often exec_capture_take must be called: the queue then keeps up with 50 Gbit/s. */
#define EXEC_CAPTURE_PACE_MS 10

struct exec_capture;

/* Opens a capture; `near` is the command's port. Returns 0; -EINVAL with problem if the file cannot
 * be created; -ENOMEM. */
int exec_capture_open(const char *path, const struct scenario *scenario, uint32_t near,
                      struct exec_capture **capture, struct problem *problem);
struct frame_queue *exec_capture_frames(struct exec_capture *capture);
/* Begins. `now_ns`: what the clock of the run reads now. */
void exec_capture_begin(struct exec_capture *capture, uint64_t now_ns);
/* Takes the frames that are in the queue, and writes those up to `until`, in the order of time. */
void exec_capture_take(struct exec_capture *capture, simtime until);
/* Returns 0, or -errno with problem. Reports on standard error how many frames are missing. */
int exec_capture_finish(struct exec_capture *capture, struct problem *problem);
int exec_capture_publish(struct exec_capture *capture, struct problem *problem);
/* Called when no worker is left. `capture` may be NULL. */
void exec_capture_close(struct exec_capture *capture);

#endif
