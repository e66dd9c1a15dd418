/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A template: `clouds NAME from PLACE to PORT per source|destination PREFIX [v6 PREFIX] | flow
 * [most N]`. One cloud for each address, or flow, all with the statements of the template, made
 * when its first packet comes.
 *
 * Model: each is a cloud like any other, with its own queue, state, counters and random draws. Its
 * name is that of the template and its address, `down/10.0.3.4`, and its draws follow from that
 * name: not from when it was made, nor from which others there are. To those that watch, it has
 * been there since the template was put in force. All clouds of a template have one histogram of
 * delays together.
 *
 * Memory: control reserves `most` clouds with all their stages when the template is put in force,
 * so that the worker allocates nothing. An address that comes when all are taken finds none: its
 * packets go to the head, a cloud that drops them as `clouds-full`, which is a real loss: weir
 * could not do what was asked. No cloud is given to another address later. sizeof(struct cloud) and
 * its stages are what a cloud costs, 24 bytes and its name for finding it: see docs/clouds.md.
 *
 * Finding: a hash table with linear probing, at most half full; the keys lie in it, so that a
 * packet costs one cache miss to find its cloud. Packets of a burst are looked up side by side.
 *
 * Changes: control prepares the settings for each of the clouds, in use or not. The worker puts
 * them in force at one instant at those whose link or reordering holds packets. At the others,
 * where nothing can happen until a packet comes, it does so when one comes, or little by little,
 * with the instant of the change: nobody can tell. So a change of 65,536 clouds does not stop the
 * traffic.
 *
 * Ownership: template_make and template_free are control's; while it is in force the worker owns
 * the clouds. What was replaced is freed by control after the worker has said `done`. Thread: as
 * said at each; template_address may run while the worker goes on.
 */
#ifndef WEIR_TEMPLATE_H
#define WEIR_TEMPLATE_H

#include "engine/cloud.h"
#include "engine/setting.h"
#include "match/packet_key.h"

/* A change of all clouds of a template. */
struct template_change {
	struct template *of;
	struct setting_list list; /* of cloud i: those from i x settings on */
	uint32_t settings;        /* a cloud */
	bool timelines;           /* one a cloud, or none */
	bool done;                /* the worker does not look at it any more */
	/* the worker's */
	struct template_change *next;
	uint32_t number;       /* from 1, in the order in which they come into force */
	simtime at, before_at; /* when it did, and the one before it */
	/* control's */
	struct template_change *next_owed; /* to be freed when it is done */
};

struct template
{
	struct cloud *head; /* takes what finds no cloud; behind the others */
	struct cloud *clouds;
	uint32_t most, used;
	uint32_t base; /* index of the first cloud in the cloud table; the head's is base + most */
	uint64_t seed;
	/* finding */
	struct packet_key mask;
	uint32_t n_words;
	uint8_t words[KEY_WORDS]; /* that the mask has bits in */
	uint32_t stride;          /* words of an entry */
	uint64_t room;            /* entries, a power of two */
	uint64_t *entries;        /* 0 or index + 1 and the hash, then the words */
	bool flow, source;
	/* names */
	char name[SCENARIO_NAME_BYTES];
	char *names;
	uint32_t name_bytes;
	struct histogram delay_ns;
	/* the worker's: changes that some clouds have still to make */
	struct template_change *changes, *changes_last;
	uint32_t latest; /* number of the last one in force */
	simtime latest_at;
	uint32_t settled;                /* clouds before this one have made all changes */
	struct template *next_unsettled; /* of the engine's */
	bool unsettled;
	struct stage full;
};

/* ---- control; making one is change/template_make.h ---- */

void template_free(struct template *template);
/* The cloud of that address (or flow, as its name has it); NULL: there is none yet. Also while the
 * worker goes on. */
const struct cloud *template_address(const struct template *template, const char *text);
/* How many clouds there are: clouds[0 ... n - 1]. */
static inline uint32_t template_used(const struct template *template)
{
	return __atomic_load_n(&template->used, __ATOMIC_ACQUIRE);
}

void template_change_free(struct template_change *change);

/* ---- worker ---- */

uint64_t template_hash(const struct template *template, const struct packet_key *key);
static inline const uint64_t *template_entry(const struct template *template, uint64_t hash)
{
	return &template->entries[(hash & (template->room - 1)) * template->stride];
}
/* The cloud of a packet; the head if there is none left for it. */
struct cloud *template_find(struct template *template, const struct packet_key *key, uint64_t hash);

/* The name of a cloud, in name_bytes. */
void template_name(const struct template *template, const struct packet_key *key, char *name);
uint32_t template_name_bytes(bool flow);

/* A change comes into force. Calls `woken` for each cloud whose link may want a timer. */
void template_apply(struct template *template, struct template_change *change, simtime now,
                    void *argument, void (*woken)(void *argument, struct cloud *cloud));
/* Up to so many clouds of those that have to; false: none is left. */
bool template_settle_some(struct template *template, uint32_t n);
/* It goes, and makes no change any more. */
void template_clear(struct template *template);

#endif
