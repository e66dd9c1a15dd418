/* SPDX-License-Identifier: BSD-3-Clause */
#include "stream/flight_dumps.h"

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

/* A dump in progress; it may outlive the flight_dumps. */
struct dump {
	struct control *control;
	const char *why;
	char folder[PATH_MAX];
};

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
	const uint64_t now_ns = dumps->control->ops->now_ns(dumps->control->context);

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

void flight_dumps_folder(const struct flight_dumps *dumps, const char *asked, char folder[PATH_MAX])
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
	char size[HUMAN_UNIT_SIZE];

	human_unit_format(size, sizeof(size), HUMAN_BYTES, (double)dump->bytes, 3);
	snprintf(text, FLIGHT_TEXT_BYTES,
	         "+%" PRIu64 ".%03" PRIu64 " s to +%" PRIu64 ".%03" PRIu64 " s: %s, %s",
	         dump->from_ns / SIMTIME_S, dump->from_ns % SIMTIME_S / SIMTIME_MS,
	         dump->to_ns / SIMTIME_S, dump->to_ns % SIMTIME_S / SIMTIME_MS,
	         count_of(dump->packets, "packet").text, size);
	if (dump->without > 0)
		snprintf(text + strlen(text), FLIGHT_TEXT_BYTES - strlen(text),
		         "; without %s, which %s no snapshot yet",
		         count_of(dump->without, "worker").text,
		         dump->without == 1 ? "has" : "have");
}

/* May take long, and wait for the disk. */
static void dump_write(struct dump *dump)
{
	struct control *control = dump->control;
	struct problem problem = {.text = ""};
	char text[FLIGHT_TEXT_BYTES];
	struct recording *recording;
	struct recording_dump dumped;

	pthread_mutex_lock(&control->events_lock);
	recording = control->recording;
	pthread_mutex_unlock(&control->events_lock);
	if (recording == NULL) /* weir has ended meanwhile */
		return;
	flight_dumps_folder(control->flight, NULL, dump->folder);
	run_log(RUN_LOG_NOTICE, "%s: the flight is dumped in %s", dump->why, dump->folder);
	if (recording_dump(recording, dump->folder, &dumped, &problem) != 0) {
		event_tell(control, RUN_LOG_WARNING, "flight-lost", json_object(),
		           "the flight could not be dumped: %s", problem.text);
		return;
	}
	flight_dump_text(&dumped, text);
	event_tell(control, RUN_LOG_NOTICE, "flight-dumped",
	           json_pack("{s:s,s:I}", "folder", dump->folder, "packets",
	                     (json_int_t)dumped.packets),
	           "flight dumped in %s: %s", dump->folder, text);
}

static void dump_run(void *argument)
{
	struct dump *dump = argument;
	struct control *control = dump->control;

	dump_write(dump);
	free(dump);
	pthread_mutex_lock(&control->events_lock);
	if (control->flight != NULL)
		control->flight->under_way = false;
	pthread_mutex_unlock(&control->events_lock);
}

/* Dumps the flight, then ends the process. */
static void end_crashed(struct flight_dumps *dumps)
{
	const int number = crashed;
	struct dump dump = {.control = dumps->control, .why = strsignal(number)};

	dump_write(&dump);
	run_log(RUN_LOG_ERROR, "a worker has crashed: %s", strsignal(number));
	signal(number, SIG_DFL);
	kill(getpid(), number);
	pause();
}

void flight_dumps_poll(struct flight_dumps *dumps)
{
	struct control *control = dumps->control;
	const char *why = NULL;
	struct dump *dump;

	if (crashed)
		end_crashed(dumps);
	pthread_mutex_lock(&control->events_lock);
	if (!dumps->under_way) {
		why = dumps->why;
		dumps->why = NULL;
		dumps->under_way = why != NULL;
	}
	pthread_mutex_unlock(&control->events_lock);
	if (why == NULL)
		return;
	dump = malloc(sizeof(*dump));
	if (dump != NULL) {
		*dump = (struct dump){.control = control, .why = why};
		if (control_thread(control, dump_run, dump) == 0)
			return;
		free(dump);
	}
	/* Without memory or a thread, a later poll tries again. */
	pthread_mutex_lock(&control->events_lock);
	dumps->why = why;
	dumps->under_way = false;
	pthread_mutex_unlock(&control->events_lock);
}
