/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/ctl.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "capture/atomic_file.h"
#include "text/file_read.h"
#include "text/word.h"

#define WINDOW     64 /* lines sent ahead of their answers, which all fit into a socket */
#define ERRORS_MAX 20 /* printed */

static int batch_split(struct ctl_batch *batch)
{
	static const char mark[] = "\xef\xbb\xbf"; /* the byte-order mark: no part of a line */
	char *line = batch->text + (strncmp(batch->text, mark, 3) == 0 ? 3 : 0);
	size_t room = 1;

	for (const char *c = batch->text; *c != '\0'; c++)
		room += *c == '\n';
	batch->lines = calloc(room, sizeof(*batch->lines));
	if (batch->lines == NULL)
		return -ENOMEM;
	while (*line != '\0') {
		char *end = strchr(line, '\n');

		batch->lines[batch->n++] = line;
		if (end == NULL)
			break;
		*end = '\0';
		line = end + 1;
	}
	return 0;
}

/* Reports the lines that cannot be part of the transaction: they would end it, or are queries. */
static int batch_look(const struct ctl_batch *batch)
{
	static const char *const own[] = {"begin", "commit", "abort", "file",
	                                  "json",  "quit",   "exit"};
	static const char *const questions[] = {"show",  "clear",  "help",   "hello",
	                                        "probe", "flight", "capture"};
	static const char *const streams[] = {"events", "sample"};
	struct language_error ignored;
	struct words words;
	int result = 0;

	for (size_t i = 0; i < batch->n; i++) {
		const char *what = NULL;

		if (words_split(batch->lines[i], &words, &ignored) != 0 || words.n == 0)
			continue;
		for (size_t j = 0; j < sizeof(own) / sizeof(own[0]); j++)
			if (strcmp(words.word[0].text, own[j]) == 0)
				what = "does not belong in a file, which is one transaction "
				       "already; leave it out";
		for (size_t j = 0; j < sizeof(questions) / sizeof(questions[0]); j++)
			if (strcmp(words.word[0].text, questions[j]) == 0)
				what = "is not a change; give it as a command of its own: weir ctl "
				       "COMMAND";
		for (size_t j = 0; j < sizeof(streams) / sizeof(streams[0]); j++)
			if (strcmp(words.word[0].text, streams[j]) == 0)
				what = "is not a change: its lines would come between the answers; "
				       "give it as a command of its own: weir ctl COMMAND";
		if (what == NULL)
			continue;
		fprintf(stderr, "%s:%zu:%u: %s %s\n", batch->name, i + 1, words.word[0].column,
		        words.word[0].text, what);
		result = -EINVAL;
	}
	return result;
}

int ctl_batch_load(struct ctl_batch *batch, const char *path, bool whole)
{
	FILE *in = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
	int result = 0;
	size_t n;

	memset(batch, 0, sizeof(*batch));
	batch->name = in == stdin ? "stdin" : path;
	batch->path = in == stdin ? NULL : path;
	batch->whole = whole;
	if (in == NULL) {
		result = -errno;
		fprintf(stderr, "weir ctl: %s: %s; a %s is expected\n", path, strerror(errno),
		        whole ? "scenario" : "file with one change per line");
		return result;
	}
	batch->text = file_read_stream(in, CTL_BATCH_BYTES_MAX, &n);
	if (batch->text == NULL)
		result = -errno;
	else if (strlen(batch->text) != n)
		result = -EILSEQ;
	if (in != stdin)
		fclose(in);
	if (result == 0)
		result = batch_split(batch);
	if (result == -EFBIG)
		fprintf(stderr, "weir ctl: %s: longer than %u MiB, the maximum for a batch\n",
		        batch->name, CTL_BATCH_BYTES_MAX >> 20);
	else if (result == -EILSEQ)
		fprintf(stderr, "weir ctl: %s: not a text: it contains a zero byte\n", batch->name);
	else if (result != 0)
		fprintf(stderr, "weir ctl: %s: %s\n", batch->name, strerror(-result));
	if (result == 0)
		result = batch_look(batch);
	if (result != 0)
		ctl_batch_free(batch);
	return result;
}

void ctl_batch_free(struct ctl_batch *batch)
{
	free(batch->text);
	free(batch->lines);
	batch->text = NULL;
	batch->lines = NULL;
	batch->n = 0;
}

/* Prints the error in an answer: a JSON object, or text if the server refused before the mode was
 * set. */
static void batch_tell(const struct ctl_batch *batch, const struct ctl_answer *answer, size_t line,
                       bool json)
{
	json_t *object = json_loads(answer->error, 0, NULL);
	json_t *error = json_object_get(object, "error");
	const char *message = json_string_value(json_object_get(error, "message"));
	json_int_t column = json_integer_value(json_object_get(error, "column"));
	json_t *at = json_object_get(error, "line");

	if (at != NULL)
		line = (size_t)json_integer_value(at);
	if (json && error != NULL) {
		json_object_set_new(error, "file", json_string(batch->name));
		json_dumpf(object, stdout, JSON_COMPACT);
		putchar('\n');
	} else if (line == 0) {
		fprintf(stderr, "%s: %s\n", batch->name, message != NULL ? message : answer->error);
	} else {
		fprintf(stderr, "%s:%zu:%lld: %s\n", batch->name, line,
		        (long long)(column > 0 ? column : 1),
		        message != NULL ? message : answer->error);
	}
	json_decref(object);
}

/* Sends the lines, WINDOW ahead of their answers. Returns how many were wrong, or -errno. */
static int batch_exchange(const struct ctl_batch *batch, struct ctl_link *link, bool json)
{
	struct ctl_answer answer;
	size_t sent = 0;
	int wrong = 0;

	for (size_t answered = 0; answered < batch->n; answered++) {
		int result = 0;

		for (; sent < batch->n && sent < answered + WINDOW && result == 0; sent++)
			result = ctl_link_send(link, batch->lines[sent]);
		if (result == -ENOMEM)
			return result;
		result = ctl_link_answer(link, &answer);
		if (result != 0)
			return result;
		if (!answer.ok && ++wrong <= (json ? 1 : ERRORS_MAX))
			batch_tell(batch, &answer, answered + 1, json);
		ctl_answer_release(&answer);
	}
	if (wrong > ERRORS_MAX && !json)
		fprintf(stderr, "%s: and %d more\n", batch->name, wrong - ERRORS_MAX);
	return wrong;
}

/* Sends a command of the conversation. Returns 0 or -errno; if -EINVAL, the message is printed. */
static int batch_say(const struct ctl_batch *batch, struct ctl_link *link, const char *line,
                     bool json)
{
	struct ctl_answer answer;
	int result = ctl_link_ask(link, line, &answer);

	if (result != 0)
		return result;
	if (!answer.ok) {
		batch_tell(batch, &answer, 0, json);
		result = -EINVAL;
	} else {
		json_t *object = json_loads(answer.body, 0, NULL);
		const char *late = json_string_value(json_object_get(object, "late"));

		if (late != NULL)
			fprintf(stderr, "%s: %s\n", batch->name, late);
		json_decref(object);
	}
	ctl_answer_release(&answer);
	return result;
}

/* Sends everything from `begin` to `commit`; aborts the batch if a line is wrong, so that it does
 * not stay open. */
static int batch_say_all(const struct ctl_batch *batch, struct ctl_link *link, bool json)
{
	int result = batch_say(batch, link, batch->whole ? "begin whole" : "begin", json);

	if (result != 0)
		return result;
	result = batch_exchange(batch, link, json);
	if (result == 0)
		return batch_say(batch, link, "commit", json);
	if (result < 0)
		return result;
	result = batch_say(batch, link, "abort", json);
	return result == 0 ? -EINVAL : result;
}

int ctl_batch_send(const struct ctl_batch *batch, struct ctl_link *link, bool json)
{
	bool before = link->json;
	int result = batch_say(batch, link, "json on", json);

	link->path = batch->path;
	if (result == 0)
		result = batch_say_all(batch, link, json);
	link->path = NULL;
	if ((result == 0 || result == -EINVAL) && !before)
		batch_say(batch, link, "json off", json);
	if (result == 0)
		puts(json ? "{\"ok\":true}" : "ok");
	else if (result == -ECONNRESET || result == -ETIMEDOUT)
		fprintf(stderr,
		        "weir ctl: %s: %s; `show config` shows whether the change was made\n",
		        batch->name,
		        result == -ECONNRESET ? "weir hung up" : "weir does not answer");
	else if (result == -ENOMEM)
		fprintf(stderr, "weir ctl: %s: no memory\n", batch->name);
	return result;
}

/* Replaces the running scenario by that of the file (`-`: standard input), all of it or nothing.
 * Returns 0, or -EINVAL or another -errno with messages on stderr, or with `json` an object on
 * stdout. */
static int ctl_scenario_load(struct ctl_link *link, const char *path, bool json)
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
static int ctl_scenario_save(struct ctl_link *link, const char *path, bool json)
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
