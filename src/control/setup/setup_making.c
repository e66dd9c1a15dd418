/* SPDX-License-Identifier: BSD-3-Clause */
#include "setup/setup_making.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct setup_finding *making_add(struct making *making, const struct finding *finding)
{
	static struct setup_finding nowhere;
	struct setup_plan *plan = making->plan;
	struct setup_finding *row = plan->finding;

	if (plan->n == plan->room) {
		row = realloc(row, (plan->room + 64) * sizeof(*row));
		if (!row) {
			making->no_memory = true;
			return &nowhere;
		}
		plan->finding = row;
		plan->room += 64;
	}
	row += plan->n++;
	*row = (struct setup_finding){.finding = *finding, .first = plan->n_steps};
	return row;
}

struct setup_finding *making_finding(struct making *making, const char *subject,
                                     enum doctor_state state)
{
	const struct finding finding = {.subject = subject, .state = state};

	return making_add(making, &finding);
}

void making_say(char text[DOCTOR_TEXT_BYTES], const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, DOCTOR_TEXT_BYTES, format, arguments);
	va_end(arguments);
}

void making_say_all(struct making *making, struct setup_finding *row, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	if (vasprintf(&row->what, format, arguments) < 0) {
		row->what = NULL;
		making->no_memory = true;
	}
	va_end(arguments);
}

struct step *making_step(struct making *making, enum step_kind kind, const char *path,
                         const char *format, ...)
{
	static struct step nowhere;
	struct setup_plan *plan = making->plan;
	struct step *steps = plan->steps;
	va_list arguments;

	if (plan->n_steps == plan->steps_room) {
		steps = realloc(steps, (plan->steps_room + 64) * sizeof(*steps));
		if (!steps) {
			making->no_memory = true;
			return &nowhere;
		}
		plan->steps = steps;
		plan->steps_room += 64;
	}
	steps += plan->n_steps++;
	memset(steps, 0, sizeof(*steps));
	steps->kind = kind;
	snprintf(steps->path, sizeof(steps->path), "%s", path);
	va_start(arguments, format);
	if (vasprintf(&steps->value, format, arguments) < 0) {
		steps->value = NULL;
		making->no_memory = true;
	}
	va_end(arguments);
	if (plan->n > 0)
		plan->finding[plan->n - 1].n++;
	return steps;
}

bool making_has(const struct making *making, const char *path)
{
	char whole[PATH_MAX];

	/* A link of systemd counts even if its target is missing. */
	snprintf(whole, sizeof(whole), "%s%s", making->request->root, path);
	return faccessat(AT_FDCWD, whole, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

void making_line(const struct making *making, const char *path, char *text, size_t room)
{
	char whole[PATH_MAX];
	FILE *file;

	snprintf(whole, sizeof(whole), "%s%s", making->request->root, path);
	file = fopen(whole, "r");
	if (!file || !fgets(text, (int)room, file))
		text[0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (file)
		fclose(file);
}

void making_kernel_word(struct making *making, const char *format, ...)
{
	size_t at = strlen(making->kernel_words);
	va_list arguments;

	if (at && at + 1 < sizeof(making->kernel_words))
		making->kernel_words[at++] = ' ';
	va_start(arguments, format);
	vsnprintf(making->kernel_words + at, sizeof(making->kernel_words) - at, format, arguments);
	va_end(arguments);
}
