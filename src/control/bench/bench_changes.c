/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/bench.h"
#include "ctl/ctl_link.h"
#include "statements.h"

/* Changes of what every cloud has, beside the examples of the statements. */
static const char *const variations[] = {
        "delay 12ms",
        "delay 10ms jitter 1ms order allow",
        "rate 90gbit queue 20MB",
        "rate 100gbit algorithm token-bucket burst 100kB queue 10MB",
};
static const char *const base[] = {BENCH_CHANGES_DELAY, BENCH_CHANGES_RATE};

#define ROWS(array) (sizeof(array) / sizeof(array[0]))

/* ---- the lines ---- */

static void add(struct bench_changes *changes, const char *head, const char *text)
{
	const char *name = strstr(text, "FILE");
	char *line = changes->lines[changes->n_lines];

	if (changes->n_lines == BENCH_CHANGES_MAX)
		return;
	changes->n_lines++;
	if (name)
		snprintf(line, BENCH_CHANGES_BYTES, "%s%.*s%s%s", head, (int)(name - text), text,
		         changes->file, name + strlen("FILE"));
	else
		snprintf(line, BENCH_CHANGES_BYTES, "%s%s", head, text);
}

/* Adds a line that removes this statement, or restores it if BENCH_CHANGES_BASE has it. */
static void add_removal(struct bench_changes *changes, const char *text, bool scoped)
{
	size_t name = strcspn(text, " ");
	char words[BENCH_CHANGES_BYTES];

	for (size_t i = 0; i < ROWS(base); i++) {
		if (strncmp(base[i], text, name + 1) == 0) {
			add(changes, "cloud down ", base[i]);
			return;
		}
	}
	if (scoped) /* the name of the class, too */
		name += 1 + strcspn(text + name + 1, " ");
	snprintf(words, sizeof(words), "%.*s", (int)name, text);
	add(changes, "no cloud down ", words);
}

/* Adds the example of a statement. What takes its place next removes it, too. */
static void add_example(struct bench_changes *changes, const struct statement *const *row)
{
	const struct statement *statement = *row;
	char text[BENCH_CHANGES_BYTES];
	uint32_t n = 0;

	while (n < STATEMENT_BESIDE && statement->beside[n])
		add(changes, "cloud down ", statement->beside[n++]);
	snprintf(text, sizeof(text), "%s%s%s", statement->name, statement->example[0] ? " " : "",
	         statement->example);
	add(changes, "cloud down ", text);
	if (!statement->clears &&
	    (n > 0 || statement->many_max || !row[1] || strcmp(row[1]->name, statement->name) != 0))
		add_removal(changes, text, statement->scoped);
	while (n > 0) {
		n--;
		add_removal(changes, statement->beside[n],
		            strncmp(statement->beside[n], "class ", 6) == 0);
	}
}

void bench_changes_prepare(struct bench_changes *changes)
{
	changes->n_lines = 0;
	for (size_t i = 0; i < ROWS(variations); i++)
		add(changes, "cloud down ", variations[i]);
	for (size_t i = 0; i < ROWS(base); i++)
		add(changes, "cloud down ", base[i]);
	for (const struct statement *const *row = statements; *row; row++) {
		if ((*row)->example)
			add_example(changes, row);
	}
}

/* ---- the thread ---- */

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

static bool change(struct bench_changes *changes, struct ctl_link *link, const char *line)
{
	struct ctl_answer answer;
	bool ok;
	int rc = ctl_link_ask(link, line, &answer);

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

static void *make_changes(void *argument)
{
	struct bench_changes *changes = argument;
	struct ctl_link link;
	uint64_t made = 0;

	if (ctl_link_open(&link, changes->socket, CTL_ANSWER_TIMEOUT_S, &changes->problem) == 0) {
		changes->problem.text[0] = '\0';
		while (!__atomic_load_n(&changes->stop, __ATOMIC_ACQUIRE) &&
		       (changes->most == 0 || changes->made < changes->most)) {
			if (!change(changes, &link, changes->lines[made % changes->n_lines]))
				break;
			__atomic_store_n(&changes->made, ++made, __ATOMIC_RELAXED);
			/* After a first round of all. */
			if (made >= changes->n_lines) {
				const struct timespec step = {.tv_nsec = 10000000};
				uint64_t waited = 0;

				for (; waited < changes->pause_ns &&
				       !__atomic_load_n(&changes->stop, __ATOMIC_ACQUIRE);
				     waited += (uint64_t)step.tv_nsec)
					nanosleep(&step, NULL);
			}
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
	bench_changes_prepare(changes);
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

/* Ends the thread; the server must still answer meanwhile. Returns 0, or -EIO with `problem` set if
 * a line was refused. */
static int bench_changes_end(struct bench_changes *changes, struct problem *problem)
{
	__atomic_store_n(&changes->stop, true, __ATOMIC_RELEASE);
	pthread_join(changes->thread, NULL);
	unlink(changes->file);
	if (!changes->problem.text[0])
		return 0;
	*problem = changes->problem;
	return -EIO;
}

int bench_changes_end_live(struct bench_changes *changes, struct bench_live *live, int rc,
                           struct problem *problem)
{
	struct problem refused;

	__atomic_store_n(&changes->stop, true, __ATOMIC_RELEASE);
	/* Without an answer, the thread of the changes would wait for ever. */
	while (!bench_changes_ended(changes) && bench_live_step(live) == 0)
		;
	if (bench_changes_end(changes, &refused) == 0 || rc != 0)
		return rc;
	*problem = refused;
	return -EIO;
}
