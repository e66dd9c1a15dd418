/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>

#include "change/change_state.h"
#include "engine/classifier.h"
#include "match/selection.h"

/* Orders clouds by rank: the lowest is tried first. */
static int compare_ranks(const void *a, const void *b)
{
	const struct plan *x = *(const struct plan *const *)a, *y = *(const struct plan *const *)b;
	uint64_t left = selection_priority(x->conf), right = selection_priority(y->conf);
	bool chooses = selection_chooses(x->conf);

	if (chooses != selection_chooses(y->conf))
		return chooses ? -1 : 1;
	if (chooses && left != right)
		return left < right ? -1 : 1;
	return x < y ? -1 : 1; /* in the order of definition */
}

/* Fills in the clouds from a place, in the order of their ranks. `parts` and `rows` have room for
 * them. */
static int parts_prepare(const struct change *change, const struct place *place, uint32_t n,
                         struct classifier_part *parts, struct match *rows, struct problem *problem)
{
	const struct plan **plans = calloc(n, sizeof(*plans));
	uint32_t i = 0;
	int error = 0;

	if (!plans)
		return -ENOMEM;
	for (uint32_t child = place->child; child; child = change->plans[child - 1].sibling)
		plans[i++] = &change->plans[child - 1];
	qsort(plans, n, sizeof(*plans), compare_ranks);
	for (i = 0; i < n && !error; i++) {
		bool exact = false;

		parts[i].cloud = plans[i]->cloud;
		parts[i].template = plans[i]->template;
		if (!selection_chooses(plans[i]->conf)) {
			if (i + 1 == n)
				break;
			problem_set(problem, -1,
			            "%s already leads to cloud %s, which takes the rest: nothing "
			            "is left for %s",
			            plans[i]->conf->from, plans[i]->conf->name,
			            plans[i + 1]->conf->name);
			error = -EINVAL;
			break;
		}
		error = selection_rows(plans[i]->conf, &rows[i], &exact, &parts[i].filter, problem);
		parts[i].rows = exact ? &rows[i] : NULL;
	}
	free(plans);
	return error;
}

/* Makes the classifier of a place, if any cloud comes from it. Returns 0, -ENOMEM, or -EINVAL with
 * problem. */
static int classifier_prepare(struct change *change, struct place *place, struct problem *problem)
{
	struct classifier_part *parts;
	struct match *rows;
	uint32_t n = 0;
	int error = -ENOMEM;

	for (uint32_t child = place->child; child; child = change->plans[child - 1].sibling)
		n++;
	if (n == 0)
		return 0;
	parts = calloc(n, sizeof(*parts));
	rows = malloc(n * sizeof(*rows));
	if (parts && rows)
		error = parts_prepare(change, place, n, parts, rows, problem);
	if (!error)
		error = classifier_make(parts, n, change->engine->setup.filters, &place->classifier,
		                        problem);
	if (!error) {
		place->classifier->next = change->cloud_table->classifiers;
		change->cloud_table->classifiers = place->classifier;
	}
	free(parts);
	free(rows);
	return error;
}

int change_classifiers(struct change *change, struct problem *problem)
{
	const struct scenario *next = change->scenario;
	int error;

	for (uint32_t port = 0; port < next->n_ports; port++) {
		struct place *place = &change->ports[port];

		error = classifier_prepare(change, place, problem);
		if (error)
			return error;
		change->cloud_table->ingress[port] =
		        place->classifier ? place->classifier->only : NULL;
		change->cloud_table->classified[port] = place->classifier;
	}
	for (uint32_t i = 0; i < next->n_clouds; i++) {
		error = classifier_prepare(change, &change->plans[i].end, problem);
		if (error)
			return error;
	}
	return 0;
}
