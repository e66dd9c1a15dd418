/* SPDX-License-Identifier: BSD-3-Clause */
#include "service/difference.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "language/scenario_file.h"
#include "scenario/names.h"
#include "text/array.h"
#include "text/alloc_failure.h"
#include "text/statement_text.h"

/* ---- items: the configurations of a cloud that belong together ---- */

static bool same_item(const struct conf *a, const struct conf *b)
{
	if (a->scope[0] || b->scope[0])
		return strcmp(a->scope, b->scope) == 0;
	return strcmp(a->statement->name, b->statement->name) == 0 &&
	       (a->statement->many_max || a->number == b->number);
}

/* Returns the index of the item's next configuration, from `at` on; or n_confs. */
static uint32_t item_next(const struct cloud_conf *cloud, const struct conf *item, uint32_t at)
{
	while (at < cloud->n_confs && !same_item(cloud->confs[at], item))
		at++;
	return at;
}

/* Compares two configurations without the number of a class or an `at`, which depends on what else
 * the cloud has. */
static bool difference_same_value(const struct conf *a, const struct conf *b)
{
	struct conf *copy;
	bool equal;

	if (a->number == b->number || (!a->scope[0] && !a->statement->many_max))
		return conf_equal(a, b);
	copy = conf_copy(a);
	if (copy == NULL)
		return false;
	copy->number = b->number;
	equal = conf_equal(copy, b);
	conf_free(copy);
	return equal;
}

static bool item_equal(const struct cloud_conf *a, const struct cloud_conf *b,
                       const struct conf *item)
{
	uint32_t i = item_next(a, item, 0), k = item_next(b, item, 0);

	for (; i < a->n_confs && k < b->n_confs;
	     i = item_next(a, item, i + 1), k = item_next(b, item, k + 1))
		if (!difference_same_value(a->confs[i], b->confs[k]))
			return false;
	return i == a->n_confs && k == b->n_confs;
}

static void item_take_out(struct cloud_conf *cloud, const struct conf *item)
{
	uint32_t i;

	if (item->scope[0]) {
		cloud_conf_remove_scope(cloud, item->scope);
		return;
	}
	while ((i = item_next(cloud, item, 0)) < cloud->n_confs) {
		conf_free(cloud->confs[i]);
		cloud->n_confs--;
		memmove(&cloud->confs[i], &cloud->confs[i + 1],
		        (cloud->n_confs - i) * sizeof(struct conf *));
	}
}

/* Replaces the item of `cloud` by that of `from`. */
static int item_set(struct cloud_conf *cloud, const struct cloud_conf *from,
                    const struct conf *item)
{
	item_take_out(cloud, item);
	for (uint32_t i = item_next(from, item, 0); i < from->n_confs;
	     i = item_next(from, item, i + 1)) {
		struct conf *copy = conf_copy(from->confs[i]);
		int error = copy != NULL ? 0 : -ENOMEM;

		if (error == 0 && copy->scope[0])
			copy->number = 0;
		if (error == 0)
			error = cloud_conf_put(cloud, copy);
		if (error != 0) {
			conf_free(copy);
			return error;
		}
	}
	return 0;
}

/* ---- clouds ---- */

static int define_as(struct cloud_conf *cloud, const struct cloud_conf *as)
{
	struct conf *selection = as->selection != NULL ? conf_copy(as->selection) : NULL;

	if (as->selection != NULL && selection == NULL)
		return -ENOMEM;
	conf_free(cloud->selection);
	cloud->selection = selection;
	cloud->many = as->many;
	strcpy(cloud->from, as->from);
	strcpy(cloud->to, as->to);
	return 0;
}

static bool same_cloud(const struct cloud_conf *a, const struct cloud_conf *b)
{
	if (a == NULL || b == NULL)
		return a == b;
	if (a->n_confs != b->n_confs || !cloud_conf_same_path(a, b))
		return false;
	for (uint32_t i = 0; i < a->n_confs; i++)
		if (!conf_equal(a->confs[i], b->confs[i]))
			return false;
	return true;
}

/* Returns true if this configuration is the first of its item. */
static bool begins_item(const struct cloud_conf *cloud, uint32_t i)
{
	return item_next(cloud, cloud->confs[i], 0) == i;
}

/* Gets the items that differ between before and after, each as its first configuration there.
 * Returns their number. */
static uint32_t find_items(const struct difference_cloud *of,
                           const struct conf *items[2 * CLOUD_CONFS_MAX])
{
	const struct cloud_conf *before = of->before, *after = of->after;
	uint32_t n = 0;

	for (uint32_t i = 0; i < before->n_confs; i++)
		if (begins_item(before, i) && !item_equal(before, after, before->confs[i]))
			items[n++] = before->confs[i];
	for (uint32_t i = 0; i < after->n_confs; i++)
		if (begins_item(after, i) &&
		    item_next(before, after->confs[i], 0) == before->n_confs)
			items[n++] = after->confs[i];
	return n;
}

/* ---- making ---- */

void difference_release(struct difference *difference)
{
	for (uint32_t i = 0; i < difference->n; i++) {
		cloud_conf_free(difference->clouds[i].before);
		cloud_conf_free(difference->clouds[i].after);
	}
	free(difference->clouds);
	*difference = (struct difference){0};
}

static int difference_add(struct difference *difference, const struct cloud_conf *before,
                          const struct cloud_conf *after, const char *behind)
{
	struct difference_cloud *cloud;

	if (!array_fits(&difference->clouds, &difference->room, difference->n + 1, sizeof(*cloud)))
		return -ENOMEM;
	cloud = &difference->clouds[difference->n];
	memset(cloud, 0, sizeof(*cloud));
	strcpy(cloud->name, before != NULL ? before->name : after->name);
	snprintf(cloud->behind, sizeof(cloud->behind), "%s", behind);
	cloud->before = before != NULL ? cloud_conf_copy(before) : NULL;
	cloud->after = after != NULL ? cloud_conf_copy(after) : NULL;
	difference->n++;
	return (before != NULL && cloud->before == NULL) || (after != NULL && cloud->after == NULL)
	               ? -ENOMEM
	               : 0;
}

int difference_make(struct difference *difference, const struct scenario *before,
                    const struct scenario *after)
{
	const char *behind = "";
	int error = 0;

	*difference = (struct difference){0};
	for (uint32_t i = 0; i < before->n_clouds && error == 0; i++) {
		const struct cloud_conf *cloud = before->clouds[i];
		int at = scenario_find_cloud(after, cloud->name);
		const struct cloud_conf *then = at >= 0 ? after->clouds[at] : NULL;

		if (!same_cloud(cloud, then))
			error = difference_add(difference, cloud, then, behind);
		behind = cloud->name;
	}
	for (uint32_t i = 0; i < after->n_clouds && error == 0; i++)
		if (scenario_find_cloud(before, after->clouds[i]->name) < 0)
			error = difference_add(difference, NULL, after->clouds[i], "");
	if (error != 0)
		difference_release(difference);
	return error;
}

/* ---- undoing ---- */

/* Sets *kept if something was changed since, and stays. */
static int undo_change(const struct difference_cloud *of, struct cloud_conf *cloud, bool *kept)
{
	const struct conf *items[2 * CLOUD_CONFS_MAX];
	uint32_t n = find_items(of, items);
	int error = 0;

	if (same_cloud(cloud, of->after)) {
		/* Nobody has changed it since: it is restored completely, with the order of its
		 * lines. */
		struct cloud_conf *copy = cloud_conf_copy(of->before), old = *cloud;

		if (copy == NULL)
			return -ENOMEM;
		*cloud = *copy;
		*copy = old;
		cloud_conf_free(copy);
		return 0;
	}
	if (!cloud_conf_same_path(of->before, of->after)) {
		if (!cloud_conf_same_path(cloud, of->after))
			*kept = true;
		else if (define_as(cloud, of->before) != 0)
			return -ENOMEM;
	}
	for (uint32_t i = 0; i < n && error == 0; i++) {
		if (item_equal(cloud, of->after, items[i]))
			error = item_set(cloud, of->before, items[i]);
		else
			*kept = true;
	}
	return error;
}

static int undo_removal(const struct difference_cloud *of, struct scenario *scenario)
{
	struct cloud_conf *copy = cloud_conf_copy(of->before);
	int behind = of->behind[0] ? scenario_find_cloud(scenario, of->behind) : -1;
	uint32_t at = behind >= 0 || !of->behind[0] ? (uint32_t)(behind + 1) : scenario->n_clouds;

	if (copy == NULL)
		return -ENOMEM;
	if (scenario_find_port(scenario, copy->name) < 0 &&
	    scenario_insert_cloud(scenario, at, copy) == 0)
		return 0;
	cloud_conf_free(copy);
	return -ENOMEM;
}

int difference_undo(const struct difference *difference, struct scenario *scenario, bool *kept)
{
	int error = 0;

	for (uint32_t i = 0; i < difference->n && error == 0; i++) {
		struct difference_cloud *of = &difference->clouds[i];
		int at = scenario_find_cloud(scenario, of->name);
		struct cloud_conf *cloud = at >= 0 ? scenario->clouds[at] : NULL;
		bool stays = false;

		/* Otherwise the cloud was handed down to a later difference. */
		if (!same_cloud(of->before, of->after)) {
			if (of->before != NULL && of->after != NULL && cloud != NULL)
				error = undo_change(of, cloud, &stays);
			else if (of->before == NULL && cloud != NULL &&
			         same_cloud(cloud, of->after))
				scenario_remove_cloud(scenario, (uint32_t)at);
			else if (of->after == NULL && cloud == NULL)
				error = undo_removal(of, scenario);
			else
				stays = of->before != NULL || cloud != NULL;
		}
		if (kept != NULL)
			kept[i] = stays;
	}
	return error;
}

/* ---- handing down ---- */

static int hand_item_down(struct difference_cloud *of, struct difference_cloud *later,
                          const struct conf *item)
{
	bool covers = !item_equal(later->before, later->after, item);
	int error;

	if (!item_equal(later->before, of->after, item))
		return 0; /* somebody else has changed it in between */
	error = item_set(later->before, of->before, item);
	if (error != 0)
		return error;
	if (!covers)
		return item_set(later->after, of->before, item);
	/* The item is no longer part of the earlier difference. */
	return item_set(of->before, of->after, item);
}

static void swap_conf(struct cloud_conf **a, struct cloud_conf **b)
{
	struct cloud_conf *was = *a;

	*a = *b;
	*b = was;
}

/* Hands down the items of a cloud that exists before and after both changes: all, or none on
 * failure. */
static int hand_items_down(struct difference_cloud *of, struct difference_cloud *later)
{
	struct difference_cloud of_copy = *of, later_copy = *later;
	const struct conf *items[2 * CLOUD_CONFS_MAX];
	uint32_t n = find_items(of, items);
	int error = -ENOMEM;

	of_copy.before = cloud_conf_copy(of->before);
	later_copy.before = cloud_conf_copy(later->before);
	later_copy.after = cloud_conf_copy(later->after);
	if (of_copy.before != NULL && later_copy.before != NULL && later_copy.after != NULL)
		error = 0;
	for (uint32_t i = 0; i < n && error == 0; i++)
		error = hand_item_down(&of_copy, &later_copy, items[i]);
	if (error == 0) {
		swap_conf(&of->before, &of_copy.before);
		swap_conf(&later->before, &later_copy.before);
		swap_conf(&later->after, &later_copy.after);
	}
	cloud_conf_free(of_copy.before);
	cloud_conf_free(later_copy.before);
	cloud_conf_free(later_copy.after);
	return error;
}

static int hand_cloud_down(struct difference_cloud *of, struct difference_cloud *later)
{
	if (of->before != NULL && of->after != NULL && later->before != NULL &&
	    later->after != NULL)
		return hand_items_down(of, later);
	/* A change made or removed the cloud: the later difference gets the cloud from before
	 * both. */
	if (!same_cloud(of->after, later->before) || same_cloud(of->before, of->after))
		return 0;
	cloud_conf_free(later->before);
	later->before = of->before;
	cloud_conf_free(of->after);
	of->before = of->after = NULL;
	strcpy(later->behind, of->behind);
	return 0;
}

int difference_hand_down(struct difference *earlier, struct difference *later)
{
	struct names index = {.n = 0};
	int error = 0;

	for (uint32_t i = 0; i < earlier->n && error == 0; i++)
		if (!names_add(&index, earlier->clouds[i].name, i))
			error = -ENOMEM;
	for (uint32_t k = 0; k < later->n && error == 0; k++) {
		uint32_t i = names_find(&index, later->clouds[k].name);

		if (i != NAMES_NONE)
			error = hand_cloud_down(&earlier->clouds[i], &later->clouds[k]);
	}
	names_clear(&index);
	return error;
}

/* ---- what a change has replaced ---- */

static bool stays(const struct cloud_conf *cloud, const struct conf *conf)
{
	for (uint32_t i = 0; i < cloud->n_confs; i++)
		if (difference_same_value(cloud->confs[i], conf))
			return true;
	return false;
}

static bool has_place(const struct cloud_conf *cloud, const struct conf *conf)
{
	for (uint32_t i = 0; i < cloud->n_confs; i++)
		if (strcmp(cloud->confs[i]->scope, conf->scope) == 0 &&
		    strcmp(cloud->confs[i]->statement->name, conf->statement->name) == 0 &&
		    (cloud->confs[i]->statement->number_max == 0 ||
		     cloud->confs[i]->number == conf->number))
			return true;
	return false;
}

static void print_absent(FILE *out, const struct conf *conf)
{
	fputs("no ", out);
	if (conf->scope[0])
		fprintf(out, "class %s", conf->scope);
	if (!conf->statement->scoped)
		fprintf(out, "%s%s", conf->scope[0] ? " " : "", conf->statement->name);
	if (conf->statement->number_max != 0)
		fprintf(out, " %u", conf->number);
	fputc('\n', out);
}

static void print_cloud(FILE *out, const struct difference_cloud *of)
{
	const struct cloud_conf *before = of->before, *after = of->after;

	if (before == NULL) {
		fprintf(out, "no cloud %s\n", of->name);
		return;
	}
	if (after == NULL) {
		scenario_file_print_cloud(out, before);
		return;
	}
	for (uint32_t i = 0; i < before->n_confs; i++) {
		if (!stays(after, before->confs[i])) {
			statement_print(out, before->confs[i]);
			fputc('\n', out);
		}
	}
	for (uint32_t i = 0; i < after->n_confs; i++)
		if (!has_place(before, after->confs[i]))
			print_absent(out, after->confs[i]);
}

char *difference_before(const struct difference *difference)
{
	struct printed text;
	FILE *out = printed_begin(&text);

	for (uint32_t i = 0; i < difference->n; i++)
		print_cloud(out, &difference->clouds[i]);
	return printed_end(&text);
}
