/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a flight to disk, as a recording that begins in the middle of the run. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/recording_state.h"

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
