/* SPDX-License-Identifier: BSD-3-Clause */
#include "socket/lease.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "socket/change.h"
#include "stream/event.h"

#define AGAIN_NS      SIMTIME_S
#define AGAIN_MOST_NS (60 * SIMTIME_S)
#define SLEEP_NS      SIMTIME_S

struct leases {
	struct control *control;
	struct lease *lease[LEASES_MAX]; /* in the order in which they came into force */
	uint32_t n;
	uint64_t latest;
};

uint32_t leases_count(const struct leases *leases)
{
	return leases != NULL ? leases->n : 0;
}

struct scenario *leases_undone(const struct leases *leases)
{
	struct scenario *scenario = scenario_copy(*leases->control->scenario);
	int error = 0;

	control_lock(leases->control);
	/* The latest first, so that no lease lies below another. */
	for (uint32_t i = leases->n; scenario != NULL && error == 0 && i-- > 0;)
		error = difference_undo(&leases->lease[i]->difference, scenario, NULL);
	control_unlock(leases->control);
	if (error == 0)
		return scenario;
	scenario_free(scenario);
	return NULL;
}

struct leases *leases_make(struct control *control)
{
	struct leases *leases = calloc(1, sizeof(*leases));

	if (leases == NULL)
		return NULL;
	leases->control = control;
	return leases;
}

void lease_free(struct lease *lease)
{
	if (lease == NULL)
		return;
	difference_release(&lease->difference);
	free(lease);
}

void leases_free(struct leases *leases)
{
	if (leases == NULL)
		return;
	while (leases->n > 0)
		lease_free(leases->lease[--leases->n]);
	free(leases);
}

static uint32_t index_of(const struct leases *leases, uint64_t number)
{
	uint32_t i = 0;

	while (leases != NULL && i < leases->n && leases->lease[i]->number != number)
		i++;
	return i;
}

static struct lease *find(const struct leases *leases, uint64_t number)
{
	uint32_t i = index_of(leases, number);

	return leases != NULL && i < leases->n ? leases->lease[i] : NULL;
}

static void take_out(struct leases *leases, uint64_t number)
{
	uint32_t i = index_of(leases, number);

	if (i == leases->n)
		return;
	lease_free(leases->lease[i]);
	leases->n--;
	memmove(&leases->lease[i], &leases->lease[i + 1],
	        (leases->n - i) * sizeof(leases->lease[0]));
}

const char *leases_refuse(const struct leases *leases)
{
	bool full;

	if (leases == NULL)
		return "there was no memory for leases when weir was started";
	control_lock(leases->control);
	full = leases->n == LEASES_MAX;
	control_unlock(leases->control);
	return full ? "64 leases are under way, which is the maximum; nothing is changed; try "
	              "again when one has ended"
	            : NULL;
}

struct lease *lease_make(const struct peer *who, uint64_t for_ns)
{
	struct lease *lease = calloc(1, sizeof(*lease));

	if (lease == NULL)
		return NULL;
	lease->who = *who;
	lease->for_ns = for_ns;
	return lease;
}

/* Returns the time on the clock of the run. */
static uint64_t run_ns(const struct leases *leases)
{
	return leases->control->ops->now_ns(leases->control->context);
}

uint64_t lease_begin(struct leases *leases, struct lease *lease, struct difference *difference)
{
	assert(leases->n < LEASES_MAX);
	lease->number = ++leases->latest;
	lease->difference = *difference;
	*difference = (struct difference){NULL, 0};
	leases->lease[leases->n++] = lease;
	return lease->number;
}

void lease_time_begins(struct leases *leases, uint64_t number)
{
	struct lease *lease = find(leases, number);

	lease->until_ns = run_ns(leases) + lease->for_ns;
}

bool lease_is(struct leases *leases, uint64_t number)
{
	bool is;

	if (leases == NULL || number == 0)
		return false;
	control_lock(leases->control);
	is = find(leases, number) != NULL;
	control_unlock(leases->control);
	return is;
}

int lease_renew(struct leases *leases, uint64_t number, uint64_t *for_ns)
{
	struct lease *lease;
	int result = -ENOENT;

	control_lock(leases->control);
	lease = find(leases, number);
	if (lease != NULL)
		result = lease->due ? -EALREADY : 0;
	if (result == 0) {
		lease->for_ns = *for_ns != 0 ? *for_ns : lease->for_ns;
		lease->until_ns = run_ns(leases) + lease->for_ns;
		*for_ns = lease->for_ns;
	}
	control_unlock(leases->control);
	return result;
}

int lease_keep(struct leases *leases, uint64_t number)
{
	struct lease *lease;
	int result = -ENOENT;

	control_lock(leases->control);
	lease = find(leases, number);
	if (lease != NULL)
		result = lease->due ? -EALREADY : 0;
	if (result == 0) {
		event_tell(leases->control, RUN_LOG_INFO, "lease-kept",
		           json_pack("{s:I}", "lease", (json_int_t)number),
		           "lease %" PRIu64 " was ended by keep; its change stays", number);
		take_out(leases, number);
	}
	control_unlock(leases->control);
	return result;
}

void lease_let_go(struct leases *leases, uint64_t number)
{
	struct lease *lease;

	if (leases == NULL)
		return;
	control_lock(leases->control);
	lease = find(leases, number);
	if (lease != NULL && lease->end == LEASE_NOT_RENEWED)
		lease->end = LEASE_CONNECTION_ENDED;
	control_unlock(leases->control);
}

const char *lease_why(const struct lease *lease)
{
	static const char *const words[] = {[LEASE_NOT_RENEWED] = "not-renewed",
	                                    [LEASE_CONNECTION_ENDED] = "connection-ended",
	                                    [LEASE_ASKED] = "asked"};

	return words[lease->end];
}

int lease_hand_down(struct leases *leases, struct lease *lease)
{
	int error = 0;

	control_lock(leases->control);
	for (uint32_t i = index_of(leases, lease->number) + 1; i < leases->n && error == 0; i++)
		error = difference_hand_down(&lease->difference, &leases->lease[i]->difference);
	control_unlock(leases->control);
	return error;
}

/* ---- undoing; all with the lock ---- */

static void stuck(struct leases *leases, struct lease *lease, const char *why)
{
	bool told = lease->stuck[0] != '\0';

	snprintf(lease->stuck, sizeof(lease->stuck), "%.299s", why);
	lease->pause_ns = lease->pause_ns == 0 ? AGAIN_NS : 2 * lease->pause_ns;
	if (lease->pause_ns > AGAIN_MOST_NS)
		lease->pause_ns = AGAIN_MOST_NS;
	lease->again_ns = run_ns(leases) + lease->pause_ns;
	if (told)
		return;
	event_tell(leases->control, RUN_LOG_WARNING, "lease-stuck",
	           json_pack("{s:I,s:s}", "lease", (json_int_t)lease->number, "message", why),
	           "lease %" PRIu64 " has ended, but cannot be undone yet; weir keeps trying: %s",
	           lease->number, why);
}

/* Releases the lock meanwhile; the lease is gone if this returns 0. */
static int undo(struct leases *leases, struct lease *lease, const struct asker *asker)
{
	struct commit commit = {
	        .control = leases->control, .asker = asker, .who = &lease->who, .lease = lease};
	int result;

	lease->due = lease->undoing = true;
	control_unlock(leases->control);
	result = commit_revert(&commit);
	control_lock(leases->control);
	lease->undoing = false;
	if (commit.number != 0)
		take_out(leases, lease->number);
	else if (result != -ECANCELED)
		stuck(leases, lease, commit.error.message);
	pthread_cond_broadcast(&leases->control->changed);
	commit_release(&commit);
	return result;
}

/* Returns the lease that is due next, and when; NULL if there is none. */
static struct lease *next_due(const struct leases *leases, uint64_t *at_ns)
{
	struct lease *next = NULL;

	*at_ns = UINT64_MAX;
	for (uint32_t i = 0; i < leases->n; i++) {
		struct lease *lease = leases->lease[i];
		uint64_t due_ns =
		        lease->until_ns > lease->again_ns ? lease->until_ns : lease->again_ns;

		if (lease->undoing || due_ns >= *at_ns)
			continue;
		next = lease;
		*at_ns = due_ns;
	}
	return next;
}

/* Undoes what is due. Returns how long nothing more is; the lock was not released since that was
 * found. */
static uint64_t undo_due(struct leases *leases)
{
	struct lease *lease;
	uint64_t now_ns, at_ns;

	for (;;) {
		lease = next_due(leases, &at_ns);
		now_ns = run_ns(leases);
		if (lease == NULL || now_ns < at_ns || leases->control->ends)
			return at_ns > now_ns ? at_ns - now_ns : 0;
		if (undo(leases, lease, NULL) == -ECANCELED)
			return SLEEP_NS;
	}
}

void leases_undo_due(struct leases *leases)
{
	control_lock(leases->control);
	undo_due(leases);
	control_unlock(leases->control);
}

void leases_run(void *argument)
{
	struct leases *leases = argument;
	struct control *control = leases->control;

	control_lock(control);
	while (!control->ends) {
		uint64_t sleep_ns;

		control_settle(control);
		sleep_ns = undo_due(leases);
		if (!control->ends)
			control_wait(control, NULL, sleep_ns < SLEEP_NS ? sleep_ns : SLEEP_NS);
	}
	control_unlock(control);
}

int lease_revert(struct leases *leases, uint64_t number, const struct asker *asker,
                 char why[LEASE_WHY_BYTES])
{
	struct lease *lease;
	int result = -ENOENT;
	bool waits = true;

	control_lock(leases->control);
	while ((lease = find(leases, number)) != NULL && lease->undoing && waits) {
		waits = control_wait(leases->control, asker, SLEEP_NS / 50);
		result = 0; /* its time was up; if it is gone now, it is undone */
	}
	if (lease != NULL) {
		if (!lease->due) {
			lease->end = LEASE_ASKED;
			lease->until_ns = 0; /* from now on it is due, even if this fails */
		}
		result = waits ? undo(leases, lease, asker) : -ECANCELED;
		lease = find(leases, number);
		snprintf(why, LEASE_WHY_BYTES, "%s", lease != NULL ? lease->stuck : "");
	}
	control_unlock(leases->control);
	return result;
}
