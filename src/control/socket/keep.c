/* SPDX-License-Identifier: BSD-3-Clause */
#include "socket/keep.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/atomic_file.h"
#include "language/scenario_file.h"
#include "machine/run_log.h"
#include "service/executor.h"
#include "socket/lease.h"

/* The last line: a machine that lost its power may have a part of the file. */
#define TAIL "\n# this is all of it\n"

/* Its own of all that it needs: it may be forgotten. */
struct keep_write {
	struct job job;
	struct control *control; /* while it looks */
	struct scenario *undone; /* without the leases; NULL: there are none */
	char *path, *head;
	int result;
	struct problem problem;
};

static void write_release(struct job *job)
{
	struct keep_write *write = (struct keep_write *)job;

	scenario_free(write->undone);
	free(write->path);
	free(write->head);
	free(write);
}

static int put(struct keep_write *write, const char *text)
{
	struct atomic_file *file;
	int result = atomic_file_open(write->path, &file, &write->problem);

	if (result != 0)
		return result;
	fprintf(atomic_file_stream(file), "%s\n%s%s", write->head, text, &TAIL[1]);
	result = atomic_file_finish(file, &write->problem);
	if (result == 0)
		return atomic_file_publish(file, &write->problem);
	atomic_file_discard(file);
	return result;
}

static void write_work(struct job *job)
{
	struct keep_write *write = (struct keep_write *)job;
	char *text =
	        scenario_text(write->undone != NULL ? write->undone : *write->control->scenario);

	control_look_end(write->control);
	problem_set(&write->problem, -1, "no memory");
	write->result = text != NULL ? put(write, text) : -ENOMEM;
	free(text);
}

/* When the file was written last, and how long it is; without a file, neither. */
static void head_of(const char *config, char head[KEEP_HEAD_BYTES])
{
	struct stat status;

	if (stat(config, &status) != 0)
		memset(&status, 0, sizeof(status));
	snprintf(head, KEEP_HEAD_BYTES, "# weir keeps what is in force, of %lld.%09ld %lld %.*s",
	         (long long)status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
	         (long long)status.st_size, PATH_MAX, config);
	/* It is one line, whatever the file is called. */
	for (char *c = head; *c != '\0'; c++)
		if (*c == '\n' || *c == '\r')
			*c = '?';
}

void keep_init(struct keep *keep, struct control *control, const char *path, const char *config)
{
	memset(keep, 0, sizeof(*keep));
	keep->control = control;
	keep->path = path;
	keep->config = config;
	keep_read(keep);
}

void keep_read(struct keep *keep)
{
	char head[KEEP_HEAD_BYTES];

	if (keep->path == NULL)
		return;
	head_of(keep->config, head);
	/* What is in force goes with the file as it is now, even if that changes nothing. */
	if (strcmp(head, keep->head) != 0)
		keep->begun = false;
	memcpy(keep->head, head, sizeof(head));
}

static void hear(struct keep *keep)
{
	struct keep_write *write = keep->write;

	keep->write = NULL;
	if (write->result != 0 && !keep->complained)
		run_log(RUN_LOG_ERROR, "%s: what is in force cannot be kept: %s", keep->path,
		        write->problem.text);
	else if (write->result == 0 && keep->complained)
		run_log(RUN_LOG_NOTICE, "%s: what is in force is kept again", keep->path);
	keep->complained = write->result != 0;
	job_forget(&write->job);
}

static struct keep_write *write_make(const struct keep *keep)
{
	struct keep_write *write = calloc(1, sizeof(*write));

	if (write == NULL)
		return NULL;
	write->job = (struct job){.work = write_work, .release = write_release};
	write->control = keep->control;
	write->path = strdup(keep->path);
	write->head = strdup(keep->head);
	if (leases_count(keep->control->leases) > 0)
		write->undone = leases_undone(keep->control->leases);
	if (write->path != NULL && write->head != NULL &&
	    (write->undone != NULL || leases_count(keep->control->leases) == 0))
		return write;
	write_release(&write->job);
	return NULL;
}

void keep_poll(struct keep *keep)
{
	struct control *control = keep->control;

	if (keep->path == NULL)
		return;
	if (keep->write != NULL && job_done(&keep->write->job))
		hear(keep);
	if (keep->write != NULL || (keep->begun && keep->changes == control->changes &&
	                            keep->leases == leases_count(control->leases)))
		return;
	/* Something is about to change, or there is no memory or thread: later. */
	if (!control_look_begin(control))
		return;
	keep->write = write_make(keep);
	if (keep->write == NULL || job_submit(control->executor, &keep->write->job) != 0) {
		if (keep->write != NULL)
			write_release(&keep->write->job);
		keep->write = NULL;
		control_look_end(control);
		return;
	}
	keep->begun = true;
	keep->changes = control->changes;
	keep->leases = leases_count(control->leases);
}

void keep_end(struct keep *keep)
{
	if (keep->write != NULL)
		job_forget(&keep->write->job);
	keep->write = NULL;
}

void keep_remove(const struct keep *keep)
{
	if (keep->path != NULL)
		unlink(keep->path);
}

static bool is_whole(FILE *file)
{
	char end[sizeof(TAIL)] = "";

	return fseek(file, -(long)strlen(TAIL), SEEK_END) == 0 &&
	       fread(end, 1, strlen(TAIL), file) == strlen(TAIL) && strcmp(end, TAIL) == 0;
}

int keep_load(const char *path, const char *config, struct scenario **scenario, char *message,
              size_t room)
{
	char head[KEEP_HEAD_BYTES], found[KEEP_HEAD_BYTES] = "";
	FILE *file = fopen(path, "re");
	int result;

	if (file == NULL && errno == ENOENT)
		return 0;
	if (file == NULL) {
		result = -errno;
		snprintf(message, room, "%s: %s", path, strerror(-result));
		return result;
	}
	head_of(config, head);
	if (fgets(found, sizeof(found), file) == NULL)
		found[0] = '\0';
	found[strcspn(found, "\n")] = '\0';
	result = strcmp(found, head) == 0 && !is_whole(file) ? -EINVAL : 0;
	fclose(file);
	if (result != 0) {
		snprintf(message, room, "%s: its end is missing", path);
		return result;
	}
	if (strcmp(found, head) != 0)
		return 0;
	result = scenario_file_load_beside(path, config, scenario, message, room);
	return result == 0 ? 1 : result;
}
