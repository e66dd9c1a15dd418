/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a template (engine/template.h), and changes of all its clouds. Thread: control. */
#ifndef WEIR_TEMPLATE_MAKE_H
#define WEIR_TEMPLATE_MAKE_H

#include "engine/template.h"

struct engine_setup;
struct selection_conf;

/* Makes a template without settings and without slots. Returns 0 or -ENOMEM; *result is to be freed
 * in either case. */
int template_make(const char *name, const struct selection_conf *per,
                  const struct engine_setup *setup, struct holder *holder,
                  struct template **result);
/* Sets the indices of the clouds, from `base` on, and the ports that they lead from and to. */
void template_place(struct template *template, uint32_t base, uint32_t from_port, uint32_t to_port);
/* Returns true if a template made for `per` would equal this one. */
bool template_is(const struct template *template, const struct selection_conf *per);

/* Makes a change of all clouds from one configuration (NULL: none) to another. Returns 0 or -errno;
 * *result is to be freed in either case. */
int template_change_make(struct template *template, const struct engine_setup *setup,
                         const struct cloud_conf *before, const struct cloud_conf *after,
                         struct template_change **result);
/* Puts the settings of a template that no worker has seen in force at once. Leaves to the worker
 * what begins at the instant of the change: timelines, and managements of queues. */
void template_begin(struct template_change *change);
bool template_change_is_empty(const struct template_change *change);
/* Returns the bytes that `most` clouds take, without their stages. */
uint64_t template_bytes(const struct selection_conf *per);

#endif
