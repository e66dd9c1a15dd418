/* SPDX-License-Identifier: BSD-3-Clause */
#include "language/scenario_name.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scenario/scenario.h"
#include "text/word.h"

#define FOLDERS       3
#define SUFFIX        ".weir"
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

/* Calls `look` for the name of each scenario of a folder, in the order of the alphabet. */
static void each_name(const char *folder, void (*look)(const char *name, void *argument),
                      void *argument)
{
	struct dirent **found;
	int n = scandir(folder, &found, is_scenario, alphasort);

	for (int i = 0; i < n; i++) {
		found[i]->d_name[strlen(found[i]->d_name) - strlen(SUFFIX)] = '\0';
		look(found[i]->d_name, argument);
		free(found[i]);
	}
	if (n >= 0)
		free(found);
}

struct prefix {
	const char *text;
	char name[SCENARIO_NAME_BYTES]; /* "": none yet */
	bool several;
};

static void look_at_prefix(const char *name, void *argument)
{
	struct prefix *prefix = argument;

	if (strncmp(name, prefix->text, strlen(prefix->text)) != 0 ||
	    strlen(name) >= sizeof(prefix->name))
		return;
	prefix->several |= prefix->name[0] != '\0' && strcmp(prefix->name, name) != 0;
	strcpy(prefix->name, name);
}

static bool find_exactly(const char *name, char *path, size_t room)
{
	char folder[PATH_MAX];

	for (int i = 0; word_is_name(name) && i < FOLDERS; i++) {
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
	struct prefix prefix = {.text = name};
	char folder[PATH_MAX];

	if (find_exactly(name, path, room))
		return true;
	if (!word_is_name(name) || strlen(name) < PREFIX_LEAST)
		return false;
	for (int i = 0; i < FOLDERS; i++) {
		if (folder_of_scenarios(i, folder))
			each_name(folder, look_at_prefix, &prefix);
	}
	return prefix.name[0] != '\0' && !prefix.several && find_exactly(prefix.name, path, room);
}

static void look_at_near(const char *name, void *argument)
{
	nearest_try(argument, name);
}

void scenario_name_nearest(struct nearest *nearest)
{
	char folder[PATH_MAX];

	for (int i = 0; i < FOLDERS; i++) {
		if (folder_of_scenarios(i, folder))
			each_name(folder, look_at_near, nearest);
	}
}

/* Prints the first sentence of a file, that of its first comment that is no licence, as far as it
 * fits a line of the terminal. */
static void print_first_sentence(FILE *out, const char *path)
{
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
}

struct printing {
	FILE *out;
	const char *folder;
};

static void print_name(const char *name, void *argument)
{
	const struct printing *printing = argument;
	char path[PATH_MAX + SCENARIO_NAME_BYTES + sizeof(SUFFIX)];

	fprintf(printing->out, "  %-22s  ", name);
	snprintf(path, sizeof(path), "%s/%s" SUFFIX, printing->folder, name);
	print_first_sentence(printing->out, path);
	fputc('\n', printing->out);
}

void scenario_names_print(FILE *out)
{
	char folder[PATH_MAX];

	for (int i = 0; i < FOLDERS; i++) {
		if (!folder_of_scenarios(i, folder) || access(folder, R_OK) != 0)
			continue;
		fprintf(out,
		        "Scenarios in %s. A name, or the beginning of one, stands for its file:\n"
		        "weir exec geo-satellite -- COMMAND, weir replay -c geo ...\n\n",
		        folder);
		each_name(folder, print_name, &(struct printing){out, folder});
		return;
	}
	fputs("The scenarios that come with weir are not installed here.\n", out);
}

int scenario_name_take(const struct field *field, char *text, void *arguments,
                       struct language_error *error)
{
	static char path[PATH_MAX + SCENARIO_NAME_BYTES + sizeof(SUFFIX)];
	const char **member = (const char **)((char *)arguments + field->offset);
	const char *slash = strrchr(text, '/'), *leaf = slash ? slash + 1 : text;
	char name[SCENARIO_NAME_BYTES];
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
