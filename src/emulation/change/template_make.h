/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a template (engine/template.h), and changes of all its clouds. Thread: control. */
#ifndef WEIR_TEMPLATE_MAKE_H
#define WEIR_TEMPLATE_MAKE_H

#include "engine/template.h"

struct engine;
struct selection_conf;

/* Makes a template that has a head, no clouds and no slots. Returns 0 or -ENOMEM; *result is to be
 * freed in either case. */
int template_make(const char *name, const struct selection_conf *per, struct engine *engine,
                  struct template **result);
/* Sets where the indices of the clouds begin, and the ports that they lead from and to. */
void template_place(struct template *template, uint32_t base, uint32_t from_port, uint32_t to_port);
/* Returns true if a template made for `per` would equal this one. */
bool template_is(const struct template *template, const struct selection_conf *per);

/* Makes the clouds of a template that has its place, or, on demand, the first of them. Their
 * settings are in force at once: no worker has seen them. Leaves to the worker, as a change, what
 * begins at the instant of the change: timelines, and managements of queues. Returns 0 or -errno;
 * *result is to be freed in either case. */
int template_begin(struct template *template, const struct cloud_conf *conf,
                   struct template_change **result);
/* Makes a change of all clouds from one configuration to another; makes the clouds that are not
 * made before. Returns 0 or -errno; *result is to be freed in either case. */
int template_change_make(struct template *template, const struct cloud_conf *before,
                         const struct cloud_conf *after, struct template_change **result);
bool template_change_is_empty(const struct template_change *change);
/* Returns the bytes that `most` clouds take, without their stages. */
uint64_t template_bytes(const struct selection_conf *per);

#endif
