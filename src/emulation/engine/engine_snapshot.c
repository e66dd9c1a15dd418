/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/engine_snapshot.h"

#include <stdlib.h>

#include "engine/engine_state.h"
#include "holding/hold_snapshot.h"
#include "link/aqm.h"

/* What precedes each cloud. */
enum { CLOUDS_END, CLOUD_ALONE, CLOUD_TEMPLATE };

/* ---- whether there can be one ---- */

const char *engine_snapshot_waits(const struct engine *engine)
{
	const struct cloud_table *cloud_table = engine->cloud_table;

	if (engine->unsettled)
		return "clouds of a template have yet to make a change";
	for (uint32_t i = 0; i < cloud_table->n_slots; i = cloud_table_behind(cloud_table, i)) {
		const struct cloud *cloud = cloud_table->slots[i];

		if (cloud && cloud_is_closed(cloud) && !cloud_is_at_rest(cloud))
			return "a removed cloud still holds packets";
	}
	return NULL;
}

/* ---- clouds ---- */

/* Maps the index of each cloud in the engine that wrote to its index in the engine that reads. */
struct places {
	uint32_t n;
	uint32_t *index;
};

static void place_note(struct places *places, uint32_t then, uint32_t now,
                       struct snapshot *snapshot)
{
	if (snapshot->restores && snapshot_holds(snapshot, then < places->n))
		places->index[then] = now;
}

/* Writes the name of `cloud`, and returns it; or reads a name, and returns the cloud of that
 * name. */
static struct cloud *cloud_named(struct engine *engine, struct cloud *cloud,
                                 struct snapshot *snapshot)
{
	char name[SCENARIO_NAME_BYTES] = "";
	uint32_t slot;

	if (cloud)
		__builtin_snprintf(name, sizeof(name), "%s",
		                   cloud->of ? cloud->of->name : cloud->name);
	snapshot_value(snapshot, name);
	if (!snapshot->restores)
		return cloud;
	name[sizeof(name) - 1] = '\0';
	slot = names_find(&engine->cloud_table->index, name);
	if (!snapshot_holds(snapshot, slot != NAMES_NONE))
		return NULL;
	return engine->cloud_table->slots[slot];
}

/* Removes the cloud from those with a line of their own. */
static void own_forget(struct cloud_table *cloud_table, const struct cloud *cloud)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < cloud_table->n_own; i++) {
		if (cloud_table->own[i] != cloud)
			cloud_table->own[left++] = cloud_table->own[i];
	}
	cloud_table->n_own = left;
	if (cloud_table->own_at[cloud->exit->port] == cloud)
		cloud_table->own_at[cloud->exit->port] = NULL;
}

static bool has_wheel(struct engine *engine, simtime now, struct snapshot *snapshot)
{
	struct events *events = &engine->events;

	if (!events->wheel) {
		events->wheel = wheel_make(&engine->holder.arena);
		if (events->wheel)
			wheel_finds_nothing(events->wheel, now); /* brings its cursor there */
	}
	if (events->timers.room == 0)
		timers_make(&events->timers, engine->cloud_table->n_slots);
	return snapshot_holds(snapshot, events->wheel != NULL && events->timers.room > 0);
}

/* Writes or reads whether the cloud is shared. Once it is, it remains so. A cloud that was removed
 * keeps leading to its port as long as it has packets; the engine that reads has never had
 * these. */
static void sharing_snapshot(struct engine *engine, struct cloud *cloud, simtime now,
                             struct snapshot *snapshot)
{
	const bool shared = snapshot_flag(snapshot, cloud->events != NULL);
	const bool line_shared = snapshot_flag(snapshot, cloud->line.shared != NULL);

	if (!snapshot_holds(snapshot,
	                    (shared || !cloud->events) && (line_shared || !cloud->line.shared)))
		return;
	if (!snapshot->restores || (shared && !has_wheel(engine, now, snapshot)))
		return;
	if (shared)
		cloud->events = &engine->events;
	if (line_shared && !cloud->line.shared && snapshot_holds(snapshot, shared)) {
		cloud->line.shared = engine->events.wheel;
		own_forget(engine->cloud_table, cloud);
	}
}

static void alone_snapshot(struct engine *engine, struct cloud *cloud, struct places *places,
                           simtime now, struct snapshot *snapshot)
{
	uint32_t index = cloud ? cloud->index : 0;

	cloud = cloud_named(engine, cloud, snapshot);
	snapshot_value(snapshot, index);
	if (!cloud || !snapshot_holds(snapshot, !cloud->of))
		return;
	place_note(places, index, cloud->index, snapshot);
	sharing_snapshot(engine, cloud, now, snapshot);
	cloud_snapshot(cloud, now, snapshot);
}

/* Returns true if the cloud's name contains ports (template_name):
 * `down/10.0.0.1:80-10.0.0.2:99-tcp`, but not `down/::ffff:10.0.0.1-::-icmp`. */
static bool names_ports(const struct template *template, const struct cloud *cloud)
{
	const char *address = cloud->name + strlen(template->name) + 1;
	const char *dot = strchr(address, '.');

	return *address == '[' || (dot && strchr(address, ':') > dot);
}

/* A cloud of a template: its number, and what its packets have in common. */
struct member {
	uint32_t number;
	struct packet_key key;
};

static void member_key(struct template *template, struct member *member, struct snapshot *snapshot)
{
	member->number = snapshot_index(snapshot, member->number, template->most);
	for (uint32_t k = 0; k < template->n_words; k++)
		snapshot_value(snapshot, member->key.word[template->words[k]]);
	member->key.has_ports = snapshot_flag(snapshot, member->key.has_ports);
}

/* Writes the clouds in the order of the table of keys. */
static void members_write(struct template *template, struct snapshot *snapshot)
{
	for (uint64_t at = 0; at < template->room; at++) {
		const uint64_t *entry = &template->entries[at * template->stride];
		struct member member = {.number = (uint32_t)entry[0] - 1};

		if (!entry[0])
			continue;
		for (uint32_t k = 0; k < template->n_words; k++)
			member.key.word[template->words[k]] = entry[k + 1];
		/* A flow without ports has another name than a flow of port 0. */
		member.key.has_ports =
		        template->flow && names_ports(template, &template->clouds[member.number]);
		member_key(template, &member, snapshot);
	}
}

static int member_order(const void *a, const void *b)
{
	const struct member *one = a, *two = b;

	return one->number < two->number ? -1 : one->number > two->number;
}

/* Reads the clouds, and makes them in their original order, in which a change visits them. */
static void members_read(struct template *template, uint32_t n, struct snapshot *snapshot)
{
	struct member *members = NULL;

	if (snapshot_holds(snapshot, n <= template->most && template->used == 0))
		members = calloc(n + 1, sizeof(*members));
	if (!snapshot_holds(snapshot, members != NULL))
		return;
	for (uint32_t i = 0; i < n; i++)
		member_key(template, &members[i], snapshot);
	qsort(members, n, sizeof(*members), member_order);
	for (uint32_t i = 0; i < n && !snapshot->failed; i++) {
		const struct packet_key *key = &members[i].key;

		template_find(template, key, template_hash(template, key));
	}
	snapshot_holds(snapshot, template->used == n);
	free(members);
}

/* Writes or reads a cloud of a template. */
static void member_snapshot(struct cloud *cloud, struct places *places, simtime now,
                            struct snapshot *snapshot)
{
	uint32_t index = cloud->index;

	snapshot_value(snapshot, index);
	place_note(places, index, cloud->index, snapshot);
	cloud_snapshot(cloud, now, snapshot);
}

/* Writes or reads the managements of a cloud that has seen no packet. */
static void managements_snapshot(const struct cloud *cloud, struct snapshot *snapshot)
{
	const struct queue *queue;

	for (uint32_t i = 0; (queue = link_queue_at(&cloud->link, i)); i++) {
		if (!snapshot_same(snapshot, queue->aqm != NULL))
			continue;
		aqm_snapshot(queue->aqm, snapshot);
		snapshot_holds(snapshot, aqm_fits(queue->aqm));
	}
}

/* Writes or reads what the clouds that are not in use remember: since when they have existed. It
 * follows from the instants of all changes of the template. These clouds are all alike: the state
 * of one is written, and each reads it. */
static void unused_snapshot(const struct engine *engine, struct template *template, simtime now,
                            struct snapshot *snapshot)
{
	const struct cloud *first = &template->clouds[template->used];
	simtime latest_at = template->latest_at;
	uint8_t *from;

	if (template->used == template->most)
		return;
	if (snapshot->restores)
		template_settle_some(template, template->most);
	snapshot_value(snapshot, latest_at);
	if (first->timeline &&
	    snapshot_holds(snapshot, latest_at >= engine->origin_ns && latest_at <= now))
		template->latest_at = latest_at;
	from = snapshot->at;
	managements_snapshot(first, snapshot);
	if (!snapshot->restores)
		return;
	for (uint32_t i = template->used + 1; i < template->made && !snapshot->failed; i++) {
		snapshot->at = from;
		managements_snapshot(&template->clouds[i], snapshot);
	}
}

/* Writes or reads the clouds of a template, and its head, which takes packets that find no
 * cloud. */
static void template_snapshot(struct engine *engine, struct cloud *head, struct places *places,
                              simtime now, struct snapshot *snapshot)
{
	struct template *template;
	uint32_t n;

	head = cloud_named(engine, head, snapshot);
	template = head ? head->of : NULL;
	if (!snapshot_holds(snapshot, template != NULL))
		return;
	n = template->used;
	snapshot_value(snapshot, n);
	if (snapshot->restores)
		members_read(template, n, snapshot);
	else
		members_write(template, snapshot);
	if (!snapshot_holds(snapshot, template->used == n))
		return;
	unused_snapshot(engine, template, now, snapshot);
	for (uint32_t i = 0; i < n && !snapshot->failed; i++)
		member_snapshot(&template->clouds[i], places, now, snapshot);
	member_snapshot(template->head, places, now, snapshot);
}

/* Returns what precedes this cloud. A template is written with its head, which lies behind its
 * clouds. */
static uint32_t kind_of(const struct cloud *cloud)
{
	if (!cloud || cloud->closing)
		return CLOUDS_END;
	if (!cloud->of)
		return CLOUD_ALONE;
	return cloud == cloud->of->head ? CLOUD_TEMPLATE : CLOUDS_END;
}

static void cloud_with_kind(struct engine *engine, struct cloud *cloud, uint32_t kind,
                            struct places *places, simtime now, struct snapshot *snapshot)
{
	if (kind == CLOUD_ALONE)
		alone_snapshot(engine, cloud, places, now, snapshot);
	else
		template_snapshot(engine, cloud, places, now, snapshot);
}

static void clouds_write(struct engine *engine, simtime now, struct snapshot *snapshot)
{
	const struct cloud_table *cloud_table = engine->cloud_table;
	uint32_t end = CLOUDS_END;

	for (uint32_t i = 0; i < cloud_table->n_slots; i = cloud_table_behind(cloud_table, i)) {
		struct cloud *cloud = cloud_table->slots[i];
		uint32_t kind = kind_of(cloud);

		if (kind == CLOUDS_END)
			continue;
		snapshot_value(snapshot, kind);
		cloud_with_kind(engine, cloud, kind, NULL, now, snapshot);
	}
	snapshot_value(snapshot, end);
}

static void clouds_read(struct engine *engine, struct places *places, simtime now,
                        struct snapshot *snapshot)
{
	for (;;) {
		uint32_t kind = snapshot_index(snapshot, 0, CLOUD_TEMPLATE + 1);

		if (kind == CLOUDS_END || snapshot->failed)
			return;
		cloud_with_kind(engine, NULL, kind, places, now, snapshot);
	}
}

/* ---- the engine ---- */

static void ports_snapshot(struct engine *engine, struct snapshot *snapshot)
{
	for (uint32_t port = 0; port < SCENARIO_PORTS_MAX; port++) {
		snapshot_value(snapshot, engine->ports[port].no_cloud);
		snapshot_value(snapshot, engine->ports[port].sent);
	}
}

/* The largest number of slots that is accepted when a snapshot is read. */
#define SLOTS_MAX (UINT32_C(1) << 24)

static bool places_open(const struct engine *engine, struct places *places,
                        struct snapshot *snapshot)
{
	places->n = engine->cloud_table->n_slots;
	snapshot_value(snapshot, places->n);
	if (!snapshot->restores || !snapshot_holds(snapshot, places->n <= SLOTS_MAX))
		return !snapshot->failed;
	places->index = malloc((places->n + 1) * sizeof(*places->index));
	if (!snapshot_holds(snapshot, places->index != NULL))
		return false;
	for (uint32_t i = 0; i < places->n; i++)
		places->index[i] = UINT32_MAX;
	return true;
}

/* Until format 4 timers were records on the wheel. Here they come behind the packets of their
 * instant. */
static void timers_read_format_4(struct engine *engine)
{
	const struct cloud_table *cloud_table = engine->cloud_table;

	for (uint32_t i = 0; i < cloud_table->n_slots; i = cloud_table_behind(cloud_table, i)) {
		const struct cloud *cloud = cloud_table->slots[i];

		if (cloud && cloud->events && cloud->wake != SIMTIME_NEVER)
			timers_set(&engine->events.timers, i, cloud->wake,
			           engine->events.wheel->inserted++);
	}
}

/* Writes or reads the timers. Those that are read are those of the clouds. */
static void events_timers_snapshot(struct engine *engine, const struct snapshot_clouds *clouds,
                                   struct snapshot *snapshot)
{
	const struct cloud_table *cloud_table = engine->cloud_table;
	const struct timers *timers = &engine->events.timers;

	if (unlikely(snapshot->format < 5))
		timers_read_format_4(engine);
	else
		timers_snapshot(&engine->events.timers, clouds, snapshot);
	for (uint32_t i = 0; snapshot->restores && i < cloud_table->n_slots;
	     i = cloud_table_behind(cloud_table, i)) {
		const struct cloud *cloud = cloud_table->slots[i];
		const uint32_t at = timers->at[i];

		snapshot_holds(snapshot, cloud ? cloud->wake == (at ? timers->heap[at - 1].t_ns
		                                                    : SIMTIME_NEVER)
		                               : at == 0);
	}
}

void engine_snapshot(struct engine *engine, simtime now, struct snapshot *snapshot)
{
	struct places places = {0};
	struct snapshot_clouds clouds;

	snapshot->format = SNAPSHOT_FORMAT;
	snapshot_value(snapshot, snapshot->format);
	snapshot_holds(snapshot, snapshot->format >= SNAPSHOT_FORMAT_LEAST &&
	                                 snapshot->format <= SNAPSHOT_FORMAT);
	ports_snapshot(engine, snapshot);
	if (!places_open(engine, &places, snapshot))
		return;
	if (snapshot->restores)
		clouds_read(engine, &places, now, snapshot);
	else
		clouds_write(engine, now, snapshot);
	clouds = (struct snapshot_clouds){places.n, places.index};
	if (snapshot_flag(snapshot, engine->events.wheel != NULL) &&
	    has_wheel(engine, now, snapshot)) {
		wheel_snapshot(engine->events.wheel, &engine->holder, 0, now, &clouds, snapshot);
		events_timers_snapshot(engine, &clouds, snapshot);
	}
	free(places.index);
}
