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
 * Ownership: leases_make, leases_free; struct leases owns each lease that has begun.
 * Thread: control's. While a lease is being undone, a thread that holds the turn reads its
 * difference and writes `kept`. Control's thread may read the difference then (leases_undone); it
 * hands the difference down before, and reads `kept` and frees the lease after the request
 * (request.h).
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

struct dialogue;
struct leases;

enum lease_end { LEASE_NOT_RENEWED, LEASE_CONNECTION_ENDED, LEASE_ASKED };

struct lease {
	uint64_t number; /* from 1 */
	struct peer who;
	uint64_t for_ns, until_ns; /* of the run */
	struct difference difference;
	bool kept[LEASE_CLOUDS_MAX]; /* clouds of the difference with an item that stayed */
	enum lease_end end;
	bool due;
	char stuck[300]; /* why it could not be undone; "": not tried yet, or undone */
	uint64_t again_ns, pause_ns;
};

/* Returns NULL if there is no memory. */
struct leases *leases_make(struct control *control);
/* Returns the number of leases under way; 0 if `leases` is NULL. */
uint32_t leases_count(const struct leases *leases);
/* Returns a copy of the scenario in force without the changes of the leases, or NULL if there is no
 * memory. */
struct scenario *leases_undone(const struct leases *leases);
/* Gives up the undoing under way, which may hold the turn. Nothing is undone after that. NULL is
 * allowed. */
void leases_stop(struct leases *leases);
/* Frees the leases without undoing them. */
void leases_free(struct leases *leases);

/* Returns a sentence that says why there can be no further lease, or NULL if there can. */
const char *leases_refuse(const struct leases *leases);
/* Allocates what a change needs to become a lease before the change is posted. Returns NULL if
 * there is no memory. */
struct lease *lease_make(const struct peer *who, uint64_t for_ns);
/* Thread: any. NULL is allowed. */
void lease_free(struct lease *lease);
/* Begins the lease of a change that has been posted, takes ownership of both, and returns its
 * number. leases_refuse has returned NULL since the turn began, so there is room. */
uint64_t lease_begin(struct leases *leases, struct lease *lease, struct difference *difference);
/* Returns NULL if there is no such lease, or it has ended. */
const struct lease *lease_find(const struct leases *leases, uint64_t number);
/* Returns false if it is too late. `for_ns` 0: as long as before. */
bool lease_renew(struct leases *leases, uint64_t number, uint64_t for_ns);
bool lease_keep(struct leases *leases, uint64_t number);
/* lease_ask_end has the change undone as soon as possible; lease_let_go, when its time is up. */
void lease_ask_end(struct leases *leases, uint64_t number);
void lease_let_go(struct leases *leases, uint64_t number);

/* Undoes what is due. `now_ns` is on the clock of the sessions. Returns true while a lease is being
 * undone; then it must be polled again soon. */
bool leases_poll(struct leases *leases, uint64_t now_ns);

/* ---- for pending.c ---- */

/* Hands the values that lie below later leases down to them; to be called when the turn has come.
 * Returns 0, or an error of difference_hand_down: then the lease must not be undone now, and may be
 * handed down again. */
int lease_hand_down(struct leases *leases, struct lease *lease);
const char *lease_why(const struct lease *lease);

#endif
