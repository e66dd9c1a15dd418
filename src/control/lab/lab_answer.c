/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "lab/lab.h"
#include "python/python.h"
#include "text/file_read.h"
#include "text/word.h"

static json_t *refuse(const char *text, uint32_t line, bool wrong)
{
	return json_pack("{s:s, s:i, s:b}", "error", text, "line", (int)line, "wrong", (int)wrong);
}

static const char *text_of(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

/* ---- experiments ---- */

static json_t *refuse_line(const char *name, uint32_t number, const char *text)
{
	char whole[PATH_MAX + 700];

	snprintf(whole, sizeof(whole), "%s:%u: %s", name, number, text);
	return refuse(whole, 0, true);
}

/* Returns the line as an answer has it, or a refusal; NULL if it has no words. */
static json_t *line_read(const char *name, uint32_t number, const char *text, struct words *words,
                         bool *refused)
{
	struct language_error error;
	json_t *line;

	if (words_split(text, words, &error) < 0) {
		*refused = true;
		return refuse_line(name, number, error.text);
	}
	if (words->n == 0)
		return NULL;
	line = json_pack("[i]", (int)number);
	if (json_array_append_new(line, json_string(text)) < 0) {
		json_decref(line);
		*refused = true;
		return refuse_line(name, number, "the comment is not UTF-8 text");
	}
	for (uint32_t i = 0; i < words->n; i++)
		json_array_append_new(line, json_string(words->word[i].text));
	return line;
}

/* Returns {"name", "digest", "lines"}, or a refusal; NULL if there is no memory. */
static json_t *experiment_read(const char *name, const char *text, size_t bytes)
{
	struct words *words = malloc(sizeof(*words));
	char *copy = strndup(text, bytes), *rest = copy, *at, digest[17];
	uint64_t sum = UINT64_C(0xcbf29ce484222325);
	json_t *lines = json_array(), *line = NULL;
	bool refused = false;

	for (size_t i = 0; i < bytes; i++)
		sum = (sum ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
	snprintf(digest, sizeof(digest), "%016" PRIx64, sum);
	for (uint32_t number = 1; words && !refused && (at = strsep(&rest, "\n")); number++) {
		line = line_read(name, number, at, words, &refused);
		if (line && !refused)
			json_array_append_new(lines, line);
	}
	if (!refused)
		line = words && copy ? json_pack("{s:s, s:s, s:O}", "name", name, "digest", digest,
		                                 "lines", lines)
		                     : NULL;
	json_decref(lines);
	free(copy);
	free(words);
	return line;
}

static json_t *file_answer(const char *path)
{
	struct language_error error;
	struct file *file;
	json_t *experiment;

	if (file_read(path, &file, &error) < 0)
		return refuse(error.text, 0, true);
	experiment = experiment_read(path, file->text, file->bytes);
	file_release(file);
	return experiment;
}

static json_t *answer_read(const json_t *question)
{
	const char *name = text_of(question, "name"), *path = text_of(question, "path");
	const char *text = text_of(question, "text");
	json_t *all, *one = NULL;

	if (path)
		one = file_answer(path);
	else if (text)
		one = experiment_read(name ? name : "", text, strlen(text));
	if (json_object_get(one, "error"))
		return one;
	if (path || text)
		return json_pack("{s:[o]}", "experiments", one);
	all = json_array();
	for (uint32_t i = 0; lab_texts[i].name; i++) {
		if (!name || strcmp(name, lab_texts[i].name) == 0)
			json_array_append_new(all,
			                      experiment_read(lab_texts[i].name, lab_texts[i].text,
			                                      lab_texts[i].bytes));
	}
	return json_pack("{s:o}", "experiments", all);
}

/* ---- points ---- */

static double seconds_used(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6 +
	       (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6;
}

static json_t *point_answer(const struct lab_point *point, bool run)
{
	struct results results = {0};
	struct lab_error error = {0};
	double before = seconds_used();
	int result = lab_point_run(point, run ? &results : NULL, &error);
	json_t *figures = json_object();

	for (uint32_t i = 0; i < results.n; i++)
		json_object_set_new(figures, results.list[i].name,
		                    json_real(results.list[i].value));
	results_release(&results);
	if (!result)
		return json_pack("{s:o, s:f}", "figures", figures, "seconds",
		                 seconds_used() - before);
	json_decref(figures);
	return refuse(error.text, error.line, result == -EINVAL);
}

static json_t *answer_point(const json_t *question)
{
	const json_t *given = json_object_get(question, "lines");
	char trace[PATH_MAX], pcap[PATH_MAX];
	size_t n = json_array_size(given);
	struct lab_line *lines = calloc(n + 1, sizeof(*lines));
	const struct lab_point point = {
	        .lines = lines,
	        .n_lines = (uint32_t)n,
	        .duration = text_of(question, "duration"),
	        .warmup = text_of(question, "warmup"),
	        .sample = text_of(question, "sample"),
	        .ties = text_of(question, "ties"),
	        .seed = (uint64_t)json_integer_value(json_object_get(question, "seed")),
	        .trace = python_path(question, "trace", trace),
	        .pcap = python_path(question, "pcap", pcap),
	};
	json_t *line, *answer;
	size_t i;

	if (!lines)
		return NULL;
	json_array_foreach(given, i, line)
	{
		const char *text = json_string_value(json_array_get(line, 1));

		lines[i].number = (uint32_t)json_integer_value(json_array_get(line, 0));
		lines[i].text = text ? text : "";
	}
	answer = point_answer(&point, json_is_true(json_object_get(question, "run")));
	free(lines);
	return answer;
}

const struct python_ask lab_asks[] = {
        {"read", answer_read},
        {"point", answer_point},
        {NULL, NULL},
};
