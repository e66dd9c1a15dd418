/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What one statement becomes in one cloud: prepared by control, put in force by the worker.
 *
 * Applying a setting exchanges it with what is in force: afterwards it holds what was there before,
 * and applying it again restores that. Freeing a setting frees what is not in force.
 */
#ifndef WEIR_SETTING_H
#define WEIR_SETTING_H

#include "engine/cloud.h"

struct flows;
struct timeline;

struct setting {
	struct cloud *cloud;
	enum statement_role role;
	union {
		struct {
			const char *name;    /* of the statement: there is one stage per name */
			struct stage *stage; /* NULL: none */
			struct flows *flows; /* for a cloud that has none yet */
		};
		struct link_conf link;
		struct aqm *aqm;         /* NULL: none */
		struct classes *classes; /* NULL: none */
		struct {
			struct line_conf line;
			struct wheel *wheel;         /* for a line that has none yet */
			struct in_flight *in_flight; /* the same */
			struct histogram *spread;    /* the same */
			struct flows *line_flows;    /* the same */
		};
	};
};

/* Returns the key of a statement's draws in this cloud, which is derived from the seed and their
 * names. */
struct draw_key setting_key_of(uint64_t seed, const struct cloud *cloud,
                               const struct statement *statement);
/* Recomputes the keys of the setting's draws from the name of the cloud, which has changed since
 * the setting was prepared (template.h). Thread: worker. */
void setting_key(struct setting *setting, uint64_t seed);
/* Does the same with all that is in force in the cloud, and in its timeline, whose tracks are all
 * off. Thread: worker. */
void cloud_key(struct cloud *cloud, uint64_t seed);
/* Thread: worker. */
void setting_apply(struct setting *setting, simtime now);
/* Exchanges the setting with what one of these n settings, which are in force, has put aside, if
 * that is of the same kind. The setting continues what was aside, as if it had replaced that in
 * force; what is in force does not change. Returns false if there is none. Thread: worker. */
bool setting_put_below(struct setting *setting, struct setting *settings, uint32_t n);
/* Applies a setting to a cloud that no worker has seen yet. The managements of its queues do not
 * begin: the instant at which they will is not known. Thread: control. */
void setting_install(struct setting *setting);
/* Writes or reads the state of a stage or an AQM in the setting, which is not in force
 * (snapshot.h). Thread: worker. */
void setting_snapshot(struct setting *setting, struct snapshot *snapshot);
/* Thread: control. */
void setting_free(struct setting *setting);

/* ---- the part of a change that concerns clouds ---- */

/* A new timeline, or NULL; after the exchange, the previous one. */
struct timeline_change {
	struct cloud *cloud;
	struct timeline *timeline;
};

/* The tallies of a new configuration; after the exchange, those of the previous one. */
struct tallies_change {
	struct cloud *cloud;
	struct tallies *tallies;
};

struct setting_list {
	uint32_t n_settings, settings_room;
	struct setting *settings;
	uint32_t n_timelines, timelines_room;
	struct timeline_change *timelines;
	uint32_t n_tallies, tallies_room;
	struct tallies_change *tallies;
};

/* Frees the list and its contents, which are what was replaced once the change is in force.
 * Thread: control. */
void setting_list_free(struct setting_list *list);

#endif
