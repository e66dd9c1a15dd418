/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "engine/engine_report.h"
#include "service/control.h"
#include "service/event_log.h"
#include "service/executor.h"
#include "service/recorded_text.h"

/* The time for which the workers are waited for at once: each polls within microseconds. */
#define AT_ONCE_NS (50 * SIMTIME_US)
#define LOOK_NS    SIMTIME_MS

static int runtime_ops_change(void *context, const struct scenario *next,
                              struct transaction **transaction, struct problem *problem)
{
	int rc = transaction_change(context, next, transaction, problem);

	if (rc == 0 && runtime_recording(context)) {
		recorded_reach(runtime_recording(context), runtime_scenario(context), next);
		transaction_describe(*transaction, recorded_text(runtime_recording(context), next));
	}
	return rc;
}

static int runtime_ops_clear(void *context, struct transaction **transaction)
{
	return transaction_clear(context, transaction);
}

static int runtime_ops_insert(void *context, const struct insertion *insertion,
                              struct transaction **transaction, struct problem *problem)
{
	return transaction_insertion(context, insertion, transaction, problem);
}

static void runtime_ops_post(void *context, struct transaction *transaction)
{
	(void)context;
	transaction_post(transaction);
}

static bool runtime_ops_taken(void *context, const struct transaction *transaction)
{
	(void)context;
	return transaction_taken(transaction, AT_ONCE_NS);
}

static void runtime_ops_missing(void *context, const struct transaction *transaction, char *text,
                                size_t size)
{
	uint32_t worker = 0, cpu = 0;

	(void)context;
	transaction_missing(transaction, &worker, &cpu);
	snprintf(text, size, "worker %u on processor %u", worker, cpu);
}

static void runtime_ops_finish(void *context, struct transaction *transaction)
{
	(void)context;
	transaction_finish(transaction);
}

static int runtime_ops_tap_begin(void *context, struct tap *tap, int64_t wall_ns)
{
	return runtime_tap_begin(context, tap, wall_ns);
}

static bool runtime_ops_tap_is_on(void *context, const struct tap *tap)
{
	return runtime_tap_is_on(context, tap);
}

static void runtime_ops_tap_end(void *context, struct tap *tap)
{
	runtime_tap_end(context, tap);
}

static bool runtime_ops_cloud(void *context, const char *name, struct cloud_report *report)
{
	return runtime_cloud_report(context, name, report);
}

static uint32_t runtime_ops_briefs(void *context, const char *name, uint32_t from, uint32_t n,
                                   struct cloud_brief *briefs)
{
	return runtime_briefs(context, name, from, n, briefs);
}

static bool runtime_ops_brief_name(void *context, const char *name, uint32_t index, char *text,
                                   size_t room)
{
	return runtime_brief_name(context, name, index, text, room);
}

static bool runtime_ops_delays(void *context, const char *name, struct histogram *delays)
{
	return runtime_delays(context, name, delays);
}

static bool runtime_ops_port(void *context, uint32_t port, struct port_report *report)
{
	return runtime_port_report(context, port, report);
}

static bool runtime_ops_worker(void *context, uint32_t worker, struct worker_report *report)
{
	return runtime_worker_report(context, worker, report);
}

static uint32_t runtime_ops_ports(void *context)
{
	return runtime_ports(context);
}

static uint32_t runtime_ops_workers(void *context)
{
	return runtime_workers(context);
}

static uint64_t runtime_ops_now_ns(void *context)
{
	return runtime_now_ns(context);
}

const struct control_ops control_ops_runtime = {
        .change = runtime_ops_change,
        .clear = runtime_ops_clear,
        .insert = runtime_ops_insert,
        .post = runtime_ops_post,
        .taken = runtime_ops_taken,
        .missing = runtime_ops_missing,
        .finish = runtime_ops_finish,
        .tap_begin = runtime_ops_tap_begin,
        .tap_is_on = runtime_ops_tap_is_on,
        .tap_end = runtime_ops_tap_end,
        .cloud = runtime_ops_cloud,
        .briefs = runtime_ops_briefs,
        .brief_name = runtime_ops_brief_name,
        .delays = runtime_ops_delays,
        .port = runtime_ops_port,
        .worker = runtime_ops_worker,
        .ports = runtime_ops_ports,
        .workers = runtime_ops_workers,
        .now_ns = runtime_ops_now_ns,
};

static void name_run(char run[CONTROL_RUN_BYTES])
{
	uint64_t drawn;

	if (getrandom(&drawn, sizeof(drawn), 0) != sizeof(drawn))
		drawn = (uint64_t)time(NULL);
	snprintf(run, CONTROL_RUN_BYTES, "%016llx", (unsigned long long)drawn);
}

void control_init(struct control *control, const struct control_ops *ops, void *context,
                  struct scenario **scenario)
{
	memset(control, 0, sizeof(*control));
	control->ops = ops;
	control->context = context;
	control->scenario = scenario;
	control->cleared_ns = ops->now_ns(context);
	control->events = event_log_make(EVENT_LOG_BYTES, EVENT_LOG_MAX);
	name_run(control->run);
	pthread_mutex_init(&control->looks_lock, NULL);
}

/* ---- turns and looks ---- */

static int control_state(const struct control *control)
{
	return __atomic_load_n(&control->state, __ATOMIC_ACQUIRE);
}

static void control_enter(struct control *control, enum control_state state)
{
	__atomic_store_n(&control->state, (int)state, __ATOMIC_RELEASE);
}

static bool control_looked_at(const struct control *control)
{
	return __atomic_load_n(&control->looking, __ATOMIC_ACQUIRE) > 0;
}

bool control_turn(struct control *control, struct turn *turn)
{
	struct turn **place = &control->turns;

	while (*place != NULL && *place != turn)
		place = &(*place)->next;
	if (*place == NULL) {
		turn->next = NULL;
		turn->waiting = true;
		*place = turn;
	}
	if (control->turns != turn || control_state(control) != CONTROL_FREE ||
	    control_looked_at(control))
		return false;
	control_leave(control, turn);
	control_enter(control, CONTROL_HELD);
	return true;
}

void control_leave(struct control *control, struct turn *turn)
{
	struct turn **place = &control->turns;

	while (*place != NULL && *place != turn)
		place = &(*place)->next;
	if (*place != NULL)
		*place = turn->next;
	turn->waiting = false;
}

void control_give_back(struct control *control)
{
	__atomic_store_n(&control->posting, false, __ATOMIC_RELAXED);
	control_enter(control, CONTROL_FREE);
}

bool control_look_begin(struct control *control)
{
	int state = control_state(control);

	if (__atomic_load_n(&control->marking, __ATOMIC_ACQUIRE) ||
	    (state == CONTROL_FREE && control->turns != NULL) ||
	    (state == CONTROL_HELD && __atomic_load_n(&control->posting, __ATOMIC_RELAXED)) ||
	    (state == CONTROL_POSTED && control->patience.waited_ns < CONTROL_SETTLES_NS))
		return false;
	__atomic_add_fetch(&control->looking, 1, __ATOMIC_ACQ_REL);
	return true;
}

void control_look_end(struct control *control)
{
	__atomic_sub_fetch(&control->looking, 1, __ATOMIC_ACQ_REL);
}

/* ---- transactions ---- */

uint64_t control_post(struct control *control, struct transaction *transaction,
                      struct scenario *next, uint64_t now_ns)
{
	__atomic_store_n(&control->posting, true, __ATOMIC_RELAXED);
	if (control_looked_at(control))
		return 0;
	__atomic_store_n(&control->posting, false, __ATOMIC_RELAXED);
	control->ops->post(control->context, transaction);
	control->transaction = transaction;
	control->patience = (struct patience){.last_ns = now_ns};
	if (next != NULL) {
		control->replaced = *control->scenario;
		*control->scenario = next;
		control->changes++;
	}
	control->posted++;
	control_enter(control, CONTROL_POSTED);
	control_tick(control, now_ns);
	return control->posted;
}

bool control_taken(const struct control *control, uint64_t number)
{
	return control->taken >= number;
}

bool control_is_late(struct control *control, uint64_t for_ns, char *text, size_t size)
{
	if (control_state(control) != CONTROL_POSTED || control->taken == control->posted ||
	    control->patience.waited_ns < for_ns)
		return false;
	control->ops->missing(control->context, control->transaction, text, size);
	return true;
}

/* Frees what a transaction has replaced, when all workers have taken it. */
struct finish {
	struct job job;
	struct control *control;
	const struct control_ops *ops;
	void *context;
	struct transaction *transaction;
	struct scenario *replaced;
};

/* The scenario in force does not change while this runs. */
static void control_mark(struct control *control, const struct scenario *before)
{
	pthread_mutex_lock(&control->looks_lock);
	marks_follow(&control->marks, before, *control->scenario, control->ops->cloud,
	             control->context, control->ops->now_ns(control->context));
	pthread_mutex_unlock(&control->looks_lock);
	__atomic_store_n(&control->marking, false, __ATOMIC_RELEASE);
}

static void finish_work(struct job *job)
{
	struct finish *finish = (struct finish *)job;

	if (finish->replaced != NULL)
		control_mark(finish->control, finish->replaced);
	finish->ops->finish(finish->context, finish->transaction);
	scenario_free(finish->replaced);
}

static void finish_release(struct job *job)
{
	free(job);
}

static void control_finish(struct control *control)
{
	struct finish *finish = calloc(1, sizeof(*finish));
	struct finish here;

	if (finish == NULL)
		finish = &here;
	*finish = (struct finish){
	        .job = {.work = finish_work, .release = finish_release},
	        .control = control,
	        .ops = control->ops,
	        .context = control->context,
	        .transaction = control->transaction,
	        .replaced = control->replaced,
	};
	__atomic_store_n(&control->marking, control->replaced != NULL, __ATOMIC_RELEASE);
	control->transaction = NULL;
	control->replaced = NULL;
	control->finish = finish;
	control_enter(control, CONTROL_FINISHING);
	if (finish != &here && job_submit(control->executor, &finish->job) == 0)
		return;
	/* Without memory or a thread, it is done here. */
	finish_work(&finish->job);
	control->finish = NULL;
	if (finish != &here)
		free(finish);
	control_enter(control, CONTROL_FREE);
}

void control_tick(struct control *control, uint64_t now_ns)
{
	if (control_state(control) == CONTROL_POSTED) {
		patience_look(&control->patience, now_ns);
		if (control->taken < control->posted &&
		    control->ops->taken(control->context, control->transaction)) {
			control->taken = control->posted;
			if (control->when_taken != NULL)
				control->when_taken(control->when_taken_argument);
		}
		/* A look in progress may read what would be freed. */
		if (control->taken == control->posted && !control_looked_at(control))
			control_finish(control);
	}
	if (control_state(control) == CONTROL_FINISHING && control->finish != NULL &&
	    job_done(&control->finish->job)) {
		job_forget(&control->finish->job);
		control->finish = NULL;
		control_enter(control, CONTROL_FREE);
	}
}

bool control_close(struct control *control, uint64_t patience_ns)
{
	const struct timespec pause = {.tv_nsec = LOOK_NS};
	uint64_t waited_ns = 0;

	for (;; waited_ns += LOOK_NS) {
		int state = control_state(control);

		control_tick(control, control->patience.last_ns);
		if (!control_looked_at(control) &&
		    (state == CONTROL_FREE ||
		     (state == CONTROL_POSTED && control->taken < control->posted)))
			break;
		if (waited_ns >= patience_ns)
			return false;
		nanosleep(&pause, NULL);
	}
	scenario_free(control->replaced);
	control->replaced = NULL;
	marks_clear(&control->marks);
	pthread_mutex_destroy(&control->looks_lock);
	event_log_free(control->events);
	control->events = NULL;
	return true;
}

void control_cleared(struct control *control)
{
	pthread_mutex_lock(&control->looks_lock);
	memset(control->looks, 0, sizeof(control->looks));
	marks_clear(&control->marks);
	control->cleared = true;
	control->cleared_ns = control->ops->now_ns(control->context);
	pthread_mutex_unlock(&control->looks_lock);
}

enum control_since control_since(struct control *control, uint32_t index,
                                 struct cloud_report *report, uint64_t *since_ns)
{
	const char *cloud = (*control->scenario)->clouds[index]->name;
	bool changed;

	*since_ns = control->cleared_ns;
	pthread_mutex_lock(&control->looks_lock);
	changed = marks_since(&control->marks, index, cloud, report, since_ns);
	pthread_mutex_unlock(&control->looks_lock);
	if (changed)
		return CONTROL_SINCE_CHANGE;
	return control->cleared ? CONTROL_SINCE_CLEAR : CONTROL_SINCE_START;
}

bool control_cloud(struct control *control, const char *cloud, struct cloud_report *report)
{
	if (!control->ops->cloud(control->context, cloud, report))
		return false;
	report->observed.now_ns =
	        simtime_max(report->observed.now_ns, control->ops->now_ns(control->context));
	return true;
}

bool control_look(struct control *control, const char *cloud, const struct cloud_report *report,
                  uint64_t now_ns, struct control_look *before)
{
	struct control_look *look = NULL;
	bool seen;

	pthread_mutex_lock(&control->looks_lock);
	for (uint32_t i = 0; i < CONTROL_LOOKS && look == NULL; i++)
		if (strcmp(control->looks[i].cloud, cloud) == 0)
			look = &control->looks[i];
	seen = look != NULL && now_ns > look->now_ns &&
	       report->counters.rx_bytes >= look->rx_bytes &&
	       report->counters.tx_bytes >= look->tx_bytes;
	if (seen)
		*before = *look;
	if (look == NULL) {
		look = &control->looks[control->next_look];
		control->next_look = (control->next_look + 1) % CONTROL_LOOKS;
	}
	strncpy(look->cloud, cloud, sizeof(look->cloud) - 1);
	look->now_ns = now_ns;
	look->rx_bytes = report->counters.rx_bytes;
	look->tx_bytes = report->counters.tx_bytes;
	pthread_mutex_unlock(&control->looks_lock);
	return seen;
}
