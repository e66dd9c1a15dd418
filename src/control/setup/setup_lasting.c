/* SPDX-License-Identifier: BSD-3-Clause */
#include "setup/setup_making.h"

#include <limits.h>
#include <string.h>

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

/* Makes the line of weir.cfg. Words that are in it and are not given anew stay: they may be the
 * reason why nothing else is lacking. */
static void make_line(const struct making *making, const char *now, char line[LINE_BYTES])
{
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
	make_line(making, now, line);
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

void setup_examine_lasting(struct making *making)
{
	examine_command_line(making);
	examine_unit(making);
}
