/* SPDX-License-Identifier: BSD-3-Clause */
#include "socket/keep.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
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

/* The last line. It proves that the file is complete: a machine that lost power may have a part of
 * it. */
#define TAIL "\n# this is all of it\n"

/* A write under way. It owns all that it needs, because it may be forgotten. */
struct keep_write {
	struct job job;
	struct control *control; /* used during the look */
	struct scenario *undone; /* the scenario without the leases; NULL: there are none */
	char *path, *head;
	pthread_mutex_t lock; /* held while the file gets its name */
	bool unwanted;        /* the file must not get its name; under the lock */
	int result;
	struct problem problem;
};

static void write_release(struct job *job)
{
	struct keep_write *write = (struct keep_write *)job;

	pthread_mutex_destroy(&write->lock);
	scenario_free(write->undone);
	free(write->path);
	free(write->head);
	free(write);
}

static int publish(struct keep_write *write, struct atomic_file *file)
{
	int result = 0;

	pthread_mutex_lock(&write->lock);
	if (write->unwanted)
		atomic_file_discard(file);
	else
		result = atomic_file_publish(file, &write->problem);
	pthread_mutex_unlock(&write->lock);
	return result;
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
		return publish(write, file);
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

/* Writes the first line: when the scenario file was last written, and its length; zeros if there is
 * no file. */
static void head_of(const char *config, char head[KEEP_HEAD_BYTES])
{
	struct stat status;

	if (stat(config, &status) != 0)
		memset(&status, 0, sizeof(status));
	snprintf(head, KEEP_HEAD_BYTES, "# weir keeps what is in force, of %lld.%09ld %lld %.*s",
	         (long long)status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
	         (long long)status.st_size, PATH_MAX, config);
	/* It must be one line, whatever the name of the file contains. */
	for (char *c = head; *c != '\0'; c++)
		if (*c == '\n' || *c == '\r')
			*c = '?';
}

void keep_file_note(struct keep_file *file, const char *path, const char *config)
{
	memset(file, 0, sizeof(*file));
	file->path = path;
	file->config = config;
	if (path != NULL)
		head_of(config, file->head);
}

void keep_init(struct keep *keep, struct control *control, const struct keep_file *file)
{
	memset(keep, 0, sizeof(*keep));
	keep->control = control;
	if (file != NULL)
		keep->file = *file;
	memcpy(keep->next_head, keep->file.head, sizeof(keep->next_head));
}

void keep_read(struct keep *keep)
{
	if (keep->file.path != NULL)
		head_of(keep->file.config, keep->next_head);
}

/* Adopts the first line of the scenario file that was read, even if reading it changed nothing. */
static void take_head(struct keep *keep)
{
	if (strcmp(keep->file.head, keep->next_head) == 0)
		return;
	memcpy(keep->file.head, keep->next_head, sizeof(keep->file.head));
	keep->begun = false;
}

static void hear(struct keep *keep)
{
	struct keep_write *write = keep->write;

	keep->write = NULL;
	if (write->result != 0 && !keep->complained)
		run_log(RUN_LOG_ERROR, "%s: the scenario in force cannot be saved: %s",
		        keep->file.path, write->problem.text);
	else if (write->result == 0 && keep->complained)
		run_log(RUN_LOG_NOTICE, "%s: the scenario in force is saved again",
		        keep->file.path);
	keep->complained = write->result != 0;
	job_forget(&write->job);
}

static struct keep_write *write_make(const struct keep *keep)
{
	struct keep_write *write = calloc(1, sizeof(*write));

	if (write == NULL)
		return NULL;
	pthread_mutex_init(&write->lock, NULL);
	write->job = (struct job){.work = write_work, .release = write_release};
	write->control = keep->control;
	write->path = strdup(keep->file.path);
	write->head = strdup(keep->file.head);
	if (leases_count(keep->control->leases) > 0)
		write->undone = leases_undone(keep->control->leases);
	if (write->path != NULL && write->head != NULL &&
	    (write->undone != NULL || leases_count(keep->control->leases) == 0))
		return write;
	write_release(&write->job);
	return NULL;
}

void keep_poll(struct keep *keep, bool reading)
{
	struct control *control = keep->control;

	if (keep->file.path == NULL)
		return;
	if (keep->write != NULL && job_done(&keep->write->job))
		hear(keep);
	if (reading)
		return;
	take_head(keep);
	if (keep->write != NULL || (keep->begun && keep->changes == control->changes &&
	                            keep->leases == leases_count(control->leases)))
		return;
	/* If something is about to change, or there is no memory or no thread, a later poll tries
	 * again. */
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

void keep_end(struct keep *keep, bool remove)
{
	struct keep_write *write = keep->write;

	keep->write = NULL;
	if (remove && write != NULL) {
		pthread_mutex_lock(&write->lock);
		write->unwanted = true;
		pthread_mutex_unlock(&write->lock);
	}
	if (remove && keep->file.path != NULL)
		unlink(keep->file.path);
	if (write != NULL)
		job_forget(&write->job);
}

static bool is_whole(FILE *file)
{
	char end[sizeof(TAIL)] = "";

	return fseek(file, -(long)strlen(TAIL), SEEK_END) == 0 &&
	       fread(end, 1, strlen(TAIL), file) == strlen(TAIL) && strcmp(end, TAIL) == 0;
}

int keep_load(const struct keep_file *kept, struct scenario **scenario, char *message, size_t room)
{
	char found[KEEP_HEAD_BYTES] = "";
	FILE *file = kept->path != NULL ? fopen(kept->path, "re") : NULL;
	int result;

	if (kept->path == NULL || (file == NULL && errno == ENOENT))
		return 0;
	if (file == NULL) {
		result = -errno;
		snprintf(message, room, "%s: %s", kept->path, strerror(-result));
		return result;
	}
	if (fgets(found, sizeof(found), file) == NULL)
		found[0] = '\0';
	found[strcspn(found, "\n")] = '\0';
	result = strcmp(found, kept->head) == 0 && !is_whole(file) ? -EINVAL : 0;
	fclose(file);
	if (result != 0) {
		snprintf(message, room, "%s: its end is missing", kept->path);
		return result;
	}
	if (strcmp(found, kept->head) != 0)
		return 0;
	result = scenario_file_load_beside(kept->path, kept->config, scenario, message, room);
	return result == 0 ? 1 : result;
}
