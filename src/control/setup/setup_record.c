/* SPDX-License-Identifier: BSD-3-Clause */
#include "setup/setup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "capture/atomic_file.h"
#include "text/array.h"

#define PARENT "/var/lib"
#define FOLDER PARENT "/weir"
#define FILE_  FOLDER "/setup.json"

static const char *const kinds[] = {[STEP_WRITE] = "write",
                                    [STEP_DRIVER] = "driver",
                                    [STEP_FILE] = "file",
                                    [STEP_LINK] = "link"};

static bool same_thing(const struct step *a, const struct step *b)
{
	return a->kind == b->kind && strcmp(a->path, b->path) == 0;
}

/* JSON is UTF-8. */
static bool can_be_written(const char *text)
{
	json_t *string = json_string(text);

	json_decref(string);
	return string != NULL;
}

int setup_record_add(struct setup_record *record, const struct step *step, struct problem *problem)
{
	struct step *steps = record->steps, copy = *step;

	for (uint32_t i = 0; i < record->n; i++) {
		if (same_thing(&steps[i], step))
			return 0;
	}
	if (step->before && !can_be_written(step->before))
		return problem_set(problem, -1,
		                   "%s is not UTF-8, so it could not be restored; move it away",
		                   step->path);
	problem_set(problem, -1, "no memory");
	if (!array_fits(&record->steps, &record->room, record->n + 1, sizeof(*record->steps)))
		return -ENOMEM;
	copy.value = strdup(step->value);
	copy.before = step->before ? strdup(step->before) : NULL;
	if (!copy.value || (step->before && !copy.before)) {
		step_release(&copy);
		return -ENOMEM;
	}
	record->steps[record->n++] = copy;
	return 0;
}

int setup_record_name(struct setup_record *record, const char *word, struct problem *problem)
{
	for (uint32_t i = 0; i < record->n_words; i++) {
		if (strcmp(record->word[i], word) == 0)
			return 0;
	}
	if (record->n_words == SETUP_WORDS_MAX) {
		problem_set(problem, -1,
		            "more than %d devices and services, with those of the record",
		            SETUP_WORDS_MAX);
		return -E2BIG;
	}
	snprintf(record->word[record->n_words++], sizeof(record->word[0]), "%s", word);
	return 0;
}

void setup_record_cut(struct setup_record *record, uint32_t n)
{
	while (record->n > n)
		step_release(&record->steps[--record->n]);
}

/* ---- the file ---- */

static int take_step(struct setup_record *record, const json_t *object)
{
	const char *kind, *path, *value, *before;
	struct step step = {.kind = STEP_KINDS};
	struct problem problem;
	json_t *state;
	int may_fail;

	if (json_unpack((json_t *)(uintptr_t)object, "{s:s,s:s,s:s,s:o,s:b}", "kind", &kind, "path",
	                &path, "value", &value, "before", &state, "may_fail", &may_fail) < 0)
		return -EINVAL;
	before = json_string_value(state);
	for (int i = 0; i < STEP_KINDS; i++) {
		if (strcmp(kinds[i], kind) == 0)
			step.kind = (enum step_kind)i;
	}
	step.may_fail = may_fail;
	snprintf(step.path, sizeof(step.path), "%s", path);
	step.value = (char *)(uintptr_t)value;
	step.before = (char *)(uintptr_t)before;
	if (step.kind == STEP_KINDS ||
	    (!before && (step.kind == STEP_WRITE || step.kind == STEP_DRIVER)))
		return -EINVAL;
	return setup_record_add(record, &step, &problem);
}

static int take(struct setup_record *record, const json_t *document)
{
	const json_t *words = json_object_get(document, "ports");
	const json_t *steps = json_object_get(document, "changes");
	const json_t *huge = json_object_get(document, "hugepages");
	int rc = json_is_array(words) && json_is_array(steps) ? 0 : -EINVAL;

	const char *cores = json_string_value(json_object_get(document, "cores"));

	if (cores && strlen(cores) >= sizeof(record->cores))
		return -EINVAL;
	snprintf(record->cores, sizeof(record->cores), "%s", cores ? cores : "");
	record->unsafe = json_is_true(json_object_get(document, "unsafe_noiommu"));
	record->huge.need_mib = (unsigned)json_integer_value(json_object_get(huge, "need_mib"));
	record->huge.total_mib = (uint64_t)json_integer_value(json_object_get(huge, "total_mib"));
	record->made_folder = json_is_true(json_object_get(document, "made_folder"));
	for (size_t i = 0; rc == 0 && i < json_array_size(words); i++) {
		const char *word = json_string_value(json_array_get(words, i));

		if (!word || record->n_words == SETUP_WORDS_MAX)
			return -EINVAL;
		snprintf(record->word[record->n_words++], sizeof(record->word[0]), "%s", word);
	}
	for (size_t i = 0; rc == 0 && i < json_array_size(steps); i++)
		rc = take_step(record, json_array_get(steps, i));
	return rc;
}

int setup_record_read(const char *root, struct setup_record *record, struct problem *problem)
{
	char path[PATH_MAX];
	json_error_t error;
	json_t *document;
	int rc;

	memset(record, 0, sizeof(*record));
	snprintf(path, sizeof(path), "%s" FILE_, root);
	if (access(path, F_OK) < 0 && errno == ENOENT)
		return 0;
	document = json_load_file(path, 0, &error);
	rc = document ? take(record, document) : -EINVAL;
	if (rc < 0)
		problem_set(problem, -1,
		            "%s is not a record of weir setup%s%.100s; move it away: what it "
		            "records then stays as it is",
		            path, document ? "" : ": ", document ? "" : error.text);
	json_decref(document);
	return rc;
}

void setup_record_lock(const char *root)
{
	char path[PATH_MAX];
	int fd;

	/* The folder above, because setup_record_remove may remove FOLDER. */
	snprintf(path, sizeof(path), "%s" PARENT, root);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	while (fd >= 0 && flock(fd, LOCK_EX) < 0 && errno == EINTR)
		;
}

static json_t *document_of(const struct setup_record *record)
{
	json_t *words = json_array(), *steps = json_array();

	for (uint32_t i = 0; i < record->n_words; i++)
		json_array_append_new(words, json_string(record->word[i]));
	for (uint32_t i = 0; i < record->n; i++) {
		const struct step *step = &record->steps[i];

		json_array_append_new(steps,
		                      json_pack("{s:s,s:s,s:s,s:s?,s:b}", "kind", kinds[step->kind],
		                                "path", step->path, "value", step->value, "before",
		                                step->before, "may_fail", step->may_fail));
	}
	return json_pack("{s:o,s:o,s:s,s:b,s:b,s:{s:I,s:I}}", "ports", words, "changes", steps,
	                 "cores", record->cores, "unsafe_noiommu", record->unsafe, "made_folder",
	                 record->made_folder, "hugepages", "need_mib",
	                 (json_int_t)record->huge.need_mib, "total_mib",
	                 (json_int_t)record->huge.total_mib);
}

int setup_record_write(const char *root, struct setup_record *record, struct problem *problem)
{
	char path[PATH_MAX];
	struct atomic_file *file;
	json_t *document;
	int rc;

	snprintf(path, sizeof(path), "%s" FOLDER, root);
	record->made_folder |= mkdir(path, 0755) == 0;
	document = document_of(record);
	if (!document) {
		problem_set(problem, -1, "no memory");
		return -ENOMEM;
	}
	snprintf(path, sizeof(path), "%s" FILE_, root);
	rc = atomic_file_open(path, &file, problem);
	if (rc == 0) {
		json_dumpf(document, atomic_file_stream(file), JSON_INDENT(1));
		fputc('\n', atomic_file_stream(file));
		rc = atomic_file_publish(file, problem);
	}
	json_decref(document);
	return rc;
}

void setup_record_remove(const char *root, const struct setup_record *record)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s" FILE_, root);
	unlink(path);
	if (!record->made_folder)
		return;
	snprintf(path, sizeof(path), "%s" FOLDER, root);
	rmdir(path);
}

void setup_record_release(struct setup_record *record)
{
	setup_record_cut(record, 0);
	free(record->steps);
}
