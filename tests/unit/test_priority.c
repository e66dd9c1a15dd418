/* SPDX-License-Identifier: BSD-3-Clause */
/* Priorities of threads: who gets which, and that none keeps its processor from the others. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "machine/priority.h"
#include "runner/group.h"
#include "unable.h"

#define LEVEL PRIORITY_LEVEL

static void each_thread_gets_what_its_wish_its_rights_and_its_sleep_allow(void **state)
{
	static const struct {
		enum priority_kind wish;
		uint32_t level;
		struct priority_rights rights;
		bool sleeps;
		int rc;
		enum priority_kind kind;
	} cases[] = {
	        /* by itself: root on any kernel, a user on Linux 6.12 and before */
	        {PRIORITY_BEST, LEVEL, {LEVEL, true}, true, 0, PRIORITY_FIFO},
	        {PRIORITY_BEST, LEVEL, {LEVEL, false}, true, 0, PRIORITY_FIFO},
	        {PRIORITY_BEST, LEVEL, {0, true}, true, 0, PRIORITY_SLICE},
	        {PRIORITY_BEST, LEVEL, {0, false}, true, 0, PRIORITY_NONE},
	        /* a worker that polls */
	        {PRIORITY_BEST, LEVEL, {LEVEL, true}, false, 0, PRIORITY_NONE},
	        {PRIORITY_FIFO, LEVEL, {LEVEL, true}, false, -EPERM, PRIORITY_FIFO},
	        /* on request */
	        {PRIORITY_NONE, 0, {LEVEL, true}, true, 0, PRIORITY_NONE},
	        {PRIORITY_SLICE, 0, {LEVEL, true}, true, 0, PRIORITY_SLICE},
	        {PRIORITY_SLICE, 0, {LEVEL, false}, true, -EPERM, PRIORITY_SLICE},
	        {PRIORITY_FIFO, 7, {7, false}, true, 0, PRIORITY_FIFO},
	        {PRIORITY_FIFO, 7, {0, true}, true, -EPERM, PRIORITY_FIFO},
	};
	(void)state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct priority wish = {.kind = cases[i].wish, .level = cases[i].level};
		struct priority decided;
		struct problem problem = {.text = ""};

		assert_int_equal(priority_decide(&wish, &cases[i].rights, cases[i].sleeps, &decided,
		                                 &problem),
		                 cases[i].rc);
		assert_int_equal(decided.kind, cases[i].kind);
		assert_int_equal(decided.level, cases[i].level);
		assert_int_equal(problem.text[0] != '\0', cases[i].rc < 0);
	}
}

static void a_refusal_says_what_would_permit_it(void **state)
{
	const struct priority wish = {.kind = PRIORITY_FIFO, .level = 20};
	const struct priority_rights none = {0};
	struct priority decided;
	struct problem problem;
	(void)state;

	priority_decide(&wish, &none, true, &decided, &problem);
	assert_string_equal(problem.text,
	                    "--priority fifo:20 is not permitted: it takes root, CAP_SYS_NICE, or "
	                    "a limit that allows it (ulimit -r 20)");
}

/* ---- threads ---- */

static int policy_of_this_thread(uint64_t *slice_ns)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime_ns, deadline_ns, period_ns;
	} attributes;

	memset(&attributes, 0, sizeof(attributes));
	assert_int_equal(syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0), 0);
	*slice_ns = attributes.runtime_ns;
	return (int)attributes.policy;
}

static int policy(void)
{
	uint64_t slice_ns;

	return policy_of_this_thread(&slice_ns);
}

/* Runs a claim in a thread of its own, whose priority goes with it. */
static void in_a_thread(void *(*claim)(void *))
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, claim, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void *looks(void *argument)
{
	uint64_t before_ns, after_ns;
	struct priority_rights rights;
	int before = policy_of_this_thread(&before_ns);
	(void)argument;

	priority_rights_read(LEVEL, &rights);
	assert_int_equal(policy_of_this_thread(&after_ns), before);
	assert_int_equal(after_ns, before_ns);
	return NULL;
}

static void to_look_for_rights_changes_nothing(void **state)
{
	(void)state;
	in_a_thread(looks);
}

/* The kernel ignores slices of such a thread. The test may have begun as one. */
static void *looks_as_an_idle_one(void *argument)
{
	const struct sched_param none = {0};
	struct priority_rights rights;

	assert_int_equal(sched_setscheduler(0, SCHED_IDLE, &none), 0);
	looks(argument);
	assert_int_equal(policy(), SCHED_IDLE);
	priority_rights_read(LEVEL, &rights);
	assert_false(rights.slices);
	return NULL;
}

static void an_idle_thread_stays_idle_and_gets_no_slice(void **state)
{
	(void)state;
	in_a_thread(looks_as_an_idle_one);
}

static void *takes_a_slice(void *argument)
{
	struct priority priority = {.kind = PRIORITY_SLICE};
	uint64_t slice_ns;
	int before = policy();
	(void)argument;

	assert_int_equal(priority_take(&priority), 0);
	assert_int_equal(policy_of_this_thread(&slice_ns), before);
	assert_int_equal(slice_ns, PRIORITY_SLICE_NS);
	return NULL;
}

static void a_slice_takes_no_right_where_the_kernel_has_slices(void **state)
{
	struct priority_rights rights;
	(void)state;

	priority_rights_read(LEVEL, &rights);
	if (!rights.slices)
		UNABLE("this kernel has no slices (Linux 6.12 has)");
	in_a_thread(takes_a_slice);
}

/* Returns true if the test may use SCHED_FIFO. */
static bool permitted(void)
{
	struct priority_rights rights;

	priority_rights_read(LEVEL, &rights);
	return rights.fifo_most == LEVEL;
}

static void *is_awake_and_asleep(void *argument)
{
	struct priority priority = {.kind = PRIORITY_FIFO, .level = LEVEL};
	simtime now = 5 * SIMTIME_S;
	(void)argument;

	assert_int_equal(priority_take(&priority), 0);
	assert_int_equal(policy(), SCHED_FIFO);
	priority_begin(&priority, now);
	/* Less than half of the time, for long. */
	for (int i = 0; i < 1000; i++) {
		now += 4 * SIMTIME_MS;
		priority_spent(&priority, now);
		assert_int_equal(policy(), SCHED_FIFO);
		priority_slept(&priority, now, now + 5 * SIMTIME_MS);
		now += 5 * SIMTIME_MS;
	}
	/* Once for so long that it is ordinary, until that is made up. */
	now += PRIORITY_MOST_NS;
	priority_spent(&priority, now);
	assert_int_equal(policy(), SCHED_FIFO);
	priority_spent(&priority, ++now);
	assert_int_equal(policy(), SCHED_OTHER);
	now += 10 * SIMTIME_S;
	priority_spent(&priority, now);
	priority_slept(&priority, now, now + PRIORITY_MOST_NS - 1);
	now += PRIORITY_MOST_NS - 1;
	assert_int_equal(policy(), SCHED_OTHER);
	priority_slept(&priority, now, now + 1);
	assert_int_equal(policy(), SCHED_FIFO);
	/* More than half, in small parts. */
	for (int i = 0; i < 41; i++) {
		priority_slept(&priority, now, now + SIMTIME_MS);
		now += 2 * SIMTIME_MS + SIMTIME_MS / 2 + SIMTIME_MS;
		priority_spent(&priority, now);
	}
	assert_int_equal(policy(), SCHED_OTHER);
	return NULL;
}

static void who_is_awake_for_longer_than_asleep_is_ordinary_for_a_while(void **state)
{
	(void)state;
	if (!permitted())
		UNABLE("this user may not take SCHED_FIFO");
	in_a_thread(is_awake_and_asleep);
}

static void *never_ends(void *argument)
{
	struct priority priority = {.kind = PRIORITY_FIFO, .level = LEVEL};
	(void)argument;

	assert_int_equal(priority_take(&priority), 0);
	/* The kernel ends this loop. The test's limit of time is the only other one. */
	while (policy() == SCHED_FIFO)
		;
	return NULL;
}

static void a_thread_that_never_sleeps_loses_its_priority_to_the_kernel(void **state)
{
	(void)state;
	if (!permitted())
		UNABLE("this user may not take SCHED_FIFO");
	in_a_thread(never_ends);
}

static void *forks(void *argument)
{
	struct priority priority = {.kind = PRIORITY_FIFO, .level = LEVEL};
	int status;
	pid_t child;
	(void)argument;

	assert_int_equal(priority_take(&priority), 0);
	child = fork();
	if (child == 0)
		_exit(policy());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(WEXITSTATUS(status), SCHED_OTHER);
	return NULL;
}

static void what_it_starts_is_ordinary(void **state)
{
	(void)state;
	if (!permitted())
		UNABLE("this user may not take SCHED_FIFO");
	in_a_thread(forks);
}

GROUP(priority)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(each_thread_gets_what_its_wish_its_rights_and_its_sleep_allow),
	        cmocka_unit_test(a_refusal_says_what_would_permit_it),
	        cmocka_unit_test(to_look_for_rights_changes_nothing),
	        cmocka_unit_test(an_idle_thread_stays_idle_and_gets_no_slice),
	        cmocka_unit_test(a_slice_takes_no_right_where_the_kernel_has_slices),
	        cmocka_unit_test(who_is_awake_for_longer_than_asleep_is_ordinary_for_a_while),
	        cmocka_unit_test(a_thread_that_never_sleeps_loses_its_priority_to_the_kernel),
	        cmocka_unit_test(what_it_starts_is_ordinary),
	};

	return cmocka_run_group_tests_name("priority", tests, NULL, NULL);
}
