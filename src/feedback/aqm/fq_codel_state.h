/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of FQ-CoDel (fq_codel.h): its flows, and the lists that they are in.
 *
 * Thread: the worker that owns the cloud.
 */
#ifndef WEIR_FQ_CODEL_STATE_H
#define WEIR_FQ_CODEL_STATE_H

#include "aqm/codel.h"
#include "holding/log.h"
#include "link/aqm.h"

#define FQ_NO_FLOW UINT32_MAX

struct flow {
	struct log log; /* first: a band is cast to its flow */
	struct codel codel;
	int64_t credit;
	uint32_t next; /* the flow behind it in its list */
	bool listed;
};

/* A list of flows, by their index. */
struct list {
	uint32_t first, last;
};

struct fq {
	struct flow *flow;
	uint64_t *bytes; /* that wait in each flow, as on the wire */
	struct list new, old;
	uint32_t current; /* the flow from which the link takes */
	uint32_t active;  /* flows in a list */
};

struct fq_codel {
	struct aqm aqm;
	struct fq fq;
	struct codel_rule rule;
	simtime ce_threshold_ns;
	uint32_t n_flows, quantum;
	/* the flow of the arriving packet, and its bytes */
	uint32_t coming, coming_bytes;
	/* of a full queue: the flow that loses packets, and how many more it loses */
	uint32_t victim, batch;
	simtime sojourn_ns;
	uint64_t dropped, marked, overflown, begun;
};

/* Appends flow i to the list. */
static inline void fq_list_append(struct fq *fq, struct list *list, uint32_t i)
{
	fq->flow[i].next = FQ_NO_FLOW;
	if (list->first == FQ_NO_FLOW)
		list->first = i;
	else
		fq->flow[list->last].next = i;
	list->last = i;
}

/* Writes or reads the whole state (snapshot.h). An instance that reads has had no packet. */
void fq_snapshot(struct aqm *aqm, struct snapshot *snapshot);
/* fits() of the bands (aqm.h). */
bool fq_fits(const struct aqm *aqm);

#endif
