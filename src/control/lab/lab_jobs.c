/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab/lab_campaign.h"

#define AT_ONCE_MAX 256
/* The interval at which *stop is read. */
#define POLL_MS 200

/* Shared by all processes. */
struct shared {
	uint32_t next;              /* the first job that nobody has taken; atomic */
	uint32_t last[AT_ONCE_MAX]; /* that each worker has taken, */
	bool has_last[AT_ONCE_MAX]; /* if it has taken one */
};

struct worker {
	pid_t pid; /* 0: it has ended */
	int replies;
};

/* What a worker returns, before the results. */
struct reply {
	uint32_t job;
	int error;
	uint32_t n_results;
	double seconds;
	char message[EXPERIMENT_MESSAGE];
};

/* ---- worker ---- */

static double seconds_used(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6 +
	       (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6;
}

/* Runs jobs in the worker, until none is left. Releases nothing of the parent's, which still uses
 * it. */
static void work(const struct lab_job *jobs, uint32_t n, struct shared *shared, uint32_t self,
                 int replies)
{
	FILE *out = fdopen(replies, "w");
	uint32_t index;

	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (out && (index = __atomic_fetch_add(&shared->next, 1, __ATOMIC_RELAXED)) < n) {
		struct reply reply = {.job = index};
		struct results results = {0};
		double before = seconds_used();

		if (jobs[index].done)
			continue;
		shared->last[self] = index;
		shared->has_last[self] = true;
		reply.error = lab_point_run(&jobs[index].point, &results, reply.message);
		reply.n_results = results.n;
		reply.seconds = seconds_used() - before;
		fwrite(&reply, sizeof(reply), 1, out);
		if (results.n > 0)
			fwrite(results.list, sizeof(*results.list), results.n, out);
		results_release(&results);
		if (fflush(out) != 0)
			_exit(1);
	}
	_exit(0);
}

/* ---- parent ---- */

static int worker_start(struct worker *worker, uint32_t self, const struct lab_job *jobs,
                        uint32_t n, struct shared *shared)
{
	int replies[2];

	if (pipe(replies) < 0)
		return -errno;
	worker->pid = fork();
	if (worker->pid == 0)
		work(jobs, n, shared, self, replies[1]);
	close(replies[1]);
	worker->replies = replies[0];
	if (worker->pid > 0)
		return 0;
	close(replies[0]);
	return -EAGAIN;
}

static void worker_end(struct worker *worker)
{
	kill(worker->pid, SIGTERM);
	close(worker->replies);
	while (waitpid(worker->pid, NULL, 0) < 0 && errno == EINTR)
		;
	worker->pid = 0;
}

static void job_fail(struct lab_job *job, int error, const char *what)
{
	job->error = lab_fail(job->message, error, "%s", what);
}

static bool read_all(int fd, void *bytes, size_t n)
{
	char *at = bytes;

	while (n > 0) {
		ssize_t got = read(fd, at, n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		at += got;
		n -= (size_t)got;
	}
	return true;
}

/* Reads a reply, which a worker writes at once. Returns false if the worker has ended. */
static bool take_reply(const struct worker *worker, struct lab_job *jobs)
{
	struct reply reply;
	struct lab_job *job;
	struct result *list;

	if (!read_all(worker->replies, &reply, sizeof(reply)))
		return false;
	job = &jobs[reply.job];
	list = calloc(reply.n_results + 1, sizeof(*list));
	if (!list || !read_all(worker->replies, list, reply.n_results * sizeof(*list))) {
		if (!list)
			job_fail(job, -ENOMEM, "no memory for the figures of a run");
		free(list);
		return false;
	}
	job->results =
	        (struct results){.list = list, .n = reply.n_results, .room = reply.n_results};
	job->seconds = reply.seconds;
	job->done = reply.error == 0;
	if (reply.error)
		job_fail(job, reply.error, reply.message);
	return true;
}

/* Takes what has arrived. Returns how many jobs have ended; *left is the number of workers that
 * have not. */
static uint32_t take_replies(struct worker *workers, uint32_t n_workers, uint32_t *left,
                             struct lab_job *jobs, const struct shared *shared)
{
	struct pollfd fds[AT_ONCE_MAX];
	uint32_t ended = 0;

	for (uint32_t i = 0; i < n_workers; i++)
		fds[i] = (struct pollfd){.fd = workers[i].pid ? workers[i].replies : -1,
		                         .events = POLLIN};
	if (poll(fds, n_workers, POLL_MS) <= 0)
		return 0;
	for (uint32_t i = 0; i < n_workers; i++) {
		struct lab_job *last = &jobs[shared->last[i]];

		if (fds[i].revents == 0)
			continue;
		if (take_reply(&workers[i], jobs)) {
			ended++;
			continue;
		}
		worker_end(&workers[i]);
		--*left;
		if (!shared->has_last[i] || last->done || last->error)
			continue;
		job_fail(last, -EIO, "the process of a run ended before its results were complete");
		ended++;
	}
	return ended;
}

int lab_jobs_run(struct lab_job *jobs, uint32_t n, uint32_t at_once,
                 const volatile sig_atomic_t *stop,
                 void (*progress)(const char *name, uint32_t done, uint32_t n))
{
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
	                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct worker workers[AT_ONCE_MAX] = {0};
	uint32_t n_workers = 0, left, done = 0, ended;
	int error = 0;

	if (shared == MAP_FAILED)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		done += jobs[i].done;
	at_once = at_once > AT_ONCE_MAX ? AT_ONCE_MAX : at_once;
	at_once = at_once > n - done ? n - done : at_once;
	fflush(NULL);
	signal(SIGPIPE, SIG_IGN);
	/* With fewer workers than requested, the jobs only take longer. */
	while (!error && n_workers < at_once) {
		error = worker_start(&workers[n_workers], n_workers, jobs, n, shared);
		n_workers += !error;
	}
	if (n_workers)
		error = 0;
	left = n_workers;
	while (left && !*stop) {
		ended = take_replies(workers, n_workers, &left, jobs, shared);
		done += ended;
		if (ended)
			progress(jobs->point.experiment->name, done, n);
	}
	for (uint32_t i = 0; i < n_workers; i++)
		if (workers[i].pid)
			worker_end(&workers[i]);
	munmap(shared, sizeof(*shared));
	for (uint32_t i = 0; i < n; i++) {
		/* An interrupt at the terminal has stopped the workers, too: their errors do not
		 * count. */
		if (*stop)
			jobs[i].error = 0;
		else if (!jobs[i].done && !jobs[i].error)
			job_fail(&jobs[i], -EIO, "no process was left to run it");
		if (!error)
			error = jobs[i].error;
	}
	return *stop ? -EINTR : error;
}
