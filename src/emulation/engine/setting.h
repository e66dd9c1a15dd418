/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What one statement becomes in one cloud: prepared by control, put in force by the worker.
 *
 * To apply a setting is to exchange it with what is in force: afterwards it holds what was there
 * before, and applied again it brings that back. Whoever frees it frees what is not in force.
 */
#ifndef WEIR_SETTING_H
#define WEIR_SETTING_H

#include "engine/cloud.h"

struct timeline;

struct setting {
	struct cloud *cloud;
	enum statement_role role;
	union {
		struct {
			const char *name;    /* of the statement: one stage a name */
			struct stage *stage; /* NULL: none */
		};
		struct link_conf link;
		struct aqm *aqm;         /* NULL: none */
		struct classes *classes; /* NULL: none */
		struct {
			struct line_conf line;
			struct wheel *wheel;         /* for a line that has none yet */
			struct in_flight *in_flight; /* the same */
			struct histogram *spread;    /* the same */
		};
	};
};

/* The key of the draws of a statement in this cloud: it follows from their names. */
struct draw_key setting_key_of(uint64_t seed, const struct cloud *cloud,
                               const struct statement *statement);
/* The cloud has another name than when it was prepared (template.h): its random draws follow from
 * the name. Worker. */
void setting_key(struct setting *setting, uint64_t seed);
/* The same with all that is in force in the cloud and in its timeline, of which nothing is on.
 * Worker. */
void cloud_key(struct cloud *cloud, uint64_t seed);
/* Worker. */
void setting_apply(struct setting *setting, simtime now);
/* What a stage or an AQM in it, which is not in force, remembers (snapshot.h). Worker. */
void setting_snapshot(struct setting *setting, struct snapshot *snapshot);
/* Control. */
void setting_free(struct setting *setting);

/* ---- what a change has for clouds ---- */

/* Another timeline, or none; after the exchange the one that was there. */
struct timeline_change {
	struct cloud *cloud;
	struct timeline *timeline;
};

struct setting_list {
	uint32_t n_settings, settings_room;
	struct setting *settings;
	uint32_t n_timelines, timelines_room;
	struct timeline_change *timelines;
};

/* Control: frees it, and what is in it: after the change is in force that is what was replaced. */
void setting_list_free(struct setting_list *list);

#endif
