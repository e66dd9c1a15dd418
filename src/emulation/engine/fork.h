/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The clouds that come from one place, a port or the end of a cloud, and which of them takes a packet.
 *
 * Model: each is a branch, with a rank: first those that choose (match, per), by priority and then in
 * the order of definition, then the one that does not and takes the rest. A packet goes to the first
 * whose condition it fits. Exact conditions (match.h) are found by tuple space search (Srinivasan,
 * Suri, Varghese, SIGCOMM 1999): one hash table for each mask that occurs, so that a look-up costs as
 * much as there are different masks, not as there are clouds. Filters are asked one after the other,
 * and only where they come before what was found. Where there are only a few conditions, about what an IPv4 header
 * says, they are compared with the headers of a burst of IPv4 where those lie.
 *
 * Ownership: made by control, owned by the roster, constant while it is in force.
 * Thread: fork_find the worker's, the rest control's.
 */
#ifndef WEIR_FORK_H
#define WEIR_FORK_H

#include "change/template.h"
#include "engine/cloud.h"
#include "engine/match.h"

/* Filters of libpcap, which the engine does not know: engine_setup brings them. */
struct fork_filter;
struct fork_filters {
	/* Control: 0, -EINVAL with problem, -ENOMEM. */
	int (*make)(const char *words, struct fork_filter **filter, struct problem *problem);
	void (*free)(struct fork_filter *filter);
	/* Worker: bit i, whether packet i fits; n <= BURST_MAX. */
	uint32_t (*fit)(const struct fork_filter *filter, struct rte_mbuf *const *mbufs,
	                uint32_t n);
};

#define FORK_NONE UINT32_MAX

struct fork_branch {
	struct cloud *cloud;
	struct template *template;  /* whose head the cloud is; or NULL */
	struct fork_filter *filter; /* or NULL */
	struct match *rows;         /* beside a filter: one of them must fit as well; or NULL */
};

/* Conditions with one mask, in a hash table. */
struct fork_set {
	struct packet_key mask;
	uint32_t n_words;
	uint8_t words[KEY_WORDS]; /* that the mask has bits in */
	uint32_t best;            /* the first branch of all in the set */
	uint32_t room;            /* of the table, a power of two */
	uint32_t n_entries;
	uint64_t *values; /* where the next entry's go, while the fork is made */
	struct fork_entry *entries;
	const struct fork_entry *only; /* NULL: there are several */
};

struct fork_entry {
	uint32_t hash;
	uint32_t branch;  /* FORK_NONE: free */
	uint64_t *values; /* n_words of them */
};

/* A condition on what the header of any IPv4 packet has: its first eight bytes, those with the protocol, and the
 * addresses. */
#define FORK_GLANCE_WORDS 3
#define FORK_GLANCES_MAX  4

struct fork_glance {
	uint64_t mask[FORK_GLANCE_WORDS], value[FORK_GLANCE_WORDS]; /* as the bytes lie */
	struct cloud *cloud;
};

struct fork {
	struct fork *next;  /* of the roster's */
	struct cloud *only; /* takes everything: nothing is looked up; or NULL */
	bool templates;     /* there are some */
	const struct fork_filters *filters;
	uint32_t n_branches;
	struct fork_branch *branches; /* in the order of their ranks */
	uint32_t rest;                /* the branch that takes the rest, or FORK_NONE */
	uint32_t n_sets;
	struct fork_set *sets; /* the one with the best branch first */
	uint32_t n_filters;
	uint32_t *filtered; /* branches with a filter, in order */
	uint64_t *values;   /* of all entries */
	uint32_t n_glances; /* 0: a glance at an IPv4 header does not tell the branch */
	struct fork_glance glances[FORK_GLANCES_MAX]; /* in the order of their branches */
};

/* What a fork is made of. */
struct fork_part {
	struct cloud *cloud;
	struct template *template; /* or NULL */
	struct match *rows;        /* a packet must fit one of them; NULL: any does */
	const char *filter;        /* and this, in tcpdump's words; or NULL */
};

/* `parts`: in the order of their ranks; only the last may have neither rows nor filter. 0; -ENOMEM;
 * -EINVAL with problem: a filter that cannot be made. */
int fork_make(const struct fork_part *parts, uint32_t n, const struct fork_filters *filters,
              struct fork **fork, struct problem *problem);
void fork_free(struct fork *fork);

/* For each packet the cloud that takes it, or NULL; n <= BURST_MAX. */
void fork_find(const struct fork *fork, struct rte_mbuf *const *mbufs, uint16_t n,
               struct cloud **clouds);

/* Whether every packet finds a cloud. */
static inline bool fork_takes_all(const struct fork *fork)
{
	return fork->only || fork->rest != FORK_NONE;
}

#endif
