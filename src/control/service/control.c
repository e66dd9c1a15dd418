/* SPDX-License-Identifier: BSD-3-Clause */
#include "service/control.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>

#include "machine/clock.h"
#include "service/event_log.h"

/* The time for which the workers are waited for at once: each polls within microseconds. */
#define AT_ONCE_NS (50 * SIMTIME_US)
#define STEP_NS    (20 * SIMTIME_MS)  /* the longest wait without a look at what has changed */
#define HASTE_NS   (200 * SIMTIME_US) /* between the first looks whether workers have taken it */
#define MAIN_NS    (10 * SIMTIME_MS)  /* for which the main thread lets others post */
#define SETTLE_NS  (100 * SIMTIME_MS) /* after which a look settles a change of somebody else */
#define NICENESS   10
#define STACK_ROOM (2u << 20) /* for a line's command and errors, some 100 kB */

void control_init(struct control *control, const struct control_ops *ops, struct runtime *context,
                  struct scenario **scenario)
{
	uint64_t drawn;

	pthread_condattr_t attributes;
	memset(control, 0, sizeof(*control));
	control->ops = ops;
	control->context = context;
	control->scenario = scenario;
	control->cleared_ns = ops->now_ns(context);
	control->events = event_log_make(EVENT_LOG_BYTES, EVENT_LOG_MAX);
	control->wake = -1;
	if (getrandom(&drawn, sizeof(drawn), 0) != sizeof(drawn))
		drawn = (uint64_t)time(NULL);
	snprintf(control->run, CONTROL_RUN_BYTES, "%016llx", (unsigned long long)drawn);
	pthread_mutex_init(&control->lock, NULL);
	pthread_mutex_init(&control->events_lock, NULL);
	pthread_mutex_init(&control->marks_lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&control->changed, &attributes);
	pthread_condattr_destroy(&attributes);
}

void control_close(struct control *control)
{
	scenario_free(control->replaced);
	control->replaced = NULL;
	control_unmark(control);
	event_log_free(control->events);
	control->events = NULL;
	pthread_cond_destroy(&control->changed);
	pthread_mutex_destroy(&control->marks_lock);
	pthread_mutex_destroy(&control->events_lock);
	pthread_mutex_destroy(&control->lock);
}

/* ---- waiting ---- */

void control_lock(struct control *control)
{
	pthread_mutex_lock(&control->lock);
}

void control_unlock(struct control *control)
{
	pthread_mutex_unlock(&control->lock);
}

/* Waits as control_wait does, by the machine's clock. */
static void wait_for(struct control *control, uint64_t ns)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	ns += (uint64_t)until.tv_nsec;
	until.tv_sec += (time_t)(ns / SIMTIME_S);
	until.tv_nsec = (long)(ns % SIMTIME_S);
	pthread_cond_timedwait(&control->changed, &control->lock, &until);
}

bool control_wait(struct control *control, const struct asker *asker, uint64_t ns)
{
	bool waits = true;

	if (control->ops->wait == NULL) {
		wait_for(control, ns);
	} else {
		control_unlock(control);
		control->ops->wait(control->context, ns);
		control_lock(control);
	}
	if (asker != NULL && asker->waits != NULL) {
		control_unlock(control);
		waits = asker->waits(asker->argument);
		control_lock(control);
	}
	return waits && !control->ends;
}

/* With `lock`. */
static void wake(struct control *control)
{
	pthread_cond_broadcast(&control->changed);
	if (control->wake >= 0)
		eventfd_write(control->wake, 1);
}

void control_wake(struct control *control)
{
	control_lock(control);
	wake(control);
	control_unlock(control);
}

/* ---- threads ---- */

struct thread {
	struct control *control;
	void (*run)(void *argument);
	void *argument;
};

/* Uses control for the last time under its lock: it may be closed right after. */
static void *thread_main(void *argument)
{
	struct thread thread = *(struct thread *)argument;

	free(argument);
	/* On Linux this applies to the thread, not to the process. */
	setpriority(PRIO_PROCESS, 0, NICENESS);
	thread.run(thread.argument);
	control_lock(thread.control);
	thread.control->threads--;
	wake(thread.control);
	control_unlock(thread.control);
	return NULL;
}

int control_thread(struct control *control, void (*run)(void *argument), void *argument)
{
	struct thread *thread = malloc(sizeof(*thread));
	pthread_attr_t attributes;
	sigset_t all, before;
	pthread_t id;
	int result;

	if (thread == NULL || pthread_attr_init(&attributes) != 0) {
		free(thread);
		return -EAGAIN;
	}
	*thread = (struct thread){control, run, argument};
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, STACK_ROOM);
	control_lock(control);
	control->threads++;
	control_unlock(control);
	sigfillset(&all); /* the main thread handles signals */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	result = pthread_create(&id, &attributes, thread_main, thread);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	if (result == 0)
		return 0;
	control_lock(control);
	control->threads--;
	control_unlock(control);
	free(thread);
	return -EAGAIN;
}

bool control_join(struct control *control, uint64_t patience_ns)
{
	uint64_t end_ns = clock_machine_ns() + patience_ns;
	bool over;

	control_lock(control);
	while (control->threads > 0 && clock_machine_ns() < end_ns)
		wait_for(control, STEP_NS);
	over = control->threads == 0;
	control_unlock(control);
	return over;
}

static uint64_t gone_now_ns(const struct runtime *context)
{
	(void)context;
	return 0;
}

static bool gone_taken(const struct transaction *transaction, uint64_t wait_ns)
{
	(void)transaction;
	(void)wait_ns;
	return false;
}

/* Nothing else is called after control_end. */
static const struct control_ops gone = {.now_ns = gone_now_ns, .taken = gone_taken};

void control_cut_off(struct control *control)
{
	control_lock(control);
	pthread_mutex_lock(&control->events_lock);
	__atomic_store_n(&control->ops, &gone, __ATOMIC_RELEASE);
	control->context = NULL;
	control->scenario = NULL;
	control->recording = NULL;
	pthread_mutex_unlock(&control->events_lock);
	control_unlock(control);
}

/* ---- transactions; all with `lock` ---- */

static bool is_looked_at(const struct control *control)
{
	return control->looking > 0 || control->main_looks;
}

static bool is_taken(const struct control *control)
{
	return control->state == CONTROL_POSTED && control->taken == control->posted;
}

static bool is_late(struct control *control, uint64_t for_ns, char *text, size_t size)
{
	uint32_t worker = 0, cpu = 0;

	if (control->state != CONTROL_POSTED || is_taken(control) ||
	    control->patience.waited_ns < for_ns)
		return false;
	control->ops->missing(control->transaction, &worker, &cpu);
	snprintf(text, size, "worker %u on processor %u", worker, cpu);
	return true;
}

static void tick(struct control *control)
{
	if (control->state != CONTROL_POSTED || is_taken(control))
		return;
	patience_look(&control->patience, control_now_ns(control));
	if (!control->ops->taken(control->transaction, AT_ONCE_NS))
		return;
	control->taken = control->posted;
	control->untold = control->when_taken != NULL;
	wake(control);
}

/* Of the main thread. Releases `lock` meanwhile; nothing is settled before. */
static void tell_taken(struct control *control)
{
	if (!control->untold)
		return;
	control_unlock(control);
	control->when_taken(control->when_taken_argument);
	control_lock(control);
	control->untold = false;
	wake(control);
}

void control_settle(struct control *control)
{
	struct transaction *transaction = control->transaction;
	struct scenario *replaced = control->replaced;

	tick(control);
	if (!is_taken(control) || control->untold || is_looked_at(control))
		return;
	control->transaction = NULL;
	control->replaced = NULL;
	control->state = CONTROL_FINISHING;
	control->marking = replaced != NULL;
	control_unlock(control);
	if (replaced != NULL)
		control_mark(control, replaced);
	control_lock(control);
	control->marking = false;
	wake(control);
	control_unlock(control);
	control->ops->finish(transaction);
	scenario_free(replaced);
	control_lock(control);
	control->state = CONTROL_FREE;
	wake(control);
}

/* Waits until nobody looks. Returns false if the waiting was ended. */
static bool wait_for_looks(struct control *control, const struct asker *asker)
{
	bool waits = !control->ends;

	control->posting++;
	while (waits && is_looked_at(control))
		waits = control_wait(control, asker, STEP_NS);
	control->posting--;
	return waits;
}

/* ---- changes ---- */

int control_turn(struct control *control, const struct asker *asker, char who[CONTROL_WORKER_BYTES])
{
	struct turn turn = {.next = NULL}, **place = &control->turns;
	struct patience patience = {0};
	bool waits = true;
	int result;

	who[0] = '\0';
	control_lock(control);
	while (*place != NULL)
		place = &(*place)->next;
	*place = &turn;
	result = control->ends ? -ECANCELED : 1;
	if (result == 1)
		patience.last_ns = control_now_ns(control);
	while (result == 1) {
		control_settle(control);
		patience_look(&patience, control_now_ns(control));
		if (!waits || control->ends)
			result = -ECANCELED;
		else if (control->turns == &turn && control->state == CONTROL_FREE)
			result = 0;
		else if (patience.waited_ns >= CONTROL_TURN_NS)
			result = -ETIMEDOUT;
		else if (patience.waited_ns >= CONTROL_LATE_NS &&
		         is_late(control, CONTROL_LATE_NS, who, CONTROL_WORKER_BYTES))
			result = -EBUSY;
		else
			waits = control_wait(control, asker, STEP_NS);
	}
	for (place = &control->turns; *place != &turn;)
		place = &(*place)->next;
	*place = turn.next;
	if (result == 0)
		control->state = CONTROL_HELD;
	else
		wake(control);
	control_unlock(control);
	return result;
}

void control_give_back(struct control *control)
{
	control_lock(control);
	control->state = CONTROL_FREE;
	wake(control);
	control_unlock(control);
}

uint64_t control_post(struct control *control, const struct asker *asker,
                      struct transaction *transaction, struct scenario *next,
                      void (*posted)(void *argument), void *argument)
{
	/* The preparation may have taken longer than anybody has waited for it. */
	bool waits = asker == NULL || asker->waits == NULL || asker->waits(asker->argument);
	uint64_t number = 0;

	control_lock(control);
	if (waits && wait_for_looks(control, asker)) {
		control->ops->post(transaction);
		control->transaction = transaction;
		control->patience = (struct patience){.last_ns = control_now_ns(control)};
		if (next != NULL) {
			control->replaced = *control->scenario;
			*control->scenario = next;
			control->changes++;
		}
		control->state = CONTROL_POSTED;
		number = ++control->posted;
		if (posted != NULL)
			posted(argument);
	}
	wake(control);
	control_unlock(control);
	return number;
}

int control_taken(struct control *control, const struct asker *asker, uint64_t number,
                  char who[CONTROL_WORKER_BYTES])
{
	struct patience patience = {.last_ns = control_now_ns(control)};
	uint64_t step_ns = HASTE_NS;
	bool waits = true;
	int result = 0;

	control_lock(control);
	for (;;) {
		tick(control);
		patience_look(&patience, control_now_ns(control));
		if (control->taken >= number)
			break;
		if (!waits)
			result = -ECANCELED;
		else if (patience.waited_ns >= CONTROL_LATE_NS &&
		         is_late(control, 0, who, CONTROL_WORKER_BYTES))
			result = -EBUSY;
		if (result != 0)
			break;
		waits = control_wait(control, asker, step_ns);
		step_ns = step_ns < STEP_NS / 4 ? 2 * step_ns : STEP_NS / 4;
	}
	control_unlock(control);
	return result;
}

bool control_is_late(struct control *control, char *text, size_t size)
{
	bool late;

	control_lock(control);
	tick(control);
	late = is_late(control, CONTROL_SETTLES_NS, text, size);
	control_unlock(control);
	return late;
}

/* ---- the main thread ---- */

void control_main_looks(struct control *control, bool looks)
{
	control_lock(control);
	/* Those that wait to post have their chance, even if the main thread never rests. */
	if (looks && control->posting > 0 && control->looking == 0)
		wait_for(control, MAIN_NS);
	control->main_looks = looks;
	if (looks) {
		tick(control);
		tell_taken(control);
	}
	if (!looks && (control->posting > 0 || is_taken(control)))
		pthread_cond_broadcast(&control->changed);
	control_unlock(control);
}

bool control_end(struct control *control, uint64_t patience_ns)
{
	uint64_t end_ns = clock_machine_ns() + patience_ns;
	bool over = false;

	control_lock(control);
	control->ends = true;
	control->main_looks = false;
	wake(control);
	for (;;) {
		tell_taken(control);
		control_settle(control);
		over = control->looking == 0 && control->state != CONTROL_HELD &&
		       control->state != CONTROL_FINISHING && !is_taken(control);
		if (over || clock_machine_ns() >= end_ns)
			break;
		wait_for(control, SIMTIME_MS);
	}
	control_unlock(control);
	return over;
}

/* ---- looks ---- */

static bool may_look(const struct control *control)
{
	return !control->ends && !control->marking && control->posting == 0 &&
	       (control->state != CONTROL_POSTED ||
	        (!is_taken(control) && control->patience.waited_ns >= CONTROL_SETTLES_NS));
}

bool control_look_begin(struct control *control)
{
	bool begins;

	control_lock(control);
	begins = may_look(control);
	control->looking += begins;
	control_unlock(control);
	return begins;
}

bool control_look_wait(struct control *control, const struct asker *asker)
{
	struct patience patience = {0};
	bool waits;

	control_lock(control);
	waits = !control->ends;
	if (waits)
		patience.last_ns = control_now_ns(control);
	while (waits && !may_look(control)) {
		waits = control_wait(control, asker, STEP_NS);
		if (!waits)
			break;
		tick(control);
		/* Those that have changed something settle it; a look does not wait for that. */
		if (patience_look(&patience, control_now_ns(control)) >= SETTLE_NS)
			control_settle(control);
	}
	control->looking += waits;
	control_unlock(control);
	return waits;
}

void control_look_end(struct control *control)
{
	control_lock(control);
	control->looking--;
	if (control->looking == 0)
		pthread_cond_broadcast(&control->changed);
	control_unlock(control);
}

/* ---- what was seen ---- */

bool control_events(struct control *control, uint64_t *first, uint64_t *next)
{
	*first = *next = 0;
	if (control->events == NULL)
		return false;
	pthread_mutex_lock(&control->events_lock);
	*first = event_log_first(control->events);
	*next = event_log_next(control->events);
	pthread_mutex_unlock(&control->events_lock);
	return true;
}
