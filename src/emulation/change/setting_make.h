/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes settings (engine/setting.h). Thread: control. */
#ifndef WEIR_SETTING_MAKE_H
#define WEIR_SETTING_MAKE_H

#include "engine/setting.h"

struct engine_setup;

/* Makes the setting of the statement `name` from the cloud's configuration, which may lack the
 * statement. `role` is any but ROLE_CLOUD and ROLE_SCHEDULE; for ROLE_AQM_MODIFIER the setting is
 * that of the AQM. `setup` is the engine's. Returns 0 or -errno. */
int setting_prepare(struct setting *setting, const struct engine_setup *setup, struct cloud *cloud,
                    const struct cloud_conf *conf, const char *name, enum statement_role role);

/* What differs between two configurations of a cloud, or of all clouds of a template: the
 * statements that need a new setting, and whether the timeline is new. `before` is NULL for a new
 * cloud. */
#define SETTINGS_MAX 64
struct setting_plan {
	const struct cloud_conf *before, *after;
	uint32_t n;
	const struct statement *of[SETTINGS_MAX];
	bool timeline;
};
void setting_plan_make(struct setting_plan *plan, const struct engine_setup *setup,
                       const struct cloud_conf *before, const struct cloud_conf *after);

/* Adds the planned settings of the cloud, and the timeline. Returns 0 or -errno. */
int setting_list_add(struct setting_list *list, const struct engine_setup *setup,
                     struct cloud *cloud, const struct setting_plan *plan);

/* Adds the tallies of the cloud, which may be the head of a template, if they differ from those in
 * force. Returns 0 or -ENOMEM. */
int setting_list_add_tallies(struct setting_list *list, struct cloud *cloud,
                             const struct cloud_conf *after);

#endif
