/* SPDX-License-Identifier: BSD-3-Clause */
/* Workers, or the whole machine, that stand still during a change. The emulator is a fake whose
 * worker accepts nothing until the test lets it; the test sets the clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <unistd.h>

#include "fake_control.h"
#include "runner/group.h"
#include "service/executor.h"
#include "socket/pending.h"
#include "socket/session.h"

#define SCENARIO "seed 42\nport a\nport b\ncloud down from a to b\ncloud up from b to a\n"
#define POLL_NS  (20 * SIMTIME_MS)
#define LATE     "accepted, but worker 1 on processor 3 stands still: "
#define REFUSED                                                                                    \
	"worker 1 on processor 3 stands still and has not taken the previous change; nothing is "  \
	"changed; try again when it runs again\n"

struct talk {
	struct fake fake;
	struct session *a, *b;
	uint64_t now_ns;
};

static int talk_start(void **state)
{
	struct talk *talk = calloc(1, sizeof(*talk));

	if (talk == NULL || !fake_start(&talk->fake, SCENARIO))
		return -1;
	talk->a = session_make(&talk->fake.control, 0);
	talk->b = session_make(&talk->fake.control, 0);
	*state = talk;
	return talk->a != NULL && talk->b != NULL ? 0 : -1;
}

static int talk_stop(void **state)
{
	struct talk *talk = *state;
	struct executor *executor = talk->fake.control.executor;

	session_free(talk->a);
	session_free(talk->b);
	fake_stop(&talk->fake);
	assert_int_equal(talk->fake.under_way, 0);
	executor_close(executor, SIMTIME_S);
	free(talk);
	return 0;
}

static size_t feed(struct talk *talk, struct session *session, const char *text)
{
	return session_feed(session, text, strlen(text), talk->now_ns);
}

/* Lets time pass in steps of control's polls. */
static void pass(struct talk *talk, uint64_t time_ns)
{
	for (uint64_t end_ns = talk->now_ns + time_ns; talk->now_ns < end_ns;) {
		talk->now_ns += POLL_NS;
		__atomic_store_n(&talk->fake.now_ns, talk->now_ns, __ATOMIC_RELAXED);
		session_poll(talk->a, talk->now_ns);
		session_poll(talk->b, talk->now_ns);
	}
}

static void expect(struct session *session, const char *expected)
{
	size_t n;
	const char *output = session_output(session, &n);
	char *heard = without_was(strndup(output, n));

	if (strcmp(heard, expected) != 0)
		fail_msg("expected %s\nheard    %s", expected, heard);
	free(heard);
	session_taken(session, n, 0);
}

static void what_a_worker_does_not_take_is_accepted_and_comes_into_force_later(void **state)
{
	struct talk *talk = *state;

	talk->fake.stands_still = true;
	feed(talk, talk->a, "cloud up delay 5ms\n");
	assert_true(session_pending(talk->a));
	pass(talk, PENDING_LATE_NS - 2 * POLL_NS);
	expect(talk->a, "");
	pass(talk, 4 * POLL_NS);
	expect(talk->a, LATE "the change takes effect there when it polls again\nok\n");
	feed(talk, talk->a, "show config\n");
	expect(talk->a,
	       "# worker 1 on processor 3 is stalled; the last change takes effect there at its "
	       "next poll\n" SCENARIO "cloud up delay 5ms\nok\n");
	feed(talk, talk->a, "json on\nclear counters\n");
	pass(talk, PENDING_LATE_NS + 2 * POLL_NS);
	expect(talk->a,
	       "{\"ok\":true}\n{\"ok\":false,\"error\":{\"name\":\"scenario\",\"code\":"
	       "\"refused\",\"column\":0,\"message\":\"worker 1 on processor 3 stands still "
	       "and has not taken the previous change; nothing is changed; try again when it "
	       "runs again\"}}\n");
	talk->fake.stands_still = false;
	pass(talk, POLL_NS);
	assert_int_equal(talk->fake.under_way, 0);
	feed(talk, talk->a, "json off\ncloud up delay 6ms\nshow config\n");
	expect(talk->a, "ok\nok\n" SCENARIO "cloud up delay 6ms\nok\n");
	assert_int_equal(talk->fake.changes, 2);
}

static void in_json_a_late_change_is_ok_and_says_late(void **state)
{
	struct talk *talk = *state;

	feed(talk, talk->a, "json on\n");
	talk->fake.stands_still = true;
	feed(talk, talk->a, "clear counters\n");
	pass(talk, PENDING_LATE_NS + 2 * POLL_NS);
	expect(talk->a, "{\"ok\":true}\n{\"ok\":true,\"late\":\"" LATE
	                "counters are cleared there when it polls again\"}\n");
}

/* From the audit: SIGSTOP for 11 s with changes in the pipe; after that, no change was possible any
 * more. */
static void a_stop_of_the_machine_is_no_stall_and_all_goes_on_by_itself(void **state)
{
	struct talk *talk = *state;
	const char *pipe = "cloud up delay 1ms\ncloud up delay 2ms\nclear counters\nbegin\n"
	                   "cloud up delay 3ms\ncloud down delay 3ms\ncommit\ncloud up delay 4ms\n";
	size_t at = 0;

	while (at < strlen(pipe)) {
		talk->fake.stands_still = true;
		at += feed(talk, talk->a, pipe + at);
		/* The clock goes on, but is not read. */
		talk->now_ns += 11 * SIMTIME_S;
		session_poll(talk->a, talk->now_ns);
		talk->fake.stands_still = false;
		session_poll(talk->a, talk->now_ns);
		session_poll(talk->a, talk->now_ns);
	}
	expect(talk->a, "ok\nok\nok\nok\nok\nok\nok\nok\n");
	feed(talk, talk->a, "show config\n");
	expect(talk->a, "seed 42\nport a\nport b\ncloud down from a to b\ncloud down delay 3ms\n"
	                "cloud up from b to a\ncloud up delay 4ms\nok\n");
	assert_int_equal(talk->fake.changes, 4);
}

static void others_go_on_looking_and_wait_with_their_changes(void **state)
{
	struct talk *talk = *state;

	talk->fake.stands_still = true;
	feed(talk, talk->a, "cloud up delay 5ms\n");
	feed(talk, talk->b, "show config\n");
	pass(talk, CONTROL_SETTLES_NS + POLL_NS);
	assert_false(session_pending(talk->b));
	session_taken(talk->b,
	              strlen("# worker 1 on processor 3 is stalled; the last change takes "
	                     "effect there at its next poll\n" SCENARIO "cloud up delay 5ms\nok\n"),
	              0);
	expect(talk->b, "");
	feed(talk, talk->b, "cloud up delay 6ms\n");
	pass(talk, SIMTIME_S);
	assert_true(session_pending(talk->b));
	talk->fake.stands_still = false;
	pass(talk, 2 * POLL_NS);
	expect(talk->a, "ok\n");
	expect(talk->b, "ok\n");
	assert_int_equal(talk->fake.changes, 2);
}

static void who_waits_for_another_in_vain_is_told_that_nothing_is_changed(void **state)
{
	struct talk *talk = *state;

	talk->fake.stands_still = true;
	feed(talk, talk->a, "cloud up delay 5ms\n");
	feed(talk, talk->b, "cloud up delay 6ms\n");
	pass(talk, PENDING_LATE_NS + 2 * POLL_NS);
	expect(talk->a, LATE "the change takes effect there when it polls again\nok\n");
	expect(talk->b, "err scenario: " REFUSED);
	assert_int_equal(talk->fake.changes, 1);
}

static void of_a_client_that_goes_the_change_stays_and_what_waited_is_forgotten(void **state)
{
	struct talk *talk = *state;

	talk->fake.stands_still = true;
	feed(talk, talk->a, "cloud up delay 5ms\n");
	feed(talk, talk->b, "cloud up delay 6ms\n");
	session_free(talk->a);
	session_free(talk->b);
	talk->fake.stands_still = false;
	talk->a = session_make(&talk->fake.control, 0);
	talk->b = session_make(&talk->fake.control, 0);
	pass(talk, POLL_NS);
	feed(talk, talk->a, "show config\ncloud up delay 7ms\n");
	expect(talk->a, SCENARIO "cloud up delay 5ms\nok\nok\n");
}

/* The same with threads: whatever is in progress when clients leave, nothing is lost and nothing
 * leaks. */
static void clients_that_go_at_any_moment_leave_nothing_behind(void **state)
{
	struct talk *talk = *state;

	talk->fake.control.executor = executor_make();
	assert_non_null(talk->fake.control.executor);
	for (int i = 0; i < 60; i++) {
		feed(talk, talk->a,
		     i % 3 == 0   ? "cloud e from a to b match \"port 1 or port 2 or or\"\n"
		     : i % 3 == 1 ? "cloud up delay 5ms\ncloud up delay 6ms\n"
		                  : "begin\nshow config\n");
		feed(talk, talk->b, "show cloud\n");
		usleep((useconds_t)(i % 7) * 100);
		talk->fake.stands_still = i % 4 == 0;
		pass(talk, POLL_NS);
		session_free(talk->a);
		talk->a = session_make(&talk->fake.control, 0);
		session_free(talk->b);
		talk->b = session_make(&talk->fake.control, 0);
	}
	talk->fake.stands_still = false;
	feed(talk, talk->a, "cloud up delay 9ms\n");
	for (int i = 0; i < 60000 && session_pending(talk->a); i++) {
		session_poll(talk->a, talk->now_ns);
		usleep(1000);
	}
	expect(talk->a, "ok\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, talk_start, talk_stop)

static void what_does_not_come_to_its_end_is_not_taken_away_under_who_works_on_it(void **state)
{
	struct control *control = &((struct talk *)*state)->fake.control;

	assert_true(control_look_begin(control));
	assert_false(control_close(control, 3 * SIMTIME_MS));
	control_look_end(control);
	/* Control works as before; fake_stop() closes it. */
	assert_true(control_look_begin(control));
	control_look_end(control);
}

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
	        cmocka_unit_test_setup_teardown(
	                what_does_not_come_to_its_end_is_not_taken_away_under_who_works_on_it,
	                talk_start, talk_stop),
	};

	return cmocka_run_group_tests_name("stall", tests, NULL, NULL);
}
