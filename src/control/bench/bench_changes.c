/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/bench_changes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ctl/ctl_link.h"

/* A statement that takes the place of another one needs no line that removes that one. Schedules
 * count from the beginning of the run: no instant of these is ever reached. */
const char *const bench_change_lines[] = {
        "delay 12ms",
        "delay 10ms jitter 1ms order allow",
        "delay 10ms",
        "rate 90gbit queue 20MB",
        "rate 100gbit algorithm token-bucket burst 100kB queue 10MB",
        "rate 100gbit queue 10MB",
        "down",
        "up",
        "meter window 50ms",
        "meter off",
        "hop 192.0.2.1",
        "feedback header",
        "feedback sirens",
        "feedback proxy insert",
        "feedback off",
        "rewrite set ip.dscp 46",
        "rewrite off",
        "loss random 1%",
        "loss every 1000",
        "loss burst 0.1% length 2..5",
        "loss gilbert-elliott p 0.1% r 50%",
        "loss four-state p13 0.1% p31 50%",
        "loss bit-error 1e-9",
        "loss pattern 3,5 of 1000",
        "loss list FILE",
        "loss window from 3600s for 1s",
        "loss tcp-byte 1000",
        "loss off",
        "duplicate random 0.1%",
        "duplicate every 1000",
        "duplicate off",
        "corrupt random 0.1%",
        "corrupt bit-error 1e-9",
        "corrupt checksum ip",
        "corrupt off",
        "police 100gbit burst 1MB",
        "police off",
        "xcp",
        "xcp off",
        "slots min 100us max 200us",
        "slots off",
        "class voice weight 50%",
        "scheduler priority",
        "scheduler off",
        "no cloud down class voice",
        "red min 15kB max 45kB",
        "ecn on",
        "becn",
        "becn off",
        "hop off",
        "red off",
        "mark above 100kB",
        "mark off",
        "codel",
        "codel off",
        "pie",
        "pie off",
        "no cloud down ecn",
        "fq-codel",
        "fq-codel off",
        "dualpi2",
        "dualpi2 off",
        "reorder every 1000",
        "reorder random 0.1% by 3pkt",
        "reorder 0.1%",
        "reorder off",
        "at 3600s delay 20ms",
        "at off",
        "every 3600s for 1s from 3600s delay 20ms",
        "every off",
        "flap down 1ms every 3600s from 3600s",
        "flap off",
        "wave rate 90gbit..100gbit period 10s",
        "wave delay 9ms..11ms period 10s",
        "wave loss 0%..0.1% period 10s",
        "wave off",
        "delay 10ms jitter 1ms",
        "wave jitter 0ms..1ms period 10s",
        "wave off",
        "delay 10ms",
        "trace FILE loop queue 10MB",
        "trace off",
        "markov good 3600s then bad 3600s",
        "markov off",
        NULL,
};

/* Makes a file of numbers, one a line: it is valid as a list of packets and as a trace. */
static int make_file(struct bench_changes *changes, struct problem *problem)
{
	int fd;
	FILE *file;

	strcpy(changes->file, "/tmp/weir-bench-XXXXXX");
	fd = mkstemp(changes->file);
	file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!file) {
		problem_set(problem, -1, "%s: cannot be created: %s", changes->file,
		            strerror(errno));
		return -EIO;
	}
	for (int i = 1; i <= 1000; i++)
		fprintf(file, "%d\n", i);
	fclose(file);
	return 0;
}

static bool change(struct bench_changes *changes, struct ctl_link *link, const char *form)
{
	const char *name = strstr(form, "FILE");
	struct ctl_answer answer;
	char line[240];
	bool ok;
	int rc;

	if (strncmp(form, "no ", 3) == 0)
		snprintf(line, sizeof(line), "%s", form);
	else if (name)
		snprintf(line, sizeof(line), "cloud down %.*s%s%s", (int)(name - form), form,
		         changes->file, name + strlen("FILE"));
	else
		snprintf(line, sizeof(line), "cloud down %s", form);
	rc = ctl_link_ask(link, line, &answer);
	if (rc < 0) {
		problem_set(&changes->problem, -1, "`%s`: %s", line, strerror(-rc));
		return false;
	}
	ok = answer.ok;
	if (!ok)
		problem_set(&changes->problem, -1, "`%s`: %.300s", line, answer.error);
	ctl_answer_release(&answer);
	return ok;
}

static void wait_between(const struct bench_changes *changes)
{
	const struct timespec step = {.tv_nsec = 10000000};
	uint64_t waited = 0;

	for (; waited < changes->pause_ns && !__atomic_load_n(&changes->stop, __ATOMIC_ACQUIRE);
	     waited += (uint64_t)step.tv_nsec)
		nanosleep(&step, NULL);
}

static void *make_changes(void *argument)
{
	struct bench_changes *changes = argument;
	struct ctl_link link;
	size_t at = 0, round = 0;

	if (ctl_link_open(&link, changes->socket, &changes->problem) == 0) {
		changes->problem.text[0] = '\0';
		while (!__atomic_load_n(&changes->stop, __ATOMIC_ACQUIRE) &&
		       (changes->most == 0 || changes->made < changes->most)) {
			if (!change(changes, &link, bench_change_lines[at]))
				break;
			__atomic_add_fetch(&changes->made, 1, __ATOMIC_RELAXED);
			at = bench_change_lines[at + 1] ? at + 1 : 0;
			round += at == 0;
			if (round > 0)
				wait_between(changes);
		}
		ctl_link_close(&link);
	}
	__atomic_store_n(&changes->ended, true, __ATOMIC_RELEASE);
	return NULL;
}

int bench_changes_begin(struct bench_changes *changes, struct problem *problem)
{
	int rc = make_file(changes, problem);

	if (rc < 0)
		return rc;
	rc = pthread_create(&changes->thread, NULL, make_changes, changes);
	if (rc == 0)
		return 0;
	unlink(changes->file);
	problem_set(problem, -1, "cannot start the thread that makes the changes: %s",
	            strerror(rc));
	return -rc;
}

bool bench_changes_ended(const struct bench_changes *changes)
{
	return __atomic_load_n(&changes->ended, __ATOMIC_ACQUIRE);
}

int bench_changes_end(struct bench_changes *changes, struct problem *problem)
{
	__atomic_store_n(&changes->stop, true, __ATOMIC_RELEASE);
	pthread_join(changes->thread, NULL);
	unlink(changes->file);
	if (!changes->problem.text[0])
		return 0;
	*problem = changes->problem;
	return -EIO;
}
