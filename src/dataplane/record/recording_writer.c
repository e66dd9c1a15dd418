/* SPDX-License-Identifier: BSD-3-Clause */
/* The thread of a recording. It moves entries from the tapes to the file or the flight, and writes
 * notes. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "machine/clock.h"
#include "machine/machine_memory.h"
#include "record/folder_write.h"
#include "record/recorded_file.h"
#include "record/recording_state.h"

#define REST_NS  (500 * SIMTIME_US)
#define FLUSH_NS (100 * SIMTIME_MS)
#define TURN     4096u /* entries of one worker before the next worker's turn */

/* ---- notes ---- */

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

	pthread_mutex_lock(&recording->changes_lock);
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
	pthread_mutex_unlock(&recording->changes_lock);
}

/* ---- tapes ---- */

void recording_end_early(struct recording *recording, int error)
{
	if (recording->error == 0)
		recording->error = error;
	__atomic_store_n(&recording->ended, true, __ATOMIC_RELEASE);
}

/* Notes for people which change a worker took over, and when. A repetition reads that in
 * ingress.pcapng. */
static void note_taken(struct recording *recording, uint32_t worker, const struct tape_entry *entry)
{
	notes_write(recording);
	pthread_mutex_lock(&recording->changes_lock);
	fprintf(recording->changes,
	        "{\"taken\":%" PRIu64 ",\"worker\":%" PRIu32 ",\"t_ns\":%" PRIu64 "}\n",
	        entry->number, worker, entry->t_ns);
	fflush(recording->changes);
	pthread_mutex_unlock(&recording->changes_lock);
}

uint64_t recording_file_bytes(const struct recording *recording)
{
	return recording->pack ? pack_written_bytes(recording->pack) : recording->put.bytes;
}

static void put_in_file(struct recording *recording, uint32_t worker,
                        const struct tape_entry *entry)
{
	recording->put.bytes += recorded_put(&recording->block_writer, worker, entry);
	if (entry->kind == TAPE_PACKETS)
		recording->put.packets += entry->n;
	recording->put.until_ns = simtime_max(recording->put.until_ns, entry->t_ns);
}

static void flush(struct recording *recording)
{
	int error = block_writer_flush(&recording->block_writer);

	if (error == 0) {
		recording->flushed = recording->put;
		recording->flushed.bytes = recording_file_bytes(recording);
	} else if (!recording->ended) {
		recording_end_early(recording, error);
	}
}

/* Destination of the parts of a snapshot. */
struct flight_place {
	struct flight *flight;
	uint32_t worker;
};

static void put_part(void *argument, const struct tape_entry *entry)
{
	const struct flight_place *place = argument;

	flight_put(place->flight, place->worker, entry);
}

static void put_in_flight(struct recording *recording, uint32_t worker,
                          const struct tape_entry *entry)
{
	struct flight_place place = {recording->flight, worker};

	if (entry->kind == TAPE_SNAPSHOT)
		tape_snapshot_parts(&recording->tapes[worker], entry, recording->part, put_part,
		                    &place);
	else
		flight_put(recording->flight, worker, entry);
}

#define SPARE_BYTES (UINT64_C(32) << 20) /* that the machine must have left beside a larger room */

/* Makes a larger room if a snapshot does not fit and there is memory for it. The room is a quarter
 * larger than wanted: the next snapshot is larger if more packets are held, or a template has more
 * clouds. */
static void room_for(struct tape *tape)
{
	const uint64_t wanted = tape_room_wanted(tape);
	const uint64_t bytes = RTE_ALIGN_CEIL(wanted + wanted / 4, UINT64_C(2) << 20);
	struct machine_memory machine;
	bool fits;

	if (wanted == 0)
		return;
	fits = bytes <= RECORDING_SNAPSHOT_MOST && machine_memory_read("", &machine) == 0 &&
	       bytes + SPARE_BYTES <= machine.pages.free_bytes &&
	       bytes + SPARE_BYTES <= machine.address.free_bytes;
	tape_room_answer(tape, fits ? bytes : 0);
}

static uint32_t write_some(struct recording *recording, uint32_t worker)
{
	struct tape *tape = &recording->tapes[worker];
	const struct tape_entry *entry;
	uint32_t n = 0;

	for (; n < TURN && (entry = tape_look(tape)); n++) {
		if (!recording->ended) {
			/* The change is noted before any entry behind it is written. */
			if (entry->kind == TAPE_CHANGE)
				note_taken(recording, worker, entry);
			if (recording->flight)
				put_in_flight(recording, worker, entry);
			else
				put_in_file(recording, worker, entry);
			if (recording->plan.limit_bytes > 0 &&
			    recording_file_bytes(recording) >= recording->plan.limit_bytes)
				recording_end_early(recording, 0);
		}
		tape_pass(tape, entry);
	}
	if (recording->block_writer.error != 0 && !recording->ended)
		recording_end_early(recording, recording->block_writer.error);
	return n;
}

void *recording_writer(void *argument)
{
	static const struct timespec rest = {.tv_nsec = (long)REST_NS};
	struct recording *recording = argument;
	uint64_t flushed_ns = clock_machine_ns();
	bool stop, busy;

	do {
		stop = __atomic_load_n(&recording->stop, __ATOMIC_ACQUIRE);
		notes_write(recording);
		busy = false;
		for (uint32_t i = 0; i < recording->n_tapes; i++)
			busy |= write_some(recording, i) > 0;
		for (uint32_t i = 0; i < recording->n_tapes && recording->flight; i++)
			room_for(&recording->tapes[i]);
		if (!busy && !stop)
			nanosleep(&rest, NULL);
		if (!recording->flight &&
		    (clock_machine_ns() - flushed_ns >= FLUSH_NS || (stop && !busy))) {
			flush(recording);
			flushed_ns = clock_machine_ns();
		}
	} while (!stop || busy);
	return NULL;
}

/* Writes a flight to disk, as a recording that begins in the middle of the run. */

/* Returns a copy of the text of `changes`. The writer owns that text, and it moves when it
 * grows. */
static char *changes_so_far(struct recording *recording, size_t *bytes)
{
	char *text;

	pthread_mutex_lock(&recording->changes_lock);
	fflush(recording->changes);
	*bytes = recording->changes_bytes;
	text = malloc(*bytes + 1);
	if (text)
		memcpy(text, recording->changes_text, *bytes);
	pthread_mutex_unlock(&recording->changes_lock);
	return text;
}

static int dump_changes(struct recording *recording, struct folder *folder, struct problem *problem)
{
	size_t bytes;
	char *text = changes_so_far(recording, &bytes);
	int rc = text ? folder_text_put(folder, "changes.jsonl", text, bytes, problem) : -ENOMEM;

	free(text);
	return rc;
}

static int dump_known_files(struct recording *recording, struct folder *folder,
                            struct problem *problem)
{
	const struct known_file *file;
	int rc = 0;

	pthread_mutex_lock(&recording->lock);
	file = recording->files;
	pthread_mutex_unlock(&recording->lock);
	/* New files are put in front of these, and none is freed. */
	for (; rc == 0 && file; file = file->next)
		rc = folder_text_put(folder, file->at, file->content, file->bytes, problem);
	return rc;
}

static int dump_ingress(struct recording *recording, struct folder *folder, struct problem *problem)
{
	int fd = folder_file_new(folder, "ingress.pcapng"), rc;

	if (fd < 0)
		return folder_file_failed(folder, "ingress.pcapng", problem);
	rc = flight_write(recording->flight, recording->scenario, recording->plan.snap, fd);
	if (close(fd) < 0 && rc == 0)
		rc = -errno;
	if (rc == 0)
		return 0;
	errno = -rc;
	return folder_file_failed(folder, "ingress.pcapng", problem);
}

static int dump_all(struct recording *recording, const char *path, struct problem *problem)
{
	struct folder made, *folder = &made;
	int rc = folder_make(folder, path, problem);

	/* recording.json is written last: a folder without it is no recording. */
	if (rc == 0)
		rc = dump_ingress(recording, folder, problem);
	if (rc == 0)
		rc = folder_text_put(folder, "scenario.weir", recording->text,
		                     strlen(recording->text), problem);
	if (rc == 0)
		rc = dump_known_files(recording, folder, problem);
	if (rc == 0)
		rc = dump_changes(recording, folder, problem);
	if (rc == 0)
		rc = folder_text_put(folder, "recording.json", recording->about,
		                     strlen(recording->about), problem);
	if (rc == 0)
		folder_keep(folder);
	else
		folder_remove(folder);
	return rc;
}

/* Sets the problem to the reason why the rings are empty. Returns -ENODATA. */
static int say_empty(const struct recording *recording, struct problem *problem)
{
	uint64_t held = 0, needed = 0;
	bool refused = false;

	for (uint32_t i = 0; i < recording->n_tapes; i++) {
		const struct tape_snapshots *snapshots = &recording->tapes[i].snapshots;

		held = RTE_MAX(held, __atomic_load_n(&snapshots->packets, __ATOMIC_RELAXED));
		needed = RTE_MAX(needed, __atomic_load_n(&snapshots->needed, __ATOMIC_RELAXED));
		refused |= __atomic_load_n(&snapshots->refused, __ATOMIC_RELAXED);
	}
	if (refused)
		problem_set(problem, -1,
		            "the flight holds nothing yet: the state of the clouds takes %" PRIu64
		            " MiB, which are not available; give more memory, or use fewer clouds",
		            (needed >> 20) + 1);
	else if (held > recording->plan.held_max)
		problem_set(
		        problem, -1,
		        "the flight holds nothing yet: %" PRIu64
		        " packets are in the clouds, and it begins when there are at most %" PRIu64
		        "; --flight-held N allows more",
		        held, recording->plan.held_max);
	else
		problem_set(problem, -1, "the flight holds nothing yet: try again in a moment");
	return -ENODATA;
}

static int dump_locked(struct recording *recording, const char *folder, struct recording_dump *dump,
                       struct problem *problem)
{
	int rc = flight_views(recording->flight, dump);

	if (rc == -ENODATA)
		return say_empty(recording, problem);
	if (rc < 0) {
		problem_set(problem, -1,
		            rc == -ESTALE ? "a change is missing in the flight, because the writer "
		                            "was too slow: the flight can no longer be replayed"
		                          : "no memory for the dump");
		return rc;
	}
	rc = dump_all(recording, folder, problem);
	flight_views_release(recording->flight);
	return rc;
}

int recording_dump(struct recording *recording, const char *folder, struct recording_dump *dump,
                   struct problem *problem)
{
	int rc;

	if (pthread_mutex_trylock(&recording->dump_lock) != 0) {
		problem_set(problem, -1, "the flight is being dumped; try again in a moment");
		return -EBUSY;
	}
	rc = dump_locked(recording, folder, dump, problem);
	pthread_mutex_unlock(&recording->dump_lock);
	return rc;
}
