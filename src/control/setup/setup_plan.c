/* SPDX-License-Identifier: BSD-3-Clause */
#include "setup/setup_plan.h"

#include <errno.h>
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

/* Says what was found, however long it is. */
static void making_say_all(struct making *making, struct setup_finding *row, const char *format,
                           ...)
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

#define GRUB "/etc/default/grub.d"
/* What is in weir.cfg, and as much again, fit into a line. */
#define LINE_BYTES (4 * sizeof(((struct making *)NULL)->kernel_words))
#define LINE_BEGIN "GRUB_CMDLINE_LINUX_DEFAULT=\"$GRUB_CMDLINE_LINUX_DEFAULT "
#define BLANKS     " \""
#define UNIT       "weir-setup@"
#define WANTS      "/etc/systemd/system/multi-user.target.wants"

/* Returns true if a word of the line is the first n bytes of `word`, with one of `ends` behind. */
static bool has_word(const char *line, const char *word, size_t n, const char *ends)
{
	for (const char *at = line; *at; at += strcspn(at, BLANKS), at += strspn(at, BLANKS)) {
		if (strncmp(at, word, n) == 0 && strchr(ends, at[n]))
			return true;
	}
	return false;
}

static bool has_all(const char *line, const char *words)
{
	for (const char *at = words; *at; at += strcspn(at, BLANKS), at += strspn(at, BLANKS)) {
		if (!has_word(line, at, strcspn(at, BLANKS), BLANKS))
			return false;
	}
	return true;
}

static void examine_command_line(struct making *making)
{
	static const char *const path = GRUB "/weir.cfg";
	char line[LINE_BYTES], now[LINE_BYTES / 2];
	struct setup_finding *row;

	if (!making->kernel_words[0])
		return;
	row = making_finding(making, "command line", DOCTOR_COSTS);
	making_say_all(making, row, "the kernel's command line lacks %s", making->kernel_words);
	making_say(row->finding.cost, "see the findings above");
	making->plan->reboot = true;
	making_line(making, path, now, sizeof(now));
	/* In the line of weir.cfg, words that are in it and are not given anew stay: they may be
	 * the reason why nothing else is lacking. */
	char words[LINE_BYTES] = "", *rest = NULL;
	size_t at = (size_t)snprintf(line, LINE_BYTES, "%s", LINE_BEGIN);

	if (strncmp(now, LINE_BEGIN, at) == 0)
		strcpy(words, now + at);
	for (char *word = strtok_r(words, BLANKS, &rest); word;
	     word = strtok_r(NULL, BLANKS, &rest)) {
		if (!has_word(making->kernel_words, word, strcspn(word, "="), "=" BLANKS))
			at += (size_t)snprintf(line + at, LINE_BYTES - at, "%s ", word);
	}
	snprintf(line + at, LINE_BYTES - at, "%s\"", making->kernel_words);
	if (now[0] != '#' && has_all(now, making->kernel_words)) {
		making_say(row->finding.remedy, "already in %s: reboot", path);
	} else if (making_has(making, GRUB)) {
		making_say(row->finding.remedy, "and then reboot");
		making_step(making, STEP_FILE, path, "%s", line);
	} else {
		making_say(row->finding.remedy,
		           "add it in the boot loader of this machine, and then reboot");
	}
}

static void examine_unit(struct making *making)
{
	static const char *const folders[] = {"/usr/lib/systemd/system", "/lib/systemd/system",
	                                      "/usr/local/lib/systemd/system",
	                                      "/etc/systemd/system"};
	const struct setup_ports *ports = making->request->ports;
	char unit[PATH_MAX] = "", path[PATH_MAX];
	struct setup_finding *row = making_finding(making, "lasting", DOCTOR_GOOD);
	uint32_t missing = 0;

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]) && !unit[0]; i++) {
		snprintf(path, sizeof(path), "%s/" UNIT ".service", folders[i]);
		if (making_has(making, path))
			strcpy(unit, path);
	}
	for (uint32_t i = 0; i < ports->n_words; i++) {
		snprintf(path, sizeof(path), WANTS "/" UNIT "%s.service", ports->word[i]);
		if (making_has(making, path))
			continue;
		missing++;
		if (unit[0] && making_has(making, "/etc/systemd/system"))
			making_step(making, STEP_LINK, path, "%s", unit);
	}
	making_say(row->finding.what, missing || ports->n_words == 0
	                                      ? "until the next start of the machine"
	                                      : "applied again at each start");
	if (!missing)
		return;
	row->finding.state = DOCTOR_COSTS;
	making_say(row->finding.cost, "all of this is lost at the next start");
	if (row->n == 0)
		making_say(row->finding.remedy, "no unit " UNIT ".service is installed here: call "
		                                "`weir setup --apply` at each start");
}

int setup_plan_make(const struct setup_request *request, struct setup_plan *plan)
{
	struct making making = {.request = request, .plan = plan};
	struct bench_machine machine;

	memset(plan, 0, sizeof(*plan));
	bench_machine_read(request->root, request->cores->cpu[0], &machine);
	setup_examine_nics(&making, strstr(machine.cpu, "Intel") != NULL);
	setup_examine_processors(&making);
	/* What takes effect at the next start, and what is repeated then. */
	examine_command_line(&making);
	examine_unit(&making);
	return making.no_memory ? -ENOMEM : 0;
}

void setup_plan_release(struct setup_plan *plan)
{
	for (uint32_t i = 0; i < plan->n; i++)
		free(plan->finding[i].what);
	for (uint32_t i = 0; i < plan->n_steps; i++)
		step_release(&plan->steps[i]);
	free(plan->finding);
	free(plan->steps);
}

static const char *what_of(const struct setup_finding *row)
{
	return row->what ? row->what : row->finding.what;
}

void setup_plan_print(FILE *out, const struct setup_plan *plan)
{
	static const char *const marks[] = {
	        [DOCTOR_GOOD] = "good", [DOCTOR_COSTS] = "LACKS", [DOCTOR_UNKNOWN] = "-"};

	for (uint32_t i = 0; i < plan->n; i++) {
		const struct setup_finding *row = &plan->finding[i];
		const struct finding *finding = &row->finding;

		fprintf(out, "%-5s  %-22s %s\n", marks[finding->state], finding->subject,
		        what_of(row));
		if (finding->cost[0])
			fprintf(out, "%-5s  %-22s costs: %s\n", "", "", finding->cost);
		for (uint32_t k = 0; k < row->n; k++) {
			fprintf(out, "%-5s  %-22s $ ", "", "");
			step_print(out, &plan->steps[row->first + k]);
			fputc('\n', out);
		}
		if (finding->remedy[0] &&
		    (row->n == 0 || strcmp(finding->subject, "command line") == 0))
			fprintf(out, "%-5s  %-22s remedy: %s\n", "", "", finding->remedy);
	}
}

static json_t *commands_json(const struct setup_plan *plan, const struct setup_finding *row)
{
	json_t *array = json_array();

	for (uint32_t k = 0; k < row->n; k++) {
		char *text = NULL;
		size_t bytes;
		FILE *out = open_memstream(&text, &bytes);

		if (!out)
			break;
		step_print(out, &plan->steps[row->first + k]);
		if (fclose(out) == 0)
			json_array_append_new(array, json_string(text));
		free(text);
	}
	return array;
}

json_t *setup_plan_json(const struct setup_plan *plan)
{
	static const char *const states[] = {"good", "lacks", "unknown"};
	json_t *array = json_array();

	for (uint32_t i = 0; i < plan->n; i++) {
		const struct setup_finding *row = &plan->finding[i];
		const struct finding *finding = &row->finding;

		json_array_append_new(
		        array, json_pack("{s:s,s:s,s:s,s:s,s:s,s:o}", "subject", finding->subject,
		                         "state", states[finding->state], "what", what_of(row),
		                         "cost", finding->cost, "remedy", finding->remedy,
		                         "commands", commands_json(plan, row)));
	}
	return array;
}
