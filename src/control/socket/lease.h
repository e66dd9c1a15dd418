/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Changes for a time. `begin lease TIME` ... `commit` makes a change that is undone by itself when
 * TIME of the run has passed since it was posted, or since the latest `renew` was read. Only the
 * conversation that made it can renew it: when that ends, however it ends, the change goes when its
 * time is up.
 *
 *   renew      begins the time again
 *   keep       the change stays for good
 *   revert     it is undone now; answered when it is
 *
 * What is undone is the difference that the change made, as one transaction; what somebody else has
 * changed since stays (difference.h). If that cannot be put in force (a worker stands still, or
 * what others have made since needs it), that is told as an event, and tried again, at first after
 * a second, then less often, until it can. A conversation has one lease at a time.
 *
 * A lease has its memory before its change is put in force, so a change for a time never becomes
 * one that stays. A `renew` counts until undoing has begun: weir may have been away while it
 * waited.
 *
 * Ownership: leases_make, leases_free; a lease that has begun is the leases'. Thread: control's.
 * While a lease is being undone, a thread that holds the turn reads its difference, and control's
 * thread does not touch that: it is handed down before, and freed after the request (request.h).
 */
#ifndef WEIR_LEASE_H
#define WEIR_LEASE_H

#include "service/control.h"
#include "service/difference.h"
#include "service/peer.h"

#define LEASE_LEAST_NS   (100 * SIMTIME_MS)
#define LEASE_MOST_NS    (86400 * SIMTIME_S)
#define LEASE_CLOUDS_MAX 1024 /* that one may make different */
#define LEASES_MAX       64

struct dialogue;
struct leases;

enum lease_end { LEASE_NOT_RENEWED, LEASE_CONNECTION_ENDED, LEASE_ASKED };

struct lease {
	uint64_t number; /* from 1 */
	struct peer who;
	uint64_t for_ns, until_ns; /* of the run */
	struct difference difference;
	enum lease_end end;
	bool due;
	char stuck[300]; /* why it could not be undone; "": it was not tried, or was */
	uint64_t again_ns, pause_ns;
};

/* NULL: no memory. */
struct leases *leases_make(struct control *control);
/* How many there are. NULL: none. */
uint32_t leases_count(const struct leases *leases);
/* A copy of the scenario in force, without what they have changed. NULL: no memory. */
struct scenario *leases_undone(const struct leases *leases);
/* Nothing is undone any more. */
void leases_free(struct leases *leases);

/* Why there can be no other one, a sentence; NULL: there can. */
const char *leases_refuse(const struct leases *leases);
/* What a change that is to be posted needs to become a lease. NULL: no memory. */
struct lease *lease_make(const struct peer *who, uint64_t for_ns);
/* Any thread. NULL is allowed. */
void lease_free(struct lease *lease);
/* Its change has been posted; both pass. leases_refuse has not refused since the turn began, so
 * there is room. Its number. */
uint64_t lease_begin(struct leases *leases, struct lease *lease, struct difference *difference);
/* NULL: there is none (any more). */
const struct lease *lease_find(const struct leases *leases, uint64_t number);
/* False: it is too late. `for_ns` 0: as long as before. */
bool lease_renew(struct leases *leases, uint64_t number, uint64_t for_ns);
bool lease_keep(struct leases *leases, uint64_t number);
/* It is undone as soon as may be, or when its time is up. */
void lease_ask_end(struct leases *leases, uint64_t number);
void lease_let_go(struct leases *leases, uint64_t number);

/* Time passes, `now_ns` as of a session. Whether one is being undone: then it wants to be polled
 * again soon. */
bool leases_poll(struct leases *leases, uint64_t now_ns);

/* ---- for pending.c ---- */

/* It is its turn: what lies below later ones is handed down to them. 0, or as of
 * difference_hand_down: then it is not to be undone now, and may be handed down again. */
int lease_hand_down(struct leases *leases, struct lease *lease);
const char *lease_why(const struct lease *lease);

#endif
