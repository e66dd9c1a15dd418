/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The desk runs the heavy work of control: one thread per job, at a lower priority than control's
 * own.
 *
 * job_forget drops a job: its result is not needed any more, and it is released when it is done, if
 * need be by its own thread. Nothing stops a job: it must end by itself, or do no harm if it does
 * not (a file on a disk that does not answer). At most DESK_FORGOTTEN_MAX such jobs may exist; then
 * no further job is taken.
 *
 * Without a desk (NULL) the caller executes a job at once: tests use that.
 *
 * Ownership: a job belongs to its maker, who ends it by job_forget, done or not.
 * Thread: control's, but for job.work and, once it is forgotten, job.release.
 */
#ifndef WEIR_DESK_H
#define WEIR_DESK_H

#include <stdbool.h>
#include <stdint.h>

#define DESK_FORGOTTEN_MAX 8

struct desk;

/* The first member of a struct that has work. */
struct job {
	void (*work)(struct job *job);
	void (*release)(struct job *job);
	struct desk *desk;
	bool given, done, forgotten;
};

/* NULL: no memory, or no descriptor. */
struct desk *desk_make(void);
/* Waits for jobs that are under way up to `patience_ns`. Those that take longer go on, and the desk
 * stays. */
void desk_close(struct desk *desk, uint64_t patience_ns);
/* Readable when a job has come since desk_heard. -1 without a desk. */
int desk_fd(const struct desk *desk);
void desk_heard(struct desk *desk);

/* 0; or -EAGAIN: no thread can be had, and the job is as before. */
int job_give(struct desk *desk, struct job *job);
bool job_done(struct job *job);
/* Nobody looks at it any more: it is released, now or when it is done. NULL is allowed. */
void job_forget(struct job *job);

#endif
