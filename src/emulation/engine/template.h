/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A template: `clouds NAME from PLACE to PORT per source|destination PREFIX [v6 PREFIX] | flow
 * [most N]`. One cloud for each address or flow, with the statements of the template, made when its
 * first packet arrives.
 *
 * Model: each is a cloud like any other, with its own queue, state, counters and random draws. Its
 * name consists of the template's and its address, `down/10.0.3.4`. Its draws are derived from that
 * name: they depend neither on when the cloud was made, nor on which others exist. To an observer,
 * the cloud has existed since the template came into force. All clouds of a template share one
 * histogram of delays.
 *
 * Memory: control makes `most` clouds with all their stages when the template comes into force, so
 * the worker allocates nothing. If all are taken, packets of a new address go to the head, a cloud
 * that drops them as `clouds-full`. This is a real loss: weir could not do what was asked. A cloud
 * is never given to another address later. A cloud costs sizeof(struct cloud) and its stages, and
 * 24 bytes and its name in the look-up: see docs/clouds.md.
 *
 * On demand: where one thread is control and worker (engine_setup.clouds_on_demand), only the next
 * clouds are made, and more when the last of these is taken. If there is no memory for more, the
 * packet goes to the head. A change of the template makes all that are left first, and so does
 * whatever begins at the instant at which the template comes into force: what has never changed
 * does not depend on when it was made.
 *
 * Look-up: a hash table with linear probing, at most half full. The keys lie in the table, so
 * finding the cloud of a packet costs one cache miss. Packets of a burst are looked up side by
 * side.
 *
 * Changes: control prepares the settings for each cloud, in use or not. The worker applies them at
 * one instant to the clouds whose link or reordering holds packets. In the others, nothing can
 * happen until a packet arrives: the worker applies them when one does, or a few per poll, with the
 * instant of the change, and the result is the same. So a change of 65,536 clouds does not stop the
 * traffic. Control applies the settings of a new template itself, but it does not know at which
 * instant the template will come into force. What depends on this instant, timelines and
 * managements of queues, begins with the first change.
 *
 * Ownership: control calls template_make and template_free; while the template is in force, the
 * worker owns the clouds. Control frees what was replaced after the worker has set `done`.
 * Thread: stated at each function; template_address may run while the worker goes on.
 */
#ifndef WEIR_TEMPLATE_H
#define WEIR_TEMPLATE_H

#include "engine/cloud.h"
#include "engine/setting.h"
#include "match/packet_key.h"

/* A change of all clouds of a template. */
struct template_change {
	struct template *of;
	struct setting_list list; /* the settings of cloud i begin at i x settings */
	uint32_t settings;        /* per cloud */
	bool timelines;           /* one per cloud, or none */
	bool begins;              /* the template comes into force, and managements begin */
	bool done;                /* the worker does not read it any more */
	/* the worker's */
	struct template_change *next;
	uint32_t number;       /* from 1, in the order of coming into force */
	simtime at, before_at; /* when it came into force, and when the one before it did */
	/* control's */
	struct template_change *next_owed; /* to be freed when it is done */
};

struct template
{
	struct cloud *head; /* takes packets that find no cloud; lies behind the others */
	struct cloud *clouds;
	uint32_t most, used;
	/* The clouds before this one are made; at least one more than is used, unless all are. */
	uint32_t made;
	bool (*make_more)(struct template * template); /* false: there is no memory */
	const struct engine *engine;                   /* for make_more */
	uint32_t base; /* index of the first cloud in the cloud table; the head's is base + most */
	uint64_t seed;
	/* look-up */
	struct packet_key mask;
	uint32_t n_words;
	uint8_t words[KEY_WORDS]; /* those in which the mask has bits */
	uint32_t stride;          /* words per entry */
	uint64_t room;            /* number of entries, a power of two */
	uint64_t *entries;        /* 0 if free, else index + 1 and the hash; then the words */
	bool flow, source;
	/* names */
	char name[SCENARIO_NAME_BYTES];
	char *names;
	uint32_t name_bytes;
	struct histogram delay_ns;
	/* the worker's: changes that some clouds have not made yet */
	struct template_change *changes, *changes_last;
	uint32_t latest; /* number of the latest change in force */
	simtime latest_at;
	uint32_t settled;                /* clouds before this one have made all changes */
	struct template *next_unsettled; /* in the engine's list */
	bool unsettled;
	struct stage full;
};

/* ---- control; making one is change/template_make.h ---- */

void template_free(struct template *template);
/* Returns the cloud of that address (or flow, written as in its name), or NULL if there is none
 * yet. May run while the worker goes on. */
const struct cloud *template_address(const struct template *template, const char *text);
/* Returns the number of clouds in use: clouds[0 ... n - 1]. */
static inline uint32_t template_used(const struct template *template)
{
	return __atomic_load_n(&template->used, __ATOMIC_ACQUIRE);
}

void template_change_free(struct template_change *change);

/* Returns how many slots behind that of this cloud belong to clouds that are not made. */
static inline uint32_t template_not_made(const struct cloud *cloud)
{
	const struct template *template = cloud ? cloud->of : NULL;

	if (likely(!template || cloud + 1 != &template->clouds[template->made]))
		return 0;
	return template->most - template->made;
}

/* ---- worker ---- */

uint64_t template_hash(const struct template *template, const struct packet_key *key);
static inline const uint64_t *template_entry(const struct template *template, uint64_t hash)
{
	return &template->entries[(hash & (template->room - 1)) * template->stride];
}
/* Returns the cloud of a packet, taking the next one if the packet is the first; the head if none
 * is left. */
struct cloud *template_find(struct template *template, const struct packet_key *key, uint64_t hash);

/* Writes the name of the cloud of this key, which takes at most name_bytes. */
void template_name(const struct template *template, const struct packet_key *key, char *name);
uint32_t template_name_bytes(bool flow);

/* Puts a change in force. Calls `woken` for each cloud whose link may need a timer. */
void template_apply(struct template *template, struct template_change *change, simtime now,
                    void *argument, void (*woken)(void *argument, struct cloud *cloud));
/* Lets up to n clouds make the changes that they have not made. Returns false if none is left. */
bool template_settle_some(struct template *template, uint32_t n);
/* Takes all changes for done: no cloud needs them any more. */
void template_clear(struct template *template);

#endif
