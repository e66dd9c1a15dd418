/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/ctl_scenario.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "capture/atomic_file.h"
#include "ctl/ctl_batch.h"
#include "text/word.h"

int ctl_scenario_load(struct ctl_link *link, const char *path, bool json)
{
	struct ctl_batch batch;
	int result = ctl_batch_load(&batch, path, true);

	if (result != 0)
		return result;
	result = ctl_batch_send(&batch, link, json);
	ctl_batch_free(&batch);
	return result;
}

static int save_text(const char *path, const char *text)
{
	struct atomic_file *file;
	struct problem problem;
	int result = atomic_file_open(path, &file, &problem);

	if (result == 0) {
		fputs(text, atomic_file_stream(file));
		result = atomic_file_publish(file, &problem);
	}
	if (result != 0)
		fprintf(stderr, "weir ctl: %s; nothing is saved\n", problem.text);
	return result;
}

static int save_answer(const struct ctl_answer *answer, const char *path, bool json)
{
	json_t *object = json_loads(answer->body, 0, NULL);
	const char *text = json_string_value(json_object_get(object, "config"));
	bool is_printed = path == NULL || strcmp(path, "-") == 0;
	int result = 0;

	if (!answer->ok || text == NULL) {
		fprintf(stderr, "weir ctl: the scenario in force could not be read: %s\n",
		        answer->error != NULL ? answer->error : "the answer contains none");
		result = -EINVAL;
	} else if (is_printed) {
		fputs(json ? answer->body : text, stdout);
	} else {
		result = save_text(path, text);
		if (result == 0)
			puts(json ? "{\"ok\":true}" : "ok");
	}
	json_decref(object);
	return result;
}

/* Uses the mode JSON, in which a line of the text that reads as the end of an answer is not
 * changed. */
int ctl_scenario_save(struct ctl_link *link, const char *path, bool json)
{
	struct ctl_answer answer;
	bool before = link->json;
	int result = ctl_link_ask(link, "json on", &answer);

	if (result == 0) {
		ctl_answer_release(&answer);
		result = ctl_link_ask(link, "show config", &answer);
	}
	if (result != 0) {
		fprintf(stderr, "weir ctl: %s\n",
		        result == -ECONNRESET ? "weir hung up before it answered"
		                              : strerror(-result));
		return result;
	}
	result = save_answer(&answer, path, json);
	ctl_answer_release(&answer);
	if (!before && ctl_link_ask(link, "json off", &answer) == 0)
		ctl_answer_release(&answer);
	return result;
}

bool ctl_scenario_line(struct ctl_link *link, const char *line, int *result)
{
	struct language_error ignored;
	struct words words;
	bool load, save;

	if (words_split(line, &words, &ignored) != 0 || words.n == 0 || words.word[0].quoted)
		return false;
	load = strcmp(words.word[0].text, "load") == 0;
	save = strcmp(words.word[0].text, "save") == 0;
	if (!load && !save)
		return false;
	*result = -EINVAL;
	if (words.n > 2 || (load && words.n < 2))
		fprintf(stderr, "weir ctl: write %s\n",
		        load ? "load FILE: a scenario, which replaces the one in force"
		             : "save FILE, or save alone, which prints it");
	else if (load)
		*result = ctl_scenario_load(link, words.word[1].text, link->json);
	else
		*result = ctl_scenario_save(link, words.n > 1 ? words.word[1].text : NULL,
		                            link->json);
	return true;
}
