/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The executor runs the long work of control: one thread per job, at a lower priority than
 * control's own.
 *
 * job_forget drops a job: its result is not needed any more, and it is released when it is done, if
 * need be by its own thread. Nothing stops a job: it must end by itself, or do no harm if it does
 * not (a file on a disk that does not answer). At most EXECUTOR_FORGOTTEN_MAX such jobs may exist;
 * then no further job is taken.
 *
 * Without an executor (NULL) the caller executes a job at once: tests use that.
 *
 * Ownership: a job belongs to its maker, who ends it by job_forget, done or not.
 * Thread: control's, but for job.work and, once it is forgotten, job.release.
 */
#ifndef WEIR_EXECUTOR_H
#define WEIR_EXECUTOR_H

#include <stdbool.h>
#include <stdint.h>

#define EXECUTOR_FORGOTTEN_MAX 8

struct executor;

/* The first member of a struct that has work. */
struct job {
	void (*work)(struct job *job);
	void (*release)(struct job *job);
	struct executor *executor;
	bool given, done, forgotten;
};

/* NULL: no memory, or no descriptor. */
struct executor *executor_make(void);
/* Waits for jobs that are under way up to `patience_ns`. Those that take longer go on, and the
 * executor stays. */
void executor_close(struct executor *executor, uint64_t patience_ns);
/* Readable when a job has come since executor_drain. -1 without an executor. */
int executor_fd(const struct executor *executor);
void executor_drain(struct executor *executor);

/* 0; or -EAGAIN: no thread can be had, and the job is as before. */
int job_submit(struct executor *executor, struct job *job);
bool job_done(struct job *job);
/* Nobody looks at it any more: it is released, now or when it is done. NULL is allowed. */
void job_forget(struct job *job);

#endif
