/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>

#include "change/setting_list_make.h"
#include "change/setting_make.h"
#include "change/timeline_make.h"
#include "engine/engine.h"
#include "engine/tallies.h"
#include "link/class.h"

static int setting_add(struct setting_list *list, const struct engine_setup *setup,
                       struct cloud *cloud, const struct cloud_conf *after, const char *name,
                       enum statement_role role)
{
	int error;

	if (list->n_settings == list->settings_room) {
		uint32_t room = list->settings_room ? 2 * list->settings_room : 16;
		struct setting *settings = realloc(list->settings, room * sizeof(*settings));

		if (!settings)
			return -ENOMEM;
		list->settings = settings;
		list->settings_room = room;
	}
	error = setting_prepare(&list->settings[list->n_settings], setup, cloud, after, name, role);
	if (!error)
		list->n_settings++;
	return error;
}

/* Returns true if a configuration affects the classes. */
static bool concerns_classes(const struct conf *conf)
{
	return conf->statement->role != ROLE_STAGE && conf->statement->role != ROLE_CLOUD &&
	       conf->statement->role != ROLE_SCHEDULE;
}

/* Returns true if each configuration of `part` that affects the classes has its equal in `whole`.
 * Their numbers give their order, so the order in which they were given does not matter. */
static bool class_confs_part(const struct cloud_conf *part, const struct cloud_conf *whole)
{
	for (uint32_t i = 0; i < part->n_confs; i++) {
		bool found = !concerns_classes(part->confs[i]);

		for (uint32_t k = 0; !found && k < whole->n_confs; k++)
			found = conf_equal(part->confs[i], whole->confs[k]);
		if (!found)
			return false;
	}
	return true;
}

/* Returns true if the classes, and everything that makes them, are the same. */
static bool classes_same(const struct cloud_conf *before, const struct cloud_conf *after)
{
	const struct class_conf *confs[CLASSES_MAX];

	if ((!before || class_confs(before, confs) == 0) && class_confs(after, confs) == 0)
		return true;
	return before && class_confs_part(before, after) && class_confs_part(after, before);
}

static bool is_aqm(enum statement_role role)
{
	return role == ROLE_AQM || role == ROLE_AQM_MODIFIER;
}

static int timeline_add_change(struct setting_list *list, const struct engine_setup *setup,
                               struct cloud *cloud, const struct cloud_conf *before,
                               const struct cloud_conf *after)
{
	if (list->n_timelines == list->timelines_room) {
		uint32_t room = list->timelines_room ? 2 * list->timelines_room : 16;
		struct timeline_change *timelines =
		        realloc(list->timelines, room * sizeof(*timelines));

		if (!timelines)
			return -ENOMEM;
		list->timelines = timelines;
		list->timelines_room = room;
	}
	list->timelines[list->n_timelines].cloud = cloud;
	return timeline_make(setup, cloud, before, after,
	                     &list->timelines[list->n_timelines++].timeline);
}

int setting_list_add_tallies(struct setting_list *list, struct cloud *cloud,
                             const struct cloud_conf *after)
{
	struct tallies_change *item;

	if (tallies_are(cloud->tallies, after))
		return 0;
	if (list->n_tallies == list->tallies_room) {
		uint32_t room = list->tallies_room ? 2 * list->tallies_room : 16;
		struct tallies_change *tallies = realloc(list->tallies, room * sizeof(*tallies));

		if (!tallies)
			return -ENOMEM;
		list->tallies = tallies;
		list->tallies_room = room;
	}
	item = &list->tallies[list->n_tallies];
	*item = (struct tallies_change){cloud, tallies_make(after)};
	if (!item->tallies)
		return -ENOMEM;
	list->n_tallies++;
	return 0;
}

int setting_list_add(struct setting_list *list, const struct engine_setup *setup,
                     struct cloud *cloud, const struct cloud_conf *before,
                     const struct cloud_conf *after)
{
	const struct statement *const *row = setup->statements;
	timeline_places redone = timeline_redone(setup, before, after);
	const char *name = NULL;
	bool aqm = false, classes = false;

	for (; *row; row++) {
		int error;
		bool same;

		/* The variants of a statement are neighbours in the table, and count as one. */
		if ((*row)->role == ROLE_CLOUD || (*row)->role == ROLE_SCHEDULE ||
		    (name && strcmp(name, (*row)->name) == 0))
			continue;
		name = (*row)->name;
		same = cloud_conf_same(before, after, name);
		/* The limit of the queue may follow from the delay. */
		if ((*row)->role == ROLE_LINK)
			same = same && cloud_conf_same(before, after, "delay");
		if ((*row)->role == ROLE_CLASS)
			same = classes_same(before, after);
		if (redone)
			same = same && !(redone & timeline_place(setup, name));
		/* An AQM and its modifiers form one setting, and so does everything that makes
		 * classes. */
		if (same || (is_aqm((*row)->role) && aqm) ||
		    ((*row)->role == ROLE_CLASS && classes))
			continue;
		aqm |= is_aqm((*row)->role);
		classes |= (*row)->role == ROLE_CLASS;
		error = setting_add(list, setup, cloud, after, name, (*row)->role);
		if (error)
			return error;
	}
	if (!timeline_changes(before, after))
		return 0;
	return timeline_add_change(list, setup, cloud, before, after);
}
