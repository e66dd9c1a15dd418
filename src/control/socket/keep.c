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
#include "service/peer.h"
#include "socket/change.h"
#include "socket/lease.h"

/* The last line. It proves that the file is complete: a machine that lost power may have a part of
 * it. */
#define TAIL "\n# this is all of it\n"

#define SLEEP_NS SIMTIME_S

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
	if (keep->file.path == NULL)
		return;
	control_lock(keep->control);
	keep->reading = true;
	control_unlock(keep->control);
	head_of(keep->file.config, keep->next_head);
}

/* Adopts the first line of the scenario file that was read, even if reading it changed nothing. */
void keep_was_read(struct keep *keep)
{
	if (keep->file.path == NULL)
		return;
	control_lock(keep->control);
	keep->reading = false;
	if (strcmp(keep->file.head, keep->next_head) != 0)
		keep->begun = false;
	memcpy(keep->file.head, keep->next_head, sizeof(keep->file.head));
	control_unlock(keep->control);
	control_wake(keep->control);
}

/* ---- writing ---- */

static int put(struct keep *keep, const char *head, const char *text, struct problem *problem)
{
	struct atomic_file *file;
	int result = atomic_file_open(keep->file.path, &file, problem);

	if (result != 0)
		return result;
	fprintf(atomic_file_stream(file), "%s\n%s%s", head, text, &TAIL[1]);
	result = atomic_file_finish(file, problem);
	if (result == 0 && !__atomic_load_n(&keep->unwanted, __ATOMIC_RELAXED))
		return atomic_file_publish(file, problem);
	atomic_file_discard(file);
	return result;
}

/* Returns the text of the scenario in force without the changes of leases; NULL: no memory. Within
 * a look. */
static char *text_of(struct control *control, uint32_t n_leases)
{
	struct scenario *undone;
	char *text;

	if (n_leases == 0)
		return scenario_text(*control->scenario);
	undone = leases_undone(control);
	text = undone != NULL ? scenario_text(undone) : NULL;
	scenario_free(undone);
	return text;
}

/* With the lock. */
static bool is_kept(const struct keep *keep)
{
	const struct control *control = keep->control;

	return keep->ends || keep->reading ||
	       (keep->begun && keep->changes == control->changes &&
	        keep->leases == control->leases.n);
}

bool keep_write(struct keep *keep)
{
	struct control *control = keep->control;
	struct problem problem;
	char head[KEEP_HEAD_BYTES], *text;
	bool kept;
	int result;

	if (keep->file.path == NULL || !control_look_wait(control, NULL))
		return false;
	control_lock(control);
	kept = is_kept(keep);
	if (!kept) {
		memcpy(head, keep->file.head, sizeof(head));
		keep->begun = true;
		keep->changes = control->changes;
		keep->leases = control->leases.n;
	}
	control_unlock(control);
	text = kept ? NULL : text_of(control, keep->leases);
	control_look_end(control);
	if (kept)
		return false;
	problem_set(&problem, -1, "no memory");
	result = text != NULL ? put(keep, head, text, &problem) : -ENOMEM;
	free(text);
	if (result != 0 && !keep->complained)
		run_log(RUN_LOG_ERROR, "%s: the scenario in force cannot be saved: %s",
		        keep->file.path, problem.text);
	else if (result == 0 && keep->complained)
		run_log(RUN_LOG_NOTICE, "%s: the scenario in force is saved again",
		        keep->file.path);
	keep->complained = result != 0;
	return true;
}

static void write_on(void *argument)
{
	struct keep *keep = argument;
	struct control *control = keep->control;

	control_lock(control);
	while (!control->ends && !keep->ends) {
		if (is_kept(keep)) {
			control_wait(control, NULL, SLEEP_NS);
			continue;
		}
		control_unlock(control);
		keep_write(keep);
		control_lock(control);
	}
	control_unlock(control);
	if (__atomic_load_n(&keep->unwanted, __ATOMIC_RELAXED))
		unlink(keep->file.path);
	control_lock(control);
	keep->runs = false;
	control_unlock(control);
}

int keep_start(struct keep *keep)
{
	if (keep->file.path == NULL)
		return 0;
	keep->runs = true;
	if (control_thread(keep->control, write_on, keep) == 0)
		return 0;
	keep->runs = false;
	return -EAGAIN;
}

void keep_end(struct keep *keep, bool remove)
{
	bool runs;

	if (keep->file.path == NULL)
		return;
	control_lock(keep->control);
	keep->ends = true;
	__atomic_store_n(&keep->unwanted, remove, __ATOMIC_RELAXED);
	runs = keep->runs;
	control_unlock(keep->control);
	control_wake(keep->control);
	if (remove && !runs)
		unlink(keep->file.path);
}

void keep_complain(struct keep *keep)
{
	control_lock(keep->control);
	if (keep->runs && keep->unwanted)
		run_log(RUN_LOG_WARNING,
		        "%s: its disk does not answer, so it could not be removed; remove it, or "
		        "the next weir continues with it",
		        keep->file.path);
	control_unlock(keep->control);
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
	result = strcmp(found, kept->head) != 0 ? 0 : is_whole(file) ? 1 : -EINVAL;
	fclose(file);
	if (result < 0)
		snprintf(message, room, "%s: its end is missing", kept->path);
	if (result <= 0)
		return result;
	result = scenario_file_load_beside(kept->path, kept->config, scenario, message, room);
	return result == 0 ? 1 : result;
}

void reload_init(struct reload *reload, struct control *control, const char *path,
                 reload_tell *tell, void *argument)
{
	*reload = (struct reload){
	        .control = control, .path = path, .tell = tell, .argument = argument};
}

void reload_now(struct reload *reload)
{
	const struct peer who = {.name = "SIGHUP"};
	struct commit commit = {.control = reload->control, .who = &who};
	int result = batch_of_file(&commit.batch, reload->path, &commit.error);
	char text[1200], at[64] = "";

	if (result == 0)
		result = commit_batch(&commit);
	if (result == 0) {
		snprintf(text, sizeof(text), "%.300s: reloaded, and in force%s%.300s", reload->path,
		         commit.late[0] != '\0' ? ": " : "", commit.late);
		reload->tell(reload->argument, RUN_LOG_NOTICE, text);
	} else if (result != -ECANCELED) {
		/* `FILE:LINE:COLUMN: what is wrong, and what would be right` */
		if (commit.error.line > 0)
			snprintf(at, sizeof(at), ":%u:%u", commit.error.line,
			         commit.error.column > 0 ? commit.error.column : 1);
		snprintf(text, sizeof(text), "%.300s%s: %s (the scenario in force stays)",
		         reload->path, at, commit.error.message);
		reload->tell(reload->argument, RUN_LOG_ERROR, text);
	}
	commit_release(&commit);
}

static void reload_run(void *argument)
{
	struct reload *reload = argument;
	bool goes_on = true;

	while (goes_on) {
		if (reload->keep != NULL)
			keep_read(reload->keep);
		reload_now(reload);
		if (reload->keep != NULL)
			keep_was_read(reload->keep);
		control_lock(reload->control);
		goes_on = reload->running = reload->again && !reload->control->ends;
		reload->again = reload->told = false;
		reload->patience.waited_ns = 0;
		control_unlock(reload->control);
	}
}

void reload_ask(struct reload *reload)
{
	bool begins;

	if (reload->path == NULL)
		return;
	control_lock(reload->control);
	begins = !reload->running;
	reload->running = true;
	reload->again = !begins;
	control_unlock(reload->control);
	if (!begins || control_thread(reload->control, reload_run, reload) == 0)
		return;
	reload->tell(reload->argument, RUN_LOG_ERROR,
	             "no thread can be started to read the scenario file again; it stays as it is");
	control_lock(reload->control);
	reload->running = false;
	control_unlock(reload->control);
}

void reload_watch(struct reload *reload, uint64_t now_ns)
{
	char text[500];
	bool late;

	control_lock(reload->control);
	late = patience_look(&reload->patience, now_ns) >= RELOAD_LATE_NS && reload->running &&
	       !reload->told;
	if (!reload->running)
		reload->patience.waited_ns = 0;
	reload->told |= late;
	control_unlock(reload->control);
	if (!late)
		return;
	snprintf(text, sizeof(text),
	         "%.300s: not reloaded after 20 s: its disk does not answer, or that of a file "
	         "which it names; the scenario in force stays until they do",
	         reload->path);
	reload->tell(reload->argument, RUN_LOG_WARNING, text);
}
