/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/lab_campaign.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define AT_ONCE_MAX 256
#define NO_JOB      UINT32_MAX
/* The interval at which *stop is read. */
#define LOOK_MS 200

struct worker {
	pid_t pid;
	int orders;   /* indices of jobs, to the worker */
	int parcels;  /* from the worker */
	uint32_t job; /* that it runs, or NO_JOB */
	char *bytes;  /* of the parcel, so far */
	size_t n;
};

/* What a worker returns, before the results. */
struct parcel {
	int error;
	uint32_t n_results;
	double seconds;
	char message[EXPERIMENT_MESSAGE];
};

/* ---- worker ---- */

static bool write_all(int fd, const void *bytes, size_t n)
{
	const char *at = bytes;

	while (n > 0) {
		ssize_t written = write(fd, at, n);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return false;
		at += written;
		n -= (size_t)written;
	}
	return true;
}

static double seconds_used(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6 +
	       (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6;
}

static bool job_do(const struct lab_job *job, int parcels)
{
	struct parcel parcel = {0};
	struct results results = {0};
	double before = seconds_used();
	bool written;

	parcel.error = lab_point_run(&job->point, &results, parcel.message);
	parcel.n_results = results.n;
	parcel.seconds = seconds_used() - before;
	written = write_all(parcels, &parcel, sizeof(parcel)) &&
	          write_all(parcels, results.list, results.n * sizeof(*results.list));
	results_release(&results);
	return written;
}

/* Runs jobs in the worker. Releases nothing of the parent's, which still uses it. */
static void work(const struct lab_job *jobs, int orders, int parcels)
{
	uint32_t index;

	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(orders, &index, sizeof(index)) == sizeof(index))
		if (!job_do(&jobs[index], parcels))
			_exit(1);
	_exit(0);
}

/* ---- parent ---- */

static int worker_start(struct worker *worker, const struct lab_job *jobs,
                        const struct worker *others, uint32_t n_others)
{
	int orders[2], parcels[2];

	if (pipe(orders) < 0)
		return -errno;
	if (pipe(parcels) < 0)
		goto err_orders;
	worker->pid = fork();
	if (worker->pid < 0)
		goto err_parcels;
	if (worker->pid == 0) {
		close(orders[1]);
		close(parcels[0]);
		/* If these stayed open here, the others would never see the end of their orders. */
		for (uint32_t i = 0; i < n_others; i++) {
			close(others[i].orders);
			close(others[i].parcels);
		}
		work(jobs, orders[0], parcels[1]);
	}
	close(orders[0]);
	close(parcels[1]);
	worker->orders = orders[1];
	worker->parcels = parcels[0];
	worker->job = NO_JOB;
	return 0;

err_parcels:
	close(parcels[0]);
	close(parcels[1]);
err_orders:
	close(orders[0]);
	close(orders[1]);
	return -EAGAIN;
}

static void worker_end(struct worker *worker, bool now)
{
	if (now)
		kill(worker->pid, SIGTERM);
	close(worker->orders);
	close(worker->parcels);
	while (waitpid(worker->pid, NULL, 0) < 0 && errno == EINTR)
		;
	free(worker->bytes);
	worker->pid = 0;
}

static void job_fail(struct lab_job *job, int error, const char *what)
{
	job->error = error;
	snprintf(job->message, sizeof(job->message), "%s", what);
}

/* Returns true if the parcel is complete, and unpacked. */
static bool unpack(struct worker *worker, struct lab_job *job)
{
	const struct parcel *parcel = (const struct parcel *)worker->bytes;

	if (worker->n < sizeof(*parcel) ||
	    worker->n < sizeof(*parcel) + parcel->n_results * sizeof(struct result))
		return false;
	job->seconds = parcel->seconds;
	job->error = parcel->error;
	memcpy(job->message, parcel->message, sizeof(job->message));
	job->results.list = calloc(parcel->n_results + 1, sizeof(struct result));
	if (job->results.list) {
		memcpy(job->results.list, worker->bytes + sizeof(*parcel),
		       parcel->n_results * sizeof(struct result));
		job->results.n = job->results.room = parcel->n_results;
		job->done = parcel->error == 0;
	} else {
		job_fail(job, -ENOMEM, "no memory for the figures of a run");
	}
	worker->n = 0;
	return true;
}

/* Reads what has arrived. Returns true if the worker's job has ended, with results or an error. */
static bool worker_read(struct worker *worker, struct lab_job *jobs)
{
	char part[16384];
	ssize_t n = read(worker->parcels, part, sizeof(part));
	char *bytes;

	if (n < 0 && errno == EINTR)
		return false;
	bytes = n > 0 ? realloc(worker->bytes, worker->n + (size_t)n) : NULL;
	if (!bytes) {
		if (n > 0)
			job_fail(&jobs[worker->job], -ENOMEM, "no memory for the figures of a run");
		else
			job_fail(&jobs[worker->job], -EIO,
			         "the process of a run ended before its results were complete");
		worker_end(worker, true);
		return true;
	}
	memcpy(bytes + worker->n, part, (size_t)n);
	worker->bytes = bytes;
	worker->n += (size_t)n;
	return unpack(worker, &jobs[worker->job]);
}

/* Gives idle workers the jobs that are left. Returns how many workers are busy. */
static uint32_t give_orders(struct worker *workers, uint32_t n_workers, struct lab_job *jobs,
                            uint32_t *next, uint32_t n)
{
	uint32_t busy = 0;

	for (uint32_t i = 0; i < n_workers; i++) {
		struct worker *worker = &workers[i];

		while (*next < n && jobs[*next].done)
			(*next)++;
		if (worker->pid && worker->job == NO_JOB && *next < n) {
			worker->job = (*next)++;
			if (!write_all(worker->orders, &worker->job, sizeof(worker->job))) {
				job_fail(&jobs[worker->job], -EIO, "the process of a run is gone");
				worker_end(worker, true);
			}
		}
		busy += worker->pid && worker->job != NO_JOB;
	}
	return busy;
}

static uint32_t take_parcels(struct worker *workers, uint32_t n_workers, struct lab_job *jobs)
{
	struct pollfd fds[AT_ONCE_MAX];
	uint32_t done = 0;

	for (uint32_t i = 0; i < n_workers; i++)
		fds[i] = (struct pollfd){.fd = workers[i].pid ? workers[i].parcels : -1,
		                         .events = POLLIN};
	if (poll(fds, n_workers, LOOK_MS) <= 0)
		return 0;
	for (uint32_t i = 0; i < n_workers; i++) {
		if (fds[i].revents == 0 || workers[i].job == NO_JOB ||
		    !worker_read(&workers[i], jobs))
			continue;
		workers[i].job = NO_JOB;
		done++;
	}
	return done;
}

int lab_jobs_run(struct lab_job *jobs, uint32_t n, uint32_t at_once,
                 const volatile sig_atomic_t *stop,
                 void (*progress)(void *argument, uint32_t done, uint32_t n), void *argument)
{
	struct worker workers[AT_ONCE_MAX] = {0};
	uint32_t n_workers = 0, next = 0, done = 0, finished;
	int error = 0;

	for (uint32_t i = 0; i < n; i++)
		done += jobs[i].done;
	at_once = at_once > AT_ONCE_MAX ? AT_ONCE_MAX : at_once;
	at_once = at_once > n - done ? n - done : at_once;
	fflush(NULL);
	signal(SIGPIPE, SIG_IGN);
	while (!error && n_workers < at_once) {
		error = worker_start(&workers[n_workers], jobs, workers, n_workers);
		n_workers += !error;
	}
	/* With fewer workers than requested, the jobs only take longer. */
	if (n_workers)
		error = 0;
	while (n_workers && !*stop && give_orders(workers, n_workers, jobs, &next, n)) {
		finished = take_parcels(workers, n_workers, jobs);
		done += finished;
		if (progress && finished)
			progress(argument, done, n);
	}
	for (uint32_t i = 0; i < n_workers; i++)
		if (workers[i].pid)
			worker_end(&workers[i], *stop);
	if (*stop) {
		/* An interrupt at the terminal has stopped the workers, too: their errors do not
		 * count. */
		for (uint32_t i = 0; i < n; i++)
			jobs[i].error = 0;
		return -EINTR;
	}
	for (uint32_t i = next; i < n; i++)
		if (!jobs[i].done)
			job_fail(&jobs[i], -EIO, "no process was left to run it");
	for (uint32_t i = 0; i < n && !error; i++)
		error = jobs[i].error;
	return error;
}
