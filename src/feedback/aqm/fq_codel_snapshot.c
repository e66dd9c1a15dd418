/* SPDX-License-Identifier: BSD-3-Clause */
#include "aqm/fq_codel_state.h"

#include "snapshot/snapshot.h"

/* No packet, whatever its length, takes the credit beyond this. */
#define CREDIT_MAX (INT64_C(1) << 34)

static void flow_snapshot(struct fq *fq, uint32_t i, struct snapshot *snapshot)
{
	struct flow *flow = &fq->flow[i];

	codel_snapshot(&flow->codel, snapshot);
	snapshot_value(snapshot, flow->credit);
	snapshot_value(snapshot, fq->bytes[i]);
	snapshot_holds(snapshot, flow->credit >= -CREDIT_MAX && flow->credit <= CREDIT_MAX);
}

/* Returns true if the flow has state, listed or not: it has had a packet. */
static bool is_known(const struct flow *flow)
{
	return flow->listed || flow->credit != 0 || flow->codel.count != 0;
}

static void flows_read(struct fq_codel *self, struct snapshot *snapshot)
{
	uint32_t from = 0, i = 0;

	for (;; from = i + 1) {
		snapshot_value(snapshot, i);
		if (!snapshot_holds(snapshot, i >= from && i <= self->n_flows) ||
		    i == self->n_flows)
			return;
		flow_snapshot(&self->fq, i, snapshot);
	}
}

static void list_write(const struct fq *fq, const struct list *list, uint32_t end,
                       struct snapshot *snapshot)
{
	for (uint32_t i = list->first; i != FQ_NO_FLOW; i = fq->flow[i].next)
		snapshot_value(snapshot, i);
	snapshot_value(snapshot, end);
}

/* Reads a list. No flow may be in it twice, or in both lists. */
static void list_read(struct fq *fq, struct list *list, uint32_t n_flows, struct snapshot *snapshot)
{
	uint32_t i = 0;

	for (;;) {
		snapshot_value(snapshot, i);
		if (!snapshot_holds(snapshot, i <= n_flows) || i == n_flows ||
		    !snapshot_holds(snapshot, !fq->flow[i].listed))
			return;
		fq->flow[i].listed = true;
		fq_list_append(fq, list, i);
		fq->active++;
	}
}

void fq_snapshot(struct aqm *aqm, struct snapshot *snapshot)
{
	struct fq_codel *self = (struct fq_codel *)aqm;
	struct fq *fq = &self->fq;

	snapshot_value(snapshot, self->sojourn_ns);
	snapshot_value(snapshot, self->dropped);
	snapshot_value(snapshot, self->marked);
	snapshot_value(snapshot, self->overflown);
	snapshot_value(snapshot, self->begun);
	if (snapshot->restores) {
		flows_read(self, snapshot);
		list_read(fq, &fq->new, self->n_flows, snapshot);
		list_read(fq, &fq->old, self->n_flows, snapshot);
	} else {
		uint32_t end = self->n_flows;

		for (uint32_t i = 0; i < self->n_flows; i++) {
			if (!is_known(&self->fq.flow[i]))
				continue;
			snapshot_value(snapshot, i);
			flow_snapshot(&self->fq, i, snapshot);
		}
		snapshot_value(snapshot, end);
		list_write(fq, &fq->new, self->n_flows, snapshot);
		list_write(fq, &fq->old, self->n_flows, snapshot);
	}
}

/* Returns false if packets wait in a flow that is in no list: they would wait for ever. */
bool fq_fits(const struct aqm *aqm)
{
	const struct fq_codel *self = (const struct fq_codel *)aqm;

	for (uint32_t i = 0; i < self->n_flows; i++) {
		if (self->fq.flow[i].log.records && !self->fq.flow[i].listed)
			return false;
	}
	return true;
}
