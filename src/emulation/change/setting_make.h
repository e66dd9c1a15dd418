/* SPDX-License-Identifier: BSD-3-Clause */
/* Making a setting (engine/setting.h). Thread: control. */
#ifndef WEIR_SETTING_MAKE_H
#define WEIR_SETTING_MAKE_H

#include "engine/setting.h"

struct engine_setup;

/* The statement called `name` (any role but ROLE_CLOUD; of ROLE_AQM_MODIFIER it is the AQM) as the
 * cloud's configuration has it, or does not have it. `setup` is the engine's. Control. 0 or
 * -errno. */
int setting_prepare(struct setting *setting, const struct engine_setup *setup, struct cloud *cloud,
                    const struct cloud_conf *conf, const char *name, enum statement_role role);

#endif
