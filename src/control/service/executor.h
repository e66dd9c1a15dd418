/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The executor runs the long work of control: one thread per job, at a lower priority than
 * control's own.
 *
 * job_forget drops a job whose result is not needed any more; the job is released when it is done,
 * if need be by its own thread. Nothing stops a job: it must end by itself, or do no harm if it
 * does not (a file on a disk that does not answer). If EXECUTOR_FORGOTTEN_MAX such jobs exist, no
 * further job is accepted.
 *
 * Without an executor (NULL) the caller executes a job at once: tests use that.
 *
 * Ownership: a job belongs to its maker, which ends it with job_forget, done or not.
 * Thread: control, except job.work and, for a forgotten job, job.release.
 */
#ifndef WEIR_EXECUTOR_H
#define WEIR_EXECUTOR_H

#include <stdbool.h>
#include <stdint.h>

#define EXECUTOR_FORGOTTEN_MAX 8

struct executor;

/* The first member of a struct for a job. */
struct job {
	void (*work)(struct job *job);
	void (*release)(struct job *job);
	struct executor *executor;
	bool given, done, forgotten;
};

/* Returns NULL if there is no memory or no descriptor. */
struct executor *executor_make(void);
/* Waits up to `patience_ns` for running jobs, and frees the executor. If a job takes longer, it
 * goes on, and the executor is not freed. */
void executor_close(struct executor *executor, uint64_t patience_ns);
/* Returns a descriptor that is readable if a job was done since executor_drain; -1 without an
 * executor. */
int executor_fd(const struct executor *executor);
void executor_drain(struct executor *executor);

/* Starts a job. Returns 0; or -EAGAIN if no thread can be started, and the job is unchanged. */
int job_submit(struct executor *executor, struct job *job);
bool job_done(struct job *job);
/* Drops a job: it is released, now or when it is done. NULL is allowed. */
void job_forget(struct job *job);

#endif
