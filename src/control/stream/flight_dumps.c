/* SPDX-License-Identifier: BSD-3-Clause */
#include "stream/flight_dumps.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rte_lcore.h>

#include "account/count.h"
#include "machine/run_log.h"
#include "units/human_unit.h"
#include "service/control.h"
#include "stream/event.h"

#define BETWEEN_NS (10 * SIMTIME_S)
#define ON         "real-loss,stall"
#define DATE_MOST  100 /* folders with the date of one second */

struct flight_dumps {
	struct control *control;
	struct flight_wish wish;
	const char *why; /* cause of a dump that is to begin; or NULL */
	bool under_way;
	uint32_t by_events;
	uint64_t last_ns; /* of the last dump that an event has caused */
};

/* ---- a worker that crashes ---- */

static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
static volatile sig_atomic_t crashed;

/* Stops a crashed worker here, until the flight is dumped. If any other thread crashes, the process
 * ends at once: nothing could dump the flight. */
static void on_crash(int number)
{
	const unsigned int lcore = rte_lcore_id();

	if (lcore == LCORE_ID_ANY || lcore == rte_get_main_lcore()) {
		signal(number, SIG_DFL);
		raise(number);
		return;
	}
	crashed = number;
	for (;;)
		pause();
}

static void crashes_take(void (*handler)(int))
{
	for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
		signal(crashes[i], handler);
}

/* ---- */

struct flight_dumps *flight_dumps_make(struct control *control, const struct flight_wish *wish)
{
	struct flight_dumps *dumps = calloc(1, sizeof(*dumps));

	if (dumps == NULL)
		return NULL;
	dumps->control = control;
	dumps->wish.on = wish->on != NULL ? wish->on : ON;
	dumps->wish.to = wish->to != NULL ? wish->to : FLIGHT_DUMPS_TO;
	crashes_take(on_crash);
	return dumps;
}

void flight_dumps_free(struct control *control)
{
	if (control->flight == NULL)
		return;
	crashes_take(SIG_DFL);
	pthread_mutex_lock(&control->events_lock);
	free(control->flight);
	control->flight = NULL;
	pthread_mutex_unlock(&control->events_lock);
}

static bool listed(const char *list, const char *kind)
{
	const size_t n = strlen(kind);

	for (const char *at = list; at != NULL && *at != '\0';) {
		const char *end = strchrnul(at, ',');

		if ((size_t)(end - at) == n && memcmp(at, kind, n) == 0)
			return true;
		at = *end != '\0' ? end + 1 : end;
	}
	return false;
}

void flight_dumps_event(struct flight_dumps *dumps, const char *kind)
{
	const uint64_t now_ns = control_now_ns(dumps->control);

	if (dumps->why != NULL || !listed(dumps->wish.on, kind) ||
	    dumps->by_events == FLIGHT_DUMPS_MAX ||
	    (dumps->by_events > 0 && now_ns - dumps->last_ns < BETWEEN_NS))
		return;
	dumps->by_events++;
	dumps->last_ns = now_ns;
	dumps->why = kind;
}

void flight_dumps_signal(struct control *control)
{
	if (control->flight == NULL) {
		run_log(RUN_LOG_WARNING,
		        "SIGUSR1 dumps the flight, but there is none: start with --flight 10s");
		return;
	}
	pthread_mutex_lock(&control->events_lock);
	control->flight->why = "SIGUSR1";
	pthread_mutex_unlock(&control->events_lock);
}

/* Gets the absolute path of the folder for a dump: that of `asked`, or if that is NULL, DIR-DATE,
 * with a number appended if that exists. */
static void name_folder(const struct flight_dumps *dumps, const char *asked, char folder[PATH_MAX])
{
	const char *name = asked != NULL ? asked : dumps->wish.to;
	char here[PATH_MAX / 2] = "", date[40] = "";
	time_t now = time(NULL);
	struct tm tm;
	int n;

	/* If the working directory is unknown, the relative name works as it is. */
	if (*name != '/' && getcwd(here, sizeof(here) - 1) != NULL && here[1] != '\0')
		strcat(here, "/");
	if (asked == NULL) {
		gmtime_r(&now, &tm);
		strftime(date, sizeof(date), "-%Y-%m-%dT%H-%M-%SZ", &tm);
	}
	n = snprintf(folder, PATH_MAX, "%s%.2000s%s", here, name, date);
	/* Dumps of one second get different folders. */
	for (int i = 2; asked == NULL && i < DATE_MOST && access(folder, F_OK) == 0; i++)
		snprintf(folder + n, PATH_MAX - (size_t)n, "-%d", i);
}

void flight_dump_text(const struct recording_dump *dump, char text[FLIGHT_TEXT_BYTES])
{
	snprintf(text, FLIGHT_TEXT_BYTES,
	         "+%" PRIu64 ".%03" PRIu64 " s to +%" PRIu64 ".%03" PRIu64 " s: %s, %s",
	         dump->from_ns / SIMTIME_S, dump->from_ns % SIMTIME_S / SIMTIME_MS,
	         dump->to_ns / SIMTIME_S, dump->to_ns % SIMTIME_S / SIMTIME_MS,
	         count_of(dump->packets, "packet").text,
	         human_of(HUMAN_BYTES, (double)dump->bytes, 3).text);
	if (dump->without > 0)
		text_add(text, FLIGHT_TEXT_BYTES, "; without %s, which %s no snapshot yet",
		         count_of(dump->without, "worker").text,
		         dump->without == 1 ? "has" : "have");
}

int flight_dumps_write(struct control *control, const char *asked, const char *why,
                       char folder[PATH_MAX], struct recording_dump *dump, struct problem *problem)
{
	struct recording *recording;

	name_folder(control->flight, asked, folder);
	if (why != NULL)
		run_log(RUN_LOG_NOTICE, "%s: the flight is dumped in %s", why, folder);
	pthread_mutex_lock(&control->events_lock);
	recording = control->recording;
	pthread_mutex_unlock(&control->events_lock);
	if (recording != NULL)
		return recording_dump(recording, folder, dump, problem);
	problem_set(problem, -1, "weir ends");
	return -ECANCELED;
}

static void dump_write(struct control *control, const char *why)
{
	struct problem problem = {.text = ""};
	char folder[PATH_MAX], text[FLIGHT_TEXT_BYTES];
	struct recording_dump dump;

	if (flight_dumps_write(control, NULL, why, folder, &dump, &problem) != 0) {
		event_tell(control, RUN_LOG_WARNING, "flight-lost", json_object(),
		           "the flight could not be dumped: %s", problem.text);
		return;
	}
	flight_dump_text(&dump, text);
	event_tell(control, RUN_LOG_NOTICE, "flight-dumped",
	           json_pack("{s:s,s:I}", "folder", folder, "packets", (json_int_t)dump.packets),
	           "flight dumped in %s: %s", folder, text);
}

static void dump_run(void *argument)
{
	struct control *control = argument;
	const char *why;

	pthread_mutex_lock(&control->events_lock);
	why = control->flight->why;
	control->flight->why = NULL;
	pthread_mutex_unlock(&control->events_lock);
	dump_write(control, why);
	pthread_mutex_lock(&control->events_lock);
	control->flight->under_way = false;
	pthread_mutex_unlock(&control->events_lock);
}

/* Dumps the flight, then ends the process. */
static void end_crashed(struct flight_dumps *dumps)
{
	const int number = crashed;

	dump_write(dumps->control, strsignal(number));
	run_log(RUN_LOG_ERROR, "a worker has crashed: %s", strsignal(number));
	signal(number, SIG_DFL);
	kill(getpid(), number);
	pause();
}

void flight_dumps_poll(struct flight_dumps *dumps)
{
	struct control *control = dumps->control;
	bool begins;

	if (crashed)
		end_crashed(dumps);
	pthread_mutex_lock(&control->events_lock);
	begins = dumps->why != NULL && !dumps->under_way;
	dumps->under_way |= begins;
	pthread_mutex_unlock(&control->events_lock);
	if (!begins || control_thread(control, dump_run, control) == 0)
		return;
	/* Without a thread, a later poll tries again. */
	pthread_mutex_lock(&control->events_lock);
	dumps->under_way = false;
	pthread_mutex_unlock(&control->events_lock);
}
