/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Changes for a time. `begin lease TIME` ... `commit` makes a change that is undone automatically
 * when TIME of the run has passed since it was posted, or since the latest `renew` was read. Only
 * the conversation that made the change can renew it. If that conversation ends, in whatever way,
 * the change is undone when its time is up.
 *
 *   renew      begins the time again
 *   keep       makes the change permanent
 *   revert     undoes the change now; answered when that is done
 *
 * The difference that the change made is undone, as one transaction; what somebody else has changed
 * since stays (difference.h). If this cannot be put in force (a worker stands still, or later
 * changes by others depend on it), an event reports that, and it is tried again, first after a
 * second, then less often, until it succeeds. A conversation has one lease at a time.
 *
 * The memory of a lease is allocated before its change is put in force, so a change for a time
 * never becomes a permanent one. A `renew` counts until undoing has begun: weir may have stood
 * still while it waited.
 *
 * One thread, that of leases_run, undoes what is due; `revert` undoes a lease in the thread of its
 * conversation.
 *
 * Ownership: leases_make, leases_free; struct leases owns each lease that has begun.
 * Thread: any. control->lock guards the leases; these functions take it, unless they say otherwise.
 * While a lease is being undone, the holder of the turn reads and hands down its difference, and
 * writes `kept`.
 */
#ifndef WEIR_LEASE_H
#define WEIR_LEASE_H

#include "service/control.h"
#include "service/difference.h"
#include "service/peer.h"

#define LEASE_LEAST_NS   (100 * SIMTIME_MS)
#define LEASE_MOST_NS    (86400 * SIMTIME_S)
#define LEASE_CLOUDS_MAX 1024 /* the most clouds that a lease may change */
#define LEASES_MAX       64
#define LEASE_WHY_BYTES  300

struct asker;
struct leases;

enum lease_end { LEASE_NOT_RENEWED, LEASE_CONNECTION_ENDED, LEASE_ASKED };

struct lease {
	uint64_t number; /* from 1 */
	struct peer who;
	uint64_t for_ns, until_ns; /* of the run */
	struct difference difference;
	bool kept[LEASE_CLOUDS_MAX]; /* clouds of the difference with an item that stayed */
	enum lease_end end;
	bool due;                    /* undoing has begun, though it may have failed */
	bool undoing;                /* a thread is at it */
	char stuck[LEASE_WHY_BYTES]; /* why it could not be undone; "": not tried yet, or undone */
	uint64_t again_ns, pause_ns;
};

/* Returns NULL if there is no memory. */
struct leases *leases_make(struct control *control);
/* Frees the leases without undoing them. NULL is allowed. */
void leases_free(struct leases *leases);
/* Undoes what is due, and settles changes that workers have taken late, until control ends. For
 * control_thread. */
void leases_run(void *leases);
/* Undoes what is due now. */
void leases_undo_due(struct leases *leases);

/* Returns the number of leases under way; 0 if `leases` is NULL. With the lock. */
uint32_t leases_count(const struct leases *leases);
/* Returns a copy of the scenario in force without the changes of the leases, or NULL if there is no
 * memory. The caller looks (control.h). */
struct scenario *leases_undone(const struct leases *leases);

/* Returns a sentence that says why there can be no further lease, or NULL if there can. */
const char *leases_refuse(const struct leases *leases);
/* Allocates what a change needs to become a lease before the change is posted. Returns NULL if
 * there is no memory. */
struct lease *lease_make(const struct peer *who, uint64_t for_ns);
/* NULL is allowed. */
void lease_free(struct lease *lease);
/* Begins the lease of a change that has been posted, takes ownership of both, and returns its
 * number. leases_refuse has returned NULL since the turn began, so there is room. Its time begins
 * when the event of the change has its instant. With the lock, which is held in between. */
uint64_t lease_begin(struct leases *leases, struct lease *lease, struct difference *difference);
void lease_time_begins(struct leases *leases, uint64_t number);

/* These return 0; -ENOENT if there is no such lease, or it has ended; -EALREADY if it is being
 * undone. */
/* Begins the time again; `for_ns`: how long, 0: as long as before; gets how long that is. */
int lease_renew(struct leases *leases, uint64_t number, uint64_t *for_ns);
int lease_keep(struct leases *leases, uint64_t number);
/* Undoes the change now. Returns also -ECANCELED, if the waiting was ended; or another -errno, and
 * `why` says why it cannot be undone yet. */
int lease_revert(struct leases *leases, uint64_t number, const struct asker *asker,
                 char why[LEASE_WHY_BYTES]);
/* Returns false if there is no such lease, or it has ended. */
bool lease_is(struct leases *leases, uint64_t number);
/* Has the change undone when its time is up. NULL is allowed. */
void lease_let_go(struct leases *leases, uint64_t number);

/* ---- for commit.c ---- */

/* Hands the values that lie below later leases down to them; to be called by the holder of the
 * turn. Returns 0, or an error of difference_hand_down: then the lease must not be undone now, and
 * may be handed down again. */
int lease_hand_down(struct leases *leases, struct lease *lease);
const char *lease_why(const struct lease *lease);

#endif
