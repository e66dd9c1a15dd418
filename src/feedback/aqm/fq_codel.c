/* SPDX-License-Identifier: BSD-3-Clause */
#include "aqm/fq_codel.h"

#include <errno.h>
#include <stdlib.h>

#include <rte_common.h>

#include "account/counter_read.h"
#include "aqm/codel.h"
#include "engine/cloud_aqm.h"
#include "holding/log.h"
#include "link/aqm.h"
#include "match/packet_key.h"
#include "notify/ecn.h"
#include "snapshot/snapshot.h"

/* The state of FQ-CoDel: its flows, and the lists that they are in. */

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
static void fq_snapshot(struct aqm *aqm, struct snapshot *snapshot);
/* fits() of the bands (aqm.h). */
static bool fq_fits(const struct aqm *aqm);

enum {
	FQ_CODEL_FIELD_FLOWS,
	FQ_CODEL_FIELD_QUANTUM,
	FQ_CODEL_FIELD_TARGET,
	FQ_CODEL_FIELD_INTERVAL,
	FQ_CODEL_FIELD_CE_THRESHOLD,
	FQ_CODEL_FIELD_MTU,
};

/* ---- lists ---- */

static void list_drop_first(struct fq *fq, struct list *list)
{
	list->first = fq->flow[list->first].next;
}

/* ---- sorting ---- */

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

static uint64_t hash_of(struct draw_key seed, const struct packet_key *key)
{
	uint64_t hash = mix(0, (uint64_t)seed.word[0] << 32 | seed.word[1]);

	for (uint32_t i = 0; i < 4; i++) /* the addresses */
		hash = mix(hash, key->word[i]);
	hash = mix(hash, (uint64_t)key->source_port << 16 | key->destination_port |
	                         (uint64_t)key->protocol << 32 | (uint64_t)key->ethertype << 40);
	return mix(hash, 0);
}

static struct log *fq_choose(struct aqm *aqm, const struct packet_bytes *frame)
{
	struct fq_codel *self = (struct fq_codel *)aqm;
	struct packet_key key;

	packet_key_of(frame->data, frame->bytes, frame->wire_bytes, &key);
	self->coming = (uint32_t)draw_index(hash_of(aqm->key, &key), self->n_flows);
	self->coming_bytes = frame->wire_bytes;
	return &self->fq.flow[self->coming].log;
}

static void fq_entered(struct aqm *aqm, struct log *band, uint32_t wire_bytes)
{
	struct fq_codel *self = (struct fq_codel *)aqm;
	struct flow *flow = (struct flow *)band;
	uint32_t i = (uint32_t)(flow - self->fq.flow);

	self->fq.bytes[i] += wire_bytes;
	if (flow->listed)
		return;
	flow->listed = true;
	flow->credit = self->quantum;
	fq_list_append(&self->fq, &self->fq.new, i);
	self->fq.active++;
	self->begun++;
}

static struct log *fq_at(struct aqm *aqm, uint32_t i)
{
	struct fq_codel *self = (struct fq_codel *)aqm;

	return i < self->n_flows ? &self->fq.flow[i].log : NULL;
}

/* ---- scheduling ---- */

static void leave(struct fq *fq, struct list *from, uint32_t i)
{
	struct flow *flow = &fq->flow[i];

	list_drop_first(fq, from);
	codel_emptied(&flow->codel);
	if (from == &fq->new) {
		fq_list_append(fq, &fq->old, i);
		return;
	}
	flow->listed = false;
	fq->active--;
}

/* Skips the rounds in which no flow would have credit: gives each flow the quanta of these rounds
 * at once. All flows are old, and each has had a turn without credit. This bounds the work,
 * whatever the lengths that a capture claims. */
static void skip_rounds(struct fq_codel *self)
{
	struct fq *fq = &self->fq;
	int64_t rounds = INT64_MAX;

	for (uint32_t i = fq->old.first; i != FQ_NO_FLOW; i = fq->flow[i].next) {
		int64_t credit = fq->flow[i].credit;

		rounds = RTE_MIN(rounds, credit > 0 ? 0 : -credit / self->quantum + 1);
	}
	for (uint32_t i = fq->old.first; rounds > 0 && i != FQ_NO_FLOW; i = fq->flow[i].next)
		fq->flow[i].credit += rounds * self->quantum;
}

static struct log *fq_next(struct aqm *aqm, simtime now)
{
	struct fq_codel *self = (struct fq_codel *)aqm;
	struct fq *fq = &self->fq;
	uint32_t turns = 0; /* in a row, of flows without credit */

	(void)now;
	for (;;) {
		struct list *list = fq->new.first != FQ_NO_FLOW ? &fq->new : &fq->old;
		uint32_t i = list->first;
		struct flow *flow;

		if (i == FQ_NO_FLOW)
			return NULL;
		if (unlikely(turns == fq->active))
			skip_rounds(self);
		flow = &fq->flow[i];
		if (flow->credit <= 0) {
			flow->credit += self->quantum;
			list_drop_first(fq, list);
			fq_list_append(fq, &fq->old, i);
			turns++;
		} else if (flow->log.records == 0) {
			leave(fq, list, i);
			turns = 0;
		} else {
			fq->current = i;
			return &flow->log;
		}
	}
}

/* ---- CoDel ---- */

static struct aqm_verdict judge(struct fq_codel *self, struct flow *flow, struct held *held,
                                uint64_t rest_bytes, simtime now)
{
	simtime sojourn = now - held->t_ns;
	struct aqm_verdict verdict = {.action = AQM_PASS, .reason = REASON_CODEL};

	self->sojourn_ns = sojourn;
	if (codel_select(&flow->codel, &self->rule, sojourn, rest_bytes, now)) {
		if (aqm_look(&self->aqm, held) == MARKING_NONE) {
			verdict.action = AQM_DROP;
			return verdict;
		}
		codel_marked(&flow->codel, &self->rule);
		verdict.action = AQM_MARK;
	} else if (self->ce_threshold_ns && sojourn > self->ce_threshold_ns &&
	           aqm_look(&self->aqm, held) == MARKING_POSSIBLE) {
		verdict.action = AQM_MARK;
	}
	return verdict;
}

static struct aqm_verdict fq_depart(struct aqm *aqm, const struct aqm_view *view, struct held *held,
                                    simtime now)
{
	struct fq_codel *self = (struct fq_codel *)aqm;
	struct flow *flow = &self->fq.flow[self->fq.current];
	struct aqm_verdict verdict;

	self->fq.bytes[self->fq.current] -= held->wire_bytes;
	verdict = judge(self, flow, held, view->waiting_bytes - view->wire_bytes, now);
	if (verdict.action == AQM_DROP)
		self->dropped++;
	else
		flow->credit -= view->wire_bytes;
	self->marked += verdict.action == AQM_MARK && aqm_look(aqm, held) == MARKING_POSSIBLE;
	return verdict;
}

/* ---- a full queue ---- */

static bool find_victim(struct fq_codel *self)
{
	uint64_t most = self->coming_bytes + self->fq.bytes[self->coming];
	uint64_t packets, gone;

	self->victim = self->coming;
	for (uint32_t i = 0; i < self->n_flows; i++) {
		if (self->fq.bytes[i] > most) {
			most = self->fq.bytes[i];
			self->victim = i;
		}
	}
	packets = self->fq.flow[self->victim].log.records;
	/* Half of them, counted with the arriving packet, which is not in the band yet. */
	gone = (packets + (self->victim == self->coming) + 1) / 2;
	self->batch = (uint32_t)RTE_MIN(RTE_MIN(gone, packets), (uint64_t)FQ_CODEL_BATCH);
	return self->batch > 0;
}

static struct log *fq_fullest(struct aqm *aqm, bool room)
{
	struct fq_codel *self = (struct fq_codel *)aqm;

	if (self->batch == 0 && (room || !find_victim(self)))
		return NULL;
	self->batch--;
	return &self->fq.flow[self->victim].log;
}

static void fq_pushed_out(struct aqm *aqm, const struct aqm_view *view, struct held *held,
                          simtime now)
{
	struct fq_codel *self = (struct fq_codel *)aqm;

	(void)view;
	(void)now;
	self->fq.bytes[self->victim] -= held->wire_bytes;
	self->overflown++;
}

/* ---- changes ---- */

static void fq_adopt(struct aqm *aqm, const struct aqm *old)
{
	struct fq_codel *self = (struct fq_codel *)aqm;
	const struct fq_codel *before = (const struct fq_codel *)old;

	self->sojourn_ns = before->sojourn_ns;
	self->dropped = before->dropped;
	self->marked = before->marked;
	self->overflown = before->overflown;
	self->begun = before->begun;
}

static bool fq_inherit(struct aqm *aqm, struct aqm *old)
{
	struct fq_codel *self = (struct fq_codel *)aqm, *before = (struct fq_codel *)old;
	const struct fq own = self->fq;

	if (self->n_flows != before->n_flows)
		return false;
	self->fq = before->fq;
	before->fq = own;
	return true;
}

static void fq_emptied(struct aqm *aqm)
{
	struct fq_codel *self = (struct fq_codel *)aqm;
	struct fq *fq = &self->fq;

	for (uint32_t i = 0; i < self->n_flows; i++) {
		fq->flow[i].codel = (struct codel){0};
		fq->flow[i].listed = false;
		fq->bytes[i] = 0;
	}
	fq->new = fq->old = (struct list){FQ_NO_FLOW, FQ_NO_FLOW};
	fq->active = 0;
}

/* ---- control's ---- */

static READS_WHILE_IT_RUNS uint32_t fq_figures(const struct aqm *aqm,
                                               struct aqm_figure figures[AQM_FIGURES_MAX])
{
	const struct fq_codel *self = (const struct fq_codel *)aqm;
	uint32_t n = 0;

	figures[n++] = (struct aqm_figure){"flows", self->fq.active, AQM_COUNT};
	figures[n++] = (struct aqm_figure){"flows begun", (double)self->begun, AQM_COUNT};
	figures[n++] = (struct aqm_figure){"sojourn", (double)self->sojourn_ns, AQM_NS};
	figures[n++] = (struct aqm_figure){"drops", (double)self->dropped, AQM_COUNT};
	figures[n++] = (struct aqm_figure){"drops fullest", (double)self->overflown, AQM_COUNT};
	figures[n++] = (struct aqm_figure){"marks", (double)self->marked, AQM_COUNT};
	return n;
}

static void fq_free(struct aqm *aqm)
{
	struct fq_codel *self = (struct fq_codel *)aqm;

	free(self->fq.flow);
	free(self->fq.bytes);
	free(self);
}

static int fq_make(const struct conf *conf, const struct cloud_conf *cloud, struct aqm **aqm)
{
	const struct fq_codel_conf *from = (const struct fq_codel_conf *)conf;
	struct fq_codel *self = calloc(1, sizeof(*self));

	if (!self)
		return -ENOMEM;
	self->n_flows = (uint32_t)from->flows;
	self->fq.flow = calloc(self->n_flows, sizeof(*self->fq.flow));
	self->fq.bytes = calloc(self->n_flows, sizeof(*self->fq.bytes));
	if (!self->fq.flow || !self->fq.bytes) {
		fq_free(&self->aqm);
		return -ENOMEM;
	}
	self->fq.new = self->fq.old = (struct list){FQ_NO_FLOW, FQ_NO_FLOW};
	self->quantum = (uint32_t)from->quantum_bytes;
	self->rule = (struct codel_rule){.target_ns = from->target_ns,
	                                 .interval_ns = from->interval_ns,
	                                 .mtu_bytes = from->mtu_bytes};
	self->ce_threshold_ns = from->ce_threshold_ns;
	self->aqm.marker = ecn_marker(conf, cloud, &ecn_marker_3168);
	*aqm = &self->aqm;
	return 0;
}

static uint32_t fq_most(const struct conf *conf)
{
	return (uint32_t)((const struct fq_codel_conf *)conf)->flows;
}

static const struct aqm_bands fq_bands = {
        .at = fq_at,
        .choose = fq_choose,
        .entered = fq_entered,
        .next = fq_next,
        .fullest = fq_fullest,
        .overflow = REASON_FULLEST,
        .inherit = fq_inherit,
        .emptied = fq_emptied,
        .fits = fq_fits,
        .most = fq_most,
};

static const struct aqm_kind fq_codel_kind = {
        .make = fq_make,
        .free = fq_free,
        .adopt = fq_adopt,
        .snapshot = fq_snapshot,
        .depart = fq_depart,
        .pushed_out = fq_pushed_out,
        .bands = &fq_bands,
        .figures = fq_figures,
};

static int fq_check(const struct conf *conf, const struct cloud_conf *cloud,
                    struct problem *problem)
{
	const struct fq_codel_conf *fq = (const struct fq_codel_conf *)conf;
	int error =
	        codel_check(ecn_marker(conf, cloud, &ecn_marker_3168), fq->target_ns,
	                    fq->interval_ns, fq->ce_threshold_ns, FQ_CODEL_FIELD_TARGET, problem);

	return error ? error : aqm_check_bands(conf, cloud, problem);
}

static const struct field fq_codel_fields[] = {
        [FQ_CODEL_FIELD_FLOWS] = {FIELD("flows", FIELD_COUNT, struct fq_codel_conf, flows, .min = 1,
                                        .max = FQ_CODEL_FLOWS_MAX, .initial = 1024,
                                        .help = "queues into which packets are sorted")},
        [FQ_CODEL_FIELD_QUANTUM] = {FIELD(
                "quantum", FIELD_BYTES, struct fq_codel_conf, quantum_bytes, .min = 256,
                .max = 1000000, .initial = 1514, .help = "bytes that a flow may send per turn")},
        [FQ_CODEL_FIELD_TARGET] = {FIELD("target", FIELD_TIME, struct fq_codel_conf, target_ns,
                                         .min = SIMTIME_US, .max = SIMTIME_S,
                                         .initial = CODEL_TARGET,
                                         .help = "how long packets of a flow may normally wait")},
        [FQ_CODEL_FIELD_INTERVAL] = {FIELD("interval", FIELD_TIME, struct fq_codel_conf,
                                           interval_ns, .min = SIMTIME_US,
                                           .max = CODEL_INTERVAL_MAX, .initial = CODEL_INTERVAL,
                                           .help = "for how long they may wait longer")},
        [FQ_CODEL_FIELD_CE_THRESHOLD] = {FIELD(
                "ce-threshold", FIELD_TIME, struct fq_codel_conf, ce_threshold_ns, .max = SIMTIME_S,
                .help = "packets that waited longer are marked at once; 0s: off")},
        [FQ_CODEL_FIELD_MTU] = {FIELD(
                "mtu", FIELD_BYTES, struct fq_codel_conf, mtu_bytes, .max = 1000000,
                .initial = CODEL_MTU,
                .help = "while no more than this waits in all flows together, no "
                        "flow is too long")},
        FIELD_END,
};

const struct statement fq_codel_statement = {
        .name = "fq-codel",
        .help = "flows share the link fairly, each with a queue of its own under CoDel",
        .example = "",
        .role = ROLE_AQM,
        .fields = fq_codel_fields,
        .counts = {{COUNTER(ecn_marked), .words = "marked"},
                   {DROPS(CODEL), .words = "dropped", .always = true},
                   {DROPS(FULLEST), .words = "of the fullest flow"}},
        .conf_bytes = sizeof(struct fq_codel_conf),
        .check = fq_check,
        .aqm = &fq_codel_kind,
};

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

static void fq_snapshot(struct aqm *aqm, struct snapshot *snapshot)
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
static bool fq_fits(const struct aqm *aqm)
{
	const struct fq_codel *self = (const struct fq_codel *)aqm;

	for (uint32_t i = 0; i < self->n_flows; i++) {
		if (self->fq.flow[i].log.records && !self->fq.flow[i].listed)
			return false;
	}
	return true;
}
