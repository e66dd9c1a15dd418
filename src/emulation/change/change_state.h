/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A change while it is prepared, and put in force: shared by the files change_*.c.
 *
 *   change.c         from the next scenario to a change, and its end
 *   change_plan.c    which clouds there will be, and from where they come
 *   change_classifiers.c   which cloud takes what, where several come from one place
 *   change_sharing.c which clouds are direct, which lines their own, which go
 *   change_apply.c   the worker's half
 *
 * Thread: control, but for change_apply.c.
 */
#ifndef WEIR_CHANGE_STATE_H
#define WEIR_CHANGE_STATE_H

#include "engine/setting.h"
#include "engine/engine_state.h"

/* What becomes of a cloud that does not stay as it is, beside its settings. */
struct cloud_change {
	struct cloud *cloud;
	bool added;
	bool shared;      /* from now on what happens to it is among the events of others */
	bool line_shared; /* from now on its packets go to the shared wheel */
	bool closing;
	bool generates;
	struct classifier *classifier; /* of its exit */
	struct cloud *back;            /* and where what it generates goes */
	simtime early_ns;              /* of its exit */
};

/* From where clouds come: a port, or the end of a cloud. */
struct place {
	uint32_t child, last; /* the first and the last of them: index + 1; 0: none */
	struct classifier *classifier;
};

/* A cloud of the next scenario, while the change is prepared; by its index there. */
struct plan {
	const struct cloud_conf *conf;
	struct cloud *cloud;            /* NULL: another engine's */
	struct template *template;      /* whose head it is; NULL: it is a cloud */
	struct template_change *change; /* of the template, or NULL */
	bool added;
	bool generates;
	uint32_t settings; /* how many it gets */
	uint32_t sibling;  /* the next from where it comes: index + 1; 0: none */
	struct place end;
	struct cloud *back; /* through which what it generates goes; NULL: none */
};

struct change {
	struct engine *engine;
	bool applied, removes;
	struct scenario *scenario;
	struct cloud_table *cloud_table;
	struct wheel *wheel; /* of shared clouds, if it is needed for the first time */
	struct plan *plans;
	struct place ports[SCENARIO_PORTS_MAX];
	uint32_t free_slot; /* none before it */
	uint32_t n_clouds;
	struct cloud_change *clouds;
	struct setting_list list;
	uint32_t n_gone;
	struct cloud **gone; /* closed before, and empty now: freed afterwards */
};

/* Each 0, -ENOMEM, or -EINVAL with problem. */

/* A plan for each cloud of the next scenario that is this engine's. */
int change_plan(struct change *change, const bool *owned, struct problem *problem);
/* When the plans have their clouds: the classifiers of all places. */
int change_classifiers(struct change *change, struct problem *problem);
/* When the classifiers are there: what is direct, what is shared, and what goes. */
int change_sharing(struct change *change);

#endif
