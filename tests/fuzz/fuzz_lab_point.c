/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzes points of experiments: lines as they come from an experiment's text. Asserts: a point that
 * is refused has an error in one line, which names one of its lines, or none.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lab/lab.h"

#define INPUT_MAX 65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lab_line *lines = calloc(size + 1, sizeof(*lines));
	char *text = strndup((const char *)data, size), *rest = text;
	struct lab_error error = {0};
	struct lab_point point = {.lines = lines,
	                          .duration = "2s",
	                          .warmup = "1s",
	                          .sample = "10ms",
	                          .ties = "arrival-first"};

	while (size <= INPUT_MAX && rest) {
		lines[point.n_lines] = (struct lab_line){strsep(&rest, "\n"), point.n_lines + 1};
		point.n_lines++;
	}
	if (lab_point_run(&point, NULL, &error) != 0)
		assert(error.text[0] && !strchr(error.text, '\n') && error.line <= point.n_lines);
	free(text);
	free(lines);
	return 0;
}
