/* SPDX-License-Identifier: BSD-3-Clause */
/* Workers, or the whole machine, that stand still during a change. The emulator is a fake whose
 * worker accepts nothing until the test lets it. Waiting takes no time of the machine: the fake's
 * clock goes on, and the test may do something meanwhile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <unistd.h>

#include "fake_control.h"
#include "runner/group.h"
#include "socket/session.h"
#include "stream/event.h"

#define SCENARIO "seed 42\nport a\nport b\ncloud down from a to b\ncloud up from b to a\n"
#define LATE     "accepted, but worker 1 on processor 3 stands still: "
#define REFUSED                                                                                    \
	"worker 1 on processor 3 stands still and has not taken the previous change; nothing is "  \
	"changed; try again when it runs again\n"

struct talk {
	struct fake fake;
	struct session *a, *b;
	uint64_t at_ns; /* of what happens meanwhile */
	bool happened;
};

static int talk_start(void **state)
{
	struct talk *talk = calloc(1, sizeof(*talk));

	if (talk == NULL || !fake_start(&talk->fake, SCENARIO))
		return -1;
	talk->fake.argument = talk;
	talk->a = session_make(&talk->fake.control);
	talk->b = session_make(&talk->fake.control);
	*state = talk;
	return talk->a != NULL && talk->b != NULL ? 0 : -1;
}

static int talk_stop(void **state)
{
	struct talk *talk = *state;

	session_free(talk->a);
	session_free(talk->b);
	fake_stop(&talk->fake);
	assert_int_equal(talk->fake.under_way, 0);
	free(talk);
	return 0;
}

static void say(struct session *session, const char *text)
{
	assert_int_equal(session_feed(session, text, strlen(text)), strlen(text));
}

static void expect(struct session *session, const char *expected)
{
	size_t n;
	const char *output = session_output(session, &n);
	char *heard = without_was(strndup(output, n));

	if (strcmp(heard, expected) != 0)
		fail_msg("expected %s\nheard    %s", expected, heard);
	free(heard);
	session_taken(session, n);
}

static void settle(struct talk *talk)
{
	control_lock(&talk->fake.control);
	control_settle(&talk->fake.control);
	control_unlock(&talk->fake.control);
}

static void what_a_worker_does_not_take_is_accepted_and_comes_into_force_later(void **state)
{
	struct talk *talk = *state;

	talk->fake.stands_still = true;
	say(talk->a, "cloud up delay 5ms\n");
	assert_in_range(talk->fake.now_ns, CONTROL_LATE_NS, CONTROL_LATE_NS + 20 * SIMTIME_MS);
	expect(talk->a, LATE "the change takes effect there when it polls again\nok\n");
	say(talk->a, "show config\n");
	expect(talk->a,
	       "# worker 1 on processor 3 is stalled; the last change takes effect there at its "
	       "next poll\n" SCENARIO "cloud up delay 5ms\nok\n");
	say(talk->a, "json on\nclear counters\n");
	expect(talk->a,
	       "{\"ok\":true}\n{\"ok\":false,\"error\":{\"name\":\"scenario\",\"code\":"
	       "\"refused\",\"column\":0,\"message\":\"worker 1 on processor 3 stands still "
	       "and has not taken the previous change; nothing is changed; try again when it "
	       "runs again\"}}\n");
	talk->fake.stands_still = false;
	settle(talk);
	assert_int_equal(talk->fake.under_way, 0);
	say(talk->a, "json off\ncloud up delay 6ms\nshow config\n");
	expect(talk->a, "ok\nok\n" SCENARIO "cloud up delay 6ms\nok\n");
	assert_int_equal(talk->fake.changes, 2);
}

static void in_json_a_late_change_is_ok_and_says_late(void **state)
{
	struct talk *talk = *state;

	talk->fake.stands_still = true;
	say(talk->a, "json on\nclear counters\n");
	expect(talk->a, "{\"ok\":true}\n{\"ok\":true,\"late\":\"" LATE
	                "counters are cleared there when it polls again\"}\n");
	talk->fake.stands_still = false;
	settle(talk);
}

/* From the audit: SIGSTOP for 11 s with changes in the pipe; after that, no change was possible any
 * more. The clock goes on, but is not read. */
static void the_machine_stops(void *argument)
{
	struct talk *talk = argument;

	talk->fake.stands_still = talk->happened;
	talk->fake.now_ns += talk->happened ? 11 * SIMTIME_S : 0;
	talk->happened = !talk->happened;
}

static void a_stop_of_the_machine_is_no_stall_and_all_goes_on_by_itself(void **state)
{
	struct talk *talk = *state;
	static const char *const pipe[] = {
	        "cloud up delay 1ms\n", "cloud up delay 2ms\n", "clear counters\n",
	        "begin\ncloud up delay 3ms\ncloud down delay 3ms\ncommit\n",
	        "cloud up delay 4ms\n"};

	talk->fake.meanwhile = the_machine_stops;
	for (size_t i = 0; i < sizeof(pipe) / sizeof(pipe[0]); i++) {
		talk->fake.stands_still = true;
		talk->happened = true;
		say(talk->a, pipe[i]);
		assert_false(talk->fake.stands_still);
	}
	expect(talk->a, "ok\nok\nok\nok\nok\nok\nok\nok\n");
	say(talk->a, "show config\n");
	expect(talk->a, "seed 42\nport a\nport b\ncloud down from a to b\ncloud down delay 3ms\n"
	                "cloud up from b to a\ncloud up delay 4ms\nok\n");
	assert_int_equal(talk->fake.changes, 4);
}

/* After a second, while A waits for the worker, B looks; the worker goes on, and B changes. */
static void b_looks_and_changes(void *argument)
{
	struct talk *talk = argument;

	if (talk->fake.now_ns < SIMTIME_S || talk->happened)
		return;
	talk->happened = true;
	say(talk->b, "show config\n");
	expect(talk->b,
	       "# worker 1 on processor 3 is stalled; the last change takes effect there at its "
	       "next poll\n" SCENARIO "cloud up delay 5ms\nok\n");
	expect(talk->a, "");
	talk->fake.stands_still = false;
	say(talk->b, "cloud up delay 6ms\n");
	expect(talk->b, "ok\n");
}

static void others_go_on_looking_and_wait_with_their_changes(void **state)
{
	struct talk *talk = *state;

	talk->fake.stands_still = true;
	talk->fake.meanwhile = b_looks_and_changes;
	say(talk->a, "cloud up delay 5ms\n");
	assert_true(talk->happened);
	expect(talk->a, "ok\n");
	assert_int_equal(talk->fake.changes, 2);
}

static void b_changes(void *argument)
{
	struct talk *talk = argument;

	talk->fake.meanwhile = NULL;
	say(talk->b, "cloud up delay 6ms\n");
}

static void who_waits_for_another_in_vain_is_told_that_nothing_is_changed(void **state)
{
	struct talk *talk = *state;

	talk->fake.stands_still = true;
	talk->fake.meanwhile = b_changes;
	say(talk->a, "cloud up delay 5ms\n");
	expect(talk->a, LATE "the change takes effect there when it polls again\nok\n");
	expect(talk->b, "err scenario: " REFUSED);
	assert_int_equal(talk->fake.changes, 1);
	talk->fake.stands_still = false;
	settle(talk);
}

/* It is there when its change is posted. */
static bool leaves(void *argument)
{
	uint32_t *asked = argument;

	return (*asked)++ == 0;
}

static void of_a_client_that_goes_the_change_stays_and_what_waited_is_forgotten(void **state)
{
	struct talk *talk = *state;
	uint32_t asked = 0;
	const struct asker gone = {leaves, &asked};

	session_attend(talk->a, &gone, -1);
	session_attend(talk->b, &gone, -1);
	talk->fake.stands_still = true;
	say(talk->a, "cloud up delay 5ms\n");
	say(talk->b, "cloud up delay 6ms\n");
	assert_true(session_over(talk->a) && session_over(talk->b));
	assert_in_range(talk->fake.now_ns, 0, SIMTIME_S);
	expect(talk->a, "");
	session_free(talk->a);
	talk->fake.stands_still = false;
	talk->a = session_make(&talk->fake.control);
	say(talk->a, "show config\ncloud up delay 7ms\n");
	expect(talk->a, SCENARIO "cloud up delay 5ms\nok\nok\n");
}

/* ---- with threads ---- */

#define CLIENTS 6
#define ROUNDS  60

struct client {
	struct talk *talk;
	struct asker asker;
	uint32_t number, patience;
};

static bool loses_patience(void *argument)
{
	struct client *client = argument;

	return client->patience-- > 0;
}

static void converse(void *argument)
{
	static const char *const lines[] = {
	        "cloud e from a to b match \"port 1 or port 2 or or\"\n",
	        "cloud up delay 5ms\ncloud up delay 6ms\n",
	        "begin\nshow config\ncloud down delay 3ms\ncommit\n", "show cloud\n"};
	struct client *client = argument;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		struct session *session = session_make(&client->talk->fake.control);
		const char *line = lines[(client->number + i) % 4];

		client->patience = (client->number + i) % 3;
		session_attend(session, &client->asker, -1);
		session_feed(session, line, strlen(line));
		session_free(session);
	}
}

/* Whatever is in progress when clients leave, nothing is lost and nothing leaks. */
static void clients_that_go_at_any_moment_leave_nothing_behind(void **state)
{
	struct talk *talk = *state;
	struct control *control = &talk->fake.control;
	struct client clients[CLIENTS];

	fake_use_threads(&talk->fake);
	for (uint32_t i = 0; i < CLIENTS; i++) {
		clients[i] = (struct client){
		        .talk = talk, .asker = {loses_patience, &clients[i]}, .number = i};
		assert_int_equal(control_thread(control, converse, &clients[i]), 0);
	}
	for (int i = 0; !control_join(control, i % 3 * SIMTIME_MS); i++) {
		control_lock(control);
		talk->fake.stands_still = i % 4 == 0;
		control_unlock(control);
	}
	talk->fake.stands_still = false;
	say(talk->a, "cloud up delay 9ms\n");
	expect(talk->a, "ok\n");
}

struct queue {
	struct control *control;
	uint32_t asked, n, order[CLIENTS];
};

static void take_a_turn(void *argument)
{
	struct queue *queue = argument;
	char who[CONTROL_WORKER_BYTES];
	uint32_t number;

	control_lock(queue->control);
	number = queue->asked++;
	control_unlock(queue->control);
	assert_int_equal(control_turn(queue->control, NULL, who), 0);
	queue->order[queue->n++] = number; /* nobody else holds the turn */
	control_give_back(queue->control);
}

static bool is_asked(struct queue *queue, uint32_t n)
{
	uint32_t waiting = 0;

	control_lock(queue->control);
	for (const struct turn *turn = queue->control->turns; turn != NULL; turn = turn->next)
		waiting++;
	control_unlock(queue->control);
	return waiting == n;
}

static void turns_come_in_the_order_in_which_they_were_asked_for(void **state)
{
	struct talk *talk = *state;
	struct queue queue = {.control = &talk->fake.control};
	char who[CONTROL_WORKER_BYTES];

	fake_use_threads(&talk->fake);
	assert_int_equal(control_turn(queue.control, NULL, who), 0);
	for (uint32_t i = 0; i < CLIENTS; i++) {
		assert_int_equal(control_thread(queue.control, take_a_turn, &queue), 0);
		while (!is_asked(&queue, i + 1))
			usleep(1000);
	}
	control_give_back(queue.control);
	assert_true(control_join(queue.control, 60 * SIMTIME_S));
	for (uint32_t i = 0; i < CLIENTS; i++)
		assert_int_equal(queue.order[i], i);
}

static void what_does_not_come_to_its_end_is_not_taken_away_under_who_works_on_it(void **state)
{
	struct control *control = &((struct talk *)*state)->fake.control;

	assert_true(control_look_begin(control));
	assert_false(control_end(control, 3 * SIMTIME_MS));
	assert_false(control_look_begin(control));
	control_look_end(control);
	assert_true(control_end(control, 3 * SIMTIME_MS));
}

/* What a thread does that comes back, from a disk that did not answer, while weir ends. */
static void what_comes_after_the_end_finds_no_emulator(void **state)
{
	static const char *const lines[] = {
	        "hello\n",          "json on\nhello\n", "show cloud\n",
	        "capture all\n",    "capture down\n",   "cloud up delay 5ms\n",
	        "clear counters\n", "sample 1s\n",      "probe down\n",
	        "flight dump\n",    "events\n",         "begin\nhello\ncommit\n"};
	struct talk *talk = *state;
	struct control *control = &talk->fake.control;

	assert_true(control_end(control, SIMTIME_S));
	control_cut_off(control);
	assert_null(control->context);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct session *session = session_make(control);

		session_feed(session, lines[i], strlen(lines[i]));
		session_wants_push(session);
		assert_true(session_over(session));
		session_free(session);
	}
	event_stopped(control, RUN_LOG_INFO, "test");
	assert_int_equal(talk->fake.changes, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, talk_start, talk_stop)

GROUP(stall)
{
	const struct CMUnitTest tests[] = {
	        TEST(what_a_worker_does_not_take_is_accepted_and_comes_into_force_later),
	        TEST(in_json_a_late_change_is_ok_and_says_late),
	        TEST(a_stop_of_the_machine_is_no_stall_and_all_goes_on_by_itself),
	        TEST(others_go_on_looking_and_wait_with_their_changes),
	        TEST(who_waits_for_another_in_vain_is_told_that_nothing_is_changed),
	        TEST(of_a_client_that_goes_the_change_stays_and_what_waited_is_forgotten),
	        TEST(clients_that_go_at_any_moment_leave_nothing_behind),
	        TEST(turns_come_in_the_order_in_which_they_were_asked_for),
	        TEST(what_does_not_come_to_its_end_is_not_taken_away_under_who_works_on_it),
	        TEST(what_comes_after_the_end_finds_no_emulator),
	};

	return cmocka_run_group_tests_name("stall", tests, NULL, NULL);
}
