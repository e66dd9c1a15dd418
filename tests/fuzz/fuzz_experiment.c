/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzes experiments of the lab as text. Asserts: an experiment that is refused has an error that
 * says where and why, in one line; in one that is accepted every case has a value for every
 * parameter.
 */
#include <assert.h>
#include <string.h>

#include "lab/lab_experiment.h"

#define INPUT_MAX 65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char message[EXPERIMENT_MESSAGE] = "";
	struct experiment *experiment = NULL;

	if (size > INPUT_MAX)
		return 0;
	if (experiment_read((const char *)data, size, "e", &experiment, message) != 0) {
		assert(strncmp(message, "e", 1) == 0 && !strchr(message, '\n'));
		return 0;
	}
	assert(experiment->n_cases > 0);
	for (uint32_t i = 0; i < experiment->n_sets; i++) {
		assert(experiment_has(experiment, experiment->sets[i].name));
		for (uint32_t k = 0; k < experiment->n_cases; k++)
			assert(experiment_value(experiment, k, experiment->sets[i].name) ||
			       experiment->sets[i].of != EXPERIMENT_NO_CASE);
	}
	experiment_free(experiment);
	return 0;
}
