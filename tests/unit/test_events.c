/* SPDX-License-Identifier: BSD-3-Clause */
/* Everything that is pushed without a request: the ring of events, subscriptions, samples; and
 * leases, which are changes for a time. The emulator is a fake, and the test sets the clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <jansson.h>

#include "language/language.h"
#include "runner/group.h"
#include "service/difference.h"
#include "service/event_log.h"
#include "socket/lease.h"
#include "stream/event.h"
#include "stream/watch.h"
#include "talk.h"

#define SCENARIO                                                                                   \
	"seed 42\nport a\nport b\ncloud down from a to b\ncloud up from b to a\n"                  \
	"cloud down loss random 0.1%\ncloud down delay 40ms\n"

/* ---- the ring ---- */

static void number_text(char text[64], uint64_t number, uint32_t length)
{
	memset(text, 'x', 64);
	snprintf(text, 64, "%llu:", (unsigned long long)number);
	text[strlen(text)] = 'y';
	text[length < 63 ? length : 63] = '\0';
}

static void the_ring_keeps_the_latest_events_whole_whatever_their_lengths(void **state)
{
	struct event_log *log = event_log_make(EVENT_BYTES_MAX, 500);
	const char *json, *text;
	char expected[64];
	uint32_t dice = 1;
	(void)state;

	assert_false(event_log_get(log, 1, &json, &text));
	for (uint64_t n = 1; n <= 5000; n++) {
		dice = dice * 1664525 + 1013904223;
		number_text(expected, n, 10 + dice % 50);
		event_log_add(log, expected, expected);
		assert_int_equal(event_log_next(log), n + 1);
		assert_true(event_log_first(log) >= 1 && event_log_first(log) <= n);
		for (uint64_t k = event_log_first(log); k <= n; k += 1 + (n - k) / 2) {
			assert_true(event_log_get(log, k, &json, &text));
			assert_string_equal(json, text);
			assert_int_equal(strtoull(json, NULL, 10), k);
		}
		assert_false(event_log_get(log, event_log_first(log) - 1, &json, &text));
		assert_false(event_log_get(log, n + 1, &json, &text));
	}
	/* 16 KiB hold at least 136 events of 120 bytes; the maximum is 500. */
	assert_true(event_log_next(log) - event_log_first(log) >= 136);
	event_log_free(log);
}

static void the_ring_keeps_no_more_than_it_may_though_they_are_short(void **state)
{
	struct event_log *log = event_log_make(EVENT_BYTES_MAX, 7);
	(void)state;

	for (int i = 0; i < 100; i++)
		event_log_add(log, "{}", "");
	assert_int_equal(event_log_first(log), 94);
	assert_int_equal(event_log_next(log), 101);
	event_log_free(log);
}

/* ---- differences ---- */

static struct scenario *scenario_of(const char *text)
{
	char message[SCENARIO_FILE_ERROR];
	struct scenario *scenario;

	if (scenario_text_load(text, strlen(text), "test", &scenario, message, sizeof(message)) !=
	    0)
		fail_msg("%s", message);
	return scenario;
}

static void edit(struct scenario *scenario, const char *line)
{
	struct language_error error;
	struct command command;

	assert_int_equal(language_parse(line, &command, &error), 0);
	if (language_edit(scenario, &command, &error) != 0)
		fail_msg("%s: %s", line, error.text);
	language_release(&command);
}

static void expect_scenario(const struct scenario *scenario, const char *expected)
{
	char *text = scenario_text(scenario);

	assert_string_equal(text, expected);
	free(text);
}

/* Makes the change, then the changes of others, and undoes the change. */
static void check_undo(const char *before, const char *const *lines, const char *const *others,
                       const char *expected, bool kept)
{
	struct scenario *from = scenario_of(before), *now = scenario_of(before);
	struct difference difference;
	bool stayed[8], any = false;

	for (; *lines != NULL; lines++)
		edit(now, *lines);
	assert_int_equal(difference_make(&difference, from, now), 0);
	for (; *others != NULL; others++)
		edit(now, *others);
	assert_true(difference.n <= sizeof(stayed));
	assert_int_equal(difference_undo(&difference, now, stayed), 0);
	expect_scenario(now, expected);
	for (uint32_t i = 0; i < difference.n; i++)
		any |= stayed[i];
	assert_int_equal(any, kept);
	difference_release(&difference);
	scenario_free(from);
	scenario_free(now);
}

#define PORTS "seed 42\nport a\nport b\n"

static void what_somebody_else_has_changed_since_stays(void **state)
{
	static const char two[] =
	        PORTS "cloud x from a to b\ncloud x delay 10ms\ncloud y from b to a\n";
#define LINES(...) ((const char *const[]){__VA_ARGS__, NULL})
	static const char *const none[] = {NULL};
	(void)state;

	check_undo(two, LINES("cloud x delay 80ms", "cloud x loss random 1%"), none, two, false);
	/* another statement of the same cloud */
	check_undo(two, LINES("cloud x delay 80ms"), LINES("cloud x loss random 5%"),
	           PORTS "cloud x from a to b\ncloud x loss random 5%\ncloud x delay 10ms\n"
	                 "cloud y from b to a\n",
	           false);
	/* the same statement */
	check_undo(two, LINES("cloud x delay 80ms", "cloud y delay 1ms"),
	           LINES("cloud x delay 81ms"),
	           PORTS "cloud x from a to b\ncloud x delay 81ms\ncloud y from b to a\n", true);
	/* a removed statement or cloud returns to its place */
	check_undo(two, LINES("no cloud x"), none, two, false);
	check_undo(two, LINES("no cloud x delay"), LINES("cloud y delay 3ms"),
	           PORTS "cloud x from a to b\ncloud x delay 10ms\ncloud y from b to a\n"
	                 "cloud y delay 3ms\n",
	           false);
	/* a cloud that was added is removed, unless somebody else has changed it */
	check_undo(two, LINES("cloud z from a to b match \"udp\"", "cloud z delay 5ms"), none, two,
	           false);
	check_undo(two, LINES("cloud z from a to b match \"udp\"", "cloud z delay 5ms"),
	           LINES("cloud z loss random 1%"),
	           PORTS "cloud x from a to b\ncloud x delay 10ms\ncloud y from b to a\n"
	                 "cloud z from a to b match udp\ncloud z loss random 1%\n"
	                 "cloud z delay 5ms\n",
	           true);
	/* a cloud that somebody else has removed is not added again */
	check_undo(two, LINES("cloud y delay 5ms"), LINES("no cloud y"),
	           PORTS "cloud x from a to b\ncloud x delay 10ms\n", true);
	/* all `at` of a cloud count as one statement */
	check_undo(two, LINES("cloud x at 1s delay 5ms", "cloud x at 2s delay 6ms"),
	           LINES("cloud x loss random 1%"),
	           PORTS "cloud x from a to b\ncloud x loss random 1%\ncloud x delay 10ms\n"
	                 "cloud y from b to a\n",
	           false);
}

/* Overlapping leases that are undone in any order leave the original scenario: 2,000 rounds of up
 * to six changes of three clouds with four statements each. */
static void leases_that_are_undone_in_any_order_leave_what_was_there(void **state)
{
	static const char before[] =
	        PORTS "cloud x from a to b\ncloud x delay 10ms\ncloud y from b to a\n"
	              "cloud y rate 1mbit queue 10kB\n";
	static const char *const lines[] = {
	        "cloud x delay 20ms",          "cloud x delay 30ms",
	        "cloud x delay off",           "cloud x loss random 1%",
	        "cloud x loss random 2%",      "cloud x loss off",
	        "cloud y rate 2mbit",          "cloud y rate off",
	        "cloud y delay 5ms",           "cloud y delay off",
	        "cloud y at 1s delay 7ms",     "cloud y at 2s delay 9ms",
	        "cloud x duplicate random 1%", "cloud y rewrite 1 ip.ttl 5",
	};
	uint32_t dice = 7;
	(void)state;

	for (int run = 0; run < 2000; run++) {
		struct difference differences[6];
		struct scenario *now = scenario_of(before);
		uint32_t n = 0, left;

		for (; n < 6; n++) {
			struct scenario *from = scenario_copy(now);

			for (int k = 0; k < 3; k++) {
				dice = dice * 1664525 + 1013904223;
				edit(now, lines[(dice >> 16) % (sizeof(lines) / sizeof(lines[0]))]);
			}
			assert_int_equal(difference_make(&differences[n], from, now), 0);
			scenario_free(from);
		}
		for (left = n; left > 0; left--) {
			uint32_t i;

			dice = dice * 1664525 + 1013904223;
			i = (dice >> 16) % left;
			for (uint32_t k = i + 1; k < left; k++)
				difference_hand_down(&differences[i], &differences[k]);
			assert_int_equal(difference_undo(&differences[i], now, NULL), 0);
			difference_release(&differences[i]);
			memmove(&differences[i], &differences[i + 1],
			        (left - i - 1) * sizeof(differences[0]));
		}
		expect_scenario(now, before);
		scenario_free(now);
	}
}

/* ---- conversations ---- */

static int talk_start(void **state)
{
	struct talk *talk;

	if (talk_begin(state, SCENARIO) != 0)
		return -1;
	talk = *state;
	session_introduce(
	        talk->session,
	        &(struct peer){.known = true, .uid = 7, .gid = 8, .pid = 9, .name = "test"}, false,
	        false);
	return 0;
}

static int talk_end(void **state)
{
	struct talk *talk = *state;

	leases_free(&talk->fake.control);
	return talk_stop(state);
}

static char *heard(struct session *session)
{
	size_t n;
	const char *output = session_output(session, &n);
	char *text = without_was(strndup(output, n));

	session_taken(session, n);
	return text;
}

static char *say(struct session *session, const char *line)
{
	assert_int_equal(session_feed(session, line, strlen(line)), strlen(line));
	session_wants_push(session);
	return heard(session);
}

static void expect_begins(struct session *session, const char *line, const char *expected)
{
	char *text = say(session, line);

	if (strncmp(text, expected, strlen(expected)) != 0)
		fail_msg("said %sexpected %s\nheard    %s", line, expected, text);
	free(text);
}

/* Returns all pushed messages, as objects in an array. */
static json_t *pushed(struct session *session)
{
	json_t *all = json_array();

	while (session_wants_push(session)) {
		char *text, *at, *end;

		session_push(session, true);
		text = heard(session);
		for (at = text; (end = strchr(at, '\n')) != NULL; at = end + 1) {
			json_t *object = json_loadb(at, (size_t)(end - at), 0, NULL);

			assert_non_null(object);
			json_array_append_new(all, object);
		}
		free(text);
	}
	return all;
}

static const char *text_of(const json_t *array, size_t i, const char *key)
{
	const char *text = json_string_value(json_object_get(json_array_get(array, i), key));

	return text != NULL ? text : "";
}

static void an_event_says_who_has_changed_what_and_when(void **state)
{
	struct talk *talk = *state;
	const json_t *event;
	json_t *events;

	free(say(talk->session, "json on\nevents\n"));
	talk->fake.now_ns = 5 * SIMTIME_S;
	free(say(talk->session, "begin\ncloud up delay 1ms\ncloud up loss random 1%\ncommit\n"));
	free(say(talk->session, "cloud down delay 2ms\nclear counters\n"));
	free(say(talk->session, "cloud dwon delay 2ms\nbegin\ncloud up delay 9ms\nabort\n"));
	events = pushed(talk->session);
	assert_int_equal(json_array_size(events), 3);
	event = json_array_get(events, 0);
	assert_string_equal(text_of(events, 0, "event"), "change");
	assert_string_equal(text_of(events, 0, "how"), "batch");
	assert_int_equal(json_integer_value(json_object_get(event, "seq")), 1);
	assert_int_equal(json_integer_value(json_object_get(event, "t_ns")), 5 * SIMTIME_S);
	assert_string_equal(json_string_value(json_array_get(json_object_get(event, "lines"), 1)),
	                    "cloud up loss random 1%");
	event = json_object_get(event, "who");
	assert_int_equal(json_integer_value(json_object_get(event, "uid")), 7);
	assert_int_equal(json_integer_value(json_object_get(event, "pid")), 9);
	assert_string_equal(text_of(events, 1, "how"), "line");
	assert_string_equal(text_of(events, 1, "text"),
	                    "line by uid 7, pid 9 (test): cloud down delay 2ms");
	assert_string_equal(text_of(events, 2, "event"), "cleared");
	json_decref(events);
}

static void who_resumes_hears_each_event_once_and_is_told_when_one_is_gone(void **state)
{
	struct talk *talk = *state;
	struct control *control = &talk->fake.control;
	json_t *events, *later;
	uint64_t expected = 2;

	for (int i = 0; i < 10; i++)
		event_tell(control, RUN_LOG_DEBUG, "remark", json_object(), "%d", i);
	free(say(talk->session, "json on\nevents from 2\n"));
	events = pushed(talk->session);
	event_tell(control, RUN_LOG_DEBUG, "remark", json_object(), "later");
	later = pushed(talk->session);
	json_array_extend(events, later);
	json_decref(later);
	assert_int_equal(json_array_size(events), 10);
	for (size_t i = 0; i < 10; i++, expected++)
		assert_int_equal(
		        json_integer_value(json_object_get(json_array_get(events, i), "seq")),
		        expected);
	json_decref(events);
	expect_begins(talk->session, "json off\nevents from 13\n",
	              "ok\nerr events: event 13 is ahead of this run, whose next event is 12");
	for (uint32_t i = 0; i < EVENT_LOG_MAX; i++)
		event_tell(control, RUN_LOG_DEBUG, "remark", json_object(), "x");
	expect_begins(talk->session, "events from 2\n",
	              "err events: event 2 is gone: weir keeps only the latest events; resume "
	              "with `events from ");
	expect_begins(talk->session, "events from oldest\n", "events from ");
	expect_begins(talk->session, "events frm 2\n", "err events: write `events`, ");
}

static void a_reader_that_lags_behind_the_ring_is_told_from_where_it_may_resume(void **state)
{
	struct talk *talk = *state;
	struct control *control = &talk->fake.control;
	char expected[200], *text;

	free(say(talk->session, "events\n"));
	for (uint32_t i = 0; i < 2 * EVENT_LOG_MAX; i++)
		event_tell(control, RUN_LOG_DEBUG, "remark", json_object(), "x");
	session_push(talk->session, true);
	text = heard(talk->session);
	snprintf(expected, sizeof(expected),
	         "err events: the client read too slowly, and the next events are gone; resume "
	         "with `events "
	         "from %llu`\n",
	         (unsigned long long)event_log_first(control->events));
	assert_string_equal(text, expected);
	assert_true(session_over(talk->session));
	free(text);
}

static void a_read_only_conversation_changes_nothing(void **state)
{
	static const char *const lines[] = {
	        "cloud up delay 1ms\n",
	        "begin\n",
	        "begin lease 5s\n",
	        "no cloud up\n",
	        "clear counters\n",
	        "probe down\n",
	        "seed 4\n",
	        "file x\n",
	        "renew\n",
	        "frobnicate\n",
	        "port c\n",
	        "\"show\" config\n",
	};
	struct talk *talk = *state;

	session_introduce(talk->session, &(struct peer){.known = false}, true, false);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		char *text = say(talk->session, lines[i]);

		if (strstr(text, ": this socket is read-only: ") == NULL)
			fail_msg("said %sheard %s", lines[i], text);
		free(text);
	}
	assert_int_equal(talk->fake.changes + talk->fake.clears, 0);
	expect_begins(talk->session, "show config\n", "seed 42\n");
	expect_begins(talk->session, "events\n", "events from ");
	expect_begins(talk->session, "hello\n", "weir ");
}

static const char *delay_of(const struct talk *talk, const char *cloud)
{
	static char text[64];
	char *config = scenario_text(talk->fake.scenario), key[64];
	const char *at;

	snprintf(key, sizeof(key), "cloud %s delay ", cloud);
	at = strstr(config, key);
	snprintf(text, sizeof(text), "%.*s", at != NULL ? (int)strcspn(at + strlen(key), "\n") : 0,
	         at != NULL ? at + strlen(key) : "");
	free(config);
	return text;
}

static void poll_leases(struct talk *talk, uint64_t now_ns)
{
	talk->fake.now_ns = now_ns;
	leases_undo_due(&talk->fake.control);
	control_lock(&talk->fake.control);
	control_settle(&talk->fake.control);
	control_unlock(&talk->fake.control);
}

#define LEASE "begin lease 5s\ncloud down delay 80ms\ncommit\n"

static void a_lease_is_undone_when_its_time_is_up_and_not_before(void **state)
{
	struct talk *talk = *state;

	expect_begins(talk->session, LEASE,
	              "ok\nok\nlease 1: undone in 5.000 s, unless renewed\nok\n");
	poll_leases(talk, 5 * SIMTIME_S - 1);
	assert_string_equal(delay_of(talk, "down"), "80ms");
	expect_begins(talk->session, "renew\n", "lease 1: undone in 5.000 s");
	poll_leases(talk, 10 * SIMTIME_S - 2);
	assert_string_equal(delay_of(talk, "down"), "80ms");
	poll_leases(talk, 10 * SIMTIME_S);
	assert_string_equal(delay_of(talk, "down"), "40ms");
	expect_begins(talk->session, "renew\n",
	              "err renew: the lease of this conversation has ended");
	expect_begins(talk->session, LEASE, "ok\nok\nlease 2: ");
}

static void a_lease_whose_conversation_ends_goes_when_its_time_is_up(void **state)
{
	struct talk *talk = *state;
	struct session *other = session_make(&talk->fake.control);
	json_t *events;

	free(say(talk->session, "json on\nevents\n"));
	expect_begins(other, LEASE, "ok\nok\nlease 1: ");
	session_free(other);
	poll_leases(talk, 4 * SIMTIME_S);
	assert_string_equal(delay_of(talk, "down"), "80ms");
	free(say(talk->session, "cloud up delay 3ms\n"));
	poll_leases(talk, 5 * SIMTIME_S);
	assert_string_equal(delay_of(talk, "down"), "40ms");
	assert_string_equal(delay_of(talk, "up"), "3ms");
	events = pushed(talk->session);
	assert_int_equal(json_array_size(events), 3);
	assert_string_equal(text_of(events, 0, "how"), "lease");
	assert_string_equal(text_of(events, 2, "how"), "revert");
	assert_string_equal(text_of(events, 2, "why"), "connection-ended");
	json_decref(events);
}

static void a_lease_is_kept_or_reverted_on_request(void **state)
{
	struct talk *talk = *state;

	free(say(talk->session, LEASE));
	expect_begins(talk->session, "begin lease 1s\n",
	              "err lease: this conversation has a lease");
	expect_begins(talk->session, "keep\n", "ok\n");
	poll_leases(talk, 60 * SIMTIME_S);
	assert_string_equal(delay_of(talk, "down"), "80ms");
	free(say(talk->session, "begin lease 5s\ncloud down delay 90ms\ncommit\n"));
	expect_begins(talk->session, "revert\n", "ok\n");
	assert_string_equal(delay_of(talk, "down"), "80ms");
	expect_begins(talk->session, "renew\n", "err renew: this conversation has no lease");
}

static void a_second_begin_makes_of_a_change_for_a_time_none_that_stays(void **state)
{
	static const char *const begins[] = {"begin\n", "begin whole\n", "begin lease 9s\n"};
	struct talk *talk = *state;

	for (uint64_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
		expect_begins(talk->session, "begin lease 5s\n", "ok\n");
		expect_begins(talk->session, begins[i],
		              "err begin: a batch has begun already; commit or abort it first");
		expect_begins(talk->session, "cloud down delay 80ms\ncommit\n", "ok\nlease ");
		assert_string_equal(delay_of(talk, "down"), "80ms");
		poll_leases(talk, (i + 1) * 5 * SIMTIME_S);
		assert_string_equal(delay_of(talk, "down"), "40ms");
	}
}

/* Sends a change whose `begin lease` is refused, all lines at once as `weir serve` does, and then a
 * change that stays. */
static void expect_unchanged(struct talk *talk, const char *begin, const char *refusal)
{
	char text[200];

	snprintf(text, sizeof(text), "%scloud up delay 7ms\ncommit\n", begin);
	expect_begins(talk->session, begin, refusal);
	expect_begins(talk->session, "cloud up delay 7ms\n",
	              "err begin: this batch was refused at its beginning; say abort, and begin "
	              "again");
	expect_begins(talk->session, "commit\n", "err commit: no batch has begun");
	free(say(talk->session, text));
	assert_string_equal(delay_of(talk, "up"), "2ms");
	expect_begins(talk->session, "cloud up delay 3ms\ncloud up delay 2ms\n", "ok\nok\n");
}

static void the_lines_of_a_change_whose_lease_is_refused_are_refused(void **state)
{
	struct talk *talk = *state;
	struct session *others[LEASES_MAX];

	expect_begins(talk->session, "cloud up delay 2ms\n", "ok\n");
	expect_unchanged(talk, "begin lease 1d\n", "err lease: ");
	expect_unchanged(talk, "begin lease 1ms\n", "err lease: ");
	expect_unchanged(talk, "begin lease\n", "err lease: write begin lease TIME");
	expect_unchanged(talk, "begin lease 1s 2s\n", "err lease: write begin lease TIME");
	for (uint32_t i = 0; i < LEASES_MAX; i++)
		others[i] = session_make(&talk->fake.control);
	for (uint32_t i = 0; i < LEASES_MAX; i++)
		expect_begins(others[i], "begin lease 5s\ncloud down delay 1ms\ncommit\n",
		              "ok\nok\nlease ");
	expect_unchanged(talk, "begin lease 5s\n", "err lease: 64 leases are under way");
	for (uint32_t i = 0; i < LEASES_MAX; i++)
		session_free(others[i]);
}

static void in_a_batch_a_begin_that_is_refused_changes_nothing(void **state)
{
	static const char *const begins[] = {"begin lease 5s\n", "begin lease 1d\n",
	                                     "begin lease\n"};
	struct talk *talk = *state;

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
		expect_begins(talk->session, "begin\n", "ok\n");
		expect_begins(talk->session, begins[i], "err ");
		expect_begins(talk->session, "cloud up delay 4ms\ncommit\n", "ok\nok\n");
		expect_begins(talk->session, "cloud up delay 2ms\n", "ok\n");
	}
}

static void a_change_whose_lease_finds_no_room_is_not_made(void **state)
{
	struct talk *talk = *state;
	struct session *others[LEASES_MAX];

	for (uint32_t i = 0; i < LEASES_MAX; i++)
		others[i] = session_make(&talk->fake.control);
	for (uint32_t i = 0; i < LEASES_MAX - 1; i++)
		expect_begins(others[i], "begin lease 5s\ncloud up delay 1ms\ncommit\n",
		              "ok\nok\nlease ");
	/* There is room for either lease when the batches begin. */
	expect_begins(talk->session, "begin lease 5s\ncloud up delay 3ms\n", "ok\nok\n");
	expect_begins(others[LEASES_MAX - 1], "begin lease 5s\ncloud down delay 80ms\ncommit\n",
	              "ok\nok\nlease 64: ");
	expect_begins(talk->session, "commit\n",
	              "err lease: 64 leases are under way, which is the maximum; nothing is "
	              "changed");
	assert_string_equal(delay_of(talk, "up"), "1ms");
	expect_begins(talk->session, "cloud up delay 4ms\n", "ok\n");
	for (uint32_t i = 0; i < LEASES_MAX; i++)
		session_free(others[i]);
}

static void a_renewal_counts_though_weir_was_away_while_it_waited(void **state)
{
	struct talk *talk = *state;

	free(say(talk->session, LEASE));
	talk->fake.now_ns = 7 * SIMTIME_S; /* the leases were not polled since */
	expect_begins(talk->session, "renew\n", "lease 1: undone in 5.000 s");
	poll_leases(talk, 12 * SIMTIME_S - 1);
	assert_string_equal(delay_of(talk, "down"), "80ms");
	poll_leases(talk, 12 * SIMTIME_S);
	assert_string_equal(delay_of(talk, "down"), "40ms");
}

/* One client leaves between the posting and the answer, the other before its turn. */
static void a_lease_whose_client_goes_before_it_is_answered_is_undone_or_never_made(void **state)
{
	struct talk *talk = *state;
	struct session *one = session_make(&talk->fake.control);
	struct session *two = session_make(&talk->fake.control);
	uint32_t asked = 0;
	const struct asker gone = {talk_leaves, &asked};

	expect_begins(two, "begin lease 5s\ncloud up delay 3ms\n", "ok\nok\n");
	talk->fake.stands_still = true;
	expect_begins(one, "begin lease 5s\n", "ok\n");
	session_attend(one, &gone, -1);
	session_attend(two, &gone, -1);
	expect_begins(one, "cloud down delay 80ms\ncommit\n", "ok\n");
	assert_string_equal(delay_of(talk, "down"), "80ms");
	expect_begins(two, "commit\n", "");
	session_free(one);
	session_free(two);
	talk->fake.stands_still = false;
	poll_leases(talk, 5 * SIMTIME_S + 100 * SIMTIME_MS);
	assert_string_equal(delay_of(talk, "down"), "40ms");
	assert_string_equal(delay_of(talk, "up"), "");
}

static void a_lease_that_cannot_be_undone_is_told_once_and_tried_again(void **state)
{
	struct talk *talk = *state;
	json_t *events;

	free(say(talk->session, "json on\nevents\n"));
	free(say(talk->session, LEASE));
	talk->fake.refuse = true;
	poll_leases(talk, 5 * SIMTIME_S);
	poll_leases(talk, 6 * SIMTIME_S);
	poll_leases(talk, 8 * SIMTIME_S);
	assert_string_equal(delay_of(talk, "down"), "80ms");
	talk->fake.refuse = false;
	poll_leases(talk, 80 * SIMTIME_S);
	assert_string_equal(delay_of(talk, "down"), "40ms");
	events = pushed(talk->session);
	assert_int_equal(json_array_size(events), 3);
	assert_string_equal(text_of(events, 1, "event"), "lease-stuck");
	assert_string_equal(text_of(events, 2, "how"), "revert");
	json_decref(events);
}

/* The lease ends with the request, not when its time is up. */
static void a_revert_that_is_refused_is_tried_again_after_a_second(void **state)
{
	struct talk *talk = *state;

	free(say(talk->session, "begin lease 1h\ncloud down delay 80ms\ncommit\n"));
	talk->fake.refuse = true;
	expect_begins(talk->session, "revert\n", "err revert: the memory would not do");
	expect_begins(talk->session, "renew\n", "err renew: the lease has ended, and its change");
	poll_leases(talk, 500 * SIMTIME_MS);
	talk->fake.refuse = false;
	poll_leases(talk, 900 * SIMTIME_MS);
	assert_string_equal(delay_of(talk, "down"), "80ms");
	poll_leases(talk, 1100 * SIMTIME_MS);
	assert_string_equal(delay_of(talk, "down"), "40ms");
}

/* ---- watches ---- */

static void the_first_loss_of_each_reason_is_told_once_and_real_ones_once_a_second(void **state)
{
	struct talk *talk = *state;
	struct loss_watch watch = {.begun = false};
	struct counters *c = &talk->fake.report.counters;
	json_t *events;

	free(say(talk->session, "json on\nevents\n"));
	loss_watch_step(&watch, &talk->fake.control);
	c->drops[REASON_LOSS] = 3;
	loss_watch_step(&watch, &talk->fake.control);
	c->drops[REASON_LOSS] = 30;
	c->drops[REASON_DOWN] = 1;
	c->drops[REASON_NO_BUFFER] = 2;
	loss_watch_step(&watch, &talk->fake.control);
	events = pushed(talk->session);
	/* of both clouds, which have the same counters */
	assert_int_equal(json_array_size(events), 6);
	assert_string_equal(text_of(events, 0, "reason"), "loss");
	assert_true(json_is_true(json_object_get(json_array_get(events, 0), "first_of_kind")));
	assert_string_equal(text_of(events, 2, "reason"), "down");
	assert_true(json_is_false(json_object_get(json_array_get(events, 2), "first_of_kind")));
	assert_string_equal(text_of(events, 3, "kind"), "real");
	json_decref(events);
	c->drops[REASON_NO_BUFFER] = 12;
	loss_watch_step(&watch, &talk->fake.control); /* in the same second */
	assert_false(session_wants_push(talk->session));
	talk->fake.now_ns = 2 * SIMTIME_S;
	loss_watch_step(&watch, &talk->fake.control);
	events = pushed(talk->session);
	assert_int_equal(json_array_size(events), 2);
	assert_string_equal(text_of(events, 1, "event"), "real-loss");
	assert_int_equal(json_integer_value(json_object_get(json_array_get(events, 0), "count")),
	                 10);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(events, 0), "total")),
	                 12);
	json_decref(events);
	c->drops[REASON_NO_BUFFER] = 13;
	talk->fake.now_ns = 4 * SIMTIME_S;
	loss_watch_step(&watch, &talk->fake.control);
	events = pushed(talk->session);
	assert_string_equal(text_of(events, 0, "text"),
	                    "cloud down: weir has lost 1 packet that the scenario did not ask for, "
	                    "13 in all (weir had no memory left to hold the packet)");
	json_decref(events);
	/* A port says why, too. */
	talk->fake.port.link_up = true;
	talk->fake.port.not_sent = 12;
	talk->fake.port.too_large = 9;
	talk->fake.now_ns = 6 * SIMTIME_S;
	loss_watch_step(&watch, &talk->fake.control);
	events = pushed(talk->session);
	assert_string_equal(text_of(events, 0, "why"),
	                    "9: larger than the MTU of its interface; 3: the device could not send "
	                    "them");
	json_decref(events);
	loss_watch_release(&watch);
}

static void the_points_of_schedules_are_told_with_their_instants(void **state)
{
	struct talk *talk = *state;
	struct schedule_watch watch = {.begun = false};
	json_t *events;

	free(say(talk->session, "json on\nevents\ncloud up at 2s delay 5ms\n"));
	free(say(talk->session, "cloud down every 3s for 500ms loss random 10%\n"));
	json_decref(pushed(talk->session));
	for (uint64_t ms = 0; ms <= 6200; ms += 100) {
		talk->fake.now_ns = ms * SIMTIME_MS + 7;
		schedule_watch_step(&watch, &talk->fake.control);
	}
	events = pushed(talk->session);
	assert_int_equal(json_array_size(events), 4);
	for (size_t i = 0; i < 4; i++) {
		static const uint64_t at_ns[] = {2000 * SIMTIME_MS, 3000 * SIMTIME_MS,
		                                 3500 * SIMTIME_MS, 6000 * SIMTIME_MS};
		const json_t *event = json_array_get(events, i);

		assert_int_equal(json_integer_value(json_object_get(event, "at_ns")), at_ns[i]);
		assert_int_equal(json_is_true(json_object_get(event, "on")), i != 2);
	}
	json_decref(events);
	schedule_watch_release(&watch);
}

#define SCHEDULES 400

/* 400 schedules of two points a second. A step has room for 16 of them, so each has its turn once
 * in 2.5 s. Meanwhile clouds are added, removed and changed. */
static void of_many_schedules_each_has_its_turn_and_no_point_is_lost(void **state)
{
	struct talk *talk = *state;
	struct schedule_watch watch = {.begun = false};
	uint64_t points[SCHEDULES] = {0}, latest_ns[SCHEDULES] = {0};
	char line[120];

	free(say(talk->session, "json on\n"));
	for (int i = 0; i < SCHEDULES; i++) {
		snprintf(line, sizeof(line), "cloud c%d from a to b match src 10.0.%d.%d\n", i,
		         i / 256, i % 256);
		expect_begins(talk->session, line, "{\"ok\":true");
		snprintf(line, sizeof(line), "cloud c%d flap down 500ms every 1s\n", i);
		expect_begins(talk->session, line, "{\"ok\":true");
	}
	free(say(talk->session, "events\n"));
	for (uint64_t step = 0; step <= 200; step++) {
		json_t *events;

		talk->fake.now_ns = step * 100 * SIMTIME_MS;
		if (step % 5 == 1) {
			snprintf(line, sizeof(line), "cloud down delay %dms\n", (int)step + 1);
			free(say(talk->session, line));
			free(say(talk->session,
			         step % 2 == 0 ? "no cloud up\n" : "cloud up from b to a\n"));
		}
		schedule_watch_step(&watch, &talk->fake.control);
		events = pushed(talk->session);
		for (size_t i = 0; i < json_array_size(events); i++) {
			const json_t *event = json_array_get(events, i);
			uint32_t of;

			if (strcmp(text_of(events, i, "event"), "schedule") != 0)
				continue;
			of = (uint32_t)atoi(text_of(events, i, "cloud") + 1);
			points[of] +=
			        (uint64_t)json_integer_value(json_object_get(event, "points"));
			latest_ns[of] =
			        (uint64_t)json_integer_value(json_object_get(event, "at_ns"));
		}
		json_decref(events);
	}
	for (int i = 0; i < SCHEDULES; i++) {
		/* At 1 s, 1.5 s, 2 s ...; the last one told is at most 2.5 s and half a period
		 * old. */
		assert_in_range(latest_ns[i], 17 * SIMTIME_S, 20 * SIMTIME_S);
		assert_int_equal(points[i], latest_ns[i] / (500 * SIMTIME_MS) - 1);
	}
	schedule_watch_release(&watch);
}

static void differences_of_samples_add_up_to_the_counters(void **state)
{
	struct talk *talk = *state;
	struct counters *c = &talk->fake.report.counters;
	uint64_t sum = 0;

	free(say(talk->session, "json on\nsample 100ms clouds 1\n"));
	for (uint64_t i = 1; i <= 50; i++) {
		json_t *samples;

		c->rx_packets += i;
		c->tx_bytes += i * i;
		talk->fake.now_ns = i * 100 * SIMTIME_MS;
		session_wants_push(talk->session);
		if (i % 3 == 0) /* a slow reader: its next sample covers a longer time */
			continue;
		samples = pushed(talk->session);
		for (size_t k = 0; k < json_array_size(samples); k++) {
			const json_t *sample = json_array_get(samples, k);
			const json_t *all = json_object_get(sample, "all");

			assert_int_equal(json_array_size(json_object_get(sample, "clouds")), 1);
			assert_int_equal(
			        json_integer_value(json_object_get(sample, "clouds_in_all")), 2);
			sum += (uint64_t)json_integer_value(json_object_get(all, "rx_packets"));
		}
		json_decref(samples);
	}
	/* The sum of two clouds. */
	assert_int_equal(sum, 2 * c->rx_packets);
	expect_begins(talk->session, "json off\nsample 1ms\n", "ok\nerr sample: ");
	expect_begins(talk->session, "sample off\n", "ok\n");
}

GROUP(events)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_ring_keeps_the_latest_events_whole_whatever_their_lengths),
	        cmocka_unit_test(the_ring_keeps_no_more_than_it_may_though_they_are_short),
	        cmocka_unit_test(what_somebody_else_has_changed_since_stays),
	        cmocka_unit_test(leases_that_are_undone_in_any_order_leave_what_was_there),
#define TALK(claim) cmocka_unit_test_setup_teardown(claim, talk_start, talk_end)
	        TALK(an_event_says_who_has_changed_what_and_when),
	        TALK(who_resumes_hears_each_event_once_and_is_told_when_one_is_gone),
	        TALK(a_reader_that_lags_behind_the_ring_is_told_from_where_it_may_resume),
	        TALK(a_read_only_conversation_changes_nothing),
	        TALK(a_lease_is_undone_when_its_time_is_up_and_not_before),
	        TALK(a_lease_whose_conversation_ends_goes_when_its_time_is_up),
	        TALK(a_lease_is_kept_or_reverted_on_request),
	        TALK(a_second_begin_makes_of_a_change_for_a_time_none_that_stays),
	        TALK(the_lines_of_a_change_whose_lease_is_refused_are_refused),
	        TALK(in_a_batch_a_begin_that_is_refused_changes_nothing),
	        TALK(a_change_whose_lease_finds_no_room_is_not_made),
	        TALK(a_renewal_counts_though_weir_was_away_while_it_waited),
	        TALK(a_lease_whose_client_goes_before_it_is_answered_is_undone_or_never_made),
	        TALK(a_lease_that_cannot_be_undone_is_told_once_and_tried_again),
	        TALK(a_revert_that_is_refused_is_tried_again_after_a_second),
	        TALK(the_first_loss_of_each_reason_is_told_once_and_real_ones_once_a_second),
	        TALK(the_points_of_schedules_are_told_with_their_instants),
	        TALK(of_many_schedules_each_has_its_turn_and_no_point_is_lost),
	        TALK(differences_of_samples_add_up_to_the_counters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
