/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/recording.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "record/folder_write.h"
#include "record/recorded_file.h"
#include "record/recording_state.h"

/* ---- the folder ---- */

static int open_files(struct recording *recording, const struct scenario *scenario,
                      const char *text, struct problem *problem)
{
	const char *ingress = recording->plan.zstd ? "ingress.pcapng.zst" : "ingress.pcapng";
	struct folder *folder = &recording->folder;
	int rc = folder_make(folder, recording->plan.folder, problem), fd;

	if (rc < 0)
		return rc;
	recording->fd = folder_file_new(folder, ingress);
	if (recording->fd < 0)
		return folder_file_failed(folder, ingress, problem);
	rc = folder_text_put(folder, "scenario.weir", text, strlen(text), problem);
	if (rc < 0)
		return rc;
	fd = folder_file_new(folder, "changes.jsonl");
	recording->changes = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (!recording->changes)
		return folder_file_failed(folder, "changes.jsonl", problem);
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

static int open_flight(struct recording *recording, const char *text)
{
	recording->text = strdup(text);
	recording->changes = open_memstream(&recording->changes_text, &recording->changes_bytes);
	return recording->text && recording->changes ? 0 : -ENOMEM;
}

bool recording_is_flight(const struct recording *recording)
{
	return recording->plan.folder == NULL;
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
	pthread_mutex_init(&recording->changes_lock, NULL);
	pthread_mutex_init(&recording->dump_lock, NULL);
	recording->before = text ? strdup(text) : NULL;
	recording->scenario = scenario_copy(scenario);
	if (recording->before && recording->scenario)
		rc = plan->folder ? open_files(recording, scenario, text, problem)
		                  : open_flight(recording, text);
	if (rc < 0) {
		recording_discard(recording);
		return rc;
	}
	*result = recording;
	return 0;
}

/* ---- notes ---- */

static void note_add(struct recording *recording, uint64_t change, char *text)
{
	struct note *note = text ? calloc(1, sizeof(*note)) : NULL;

	/* Without the note, the change has no text, and a repetition ends there. */
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

int recording_file(struct recording *recording, const char *name, const void *content, size_t bytes)
{
	struct known_file *file;
	struct problem problem;
	int rc = 0;

	/* Only this function adds files, for one caller at a time. The lock is not held while the
	 * file is written: notes do not wait for the disk. */
	for (file = recording->files; file && strcmp(file->name, name) != 0;)
		file = file->next;
	/* The latest content of that name counts. */
	if (file && file->bytes == bytes && memcmp(file->content, content, bytes) == 0)
		return 0;
	file = calloc(1, sizeof(*file));
	if (!file || !(file->name = strdup(name)) || !(file->content = malloc(bytes + 1))) {
		rc = -ENOMEM;
		goto err_free;
	}
	memcpy(file->content, content, bytes);
	file->bytes = bytes;
	snprintf(file->at, sizeof(file->at), "files/%" PRIu32, ++recording->n_files);
	if (!recording_is_flight(recording))
		rc = folder_text_put(&recording->folder, file->at, content, bytes, &problem);
	if (rc != 0)
		goto err_free;
	file->next = recording->files;
	pthread_mutex_lock(&recording->lock);
	recording->files = file;
	pthread_mutex_unlock(&recording->lock);
	recording_note(recording, scenario_file_line(name, file->at));
	return 0;

err_free:
	if (file) {
		free(file->name);
		free(file->content);
		free(file);
	}
	return rc;
}

/* ---- control ---- */

static int write_about(struct recording *recording, uint32_t workers, const uint32_t *emulator,
                       uint64_t memory_bytes, struct problem *problem)
{
	const char *flight = recording_is_flight(recording) ? ",\"flight\":true" : "";
	const struct scenario *scenario = recording->scenario;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	int rc;

	if (!out)
		return -ENOMEM;
	fprintf(out,
	        "{\"recording\":1,\"weir\":\"%s\",\"workers\":%" PRIu32 ",\"memory_bytes\":%" PRIu64
	        ",\"snap\":%" PRIu32 "%s,\"ports\":[",
	        recording->plan.weir, workers, memory_bytes, recording->plan.snap, flight);
	for (uint32_t port = 0; port < scenario->n_ports; port++)
		fprintf(out, "%s{\"name\":\"%s\",\"worker\":%" PRIu32 "}", port ? "," : "",
		        scenario->ports[port].name, emulator[port]);
	fputs("]}\n", out);
	fclose(out);
	if (recording_is_flight(recording)) {
		recording->about = text;
		return 0;
	}
	rc = folder_text_put(&recording->folder, "recording.json", text, bytes, problem);
	free(text);
	return rc;
}

/* The number of snapshots in the time and memory of a worker's ring, so that there is always one
 * with which the ring can begin. */
#define SNAPSHOTS_A_RING 4

static int begin_flight(struct recording *recording, uint32_t workers)
{
	const struct recording_plan *plan = &recording->plan;
	const struct tape_snapshots snapshots = {
	        .room_bytes = RECORDING_SNAPSHOT_BYTES,
	        .every_ns = plan->flight_ns ? simtime_max(plan->flight_ns / SNAPSHOTS_A_RING,
	                                                  RECORDING_SNAPSHOT_NS)
	                                    : SIMTIME_HORIZON / 2,
	        .every_bytes = plan->flight_bytes / SNAPSHOTS_A_RING,
	        .held_max = plan->held_max,
	};
	int rc = 0;

	recording->flight = flight_make(workers, plan->flight_bytes, plan->flight_ns);
	recording->part = malloc(sizeof(*recording->part));
	if (!recording->flight || !recording->part)
		return -ENOMEM;
	for (uint32_t i = 0; rc == 0 && i < workers; i++)
		rc = tape_take_snapshots(&recording->tapes[i], &snapshots);
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
	if (recording->tapes && rc == 0 && recording_is_flight(recording))
		rc = begin_flight(recording, workers);
	if (!recording->tapes || rc < 0) {
		problem_set(problem, -1, "no memory to record: %" PRIu64 " MiB for each worker",
		            tape_bytes >> 20);
		return -ENOMEM;
	}
	rc = pthread_create(&recording->thread, NULL, recording_writer, recording);
	if (rc != 0) {
		problem_set(problem, -1, "cannot start the thread that records: %s", strerror(rc));
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
			recording_end_early(recording, error);
	}
}

bool recording_trouble(struct recording *recording, char *line, size_t room)
{
	if (recording->told || !__atomic_load_n(&recording->ended, __ATOMIC_ACQUIRE))
		return false;
	recording->told = true;
	if (recording->error)
		snprintf(line, room, "recording %s ends here, and the run continues: %s",
		         recording->folder.path, strerror(recording->error));
	else
		snprintf(line, room,
		         "recording %s ends here, and the run continues: its limit is reached",
		         recording->folder.path);
	return true;
}

void recording_counts(const struct recording *recording, struct recording_counts *counts)
{
	*counts = (struct recording_counts){.bytes = recording_file_bytes(recording),
	                                    .ended = recording->ended,
	                                    .error = recording->error,
	                                    .lacked_ns = SIMTIME_NEVER,
	                                    .until_ns = recording->flushed.until_ns};
	for (uint32_t i = 0; i < recording->n_tapes; i++) {
		const struct tape *tape = &recording->tapes[i];

		counts->packets += tape->packets;
		counts->missed += tape->missed;
		counts->lacked_ns = simtime_min(counts->lacked_ns, tape->lacked_ns);
	}
	/* The tapes go on when the file has ended. */
	if (recording->ended) {
		counts->packets = recording->flushed.packets;
		counts->bytes = recording->flushed.bytes;
		if (counts->lacked_ns > counts->until_ns)
			counts->lacked_ns = SIMTIME_NEVER;
	}
}

const char *recording_folder(const struct recording *recording)
{
	return recording->folder.path;
}

uint32_t recording_snap(const struct recording *recording)
{
	return recording->plan.snap;
}

void recording_discard(struct recording *recording)
{
	if (!recording)
		return;
	recording_finish(recording);
	folder_remove(&recording->folder);
	recording_free(recording);
}

void recording_free(struct recording *recording)
{
	struct known_file *file;
	struct note *note;

	if (!recording)
		return;
	recording_finish(recording);
	/* Waits until a dump that is under way has ended. */
	pthread_mutex_lock(&recording->dump_lock);
	pthread_mutex_unlock(&recording->dump_lock);
	flight_free(recording->flight);
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
	pthread_mutex_destroy(&recording->changes_lock);
	pthread_mutex_destroy(&recording->dump_lock);
	scenario_free(recording->scenario);
	free(recording->part);
	free(recording->tapes);
	free(recording->changes_text);
	free(recording->before);
	free(recording->about);
	free(recording->text);
	folder_keep(&recording->folder);
	free(recording);
}
