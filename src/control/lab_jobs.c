/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab_jobs.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define AT_ONCE_MAX 256

struct child {
	pid_t pid;
	int fd;
	struct lab_job *job;
	char *bytes; /* that came through the pipe */
	size_t n;
};

/* What goes through the pipe ahead of the results. */
struct parcel {
	int error;
	uint32_t n_results;
	double seconds;
	char message[EXPERIMENT_MESSAGE];
};

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

/* In the child: the run, its results into the pipe, and no clean-up of what is the parent's. */
static void child_run(const struct lab_job *job, int fd)
{
	struct parcel parcel = {0};
	struct results results = {0};

	parcel.error = lab_point_run(&job->point, &results, parcel.message, sizeof(parcel.message));
	parcel.n_results = results.n;
	parcel.seconds = seconds_used();
	if (!write_all(fd, &parcel, sizeof(parcel)) ||
	    !write_all(fd, results.list, results.n * sizeof(*results.list)))
		_exit(1);
	_exit(0);
}

static int child_start(struct child *child, struct lab_job *job)
{
	int fds[2];

	if (pipe(fds) < 0)
		return -errno;
	*child = (struct child){.job = job, .fd = fds[0]};
	child->pid = fork();
	if (child->pid < 0) {
		int error = -errno;

		close(fds[0]);
		close(fds[1]);
		return error;
	}
	if (child->pid == 0) {
		close(fds[0]);
		child_run(job, fds[1]);
	}
	close(fds[1]);
	return 0;
}

static int unpack(struct child *child)
{
	struct lab_job *job = child->job;
	struct parcel *parcel = (struct parcel *)child->bytes;

	if (child->n < sizeof(*parcel) ||
	    child->n != sizeof(*parcel) + parcel->n_results * sizeof(struct result)) {
		snprintf(job->message, sizeof(job->message),
		         "the process of a run ended before its results were complete");
		return -EIO;
	}
	job->seconds = parcel->seconds;
	memcpy(job->message, parcel->message, sizeof(job->message));
	job->results.list = calloc(parcel->n_results + 1, sizeof(struct result));
	if (!job->results.list)
		return -ENOMEM;
	memcpy(job->results.list, child->bytes + sizeof(*parcel),
	       parcel->n_results * sizeof(struct result));
	job->results.n = job->results.room = parcel->n_results;
	return parcel->error;
}

/* Reads what is there. True: it is over. */
static bool child_read(struct child *child)
{
	char part[16384];
	ssize_t n = read(child->fd, part, sizeof(part));
	char *bytes;

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return false;
	if (n <= 0)
		return true;
	bytes = realloc(child->bytes, child->n + (size_t)n);
	if (!bytes)
		return true;
	memcpy(bytes + child->n, part, (size_t)n);
	child->bytes = bytes;
	child->n += (size_t)n;
	return false;
}

static void child_end(struct child *child)
{
	close(child->fd);
	while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
		;
	child->job->error = unpack(child);
	free(child->bytes);
}

/* Waits until one is over at least. */
static uint32_t reap(struct child *children, uint32_t n)
{
	struct pollfd fds[AT_ONCE_MAX];

	for (uint32_t i = 0; i < n; i++)
		fds[i] = (struct pollfd){.fd = children[i].fd, .events = POLLIN};
	if (poll(fds, n, 200) <= 0)
		return n;
	for (uint32_t i = n; i-- > 0;) {
		if (fds[i].revents == 0 || !child_read(&children[i]))
			continue;
		child_end(&children[i]);
		children[i] = children[--n];
	}
	return n;
}

int lab_jobs_run(struct lab_job *jobs, uint32_t n, uint32_t at_once,
                 const volatile sig_atomic_t *stop,
                 void (*progress)(void *argument, uint32_t done, uint32_t n), void *argument)
{
	struct child children[AT_ONCE_MAX];
	uint32_t begun = 0, running = 0, told = UINT32_MAX;
	int error = 0;

	at_once = at_once > AT_ONCE_MAX ? AT_ONCE_MAX : at_once;
	fflush(NULL);
	while (running || (begun < n && !error && !*stop)) {
		while (begun < n && running < at_once && !error && !*stop) {
			error = child_start(&children[running], &jobs[begun]);
			if (!error) {
				begun++;
				running++;
			}
		}
		running = reap(children, running);
		if (*stop)
			for (uint32_t i = 0; i < running; i++)
				kill(children[i].pid, SIGTERM);
		if (progress && told != begun - running) {
			told = begun - running;
			progress(argument, told, n);
		}
	}
	if (*stop)
		return -EINTR;
	for (uint32_t i = 0; i < begun && !error; i++)
		error = jobs[i].error;
	return error;
}
