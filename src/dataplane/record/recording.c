/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "capture/pack.h"
#include "record/recorded_file.h"
#include "record/scenario_lines.h"
#include "record/tape.h"

#define REST_NS     (500 * SIMTIME_US)
#define FLUSH_NS    (100 * SIMTIME_MS)
#define TURN        4096u /* entries of one worker, before those of the next */
#define MODE_FOLDER 0777
#define FILE_BYTES  PATH_MAX

/* What stands in changes.jsonl, in order. */
struct note {
	struct note *next;
	uint64_t change; /* 0: a line */
	char *text;
};

struct known_file {
	struct known_file *next;
	char *name;
	size_t bytes;
	void *content;
};

struct recording {
	struct recording_plan plan;
	char *folder;
	struct scenario *scenario;
	struct tape *tapes;
	uint32_t n_tapes;
	pthread_t thread;
	bool running, stop;
	/* the writer's */
	int fd;
	struct io_thread *io_thread;
	struct block_writer block_writer;
	struct pack *pack; /* NULL: it is not compressed */
	FILE *changes;
	char *before; /* the scenario's text ahead of the next change */
	uint64_t bytes; /* before they are compressed */
	bool ended;
	int error; /* an errno of a write */
	/* with the lock */
	pthread_mutex_t lock;
	struct note *first, **last;
	struct known_file *files;
	uint32_t n_files;
	bool told;
};

/* ---- the folder ---- */

static void path_in(const struct recording *recording, const char *name, char path[FILE_BYTES])
{
	snprintf(path, FILE_BYTES, "%s/%s", recording->folder, name);
}

static int file_failed(const char *path, struct problem *problem)
{
	const int error = errno;

	problem_set(problem, -1, "%s: cannot be written: %s%s", path, strerror(error),
	            error == EEXIST ? "; a recording lies there: give another folder" : "");
	return -EINVAL;
}

/* A new file in the folder; -1 with errno. */
static int file_new(const struct recording *recording, const char *name, char path[FILE_BYTES])
{
	path_in(recording, name, path);
	return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

static int text_put(const struct recording *recording, const char *name, const void *text,
                    size_t bytes, struct problem *problem)
{
	char path[FILE_BYTES];
	int fd = file_new(recording, name, path);
	FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
	bool written;

	if (!file) {
		int rc = file_failed(path, problem);

		if (fd >= 0)
			close(fd);
		return rc;
	}
	written = fwrite(text, 1, bytes, file) == bytes;
	if (fclose(file) != 0 || !written)
		return file_failed(path, problem);
	return 0;
}

static int make_folder(const struct recording *recording, struct problem *problem)
{
	char files[FILE_BYTES];

	if (mkdir(recording->folder, MODE_FOLDER) < 0 && errno != EEXIST)
		return file_failed(recording->folder, problem);
	path_in(recording, "files", files);
	if (mkdir(files, MODE_FOLDER) < 0 && errno != EEXIST)
		return file_failed(files, problem);
	return 0;
}

static int open_files(struct recording *recording, const struct scenario *scenario,
                      const char *text, struct problem *problem)
{
	char path[FILE_BYTES];
	int rc = make_folder(recording, problem), fd;

	if (rc < 0)
		return rc;
	recording->fd = file_new(
	        recording, recording->plan.zstd ? "ingress.pcapng.zst" : "ingress.pcapng", path);
	if (recording->fd < 0)
		return file_failed(path, problem);
	rc = text_put(recording, "scenario.weir", text, strlen(text), problem);
	if (rc < 0)
		return rc;
	fd = file_new(recording, "changes.jsonl", path);
	recording->changes = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (!recording->changes)
		return file_failed(path, problem);
	recording->io_thread = io_thread_make();
	rc = block_writer_open(&recording->block_writer, recording->fd, recording->io_thread);
	if (rc == 0 && recording->plan.zstd) {
		recording->pack = pack_make(recording->fd);
		rc = recording->pack ? 0 : -ENOMEM;
		if (rc == 0)
			block_writer_through(&recording->block_writer, pack_sink(recording->pack));
	}
	if (rc < 0) {
		problem_set(problem, -1, "no memory for a recording");
		return rc;
	}
	recorded_begin(&recording->block_writer, scenario, recording->plan.snap);
	return 0;
}

int recording_open(const struct recording_plan *plan, const struct scenario *scenario,
                   const char *text, struct recording **result, struct problem *problem)
{
	struct recording *recording = calloc(1, sizeof(*recording));
	int rc = -ENOMEM;

	problem_set(problem, -1, "no memory for a recording");
	if (!recording)
		return rc;
	recording->fd = -1;
	recording->plan = *plan;
	recording->last = &recording->first;
	pthread_mutex_init(&recording->lock, NULL);
	recording->folder = strdup(plan->folder);
	recording->before = text ? strdup(text) : NULL;
	recording->scenario = scenario_copy(scenario);
	if (recording->folder && recording->before && recording->scenario)
		rc = open_files(recording, scenario, text, problem);
	if (rc < 0) {
		recording_free(recording);
		return rc;
	}
	*result = recording;
	return 0;
}

/* ---- notes ---- */

static void note_add(struct recording *recording, uint64_t change, char *text)
{
	struct note *note = text ? calloc(1, sizeof(*note)) : NULL;

	/* Without it, the change is not known by its number: a repetition ends there. */
	if (!note) {
		free(text);
		return;
	}
	note->change = change;
	note->text = text;
	pthread_mutex_lock(&recording->lock);
	*recording->last = note;
	recording->last = &note->next;
	pthread_mutex_unlock(&recording->lock);
}

void recording_change(struct recording *recording, uint64_t number, char *text)
{
	note_add(recording, number, text);
}

void recording_note(struct recording *recording, char *line)
{
	note_add(recording, 0, line);
}

static struct note *notes_take(struct recording *recording)
{
	struct note *first;

	pthread_mutex_lock(&recording->lock);
	first = recording->first;
	recording->first = NULL;
	recording->last = &recording->first;
	pthread_mutex_unlock(&recording->lock);
	return first;
}

static void notes_write(struct recording *recording)
{
	struct note *note = notes_take(recording), *next;
	const bool any = note != NULL;

	for (; note; note = next) {
		next = note->next;
		if (note->change > 0) {
			scenario_lines_write(recording->changes, note->change, recording->before,
			                     note->text);
			free(recording->before);
			recording->before = note->text;
		} else {
			fprintf(recording->changes, "%s\n", note->text);
			free(note->text);
		}
		free(note);
	}
	if (any && fflush(recording->changes) != 0 && recording->error == 0)
		recording->error = errno;
}

int recording_file(struct recording *recording, const char *name, const void *content, size_t bytes)
{
	struct known_file *file;
	struct problem problem;
	char at[40], *line = NULL;
	int rc = 0;

	pthread_mutex_lock(&recording->lock);
	for (file = recording->files; file; file = file->next) {
		if (strcmp(file->name, name) == 0)
			break;
	}
	/* The latest of that name counts. */
	if (file && file->bytes == bytes && memcmp(file->content, content, bytes) == 0)
		goto out;
	file = calloc(1, sizeof(*file));
	if (!file || !(file->name = strdup(name)) || !(file->content = malloc(bytes + 1))) {
		if (file)
			free(file->name);
		free(file);
		rc = -ENOMEM;
		goto out;
	}
	memcpy(file->content, content, bytes);
	file->bytes = bytes;
	file->next = recording->files;
	recording->files = file;
	snprintf(at, sizeof(at), "files/%" PRIu32, ++recording->n_files);
	rc = text_put(recording, at, content, bytes, &problem);
	if (rc == 0)
		line = scenario_file_line(name, at);
out:
	pthread_mutex_unlock(&recording->lock);
	recording_note(recording, line);
	return rc;
}

/* ---- the writer ---- */

static void end_early(struct recording *recording, int error)
{
	if (recording->error == 0)
		recording->error = error;
	__atomic_store_n(&recording->ended, true, __ATOMIC_RELEASE);
}

/* What workers took over, and when, for people; a repetition reads it in ingress.pcapng. */
static void note_taken(struct recording *recording, uint32_t worker, const struct tape_entry *entry)
{
	notes_write(recording);
	fprintf(recording->changes,
	        "{\"taken\":%" PRIu64 ",\"worker\":%" PRIu32 ",\"t_ns\":%" PRIu64 "}\n",
	        entry->number, worker, entry->t_ns);
	fflush(recording->changes);
}

/* Of the file, but for what is on its way. */
static uint64_t file_bytes(const struct recording *recording)
{
	return recording->pack ? pack_written_bytes(recording->pack) : recording->bytes;
}

static uint32_t write_some(struct recording *recording, uint32_t worker)
{
	struct tape *tape = &recording->tapes[worker];
	const struct tape_entry *entry;
	uint32_t n = 0;

	for (; n < TURN && (entry = tape_look(tape)); n++) {
		if (!recording->ended) {
			/* The change is known before anything stands behind it. */
			if (entry->kind == TAPE_CHANGE)
				note_taken(recording, worker, entry);
			recording->bytes += recorded_put(&recording->block_writer, worker, entry);
			if (recording->plan.limit_bytes > 0 &&
			    file_bytes(recording) >= recording->plan.limit_bytes)
				end_early(recording, 0);
		}
		tape_pass(tape, entry);
	}
	if (recording->block_writer.error != 0 && !recording->ended)
		end_early(recording, recording->block_writer.error);
	return n;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SIMTIME_S + (uint64_t)now.tv_nsec;
}

static void *writer(void *argument)
{
	static const struct timespec rest = {.tv_nsec = (long)REST_NS};
	struct recording *recording = argument;
	uint64_t flushed_ns = now_ns();
	bool stop, busy;

	do {
		stop = __atomic_load_n(&recording->stop, __ATOMIC_ACQUIRE);
		notes_write(recording);
		busy = false;
		for (uint32_t i = 0; i < recording->n_tapes; i++)
			busy |= write_some(recording, i) > 0;
		if (!busy && !stop)
			nanosleep(&rest, NULL);
		if (now_ns() - flushed_ns >= FLUSH_NS || (stop && !busy)) {
			int error = block_writer_flush(&recording->block_writer);

			if (error != 0 && !recording->ended)
				end_early(recording, error);
			flushed_ns = now_ns();
		}
	} while (!stop || busy);
	return NULL;
}

/* ---- control ---- */

static int write_about(struct recording *recording, uint32_t workers, const uint32_t *emulator,
                       uint64_t memory_bytes, struct problem *problem)
{
	const struct scenario *scenario = recording->scenario;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	int rc;

	if (!out)
		return -ENOMEM;
	fprintf(out,
	        "{\"recording\":1,\"weir\":\"%s\",\"workers\":%" PRIu32 ",\"memory_bytes\":%" PRIu64
	        ",\"snap\":%" PRIu32 ",\"ports\":[",
	        recording->plan.weir, workers, memory_bytes, recording->plan.snap);
	for (uint32_t port = 0; port < scenario->n_ports; port++)
		fprintf(out, "%s{\"name\":\"%s\",\"worker\":%" PRIu32 "}", port ? "," : "",
		        scenario->ports[port].name, emulator[port]);
	fputs("]}\n", out);
	fclose(out);
	rc = text_put(recording, "recording.json", text, bytes, problem);
	free(text);
	return rc;
}

int recording_begin(struct recording *recording, uint32_t workers, const uint32_t *emulator,
                    uint64_t memory_bytes, struct problem *problem)
{
	const uint64_t tape_bytes =
	        recording->plan.tape_bytes ? recording->plan.tape_bytes : RECORDING_TAPE_BYTES;
	int rc = write_about(recording, workers, emulator, memory_bytes, problem);

	if (rc < 0)
		return rc;
	recording->tapes = aligned_alloc(RTE_CACHE_LINE_SIZE, workers * sizeof(*recording->tapes));
	if (recording->tapes)
		memset(recording->tapes, 0, workers * sizeof(*recording->tapes));
	for (uint32_t i = 0; recording->tapes && rc == 0 && i < workers; i++) {
		rc = tape_make(&recording->tapes[i], tape_bytes, recording->plan.snap);
		recording->n_tapes = i + 1;
	}
	if (!recording->tapes || rc < 0) {
		problem_set(problem, -1, "no memory to record: %" PRIu64 " MiB for each worker",
		            tape_bytes >> 20);
		return -ENOMEM;
	}
	rc = pthread_create(&recording->thread, NULL, writer, recording);
	if (rc != 0) {
		problem_set(problem, -1, "no thread to record: %s", strerror(rc));
		return -rc;
	}
	recording->running = true;
	return 0;
}

struct tape *recording_tape(struct recording *recording, uint32_t worker)
{
	return &recording->tapes[worker];
}

void recording_finish(struct recording *recording)
{
	if (!recording->running)
		return;
	__atomic_store_n(&recording->stop, true, __ATOMIC_RELEASE);
	pthread_join(recording->thread, NULL);
	recording->running = false;
	if (recording->pack) {
		int error = pack_finish(recording->pack);

		if (error != 0 && !recording->ended)
			end_early(recording, error);
	}
}

bool recording_trouble(struct recording *recording, char *line, size_t room)
{
	if (recording->told || !__atomic_load_n(&recording->ended, __ATOMIC_ACQUIRE))
		return false;
	recording->told = true;
	if (recording->error)
		snprintf(line, room, "recording %s ends here, and the run goes on: %s",
		         recording->folder, strerror(recording->error));
	else
		snprintf(line, room,
		         "recording %s ends here, and the run goes on: its limit is reached",
		         recording->folder);
	return true;
}

void recording_counts(const struct recording *recording, struct recording_counts *counts)
{
	*counts = (struct recording_counts){.bytes = file_bytes(recording),
	                                    .ended = recording->ended};
	for (uint32_t i = 0; i < recording->n_tapes; i++) {
		counts->packets += recording->tapes[i].packets;
		counts->missed += recording->tapes[i].missed;
	}
}

const char *recording_folder(const struct recording *recording)
{
	return recording->folder;
}

uint32_t recording_snap(const struct recording *recording)
{
	return recording->plan.snap;
}

void recording_free(struct recording *recording)
{
	struct known_file *file;
	struct note *note;

	if (!recording)
		return;
	recording_finish(recording);
	block_writer_close(&recording->block_writer);
	io_thread_free(recording->io_thread);
	pack_free(recording->pack);
	if (recording->fd >= 0)
		close(recording->fd);
	if (recording->changes)
		fclose(recording->changes);
	for (uint32_t i = 0; i < recording->n_tapes; i++)
		tape_free(&recording->tapes[i]);
	while ((file = recording->files)) {
		recording->files = file->next;
		free(file->name);
		free(file->content);
		free(file);
	}
	while ((note = recording->first)) {
		recording->first = note->next;
		free(note->text);
		free(note);
	}
	pthread_mutex_destroy(&recording->lock);
	scenario_free(recording->scenario);
	free(recording->tapes);
	free(recording->before);
	free(recording->folder);
	free(recording);
}
