/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A change while it is prepared and put in force: shared by the files change_*.c.
 *
 *   change.c          makes a change from the next scenario, and frees it: which clouds there will
 *                     be, and where they come from
 *   change_sharing.c  which cloud takes which packets, where several come from one place; which
 *                     clouds are direct, which lines are their own, which clouds go
 *   change_apply.c    the worker's half
 *
 * Thread: control, except for change_apply.c.
 */
#ifndef WEIR_CHANGE_STATE_H
#define WEIR_CHANGE_STATE_H

#include "engine/setting.h"
#include "engine/engine_state.h"

/* How a cloud changes, apart from its settings. */
struct cloud_change {
	struct cloud *cloud;
	bool added;
	bool shared;      /* from now on its events are among those of other clouds */
	bool line_shared; /* from now on its packets go to the shared wheel */
	bool closing;
	bool generates;
	struct classifier *classifier; /* of its exit */
	struct cloud *back;            /* takes what it generates; or NULL */
	simtime early_ns;              /* of its exit */
};

/* A place that clouds come from: a port, or the end of a cloud. */
struct place {
	uint32_t child, last; /* its first and its last cloud: index + 1; 0: none */
	struct classifier *classifier;
};

/* A cloud of the next scenario, while the change is prepared; indexed as in the scenario. */
struct plan {
	const struct cloud_conf *conf;
	struct cloud *cloud;            /* NULL: it belongs to another engine */
	struct template *template;      /* the one whose head `cloud` is; NULL: a plain cloud */
	struct template_change *change; /* that of the template; or NULL */
	bool added;
	bool generates;
	uint32_t settings; /* number of settings and timelines that it gets */
	uint32_t sibling;  /* next cloud from the same place: index + 1; 0: none */
	struct place end;
	struct cloud *back; /* takes what it generates; NULL: none */
};

struct change {
	struct engine *engine;
	bool applied, removes;
	struct scenario *scenario;
	struct cloud_table *cloud_table;
	struct wheel *wheel;  /* the shared wheel, if this change needs it first */
	struct timers timers; /* in place of the engine's, if these lack room */
	struct plan *plans;
	struct place ports[SCENARIO_PORTS_MAX];
	uint32_t free_slot; /* no slot before it is free */
	uint32_t n_clouds;
	struct cloud_change *clouds;
	struct setting_list list;
	uint32_t n_gone;
	struct cloud **gone; /* closed by an earlier change and empty now; freed afterwards */
};

/* Each returns 0, -ENOMEM, or -EINVAL with problem. */

/* Makes the classifiers of all places. The plans have their clouds by then. */
int change_classifiers(struct change *change, struct problem *problem);
/* Decides which clouds and lines are shared, and which clouds go. The classifiers exist by then. */
int change_sharing(struct change *change);

#endif
