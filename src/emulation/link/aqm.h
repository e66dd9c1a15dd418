/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The contract of active queue management: what RED, CoDel, PIE ... are to a queue of a link.
 *
 * The link knows no AQM. A statement of the role ROLE_AQM (statement.h) brings a `struct aqm_kind`;
 * a queue has at most one AQM. Without one, a packet costs a predictable branch where it comes and
 * where it goes, and nothing else.
 *
 * Made by control, in any thread that owns no cloud, like a stage:
 *   make    allocates and prepares an AQM for this configuration; modifiers (`ecn`, `becn`) are
 *           found by aqm_beside(). 0 or -errno; may be slow
 *   free    gives it back
 * Whenever its statement or one of the role ROLE_AQM_MODIFIER changes, a new one is made and takes
 * the place of the old one between two bursts (setting.h). A schedule (timeline.h) makes its own
 * beforehand, and exchanges them in virtual time: then adopt() may come to one that was in force
 * before.
 *
 * Run by the worker that owns the cloud, in the order of virtual time:
 *   adopt   takes over from the one that it replaces, of the same statement; optional. `drawn` has
 *           been carried over already. Changed parameters act from here on
 *   arrive  packets come, one behind the other at one instant, before the limit of the queue is
 *           looked at; the view shows the queue before the first of them. Returns how many pass,
 *           from the first. If not all do, `verdict` is for the next one, and those behind it have
 *           not arrived. It is one packet at a time, unless `takes_groups` is set. NULL: passes all
 *   settled what then became of it, as it is told here: the mbuf is as it came, not yet marked, and
 *           not yet freed. Not of those of a group that pass. Optional
 *   depart  the link takes the packet from the queue, at `now`: pass, mark or drop. The view is
 *           that of the queue with it (it is the head, and waits). held->t_ns is when it came, so
 *           its sojourn time is now - held->t_ns. After a drop it is asked at the same instant for
 *           the next one, until one passes or none is left. Optional
 *   pushed_out  `drop head`: the queue was full, and the oldest that waits went to make room.
 *               Optional
 *   idle    at `now` nothing waits in the queue, and nothing of it is being sent. Optional. It
 *           begins an idle time, which the next arrive() ends, whatever its verdict: if that packet
 *           is dropped, the queue is as empty as before, and idle() is not called again. A
 *           management that acts only between idle() and the next packet waits for ever if it drops
 *           that packet: keep the instant, and look at the view. In a class it is about the queue
 *           of the class, not about the link
 *
 * What happens, and which callbacks follow, in this order:
 *   comes into force            adopt, if it replaces one of its statement; else idle, if nothing
 *                               is held
 *   a packet comes, and waits   [choose,] arrive, settled (QUEUED, MARKED, MARKED_PAST) [,
 *                               entered]; and depart, if the link is free
 *   it need not wait            arrive, settled, idle. Only on a plain link without classes, with a
 *                               token bucket, and without depart and bands
 *   it is not let in            [choose,] arrive, settled (DROPPED, UNMARKABLE)
 *   the queue is full           [choose,] arrive, settled (OVERFLOWED)
 *   the same, `drop head`       arrive, pushed_out for each that goes, settled (QUEUED ...);
 *                               OVERFLOWED only if too few can go
 *   the same, with fullest()    choose, arrive, fullest and pushed_out for each that goes, fullest,
 *                               settled
 *   there is no memory for it   as if it were let in, without entered; then nothing, not even idle
 *   several at one instant      arrive; idle once, if they need not wait and all pass
 *   the link is free            depart for each front, until one passes; idle, if the last was
 *                               dropped
 *   the last has left the link  idle
 * At one instant, what leaves the link comes before what arrives.
 *
 * When a packet is *taken*: when the one before it has left the link, and the link becomes free;
 * or, if nothing was held, when it comes, after arrive(). That is
 *   leaky bucket   when its transmission begins; from then on it does not wait, and the view's
 *                  waiting_bytes are without it
 *   token bucket   the same instant, though it may then have to wait for tokens: nothing is behind
 *                  it that could go instead. It counts as waiting until it leaves
 *   slots          the same, and it counts as waiting until its slot
 *   opportunities  the same, and it counts as waiting until the one that takes its last byte
 * A packet is asked about once: a change of rate does not ask again.
 *
 * Marking. An AQM says only "mark". `marker` edits the frame; make() has it from ecn_marker()
 * (notify/ecn.h), as `ecn` beside it says, or the AQM itself if that is silent. NULL: nothing can
 * be marked. AQM_MARK of a packet that cannot be
 * marked is a drop with the verdict's reason; of one that is marked already, a pass. What is marked
 * is counted as `ecn_marked`, after the queue has found room for it.
 *
 * Snapshots. `snapshot` writes down what the AQM remembers, or reads it (snapshot.h); NULL: it
 * remembers nothing but `drawn`, which is done already. The packets in its bands are not its
 * affair: they follow, band by band, as at() has them then. When all have been read, fits() says
 * whether they go together with what it remembers.
 *
 * Bands. A management may have queues of its own inside the queue, its *bands*, and say from which
 * the link takes: then it has `bands` (below). A packet waits in the band that it chose; when it is
 * taken it goes to the front of the queue's log, which has no other then. What waited when such a
 * management comes into force is not sorted: it leaves first, in its order, and depart() is not
 * asked. When the management goes, what its bands have goes on in the queue, band by band. Bands
 * count towards the limit, and in the view, together. A management with bands has depart(). Only
 * the link's own queue may have bands, not that of a class.
 *
 * Reporting, by control, at any time, a moment old:
 *   average what it takes the queue to be, in bytes; optional
 *   figures statistics of its own, for `show`; optional
 *
 * Determinism: verdicts depend on arguments and the AQM's own state. Draws come from
 * draw_u64(aqm->key, aqm->drawn + i, lane) for packet i of the group; `drawn` counts arrivals, the
 * queue adds to it after arrive(), and a change carries it over. No floating point in the worker's
 * half.
 */
#ifndef WEIR_AQM_H
#define WEIR_AQM_H

#include "account/aqm_report.h"
#include "account/reason.h"
#include "packet/ce_mark.h"
#include "random/draw.h"
#include "scenario/field.h"
#include "simtime.h"

struct aqm;
struct cloud;
struct cloud_conf;
struct held;
struct log;
struct problem;
struct queue;
struct snapshot;

/* ---- what an AQM sees, and says ---- */

struct aqm_view {
	uint64_t waiting_bytes, waiting_packets; /* without what is being sent: ns-2's q */
	uint64_t held_bytes, held_packets;       /* with it */
	struct limit limit;                      /* of the queue */
	uint64_t rate_bps;                       /* of the link, at present */
	uint32_t wire_bytes; /* of the packet: its length on this link, with overhead, as above */
};

enum aqm_action { AQM_PASS, AQM_MARK, AQM_DROP };

struct aqm_verdict {
	enum aqm_action action;
	enum reason reason; /* of AQM_DROP, and of AQM_MARK if it cannot be marked */
};

/* What became of a packet that came. */
enum aqm_outcome {
	AQM_QUEUED,      /* passed, and is in the queue */
	AQM_MARKED,      /* the same, and is marked (in a moment: the mbuf is as it came) */
	AQM_MARKED_PAST, /* was to be marked, and was already; it is in the queue */
	AQM_UNMARKABLE,  /* was to be marked, and cannot: dropped */
	AQM_DROPPED,     /* as the AQM said */
	AQM_OVERFLOWED,  /* passed, or was to be marked, but the queue is full: dropped */
};

/* Packets that come one after the other at one instant, while nothing else happens to the queue.
 * For each there is room. */
struct aqm_group {
	simtime now;
	struct burst *burst;
	uint16_t from; /* the first of them in the burst */
	/* The link is busy, and each waits. Else each leaves at its instant, and the queue is idle
	 * ahead of each but the first: for the first, idle() has told whether it was. When all are
	 * through, idle() is called once. It means nothing for a single packet. */
	bool wait;
	uint16_t n;
	uint32_t length[BURST_ROOM]; /* of each on the link */
};

/* ---- marking ---- */

enum marking {
	MARKING_POSSIBLE, /* capable, and not marked */
	MARKING_DONE,     /* marked already */
	MARKING_NONE,     /* not capable, or not IP */
};

struct aqm_marker {
	/* Looks at a frame, changes nothing. */
	enum marking (*look)(const struct packet_bytes *frame, struct ce_place *place);
	/* Marks what is MARKING_POSSIBLE. */
	void (*set)(const struct ce_place *place);
};

/* ---- what an AQM is ---- */

struct aqm_bands {
	/* The i-th; NULL: there are no more. */
	struct log *(*at)(struct aqm *aqm, uint32_t i);
	/* Where a packet goes that comes, by its bytes, which are as they came. */
	struct log *(*choose)(struct aqm *aqm, const struct packet_bytes *frame);
	/* It is in there, the last. Not said when there was no room. */
	void (*entered)(struct aqm *aqm, struct log *band, uint32_t wire_bytes);
	/* From which the link takes; NULL: nothing waits in any. depart() is asked about its front,
	 * which is not in the band any more after that, whatever the verdict. */
	struct log *(*next)(struct aqm *aqm, simtime now);
	/* The queue was full for the packet that has chosen last: whose front goes, dropped with
	 * `overflow`, to make room; pushed_out() is told of it, and it is out of the band then.
	 * Asked until it says NULL: none, or no more; `room`: whether there is room by now.
	 * Optional: without it the packet that comes is dropped. */
	struct log *(*fullest)(struct aqm *aqm, bool room);
	enum reason overflow;
	/* Takes over all bands of `old`, of the same statement. False: it cannot. */
	bool (*inherit)(struct aqm *aqm, struct aqm *old);
	/* Everything was taken out of all bands. */
	void (*emptied)(struct aqm *aqm);
	/* All was read from a snapshot, and the packets are in the bands: whether it can go on like
	 * that. */
	bool (*fits)(const struct aqm *aqm);
	/* Control: how many there are, at most. */
	uint32_t (*most)(const struct conf *conf);
};

struct aqm_kind {
	int (*make)(const struct conf *conf, const struct cloud_conf *cloud, struct aqm **aqm);
	void (*free)(struct aqm *aqm);
	void (*adopt)(struct aqm *aqm, const struct aqm *old);
	void (*snapshot)(struct aqm *aqm, struct snapshot *snapshot);
	uint16_t (*arrive)(struct aqm *aqm, const struct aqm_view *view,
	                   const struct aqm_group *group, struct aqm_verdict *verdict);
	void (*settled)(struct aqm *aqm, const struct aqm_view *view, const struct burst *burst,
	                uint16_t i, enum aqm_outcome outcome);
	struct aqm_verdict (*depart)(struct aqm *aqm, const struct aqm_view *view,
	                             struct held *held, simtime now);
	void (*pushed_out)(struct aqm *aqm, const struct aqm_view *view, struct held *held,
	                   simtime now);
	void (*idle)(struct aqm *aqm, simtime now);
	const struct aqm_bands *bands; /* or NULL */
	double (*average)(const struct aqm *aqm);
	uint32_t (*figures)(const struct aqm *aqm, struct aqm_figure figures[AQM_FIGURES_MAX]);
};

/* First in the state of every AQM. `marker` and `takes_groups` are make()'s to set; the others the
 * engine's. */
struct aqm {
	const struct aqm_kind *kind;
	const struct statement *statement;
	const struct aqm_marker *marker; /* NULL: nothing can be marked */
	struct cloud *cloud;             /* whose counters and hop it may use */
	struct draw_key key;
	uint64_t drawn;
	bool takes_groups; /* arrive() may be given several packets */
};

/* ---- control ---- */

/* For check(): there is a link, and no second AQM in the same place. 0, or -EINVAL with problem. */
int aqm_check(const struct conf *conf, const struct cloud_conf *cloud, struct problem *problem);
/* The same of a management with bands. */
int aqm_check_bands(const struct conf *conf, const struct cloud_conf *cloud,
                    struct problem *problem);
/* The modifier called `name` that goes with this AQM's configuration, or NULL: that of its class,
 * or else the cloud's. */
const struct conf *aqm_beside(const struct conf *conf, const struct cloud_conf *cloud,
                              const char *name);
/* That of the queue of this class, "": of the link's only one; NULL: it has none. 0 or -errno. */
int aqm_make(uint64_t seed, struct cloud *cloud, const struct cloud_conf *conf, const char *scope,
             struct aqm **aqm);
void aqm_free(struct aqm *aqm);
/* Its draws follow from the name of its cloud, and the scope. Worker too. */
void aqm_key(struct aqm *aqm, uint64_t seed, const char *scope);
/* NULL is allowed. */
void aqm_report(const struct aqm *aqm, struct aqm_report *report);

/* What it remembers: `drawn`, and what its kind says (snapshot.h). Worker. */
void aqm_snapshot(struct aqm *aqm, struct snapshot *snapshot);

/* ---- worker; what its cloud does with it is engine/cloud_aqm.h ---- */

/* Whether there is none, or one that groups of packets may come to. */
static inline bool aqm_takes_groups(const struct aqm *aqm)
{
	return !aqm || aqm->takes_groups ||
	       !(aqm->kind->arrive || aqm->kind->settled || aqm->kind->bands);
}
/* Whether there is one, and it wants to be asked about the head. */
static inline bool aqm_is_asked(const struct aqm *aqm)
{
	return aqm && aqm->kind->depart;
}
/* Comes into force for this queue, in the place of `old`, or NULL. `drawn`: the draws that were
 * made in the cloud by one before. */
void aqm_take_over(struct aqm *aqm, const struct aqm *old, const struct queue *queue,
                   uint64_t drawn, simtime now);

static inline void aqm_entered(struct aqm *aqm, struct log *band, uint32_t wire_bytes)
{
	aqm->kind->bands->entered(aqm, band, wire_bytes);
}

/* Whether what was read of it goes with the packets in its bands (fits). NULL is allowed. */
static inline bool aqm_fits(const struct aqm *aqm)
{
	return !aqm || !aqm->kind->bands || !aqm->kind->bands->fits || aqm->kind->bands->fits(aqm);
}

static inline void aqm_idle(struct aqm *aqm, simtime now)
{
	if (aqm->kind->idle)
		aqm->kind->idle(aqm, now);
}

#endif
