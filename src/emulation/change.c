/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From one scenario to the next: everything that can fail or take time happens in change_prepare,
 * in the control's thread; engine_apply only swaps pointers and numbers, of what has changed.
 */
#include <errno.h>
#include <stdlib.h>

#include "agenda.h"
#include "class.h"
#include "engine_state.h"
#include "fork.h"
#include "hop.h"
#include "selection.h"
#include "setting.h"

/* What becomes of a cloud that does not stay as it is, beside its settings. */
struct cloud_change {
	struct cloud *cloud;
	bool added;
	bool shared; /* from now on its packets go to the shared wheel */
	bool closing;
	bool generates;
	struct fork *fork;  /* of its exit */
	struct cloud *back; /* and where what it generates goes */
};

/* Another agenda, or none; after the exchange the one that was there. */
struct agenda_change {
	struct cloud *cloud;
	struct agenda *agenda;
};

/* From where clouds come: a port, or the end of a cloud. */
struct place {
	uint32_t child, last; /* the first and the last of them: index + 1; 0: none */
	struct fork *fork;
};

/* A cloud of the next scenario, while the change is prepared; by its index there. */
struct plan {
	const struct cloud_conf *conf;
	struct cloud *cloud; /* NULL: another engine's */
	bool added;
	bool generates;
	uint32_t settings; /* how many it gets */
	uint32_t sibling;  /* the next from where it comes: index + 1; 0: none */
	struct place end;
	struct cloud *back; /* through which what it generates goes; NULL: none */
};

struct change {
	struct engine *engine;
	bool applied;
	struct scenario *scenario;
	struct roster *roster;
	struct wheel *wheel; /* the shared one, if it is needed for the first time */
	struct plan *plans;
	struct place ports[SCENARIO_PORTS_MAX];
	uint32_t free_slot; /* none before it */
	uint32_t n_clouds;
	struct cloud_change *clouds;
	uint32_t n_settings, settings_room;
	struct setting *settings;
	uint32_t n_agendas, agendas_room;
	struct agenda_change *agendas;
	uint32_t n_gone;
	struct cloud **gone; /* closed before, and empty now: freed afterwards */
};

static bool conf_same(const struct cloud_conf *before, const struct cloud_conf *after,
                      const char *name)
{
	const struct conf *a = before ? cloud_conf_get(before, name) : NULL;
	const struct conf *b = cloud_conf_get(after, name);

	while (a && b && conf_equal(a, b)) {
		a = cloud_conf_next(before, a);
		b = cloud_conf_next(after, b);
	}
	return !a && !b;
}

/* ---- preparing one cloud ---- */

static int setting_add(struct change *change, struct cloud *cloud, const struct cloud_conf *after,
                       const char *name, enum statement_role role)
{
	int error;

	if (change->n_settings == change->settings_room) {
		uint32_t room = change->settings_room ? 2 * change->settings_room : 16;
		struct setting *settings =
		        realloc(change->settings, room * sizeof(*change->settings));

		if (!settings)
			return -ENOMEM;
		change->settings = settings;
		change->settings_room = room;
	}
	error = setting_prepare(&change->settings[change->n_settings], &change->engine->setup,
	                        cloud, after, name, role);
	if (!error)
		change->n_settings++;
	return error;
}

/* Whether a configuration has to do with what classes are like. */
static bool concerns_classes(const struct conf *conf)
{
	return conf->statement->role != ROLE_STAGE && conf->statement->role != ROLE_CLOUD &&
	       conf->statement->role != ROLE_SCHEDULE;
}

/* The next that does, from i on; n_confs: there is none. */
static uint32_t class_conf_from(const struct cloud_conf *cloud, uint32_t i)
{
	while (i < cloud->n_confs && !concerns_classes(cloud->confs[i]))
		i++;
	return i;
}

/* Whether the classes and all that they are made of are the same. */
static bool classes_same(const struct cloud_conf *before, const struct cloud_conf *after)
{
	const struct class_conf *confs[CLASSES_MAX];
	uint32_t a = 0, b;

	if ((!before || class_confs(before, confs) == 0) && class_confs(after, confs) == 0)
		return true;
	if (!before)
		return false;
	for (b = class_conf_from(after, 0), a = class_conf_from(before, 0);
	     a < before->n_confs && b < after->n_confs;
	     b = class_conf_from(after, b + 1), a = class_conf_from(before, a + 1)) {
		if (!conf_equal(before->confs[a], after->confs[b]))
			return false;
	}
	return a == before->n_confs && b == after->n_confs;
}

static bool is_aqm(enum statement_role role)
{
	return role == ROLE_AQM || role == ROLE_AQM_MODIFIER;
}

/* A setting for each statement whose configuration is another than before. */
static int agenda_change_add(struct change *change, struct cloud *cloud,
                             const struct cloud_conf *before, const struct cloud_conf *after)
{
	if (change->n_agendas == change->agendas_room) {
		uint32_t room = change->agendas_room ? 2 * change->agendas_room : 16;
		struct agenda_change *agendas =
		        realloc(change->agendas, room * sizeof(*change->agendas));

		if (!agendas)
			return -ENOMEM;
		change->agendas = agendas;
		change->agendas_room = room;
	}
	change->agendas[change->n_agendas].cloud = cloud;
	return agenda_make(&change->engine->setup, cloud, before, after,
	                   &change->agendas[change->n_agendas++].agenda);
}

/* A setting for each statement whose configuration is another than before; and the agenda. */
static int cloud_prepare(struct change *change, struct cloud *cloud,
                         const struct cloud_conf *before, const struct cloud_conf *after)
{
	const struct statement *const *row = change->engine->setup.statements;
	agenda_places redone = agenda_redone(&change->engine->setup, before, after);
	const char *name = NULL;
	bool aqm = false, classes = false;

	for (; *row; row++) {
		int error;
		bool same;

		/* The variants of a statement are neighbours in the table, and count as one. */
		if ((*row)->role == ROLE_CLOUD || (*row)->role == ROLE_SCHEDULE ||
		    (name && strcmp(name, (*row)->name) == 0))
			continue;
		name = (*row)->name;
		same = conf_same(before, after, name);
		/* The size of the queue may follow from the delay. */
		if ((*row)->role == ROLE_LINK)
			same = same && conf_same(before, after, "delay");
		if ((*row)->role == ROLE_CLASS)
			same = classes_same(before, after);
		same = same && !(redone & agenda_place(&change->engine->setup, name));
		/* An AQM and its modifiers are one setting, and so is all that makes classes. */
		if (same || (is_aqm((*row)->role) && aqm) ||
		    ((*row)->role == ROLE_CLASS && classes))
			continue;
		aqm |= is_aqm((*row)->role);
		classes |= (*row)->role == ROLE_CLASS;
		error = setting_add(change, cloud, after, name, (*row)->role);
		if (error)
			return error;
	}
	if (!agenda_changes(before, after))
		return 0;
	return agenda_change_add(change, cloud, before, after);
}

/* ---- preparing the whole ---- */

/* The cloud in force that goes on under this configuration; NULL: there is none. One of the same name
 * on another path, or whose packets come in at another port, is another. */
static struct cloud *cloud_before(const struct engine *engine, const struct cloud_conf *after,
                                  int root, const struct cloud_conf **conf)
{
	const struct scenario *now = engine->scenario;
	int i = scenario_find_cloud(now, after->name);
	uint32_t slot = names_find(&engine->roster->index, after->name);
	struct cloud *cloud = slot == NAMES_NONE ? NULL : engine->roster->slots[slot];

	*conf = NULL;
	if (i < 0 || !cloud || strcmp(now->clouds[i]->from, after->from) != 0 ||
	    strcmp(now->clouds[i]->to, after->to) != 0 || cloud->from_port != (uint32_t)root)
		return NULL;
	*conf = now->clouds[i];
	return cloud;
}

/* The number of slots up to the last that is taken. */
static uint32_t slots_used(const struct roster *roster)
{
	uint32_t used = roster->n_slots;

	while (used > 0 && !roster->slots[used - 1])
		used--;
	return used;
}

static uint32_t slot_take(struct change *change)
{
	while (change->roster->slots[change->free_slot])
		change->free_slot++;
	return change->free_slot++;
}

/* Puts a cloud behind those that come from the same place. */
static void plan_hang(struct change *change, uint32_t index)
{
	const char *from = change->plans[index].conf->from;
	int port = scenario_find_port(change->scenario, from);
	struct place *place;

	if (port >= 0)
		place = &change->ports[port];
	else
		place = &change->plans[scenario_find_cloud(change->scenario, from)].end;
	if (place->child)
		change->plans[place->last - 1].sibling = index + 1;
	else
		place->child = index + 1;
	place->last = index + 1;
}

/* Whether it may generate packets, which then leave where others do. */
static bool may_generate(const struct cloud_conf *conf)
{
	for (uint32_t i = 0; i < conf->n_confs; i++) {
		if (conf->confs[i]->statement->generates)
			return true;
	}
	return false;
}

static int plan_cloud(struct change *change, uint32_t index, int root, int to)
{
	struct engine *engine = change->engine;
	struct plan *plan = &change->plans[index];
	const struct cloud_conf *before;
	uint32_t settings = change->n_settings + change->n_agendas;
	int error;

	plan->cloud = cloud_before(engine, plan->conf, root, &before);
	if (!plan->cloud) {
		plan->cloud = cloud_make(plan->conf->name, slot_take(change), &engine->holder,
		                         engine->setup.witness);
		if (!plan->cloud)
			return -ENOMEM;
		plan->added = true;
		plan->cloud->exit->port = (uint32_t)to;
		plan->cloud->from_port = (uint32_t)root;
		plan->cloud->line.key =
		        draw_key_make(engine->setup.seed, plan->cloud->name, "delay");
		change->roster->slots[plan->cloud->index] = plan->cloud;
	}
	if (!names_add(&change->roster->index, plan->cloud->name, plan->cloud->index))
		return -ENOMEM;
	plan_hang(change, index);
	/* It may still hold what makes it generate. */
	plan->generates = plan->cloud->generates || may_generate(plan->conf);
	error = cloud_prepare(change, plan->cloud, before, plan->conf);
	plan->settings = change->n_settings + change->n_agendas - settings;
	return error;
}

static int clouds_prepare(struct change *change, const bool *owned, struct problem *problem)
{
	const struct scenario *next = change->scenario;

	for (uint32_t i = 0; i < next->n_clouds; i++) {
		const struct cloud_conf *conf = next->clouds[i];
		int root = scenario_root(next, conf);
		int to = scenario_find_port(next, conf->to);
		int error;

		change->plans[i].conf = conf;
		if (root < 0 || to < 0) {
			problem_set(problem, -1, "cloud %s leads from nowhere, or to nowhere",
			            conf->name);
			return -EINVAL;
		}
		if (owned && !owned[root])
			continue;
		error = plan_cloud(change, i, root, to);
		if (error)
			return error;
	}
	return 0;
}

/* When all plans have their clouds. */
static int backs_prepare(struct change *change, struct problem *problem)
{
	for (uint32_t i = 0; i < change->scenario->n_clouds; i++) {
		struct plan *plan = &change->plans[i];
		uint32_t through;

		if (!plan->cloud)
			continue;
		if (hop_through(change->scenario, plan->conf, &through, problem) != 0)
			return -EINVAL;
		if (through == HOP_NOT_THROUGH)
			continue;
		plan->back = change->plans[through].cloud;
		if (plan->back)
			continue;
		problem_set(
		        problem, -1,
		        "cloud %s and cloud %s, through which its answers go, belong to different "
		        "workers; with one worker (--cores 1) they do not",
		        plan->conf->name, change->plans[through].conf->name);
		return -EINVAL;
	}
	return 0;
}

/* ---- who comes from where ---- */

/* The first are asked first. */
static int compare_ranks(const void *a, const void *b)
{
	const struct plan *x = *(const struct plan *const *)a, *y = *(const struct plan *const *)b;
	uint64_t left = selection_priority(x->conf), right = selection_priority(y->conf);
	bool chooses = selection_chooses(x->conf);

	if (chooses != selection_chooses(y->conf))
		return chooses ? -1 : 1;
	if (chooses && left != right)
		return left < right ? -1 : 1;
	return x < y ? -1 : 1; /* in the order of definition */
}

/* The clouds from a place, in the order of their ranks; `parts` has room for them, and `rows`. */
static int parts_prepare(const struct change *change, const struct place *place, uint32_t n,
                         struct fork_part *parts, struct match *rows, struct problem *problem)
{
	const struct plan **plans = calloc(n, sizeof(*plans));
	uint32_t i = 0;
	int error = 0;

	if (!plans)
		return -ENOMEM;
	for (uint32_t child = place->child; child; child = change->plans[child - 1].sibling)
		plans[i++] = &change->plans[child - 1];
	qsort(plans, n, sizeof(*plans), compare_ranks);
	for (i = 0; i < n && !error; i++) {
		bool exact = false;

		parts[i].cloud = plans[i]->cloud;
		if (!selection_chooses(plans[i]->conf)) {
			if (i + 1 == n)
				break;
			problem_set(problem, -1,
			            "%s leads to cloud %s already, which takes the rest: nothing "
			            "is left for %s",
			            plans[i]->conf->from, plans[i]->conf->name,
			            plans[i + 1]->conf->name);
			error = -EINVAL;
			break;
		}
		error = selection_rows(plans[i]->conf, &rows[i], &exact, &parts[i].filter, problem);
		parts[i].rows = exact ? &rows[i] : NULL;
	}
	free(plans);
	return error;
}

/* The fork of a place, if any cloud comes from there. -EINVAL with problem, -ENOMEM. */
static int fork_prepare(struct change *change, struct place *place, struct problem *problem)
{
	struct fork_part *parts;
	struct match *rows;
	uint32_t n = 0;
	int error = -ENOMEM;

	for (uint32_t child = place->child; child; child = change->plans[child - 1].sibling)
		n++;
	if (n == 0)
		return 0;
	parts = calloc(n, sizeof(*parts));
	rows = malloc(n * sizeof(*rows));
	if (parts && rows)
		error = parts_prepare(change, place, n, parts, rows, problem);
	if (!error)
		error = fork_make(parts, n, change->engine->setup.filters, &place->fork, problem);
	if (!error) {
		place->fork->next = change->roster->forks;
		change->roster->forks = place->fork;
	}
	free(parts);
	free(rows);
	return error;
}

static int forks_prepare(struct change *change, struct problem *problem)
{
	const struct scenario *next = change->scenario;
	int error;

	for (uint32_t port = 0; port < next->n_ports; port++) {
		struct place *place = &change->ports[port];

		error = fork_prepare(change, place, problem);
		if (error)
			return error;
		change->roster->ingress[port] = place->fork ? place->fork->only : NULL;
		change->roster->forked[port] = place->fork;
	}
	for (uint32_t i = 0; i < next->n_clouds; i++) {
		error = fork_prepare(change, &change->plans[i].end, problem);
		if (error)
			return error;
	}
	return 0;
}

/* ---- what goes, and what is shared ---- */

/* Asked by control while the worker runs. A packet is counted on the line before it is taken off the
 * queue, so in this order none is missed; and nothing comes in any more. */
static bool has_run_out(const struct cloud *cloud)
{
	return cloud->closing && link_held_packets(&cloud->link) == 0 &&
	       __atomic_load_n(&cloud->wake, __ATOMIC_ACQUIRE) == SIMTIME_NEVER &&
	       __atomic_load_n(&cloud->line.held, __ATOMIC_ACQUIRE) == 0;
}

static struct cloud_change *item_add(struct change *change, struct cloud *cloud)
{
	struct cloud_change *item = &change->clouds[change->n_clouds++];

	item->cloud = cloud;
	return item;
}

/* A cloud is direct when it leads from a port to a port that no other leads to, and where nothing
 * that another generates leaves, and generates nothing itself: an answer has its place among the
 * events of all clouds. Once shared, it stays so. */
static bool is_shared(const struct change *change, const struct plan *plan, const uint32_t *feeders)
{
	return plan->cloud->line.shared || feeders[plan->cloud->exit->port] > 1 || plan->end.fork ||
	       plan->generates || scenario_find_port(change->scenario, plan->conf->from) < 0;
}

/* At how many places the packets of a port come out of clouds. */
static void count_feeders(uint32_t *feeders, const struct cloud *cloud, bool generates)
{
	feeders[cloud->exit->port]++;
	if (generates)
		feeders[cloud->from_port]++;
}

/* Clouds that are not in the next scenario: they close, deliver what they hold at their port, and go
 * when they are empty. `kept`, by slot: those that are in it. */
static void closing_prepare(struct change *change, const bool *kept, uint32_t *feeders)
{
	struct roster *now = change->engine->roster;

	for (uint32_t i = 0; i < now->n_slots; i++) {
		struct cloud *cloud = now->slots[i];

		if (!cloud || kept[i])
			continue;
		if (has_run_out(cloud)) {
			change->gone[change->n_gone++] = cloud;
			change->roster->slots[i] = NULL;
			continue;
		}
		count_feeders(feeders, cloud, cloud->generates);
		item_add(change, cloud)->closing = true;
	}
}

static int sharing_prepare(struct change *change, const uint32_t *feeders)
{
	const struct scenario *next = change->scenario;
	struct roster *roster = change->roster;
	uint32_t closing = change->n_clouds;
	bool shared = false;

	for (uint32_t i = 0; i < next->n_clouds; i++) {
		const struct plan *plan = &change->plans[i];
		bool shares = plan->cloud && is_shared(change, plan, feeders);

		if (!plan->cloud)
			continue;
		if (!shares)
			roster->direct[roster->n_direct++] = plan->cloud;
		shared |= shares;
		if (plan->added || plan->settings || shares != (bool)plan->cloud->line.shared ||
		    plan->end.fork || plan->cloud->exit->fork ||
		    plan->back != plan->cloud->exit->back) {
			struct cloud_change *item = item_add(change, plan->cloud);

			item->added = plan->added;
			item->shared = shares;
			item->generates = plan->generates;
			item->fork = plan->end.fork;
			item->back = plan->back;
		}
	}
	for (uint32_t i = 0; i < closing; i++) {
		struct cloud_change *item = &change->clouds[i];

		item->shared = item->cloud->line.shared || feeders[item->cloud->exit->port] > 1;
		shared |= item->shared;
		if (!item->shared)
			roster->direct[roster->n_direct++] = item->cloud;
	}
	if (shared && !change->engine->wheel) {
		change->wheel = wheel_make(&change->engine->holder.arena);
		if (!change->wheel)
			return -ENOMEM;
	}
	return 0;
}

/* When the plans have their clouds. */
static int roster_prepare(struct change *change)
{
	const struct scenario *next = change->scenario;
	uint32_t feeders[SCENARIO_PORTS_MAX] = {0};
	bool *kept = calloc(change->roster->n_slots + 1, sizeof(*kept));

	if (!kept)
		return -ENOMEM;
	for (uint32_t i = 0; i < next->n_clouds; i++) {
		const struct cloud *cloud = change->plans[i].cloud;

		if (!cloud)
			continue;
		kept[cloud->index] = true;
		count_feeders(feeders, cloud, change->plans[i].generates);
	}
	closing_prepare(change, kept, feeders);
	free(kept);
	return sharing_prepare(change, feeders);
}

/* What no cloud of a port takes passes untouched when it is known to where: all of them lead to the
 * same port. It takes a cloud of its own, that does nothing; no user's has a blank in its name. */
static int untouched_add(struct scenario *scenario, uint32_t port)
{
	const char *from = scenario->ports[port].name, *to = NULL;
	char name[SCENARIO_NAME_BYTES];

	for (uint32_t i = 0; i < scenario->n_clouds; i++) {
		const struct cloud_conf *cloud = scenario->clouds[i];

		if (strcmp(cloud->from, from) != 0)
			continue;
		if (!selection_chooses(cloud) || (to && strcmp(to, cloud->to) != 0))
			return 0;
		to = cloud->to;
	}
	engine_untouched_name(name, port);
	return to ? scenario_add_cloud(scenario, name, from, to) : 0;
}

static int change_make(struct engine *engine, const struct scenario *next, struct change **result)
{
	uint32_t used = slots_used(engine->roster), slots;
	struct change *change = calloc(1, sizeof(*change));

	*result = change;
	if (!change)
		return -ENOMEM;
	change->engine = engine;
	change->scenario = scenario_copy(next);
	if (!change->scenario)
		return -ENOMEM;
	for (uint32_t port = 0; port < next->n_ports; port++) {
		if (untouched_add(change->scenario, port))
			return -ENOMEM;
	}
	slots = used + change->scenario->n_clouds;
	change->roster = calloc(1, sizeof(*change->roster));
	change->plans = calloc(change->scenario->n_clouds + 1, sizeof(*change->plans));
	change->clouds = calloc(slots + 1, sizeof(*change->clouds));
	change->gone = calloc(slots + 1, sizeof(struct cloud *));
	if (!change->roster || !change->plans || !change->clouds || !change->gone)
		return -ENOMEM;
	change->roster->slots = calloc(slots + 1, sizeof(struct cloud *));
	if (!change->roster->slots)
		return -ENOMEM;
	change->roster->n_slots = slots;
	if (used)
		memcpy(change->roster->slots, engine->roster->slots, used * sizeof(struct cloud *));
	return 0;
}

int change_prepare(struct engine *engine, const struct scenario *next, const bool *owned,
                   struct change **result, struct problem *problem)
{
	struct change *change;
	int error = change_make(engine, next, &change);

	problem_set(problem, -1, "no memory");
	if (!error)
		error = clouds_prepare(change, owned, problem);
	if (!error)
		error = backs_prepare(change, problem);
	if (!error)
		error = forks_prepare(change, problem);
	if (!error)
		error = roster_prepare(change);
	if (error) {
		change_free(change);
		return error;
	}
	*result = change;
	return 0;
}

/* ---- applying: in the worker ---- */

/* Lowest index first. */
static void leftover_add(struct engine *engine, struct cloud *cloud)
{
	struct cloud **place = &engine->leftovers;

	while (*place && (*place)->index < cloud->index)
		place = &(*place)->next_leftover;
	cloud->next_leftover = *place;
	*place = cloud;
}

static void cloud_apply(struct engine *engine, const struct cloud_change *item, simtime now)
{
	struct cloud *cloud = item->cloud;

	cloud->origin_ns = engine->origin_ns;
	cloud->closing |= item->closing;
	cloud->generates |= item->generates;
	/* What is due by now takes the way that was there until now. */
	if (item->fork && !cloud->line.shared && !item->added)
		engine_advance_direct(engine, cloud, now);
	cloud->exit->fork = item->fork;
	cloud->exit->back = item->back;
	if (item->shared && !cloud->line.shared) {
		/* What has left the link by now is on its own line, whoever was asked when. */
		cloud_advance_link(cloud, now);
		cloud->line.shared = engine->wheel;
		if (!line_is_empty(&cloud->line))
			leftover_add(engine, cloud);
	}
}

/* After its settings have come into force. */
static void cloud_settle(struct engine *engine, struct cloud *cloud)
{
	if (cloud->line.shared && cloud_next(cloud) != SIMTIME_NEVER)
		engine_starve(engine, cloud); /* asks for a timer */
	cloud->plain = cloud->n_stages == 0 && !link_in_use(&cloud->link) &&
	               line_is_constant(&cloud->line) && !cloud->line.shared &&
	               line_is_simple(&cloud->line) && !cloud->agenda && !cloud->witness;
}

/* Nobody looks at it any more. Its chunks go back here: the arena is the worker's. */
static void cloud_retire(struct engine *engine, struct cloud *cloud)
{
	struct cloud **place = &engine->starved;

	while (*place && *place != cloud)
		place = &(*place)->next_starved;
	if (*place)
		*place = cloud->next_starved;
	for (place = &engine->leftovers; *place && *place != cloud;)
		place = &(*place)->next_leftover;
	if (*place)
		*place = cloud->next_leftover;
	cloud_clear(cloud);
}

static void agenda_exchange(struct agenda_change *item, simtime now)
{
	struct agenda *old = item->cloud->agenda;

	item->cloud->agenda = item->agenda;
	item->agenda = old;
	agenda_begin(item->cloud, now);
}

void engine_apply(struct engine *engine, struct change *change, simtime now)
{
	struct roster *roster = engine->roster;

	if (!engine->begun) {
		engine->begun = true;
		engine->origin_ns = now;
	}
	/* What happens up to now, happens in the scenario of now. */
	if (engine->wheel)
		engine_advance_shared(engine, now);
	if (change->wheel) {
		engine->wheel = change->wheel;
		change->wheel = NULL;
		wheel_front(engine->wheel, now); /* brings its cursor to the present */
	}
	for (uint32_t i = 0; i < change->n_clouds; i++)
		cloud_apply(engine, &change->clouds[i], now);
	/* All settings change at once: what one of them lets go finds the others changed too. */
	for (uint32_t i = 0; i < change->n_settings; i++)
		cloud_advance_link(change->settings[i].cloud, now);
	for (uint32_t i = 0; i < change->n_agendas; i++)
		agenda_end(change->agendas[i].cloud, now);
	for (uint32_t i = 0; i < change->n_settings; i++)
		setting_apply(&change->settings[i], now);
	for (uint32_t i = 0; i < change->n_agendas; i++)
		agenda_exchange(&change->agendas[i], now);
	for (uint32_t i = 0; i < change->n_clouds; i++)
		cloud_settle(engine, change->clouds[i].cloud);
	engine->roster = change->roster;
	change->roster = roster;
	for (uint32_t i = 0; i < change->n_gone; i++)
		cloud_retire(engine, change->gone[i]);
	change->applied = true;
}

void change_free(struct change *change)
{
	if (!change)
		return;
	for (uint32_t i = 0; i < change->n_settings; i++)
		setting_free(&change->settings[i]);
	for (uint32_t i = 0; i < change->n_agendas; i++)
		agenda_free(change->agendas[i].agenda);
	for (uint32_t i = 0; change->plans && i < change->scenario->n_clouds; i++) {
		if (change->plans[i].added && !change->applied)
			cloud_free(change->plans[i].cloud);
	}
	if (change->applied) {
		struct scenario *before = change->engine->scenario;

		change->engine->scenario = change->scenario;
		change->scenario = before;
		for (uint32_t i = 0; i < change->n_gone; i++)
			cloud_free(change->gone[i]);
	}
	wheel_free(change->wheel);
	scenario_free(change->scenario);
	roster_free(change->roster);
	free(change->plans);
	free(change->clouds);
	free(change->settings);
	free(change->agendas);
	free(change->gone);
	free(change);
}
