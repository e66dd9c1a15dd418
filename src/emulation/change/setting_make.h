/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes settings (engine/setting.h). Thread: control. */
#ifndef WEIR_SETTING_MAKE_H
#define WEIR_SETTING_MAKE_H

#include "engine/setting.h"

struct engine_setup;

/* Makes the setting of the statement `name` from the cloud's configuration, which may lack the
 * statement. `role` is any but ROLE_CLOUD and ROLE_SCHEDULE; for ROLE_AQM_MODIFIER the setting is
 * that of the AQM. `setup` is the engine's. Returns 0 or -errno. Thread: control. */
int setting_prepare(struct setting *setting, const struct engine_setup *setup, struct cloud *cloud,
                    const struct cloud_conf *conf, const char *name, enum statement_role role);

struct engine_setup;

/* Adds a setting for each statement of the cloud whose configuration differs from `before`, and the
 * timeline. `before` is NULL for a new cloud. Returns 0 or -errno. Thread: control. */
int setting_list_add(struct setting_list *list, const struct engine_setup *setup,
                     struct cloud *cloud, const struct cloud_conf *before,
                     const struct cloud_conf *after);

/* Adds the tallies of the cloud, which may be the head of a template, if they differ from those in
 * force. Returns 0 or -ENOMEM. Thread: control. */
int setting_list_add_tallies(struct setting_list *list, struct cloud *cloud,
                             const struct cloud_conf *after);

#endif
