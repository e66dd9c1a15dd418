/* SPDX-License-Identifier: BSD-3-Clause */
#include "language/scenario_name.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text/foreign_word.h"

#define FOLDERS       3
#define SUFFIX        ".weir"
#define MEASURED      "measured/" /* a folder of them: paths that were measured */
#define PREFIX_LEAST  3
#define SENTENCE_MOST 54

/* Gets the folder of scenarios number `which`: `configs` in the working directory, beside the
 * source of this program, or where they were installed. Returns false if its path cannot be
 * determined. */
static bool folder_of_scenarios(int which, char path[PATH_MAX])
{
	static const char *const behind[] = {"", "../../../configs", "../share/weir/configs"};
	char program[PATH_MAX] = "", *slash;

	if (which == 0) {
		strcpy(path, "configs");
		return true;
	}
	if (readlink("/proc/self/exe", program, sizeof(program) - 1) <= 0)
		return false;
	slash = strrchr(program, '/');
	if (!slash)
		return false;
	*slash = '\0';
	return snprintf(path, PATH_MAX, "%s/%s", program, behind[which]) < PATH_MAX;
}

static int is_scenario(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return length > strlen(SUFFIX) &&
	       strcmp(entry->d_name + length - strlen(SUFFIX), SUFFIX) == 0;
}

/* The scenarios of a folder, then those of its shelf MEASURED, in the order of the alphabet. */
struct scenarios {
	char folder[PATH_MAX];
	char name[SCENARIO_NAME_BYTES + sizeof(MEASURED)];
	struct dirent **found;
	int n, next;
	bool measured;
};

static void scan(struct scenarios *scenarios, const char *shelf)
{
	char path[PATH_MAX + sizeof(MEASURED)];

	snprintf(path, sizeof(path), "%s/%s", scenarios->folder, shelf);
	scenarios->next = 0;
	scenarios->n = scandir(path, &scenarios->found, is_scenario, alphasort);
}

/* Begins with the folder of that number. Returns false if it cannot be read. */
static bool scenarios_begin(struct scenarios *scenarios, int which)
{
	memset(scenarios, 0, sizeof(*scenarios));
	scenarios->n = -1;
	if (folder_of_scenarios(which, scenarios->folder))
		scan(scenarios, "");
	return scenarios->n >= 0;
}

/* Returns the next name, until the next call; or NULL behind the last one. */
static const char *scenarios_next(struct scenarios *scenarios)
{
	struct dirent *entry;

	if (scenarios->n >= 0 && scenarios->next == scenarios->n) {
		free(scenarios->found);
		scenarios->n = -1;
		if (!scenarios->measured)
			scan(scenarios, MEASURED);
		scenarios->measured = true;
		return scenarios_next(scenarios);
	}
	if (scenarios->n < 0)
		return NULL;
	entry = scenarios->found[scenarios->next++];
	snprintf(scenarios->name, sizeof(scenarios->name), "%s%.*s",
	         scenarios->measured ? MEASURED : "", (int)(strlen(entry->d_name) - strlen(SUFFIX)),
	         entry->d_name);
	free(entry);
	return scenarios->name;
}

static bool is_scenario_name(const char *name)
{
	const bool measured = strncmp(name, MEASURED, strlen(MEASURED)) == 0;

	return word_is_name(name + (measured ? strlen(MEASURED) : 0));
}

static bool find_exactly(const char *name, char *path, size_t room)
{
	char folder[PATH_MAX];

	for (int i = 0; is_scenario_name(name) && i < FOLDERS; i++) {
		if (!folder_of_scenarios(i, folder))
			continue;
		snprintf(path, room, "%s/%s" SUFFIX, folder, name);
		if (access(path, R_OK) == 0)
			return true;
	}
	return false;
}

bool scenario_name_find(const char *name, char *path, size_t room)
{
	char found[SCENARIO_NAME_BYTES + sizeof(MEASURED)] = "";
	struct scenarios scenarios;
	bool several = false;

	if (find_exactly(name, path, room))
		return true;
	if (!is_scenario_name(name) || strlen(name) < PREFIX_LEAST)
		return false;
	for (int i = 0; i < FOLDERS; i++) {
		scenarios_begin(&scenarios, i);
		for (const char *each; (each = scenarios_next(&scenarios));) {
			if (strncmp(each, name, strlen(name)) != 0 || strlen(each) >= sizeof(found))
				continue;
			several |= found[0] != '\0' && strcmp(found, each) != 0;
			strcpy(found, each);
		}
	}
	return found[0] != '\0' && !several && find_exactly(found, path, room);
}

void scenario_name_nearest(struct nearest *nearest)
{
	struct scenarios scenarios;

	for (int i = 0; i < FOLDERS; i++) {
		scenarios_begin(&scenarios, i);
		for (const char *each; (each = scenarios_next(&scenarios));)
			nearest_try(nearest, each);
	}
}

static void print_name(FILE *out, const char *folder, const char *name)
{
	char path[SCENARIO_PATH_BYTES];

	fprintf(out, "  %-22s  ", name);
	snprintf(path, sizeof(path), "%s/%s" SUFFIX, folder, name);
	/* The first sentence of its first comment that is no licence, as far as it fits a line of
	 * the terminal. */
	char line[256];
	FILE *file = fopen(path, "re");
	int bytes = 0;

	while (file && fgets(line, sizeof(line), file)) {
		const char *text = line + strspn(line, "# \t");

		if (line[0] != '#' || *text == '\n' || strncmp(text, "SPDX", 4) == 0)
			continue;
		while (text[bytes] != '\n' && text[bytes] != '\0' &&
		       (strchr(".:", text[bytes]) == NULL ||
		        !isspace((unsigned char)text[bytes + 1])))
			bytes++;
		fprintf(out, bytes > SENTENCE_MOST ? "%.*s..." : "%.*s",
		        bytes > SENTENCE_MOST ? SENTENCE_MOST - 3 : bytes, text);
		break;
	}
	if (file)
		fclose(file);
	fputc('\n', out);
}

void scenario_names_print(FILE *out)
{
	struct scenarios scenarios;

	for (int i = 0; i < FOLDERS; i++) {
		if (!scenarios_begin(&scenarios, i))
			continue;
		fprintf(out,
		        "Scenarios in %s. A name, or the beginning of one, stands for its file:\n"
		        "weir exec geo-satellite -- COMMAND, weir replay -c geo ...\n\n",
		        scenarios.folder);
		for (const char *name; (name = scenarios_next(&scenarios));)
			print_name(out, scenarios.folder, name);
		return;
	}
	fputs("The scenarios that come with weir are not installed here.\n", out);
}

int scenario_name_take(const struct field *field, char *text, void *arguments,
                       struct language_error *error)
{
	static char path[SCENARIO_PATH_BYTES];
	const char **member = (const char **)((char *)arguments + field->offset);
	const bool measured = strncmp(text, MEASURED, strlen(MEASURED)) == 0;
	const char *slash = strrchr(text, '/'), *leaf = slash && !measured ? slash + 1 : text;
	char name[SCENARIO_NAME_BYTES + sizeof(MEASURED)];
	struct nearest nearest;

	*member = text;
	if (access(text, F_OK) == 0)
		return 0;
	if (scenario_name_find(text, path, sizeof(path))) {
		*member = path;
		return 0;
	}
	snprintf(name, sizeof(name), "%.*s",
	         (int)(strstr(leaf, SUFFIX) ? strstr(leaf, SUFFIX) - leaf : (long)strlen(leaf)),
	         leaf);
	nearest_start(&nearest, name);
	scenario_name_nearest(&nearest);
	/* Without a suggestion, who reads the file says what is wrong. */
	if (!nearest.best)
		return 0;
	return language_error_set(error, ERROR_BAD_VALUE,
	                          "%s: there is no such file; did you mean `%s`, which comes with "
	                          "weir? `weir help scenarios` lists those",
	                          text, nearest.best);
}
