/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The clouds that come from one place, a port or the end of a cloud, and the choice of the one that
 * takes a packet.
 *
 * Model: each cloud or template is a branch with a rank. Branches with a condition (match, per)
 * come first, by priority and then in the order of definition; the branch without one comes last,
 * and takes the rest. A packet goes to the first branch whose condition it fits. Exact conditions
 * (match.h) are found by tuple space search (Srinivasan, Suri, Varghese, SIGCOMM 1999): one hash
 * table for each mask that occurs, so that the cost of a look-up grows with the number of different
 * masks, not with the number of clouds. Filters are evaluated one after the other, and only if they
 * come before the branch found so far. If there are only a few conditions, all on fields of the
 * IPv4 header, they are compared with the headers of a burst of IPv4 packets in place.
 *
 * Ownership: made by control, owned by the cloud table, constant while it is in force.
 * Thread: classifier_find the worker's, the rest control's.
 */
#ifndef WEIR_CLASSIFIER_H
#define WEIR_CLASSIFIER_H

#include "engine/template.h"
#include "match/filter.h"
#include "match/match.h"

#define CLASSIFIER_NONE UINT32_MAX

struct classifier_branch {
	struct cloud *cloud;
	struct template *template;        /* whose head the cloud is; or NULL */
	struct classifier_filter *filter; /* or NULL */
	struct match *rows;               /* with a filter: one of them must fit as well; or NULL */
};

/* Conditions with one mask, in a hash table. */
struct classifier_set {
	struct packet_key mask;
	uint32_t n_words;
	uint8_t words[KEY_WORDS]; /* those in which the mask has bits */
	uint32_t best;            /* first branch of all in the set */
	uint32_t room;            /* size of the table, a power of two */
	uint64_t *values;         /* while it is made: where the next entry's values go */
	struct classifier_entry *entries;
};

struct classifier_entry {
	uint32_t hash;
	uint32_t branch;  /* CLASSIFIER_NONE: free */
	uint64_t *values; /* n_words of them */
};

/* A condition on fields of any IPv4 header: its first eight bytes, those with the protocol, and the
 * addresses. */
#define CLASSIFIER_GLANCE_WORDS 3
#define CLASSIFIER_GLANCES_MAX  4

struct classifier_glance {
	uint64_t mask[CLASSIFIER_GLANCE_WORDS],
	        value[CLASSIFIER_GLANCE_WORDS]; /* in the byte order of the header */
	struct cloud *cloud;
};

struct classifier {
	struct classifier *next; /* in the cloud table's list */
	struct cloud *only;      /* takes every packet, without a look-up; or NULL */
	bool templates;          /* some branches are templates */
	const struct classifier_filters *filters;
	uint32_t n_branches;
	struct classifier_branch *branches; /* in the order of their ranks */
	uint32_t rest;                      /* the branch that takes the rest, or CLASSIFIER_NONE */
	uint32_t n_sets;
	struct classifier_set *sets; /* the one with the best branch first */
	uint32_t n_filters;
	uint32_t *filtered; /* branches with a filter, in order */
	uint64_t *values;   /* of all entries */
	uint32_t n_glances; /* 0: a glance at an IPv4 header does not determine the branch */
	struct classifier_glance
	        glances[CLASSIFIER_GLANCES_MAX]; /* in the order of their branches */
};

/* One branch, as an input of classifier_make. */
struct classifier_part {
	struct cloud *cloud;
	struct template *template; /* or NULL */
	struct match *rows;        /* a packet must fit one of them; NULL: any does */
	const char *filter;        /* and this filter, in tcpdump's syntax; or NULL */
};

/* Makes a classifier of `parts`, which are in the order of their ranks; only the last may have
 * neither rows nor filter. Returns 0, -ENOMEM, or -EINVAL with `problem` set if a filter cannot be
 * made. */
int classifier_make(const struct classifier_part *parts, uint32_t n,
                    const struct classifier_filters *filters, struct classifier **classifier,
                    struct problem *problem);
void classifier_free(struct classifier *classifier);

/* Finds for each packet the cloud that takes it, or NULL; at most BURST_MAX packets. */
void classifier_find(const struct classifier *classifier, struct burst *burst,
                     struct cloud **clouds);

#endif
