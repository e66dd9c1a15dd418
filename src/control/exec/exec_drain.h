/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the command of `weir exec` has sent and what is still on its way when it has ended. Without
 * weir the kernel goes on sending after the end of a process. So the path stays until nothing is
 * left of
 *
 *   bytes that TCP in the command's namespace has not got acknowledged; the end of a connection
 *   counts as one
 *   packets that have come from the command and are in the clouds, or in front of them
 *   bytes that the gateway has taken from the command and not yet given to a socket outside
 *
 * Packets to the command do not count, nor do those that its kernel sends afterwards, for instance
 * to refuse what still comes.
 *
 * The drain gives up if nothing of this gets less for EXEC_DRAIN_MS, and for as long as the slowest
 * packet of each cloud has taken: a link may be down, or have 1 bit/s. What is on a line is due
 * within that time.
 *
 * Ownership: the runtime and the path are the caller's.
 * Thread: the main thread.
 */
#ifndef WEIR_EXEC_DRAIN_H
#define WEIR_EXEC_DRAIN_H

#include "exec/exec_path.h"
#include "live/runtime.h"

#define EXEC_DRAIN_MS   2000
#define EXEC_DRAIN_TEXT 160

struct exec_drain;

/* Begins when the command has ended. `port` is the command's. Returns NULL if there is no
 * memory. */
struct exec_drain *exec_drain_make(const struct exec_path *path, struct runtime *runtime,
                                   uint32_t port);
/* Returns true if nothing is left, or if the drain gives up. */
bool exec_drain_is_over(struct exec_drain *drain, int64_t now_ms);
/* Returns how long to wait before the next call of exec_drain_is_over, in ms. */
int exec_drain_pace_ms(const struct exec_drain *drain);
/* Describes what is left, for people. Returns false if nothing is. */
bool exec_drain_tell(const struct exec_drain *drain, char *text, size_t room);
/* NULL is allowed. */
void exec_drain_free(struct exec_drain *drain);

#endif
