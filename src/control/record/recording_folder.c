/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/recording_folder.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_common.h>

#include "language/language.h"
#include "language/scenario_check.h"
#include "language/scenario_file.h"
#include "text/alloc_failure.h"
#include "text/file_read.h"

/*
 * The lines of a recorded scenario, an array of texts, and how the rows of changes.jsonl change
 * them. The rows are those of folder_write.h in dataplane/record/.
 */

/* Returns the lines of the text, which need not be UTF-8; NULL if there is no memory. */
static json_t *lines_of(const char *text)
{
	json_t *lines = json_array(), *line;

	for (const char *end; *text; text = *end ? end + 1 : end) {
		end = strchrnul(text, '\n');
		line = json_stringn_nocheck(text, (size_t)(end - text));
		if (json_array_append_new(lines, line) != 0) {
			json_decref(lines);
			return NULL;
		}
	}
	return lines;
}

/* Returns the lines as one text, which the caller frees, or NULL if there is no memory. */
static char *lines_text(const json_t *lines)
{
	struct printed text;
	FILE *out = printed_begin(&text);
	const json_t *line;
	size_t i;

	json_array_foreach(lines, i, line) fprintf(out, "%s\n", json_string_value(line));
	return printed_end(&text);
}

/* Applies a row. Returns false if it does not fit or there is no memory; a part of it may then have
 * been applied. */
static bool lines_change(json_t *lines, const json_t *row)
{
	const json_int_t from = json_integer_value(json_object_get(row, "from"));
	const json_int_t removed = json_integer_value(json_object_get(row, "removed"));
	const json_t *added = json_object_get(row, "lines");
	const size_t n = json_array_size(lines);
	json_t *line;
	size_t i;

	if (from < 0 || removed < 0 || (size_t)from > n || (size_t)removed > n - (size_t)from ||
	    !json_is_array(added))
		return false;
	for (json_int_t k = 0; k < removed; k++)
		json_array_remove(lines, (size_t)from);
	json_array_foreach(added, i, line)
	{
		if (!json_is_string(line) || json_array_insert(lines, (size_t)from + i, line) != 0)
			return false;
	}
	return true;
}

#define NAME_BYTES 256

/* The scenario of one worker, followed through its changes. */
struct follower {
	size_t read; /* number of rows read so far */
	json_t *lines;
	struct scenario *scenario;
	json_t *files; /* name -> path of its content */
	bool begun;    /* of a flight: the snapshot has been read */
};

struct recording_folder {
	struct file_source source;       /* first member: reads files that a scenario names */
	const struct follower *follower; /* for which files are read */
	char path[PATH_MAX];
	struct recording_about about;
	const struct rerun_asked *asked;
	json_t *rows;     /* of changes.jsonl: changes and files, in order */
	json_t *warnings; /* of changes.jsonl: about the snap */
	struct scenario *first;
	struct scenario *other; /* of a flight: replaces the scenario at its beginning; or NULL */
	struct file *text;      /* scenario.weir */
	struct follower followers[RERUN_WORKERS_MAX];
};

/* ---- files ---- */

static struct file *read_all(const struct recording_folder *folder, const char *name)
{
	char path[PATH_MAX + NAME_BYTES];
	struct language_error error;
	struct file *file;

	snprintf(path, sizeof(path), "%s/%s", folder->path, name);
	return file_read_own(path, FILE_BYTES_MAX, &file, &error) == 0 ? file : NULL;
}

/* Reads a file from where the recording says that it lies, and from nowhere else. */
static int read_recorded(const struct file_source *source, const char *name, struct file **result,
                         struct language_error *error)
{
	const struct recording_folder *folder = (const struct recording_folder *)source;
	const char *at = json_string_value(json_object_get(folder->follower->files, name));
	struct file *file, *content = NULL;

	if (at && strncmp(at, "files/", 6) == 0 && at[6 + strspn(at + 6, "0123456789")] == '\0')
		content = read_all(folder, at);
	file = content ? file_make(name, content->bytes) : NULL;
	if (file)
		memcpy(file->text, content->text, content->bytes);
	file_release(content);
	if (!file)
		return language_error_set(error, ERROR_BAD_FILE,
		                          "the recording lacks the file `%s`", name);
	*result = file;
	return 0;
}

/* ---- scenarios ---- */

static int edit(struct scenario *scenario, const char *line, struct problem *problem)
{
	struct language_error error;
	struct command *command = calloc(1, sizeof(*command));
	int rc = command ? language_parse(line, command, &error) : -ENOMEM;

	if (!command) {
		problem_set(problem, -1, "no memory");
		return rc;
	}
	if (rc == 0) {
		rc = language_edit(scenario, command, &error);
		language_release(command);
	}
	free(command);
	if (rc != 0)
		return problem_set(problem, -1, "--set '%s': %s", line, error.text);
	return 0;
}

static int edit_all(const struct recording_folder *folder, struct scenario *scenario,
                    struct problem *problem)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < folder->asked->n_set; i++)
		rc = edit(scenario, folder->asked->set[i], problem);
	return rc == 0 && folder->asked->n_set > 0 ? scenario_check(scenario, problem) : rc;
}

/* Makes the scenario of the text, with the edits. */
static int scenario_of(struct recording_folder *folder, struct follower *follower, const char *text,
                       const char *name, struct scenario **result, struct problem *problem)
{
	char message[SCENARIO_FILE_ERROR];
	int rc;

	folder->follower = follower;
	file_source_use(&folder->source);
	rc = scenario_text_load(text, strlen(text), name, result, message, sizeof(message));
	file_source_use(NULL);
	if (rc != 0)
		return problem_set(problem, -1, "%s", message);
	/* The scenarios of a flight before its beginning are not edited. */
	if (!folder->about.flight || follower->begun)
		rc = edit_all(folder, *result, problem);
	if (rc == 0)
		return 0;
	scenario_free(*result);
	*result = NULL;
	return rc;
}

static uint64_t change_of(const json_t *row)
{
	return (uint64_t)json_integer_value(json_object_get(row, "change"));
}

static void follow_file(struct follower *follower, const json_t *row)
{
	const char *name = json_string_value(json_object_get(row, "file"));

	if (name)
		json_object_set(follower->files, name, json_object_get(row, "at"));
}

static int follower_begin(struct recording_folder *folder, struct follower *follower)
{
	follower->files = json_object();
	/* Files ahead of the first change belong to the beginning. */
	for (; follower->read < json_array_size(folder->rows); follower->read++) {
		const json_t *row = json_array_get(folder->rows, follower->read);

		if (change_of(row) > 0)
			break;
		follow_file(follower, row);
	}
	follower->lines = lines_of(folder->text->text);
	return follower->files && follower->lines ? 0 : -ENOMEM;
}

/* Reads rows up to that change. Returns false if the change is missing or does not fit. */
static bool follow(struct recording_folder *folder, struct follower *follower, uint64_t number)
{
	uint64_t at = 0;

	while (at != number && follower->read < json_array_size(folder->rows)) {
		const json_t *row = json_array_get(folder->rows, follower->read++);

		at = change_of(row);
		if (at == 0)
			follow_file(follower, row);
		else if (at > number || !lines_change(follower->lines, row))
			return false;
	}
	return at == number;
}

/* Returns the scenario of the follower's current lines, or NULL with problem. */
static const struct scenario *scenario_there(struct recording_folder *folder,
                                             struct follower *follower, const char *name,
                                             struct problem *problem)
{
	struct scenario *next = NULL;
	char *text = lines_text(follower->lines);
	int rc = text ? scenario_of(folder, follower, text, name, &next, problem) : -ENOMEM;

	if (!text)
		problem_set(problem, -1, "no memory");
	free(text);
	if (rc < 0)
		return NULL;
	scenario_free(follower->scenario);
	follower->scenario = next;
	return next;
}

static bool has_begun_to_read(struct recording_folder *folder, struct follower *follower,
                              struct problem *problem)
{
	if (follower->files || follower_begin(folder, follower) == 0)
		return true;
	problem_set(problem, -1, "no memory");
	return false;
}

/* The scenario that a change has made, for a worker (rerun_options.change). */
static const struct scenario *change_made(void *argument, uint32_t worker, uint64_t number,
                                          struct problem *problem)
{
	struct recording_folder *folder = argument;
	struct follower *follower = &folder->followers[worker];
	char name[40];

	if (folder->asked->config && !folder->about.flight)
		return folder->first;
	if (folder->asked->config && follower->begun)
		return folder->other;
	if (!has_begun_to_read(folder, follower, problem))
		return NULL;
	if (!follow(folder, follower, number)) {
		problem_set(problem, -1, "change %" PRIu64 " is not in changes.jsonl", number);
		return NULL;
	}
	snprintf(name, sizeof(name), "change %" PRIu64, number);
	return scenario_there(folder, follower, name, problem);
}

/* The scenario of `config` or `edits`, once the snapshot of a flight has been read
 * (rerun_options.begun). */
static const struct scenario *begun_with(void *argument, uint32_t worker, struct problem *problem)
{
	struct recording_folder *folder = argument;
	struct follower *follower = &folder->followers[worker];

	follower->begun = true;
	if (folder->asked->config)
		return folder->other;
	if (!has_begun_to_read(folder, follower, problem))
		return NULL;
	return scenario_there(folder, follower, "scenario.weir", problem);
}

/* ---- the folder ---- */

static int wrong(const struct recording_folder *folder, const char *name, const char *what,
                 struct problem *problem)
{
	return problem_set(problem, -1, "%.200s/%s: %s", folder->path, name, what);
}

static int read_ports(struct recording_folder *folder, const json_t *ports, struct problem *problem)
{
	struct recording_about *about = &folder->about;
	const struct scenario *first = folder->first;
	const json_t *port;
	size_t i;

	json_array_foreach(ports, i, port)
	{
		const char *name = json_string_value(json_object_get(port, "name"));
		const json_int_t worker = json_integer_value(json_object_get(port, "worker"));
		const int index = name && first ? scenario_find_port(first, name) : -1;

		if (index < 0 || worker < 0 || worker >= (json_int_t)about->workers)
			return wrong(
			        folder, "recording.json",
			        "it names a port that the scenario lacks, or an unknown worker",
			        problem);
		about->emulator[index] = (uint32_t)worker;
	}
	return 0;
}

const char *recording_other_version(const struct recording_about *about,
                                    char text[RECORDING_OTHER_BYTES])
{
	text[0] = '\0';
	if (strcmp(about->weir, WEIR_VERSION) != 0)
		snprintf(text, RECORDING_OTHER_BYTES,
		         "; weir %s recorded it, and this is %s: that may be the reason",
		         about->weir, WEIR_VERSION);
	return text;
}

static int read_about(struct recording_folder *folder, json_t **object, struct problem *problem)
{
	struct recording_about *about = &folder->about;
	struct file *text = read_all(folder, "recording.json");
	const bool there = text != NULL;
	const char *weir;
	static const char *const names[] = {"ingress.pcapng", "ingress.pcapng.zst"};
	char *path = folder->about.ingress;

	*object = text ? json_loads(text->text, 0, NULL) : NULL;
	file_release(text);
	if (!*object || json_integer_value(json_object_get(*object, "recording")) != 1)
		return wrong(folder, "recording.json",
		             there ? "has a format that this weir does not know"
		                   : "does not exist: this folder holds no recording",
		             problem);
	weir = json_string_value(json_object_get(*object, "weir"));
	snprintf(about->weir, sizeof(about->weir), "%s", weir ? weir : "?");
	about->workers = (uint32_t)json_integer_value(json_object_get(*object, "workers"));
	about->snap = (uint32_t)json_integer_value(json_object_get(*object, "snap"));
	about->flight = json_is_true(json_object_get(*object, "flight"));
	about->memory_bytes =
	        (uint64_t)json_integer_value(json_object_get(*object, "memory_bytes"));
	if (about->workers == 0 || about->workers > RERUN_WORKERS_MAX)
		return wrong(folder, "recording.json", "workers: 1 to 128", problem);
	/* Finds the capture, compressed or not. */
	for (uint32_t i = 0; i < 2; i++) {
		if (snprintf(path, sizeof(folder->about.ingress), "%s/%s", folder->path,
		             names[i]) >= (int)sizeof(folder->about.ingress))
			return wrong(folder, "", "the path is too long", problem);
		if (access(path, F_OK) == 0)
			return 0;
	}
	return wrong(folder, names[0], "does not exist", problem);
}

/* A truncated row ends what is known. */
static int read_changes(struct recording_folder *folder, struct problem *problem)
{
	struct file *text = read_all(folder, "changes.jsonl");
	char *rest = NULL;

	folder->rows = json_array();
	folder->warnings = json_array();
	if (!text || !folder->rows || !folder->warnings) {
		file_release(text);
		return wrong(folder, "changes.jsonl", "cannot be read", problem);
	}
	for (char *line = strtok_r(text->text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		json_t *row = json_loads(line, 0, NULL);

		if (!row)
			break;
		if (change_of(row) > 0 && json_object_get(row, "from"))
			folder->about.changes = change_of(row);
		else if (!json_object_get(row, "file")) {
			if (json_is_string(json_object_get(row, "warning")))
				json_array_append(folder->warnings,
				                  json_object_get(row, "warning"));
			json_decref(row);
			continue;
		}
		json_array_append_new(folder->rows, row);
	}
	file_release(text);
	return 0;
}

/* Reads the scenario of the beginning. The file of `-c` takes the place of all recorded scenarios;
 * in a flight, of those from its beginning on. */
static int read_first(struct recording_folder *folder, struct problem *problem)
{
	char message[SCENARIO_FILE_ERROR];
	struct follower *first = &folder->followers[0];
	int rc = 0;

	folder->text = read_all(folder, "scenario.weir");
	if (!folder->text)
		return wrong(folder, "scenario.weir", "cannot be read", problem);
	if (folder->asked->config) {
		struct scenario **place = folder->about.flight ? &folder->other : &folder->first;

		if (scenario_file_load(folder->asked->config, place, message, sizeof(message)))
			return problem_set(problem, -1, "%s", message);
		/* The seed stays the same, unless the file gives another. */
		if (!(*place)->seed_given &&
		    sscanf(folder->text->text, "seed %" SCNu64, &(*place)->seed) == 1)
			(*place)->seed_given = true;
		rc = edit_all(folder, *place, problem);
		if (rc == 0)
			rc = scenario_check(*place, problem);
		if (rc < 0 || !folder->about.flight)
			return rc;
	}
	rc = follower_begin(folder, first);
	if (rc < 0)
		return rc;
	return scenario_of(folder, first, folder->text->text, "scenario.weir", &folder->first,
	                   problem);
}

int recording_folder_open(const char *path, const struct rerun_asked *asked,
                          struct recording_folder **result, struct problem *problem)
{
	struct recording_folder *folder = calloc(1, sizeof(*folder));
	json_t *about = NULL;
	int rc;

	problem_set(problem, -1, "no memory");
	if (!folder)
		return -ENOMEM;
	folder->source.read = read_recorded;
	folder->asked = asked;
	snprintf(folder->path, sizeof(folder->path), "%s", path);
	rc = read_about(folder, &about, problem);
	if (rc == 0)
		rc = read_changes(folder, problem);
	if (rc == 0)
		rc = read_first(folder, problem);
	if (rc == 0)
		rc = read_ports(folder, json_object_get(about, "ports"), problem);
	if (rc == 0 && folder->about.flight && asked->seed_given)
		rc = problem_set(problem, -1,
		                 "--seed: a flight continues with the random draws of "
		                 "its run; leave --seed out");
	json_decref(about);
	if (rc < 0) {
		recording_folder_close(folder);
		return rc;
	}
	*result = folder;
	return 0;
}

void recording_folder_close(struct recording_folder *folder)
{
	if (!folder)
		return;
	for (uint32_t i = 0; i < RERUN_WORKERS_MAX; i++) {
		struct follower *follower = &folder->followers[i];

		json_decref(follower->lines);
		scenario_free(follower->scenario);
		json_decref(follower->files);
	}
	scenario_free(folder->first);
	scenario_free(folder->other);
	json_decref(folder->rows);
	json_decref(folder->warnings);
	file_release(folder->text);
	free(folder);
}

const struct recording_about *recording_folder_about(const struct recording_folder *folder)
{
	return &folder->about;
}

const struct scenario *recording_folder_first(const struct recording_folder *folder)
{
	return folder->first;
}

struct rerun_options recording_folder_rerun(struct recording_folder *folder,
                                            struct replay_options *replay)
{
	const struct recording_about *about = &folder->about;
	const struct rerun_asked *asked = folder->asked;
	struct rerun_options options = {
	        .otherwise = asked->config || asked->n_set || asked->seed_given,
	        .ideal = asked->ideal,
	        .until_ns = asked->until_ns ? asked->until_ns : SIMTIME_NEVER,
	        .replay = replay,
	        .path = about->ingress,
	        .workers = about->workers,
	        .snap = about->snap,
	        .flight = about->flight,
	        .change = change_made,
	        .begun = begun_with,
	        .argument = folder};

	memcpy(options.emulator, about->emulator, sizeof(options.emulator));
	replay->memory_bytes = RTE_MAX(replay->memory_bytes, 2 * about->memory_bytes);
	return options;
}

const char *recording_folder_warning(const struct recording_folder *folder, size_t i)
{
	return json_string_value(json_array_get(folder->warnings, i));
}
