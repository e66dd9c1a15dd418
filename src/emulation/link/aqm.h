/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The contract of active queue management: what RED, CoDel, PIE ... are to a queue of a link.
 *
 * The link knows no particular AQM. A statement of the role ROLE_AQM (statement.h) provides a
 * `struct aqm_kind`; a queue has at most one AQM. Without one, a packet costs a predictable branch
 * on arrival and one on departure, and nothing else.
 *
 * Called by control, in any thread that owns no cloud, as for a stage:
 *   make    allocates and prepares an AQM for this configuration; aqm_beside() finds its
 *           modifiers (`ecn`, `becn`). Returns 0 or -errno; may be slow
 *   free    frees the AQM; NULL: one free() does
 * If its statement or one of the role ROLE_AQM_MODIFIER changes, a new AQM is made, and replaces
 * the old one between two bursts (setting.h). A schedule (timeline.h) makes its AQMs beforehand and
 * exchanges them in virtual time: then adopt() may be called on an AQM that was in force before.
 *
 * Called by the worker that owns the cloud, in the order of virtual time:
 *   adopt   takes over state from the AQM that it replaces, of the same statement; optional.
 *           `drawn` has been carried over already. Changed parameters apply from here on
 *   begin   comes into force where none of its statement was. A schedule may have had it in force
 *           before: its control state becomes what make() made it; `drawn` and its statistics go
 *           on. Optional
 *   arrive  packets arrive, one behind the other at one instant. Of a single one, the limit of the
 *           queue is checked afterwards; a group has room. The view shows the queue before the
 *           first of them. Returns how many pass, from the first. If not all pass, `verdict` is for
 *           the next one, and the packets behind it have not arrived. A group that need not wait
 *           passes whole. Unless `takes_groups` is set, a group has one packet. NULL: all pass
 *   settled receives the outcome of an arrival, at burst_t(burst, i). The mbuf is as it came: not
 *           yet marked, and not yet freed. The packet keeps a flag that is set here (burst_flag).
 *           Not called for packets of a group that pass. Optional
 *   depart  the link takes the packet from the queue, at `now`: pass, mark or drop. The view
 *           includes the packet (it is the head, and waits). held->t_ns is its arrival, so its
 *           sojourn time is now - held->t_ns. After a drop, depart() is called for the next
 *           packet at the same instant, until one passes or none is left. Optional
 *   pushed_out  `drop head`: the queue was full, and the oldest waiting packet is dropped to
 *               make room. Optional
 *   idle    at `now` nothing waits in the queue, and nothing of it is being sent. Optional. It is
 *           not called again before a packet was let in: if the packets that come are dropped,
 *           the queue stays empty, and the idle time goes on. So a management that acts only
 *           between idle() and the next packet waits for ever if it drops that packet: keep the
 *           instant, and see whether the view's held_packets is 0. In a class, idle() concerns
 *           the queue of the class, not the link
 *
 * Events, and the callbacks that follow each, in this order:
 *   it comes into force         adopt alone, if it replaces one of its statement and has adopt;
 *                               else begin, if it replaces none of its statement, and then
 *                               idle, if nothing is held. In the clouds of a new template, idle
 *                               at the instant at which the template comes into force
 *                               (template.h)
 *   a packet comes, and waits   [choose,] arrive, settled (QUEUED, MARKED, MARKED_PAST)
 *                               [, entered]; and depart, if the link is idle
 *   it need not wait            arrive, settled, idle. Only on a plain link without classes,
 *                               with a token bucket, and without depart and bands
 *   it is not let in            [choose,] arrive, settled (DROPPED, UNMARKABLE)
 *   the queue is full           [choose,] arrive, settled (OVERFLOWED)
 *   the same, `drop head`       arrive, pushed_out for each packet that is dropped, settled
 *                               (QUEUED ...); OVERFLOWED only if too few can be dropped
 *   the same, with fullest()    choose, arrive, fullest and pushed_out for each packet that is
 *                               dropped, fullest, settled
 *   there is no memory for it   as if it were let in, without entered; then nothing, not even
 *                               idle
 *   several at one instant      arrive; idle once, if they need not wait
 *   the link becomes idle       depart for each front, until one passes; idle, if the last was
 *                               dropped
 *   the last has left the link  idle
 * At one instant, departures from the link come before arrivals.
 *
 * A packet is *taken* when the packet before it has left and the link becomes idle; or, if nothing
 * was held, on arrival, after arrive(). That is
 *   leaky bucket   when its transmission begins; from then on it does not wait, and the view's
 *                  waiting_bytes exclude it
 *   token bucket   the same instant, though it may then have to wait for tokens: nothing is
 *                  behind it that could go instead. It counts as waiting until it leaves
 *   slots          the same; it counts as waiting until its slot
 *   opportunities  the same; it counts as waiting until the one that takes its last byte
 * depart() is called once per packet that is taken: a change of the rate does not repeat it.
 *
 * Marking. An AQM marks by returning AQM_MARK; `marker` edits the frame. make() gets the marker
 * from ecn_marker() (notify/ecn.h): `ecn` beside the AQM decides; if there is none, the AQM's own
 * default. NULL: nothing can be marked. If a packet cannot be marked, AQM_MARK drops it with the
 * verdict's reason; if it is marked already, AQM_MARK lets it pass. A marked packet is counted as
 * `ecn_marked`, after the queue has found room for it, even if there is then no memory.
 *
 * Snapshots. `snapshot` writes the state of the AQM, or reads it (snapshot.h). NULL: it has no
 * state but `drawn`, which is handled for it. The packets in its bands are not its concern: they
 * follow, band by band, as at() returns the bands then. When all have been read, fits() decides
 * whether they are consistent with its state.
 *
 * Bands. A management may have queues of its own inside the queue, its *bands*, and choose the one
 * from which the link takes: then it has `bands` (below). A packet waits in the band that choose()
 * returns; when it is taken, it moves to the front of the queue's log, which is otherwise empty
 * then. Packets that wait when such a management comes into force are not sorted: they leave first,
 * in their order, without depart(). When the management is removed, the packets in its bands stay
 * in the queue, band by band. The bands together count towards the limit, and in the view. A
 * management with bands has depart(). Only the link's own queue may have bands, not that of a
 * class.
 *
 * Reporting, by control, at any time, a moment old:
 *   average its estimate of the queue's length, in bytes; optional
 *   figures statistics of its own, for `show`; optional
 *
 * Determinism: verdicts depend on the arguments and the AQM's own state. Draws come from
 * draw_u64(aqm->key, aqm->drawn + i, lane) for packet i of the group. `drawn` counts arrivals: the
 * queue adds to it after arrive(), and a change carries it over. The worker's half uses no floating
 * point.
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

/* ---- what an AQM sees, and returns ---- */

struct aqm_view {
	uint64_t waiting_bytes, waiting_packets; /* without what is being sent: ns-2's q */
	uint64_t held_bytes, held_packets;       /* with what is being sent */
	struct limit limit;                      /* of the queue */
	uint64_t rate_bps;                       /* of the link, currently */
	uint32_t wire_bytes; /* of the packet: its length on this link, with overhead, like all
	                      * bytes here; of a group, that has each packet's (aqm_group) */
};

enum aqm_action { AQM_PASS, AQM_MARK, AQM_DROP };

struct aqm_verdict {
	enum aqm_action action;
	enum reason reason; /* of AQM_DROP, and of AQM_MARK if the packet cannot be marked */
};

/* The outcome of an arrival. */
enum aqm_outcome {
	AQM_QUEUED,      /* passed: goes into the queue, if there is memory */
	AQM_MARKED,      /* the same, about to be marked (the mbuf is as it came) */
	AQM_MARKED_PAST, /* the same, to be marked, and was marked already */
	AQM_UNMARKABLE,  /* to be marked, and cannot be: dropped */
	AQM_DROPPED,     /* dropped by the AQM */
	AQM_OVERFLOWED,  /* passed, or to be marked, but the queue is full: dropped */
};

/* Packets that come one behind the other at one instant, while nothing else happens to the queue.
 * There is room for each. */
struct aqm_group {
	simtime now;
	struct burst *burst;
	uint16_t from; /* index of the first of them in the burst */
	/* True: the link is busy, and each packet waits. False: each leaves at its instant, and
	 * the queue is idle before each but the first; for the first, a previous idle() has told
	 * whether it was. idle() is called once. Meaningless for a single packet. */
	bool wait;
	uint16_t n;
	uint32_t length[BURST_ROOM]; /* of each packet on the link */
};

/* ---- marking ---- */

enum marking {
	MARKING_POSSIBLE, /* capable, and not marked */
	MARKING_DONE,     /* marked already */
	MARKING_NONE,     /* not capable, or not IP */
};

struct aqm_marker {
	/* Examines a frame without changing it. */
	enum marking (*look)(const struct packet_bytes *frame, struct ce_place *place);
	/* Marks a frame that look() found MARKING_POSSIBLE. */
	void (*set)(const struct ce_place *place);
};

/* ---- what an AQM is ---- */

struct aqm_bands {
	/* Returns band i, or NULL if there are no more. */
	struct log *(*at)(struct aqm *aqm, uint32_t i);
	/* Returns the band for a packet that comes; its bytes are as they came. */
	struct log *(*choose)(struct aqm *aqm, const struct packet_bytes *frame);
	/* The packet is in the band, as the last one. Not called if there was no memory. */
	void (*entered)(struct aqm *aqm, struct log *band, uint32_t wire_bytes);
	/* Returns the band from which the link takes, or NULL if none has a packet. depart() is
	 * called for its front, which is removed from the band after that, whatever the verdict. */
	struct log *(*next)(struct aqm *aqm, simtime now);
	/* The queue was full for the packet that was last passed to choose(). Returns the band
	 * whose front is dropped with `overflow` to make room; the front is removed after
	 * pushed_out(). Called until it returns NULL: no packet, or no more. `room`: there is room
	 * by now. Optional: without it, the packet that comes is dropped. */
	struct log *(*fullest)(struct aqm *aqm, bool room);
	enum reason overflow;
	/* Takes over all bands of `old`, of the same statement. Returns false if it cannot. */
	bool (*inherit)(struct aqm *aqm, struct aqm *old);
	/* All packets were taken out of all bands. */
	void (*emptied)(struct aqm *aqm);
	/* Returns true if the state and the packets in the bands, both read from a snapshot, are
	 * consistent. */
	bool (*fits)(const struct aqm *aqm);
	/* Control: returns the largest possible number of bands. */
	uint32_t (*most)(const struct conf *conf);
};

struct aqm_kind {
	int (*make)(const struct conf *conf, const struct cloud_conf *cloud, struct aqm **aqm);
	void (*free)(struct aqm *aqm);
	void (*adopt)(struct aqm *aqm, const struct aqm *old);
	void (*begin)(struct aqm *aqm);
	void (*snapshot)(struct aqm *aqm, struct snapshot *snapshot);
	uint16_t (*arrive)(struct aqm *aqm, const struct aqm_view *view,
	                   const struct aqm_group *group, struct aqm_verdict *verdict);
	void (*settled)(struct aqm *aqm, const struct aqm_view *view, struct burst *burst,
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

/* The first member in the state of every AQM. make() sets `marker` and `takes_groups`, the engine
 * the others. */
struct aqm {
	const struct aqm_kind *kind;
	const struct statement *statement;
	const struct aqm_marker *marker; /* NULL: nothing can be marked */
	struct cloud *cloud;             /* whose counters and hop the AQM may use */
	struct draw_key key;
	uint64_t drawn;
	/* arrive() may be given several packets, and none that finds an idle link is to be marked
	 * or dropped; also set if arrivals are nothing to the AQM */
	bool takes_groups;
};

/* ---- control ---- */

/* For check(): checks that there is a link, and no second AQM for the same queue. Returns 0, or
 * -EINVAL with problem. */
int aqm_check(const struct conf *conf, const struct cloud_conf *cloud, struct problem *problem);
/* The same for a management with bands. */
int aqm_check_bands(const struct conf *conf, const struct cloud_conf *cloud,
                    struct problem *problem);
/* Returns the modifier `name` that applies to this AQM's configuration: that of its class, or else
 * the cloud's; NULL if there is none. */
const struct conf *aqm_beside(const struct conf *conf, const struct cloud_conf *cloud,
                              const char *name);
/* Makes the AQM for the queue of class `scope`, or if that is "", for the only queue of the link.
 * *aqm is NULL if the queue has none. Returns 0 or -errno. */
int aqm_make(uint64_t seed, struct cloud *cloud, const struct cloud_conf *conf, const char *scope,
             struct aqm **aqm);
void aqm_free(struct aqm *aqm);
/* Sets the key of the draws, which follows from the name of the cloud and the scope. Called by the
 * worker, too. */
void aqm_key(struct aqm *aqm, uint64_t seed, const char *scope);
/* `aqm` may be NULL. */
void aqm_report(const struct aqm *aqm, struct aqm_report *report);

/* Writes or reads `drawn` and the state of its kind (snapshot.h). Worker. */
void aqm_snapshot(struct aqm *aqm, struct snapshot *snapshot);

/* ---- worker; a cloud's use of its AQM is in engine/cloud_aqm.h ---- */

/* Returns true if there is an AQM with depart(). */
static inline bool aqm_is_asked(const struct aqm *aqm)
{
	return aqm && aqm->kind->depart;
}
/* Brings the AQM into force for this queue, in place of `old`, which may be NULL. `drawn` is the
 * number of draws that former AQMs of the cloud have made. If `now` is SIMTIME_NEVER, idle() does
 * not come yet: aqm_idle_all() calls it (engine/cloud_aqm.h). */
void aqm_take_over(struct aqm *aqm, const struct aqm *old, const struct queue *queue,
                   uint64_t drawn, simtime now);

static inline void aqm_entered(struct aqm *aqm, struct log *band, uint32_t wire_bytes)
{
	aqm->kind->bands->entered(aqm, band, wire_bytes);
}

/* Returns true if the AQM's state is consistent with the packets in its bands (fits). `aqm` may be
 * NULL. */
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
