/* SPDX-License-Identifier: BSD-3-Clause */
/* Making a template (engine/template.h), and changes of all its clouds. Thread: control. */
#ifndef WEIR_TEMPLATE_MAKE_H
#define WEIR_TEMPLATE_MAKE_H

#include "engine/template.h"

struct engine_setup;
struct selection_conf;

/* Without settings and without slots. 0, -ENOMEM, or -EINVAL with problem. */
int template_make(const char *name, const struct selection_conf *per,
                  const struct engine_setup *setup, struct holder *holder,
                  struct template **result);
/* Gives the clouds their indices, and the way that they lead. */
void template_place(struct template *template, uint32_t base, uint32_t from_port, uint32_t to_port);
/* Whether a template that was made so is also one for this. */
bool template_is(const struct template *template, const struct selection_conf *per);

/* A change of all clouds from one configuration (NULL: none) to another. 0, or -errno; to be freed
 * in either case. */
int template_change_make(struct template *template, const struct engine_setup *setup,
                         const struct cloud_conf *before, const struct cloud_conf *after,
                         struct template_change **result);
/* Of a template that no worker has seen: puts the settings in force here, and leaves the
 * timelines. */
void template_begin(struct template_change *change);
bool template_change_is_empty(const struct template_change *change);
/* Bytes for `most` clouds, without their stages. */
uint64_t template_bytes(const struct selection_conf *per);

#endif
