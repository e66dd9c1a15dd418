/* SPDX-License-Identifier: BSD-3-Clause */
/* The privileges that a process gives up once its ports are open. Each claim is tried in a child,
 * because there is no way back. */
#include <dirent.h>
#include <pthread.h>
#include <setjmp.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <linux/capability.h>

#include "port/privileges.h"
#include "unable.h"
#include "runner/group.h"

#define NET_ADMIN (UINT64_C(1) << CAP_NET_ADMIN)

/* Returns a hexadecimal line of a thread's status, or UINT64_MAX. */
static uint64_t status_of(const char *thread, const char *field)
{
	char path[64], line[128];
	uint64_t value = UINT64_MAX;
	FILE *status;

	snprintf(path, sizeof(path), "/proc/self/task/%s/status", thread);
	status = fopen(path, "r");
	if (!status)
		return value;
	while (fgets(line, sizeof(line), status)) {
		if (strncmp(line, field, strlen(field)) == 0)
			value = strtoull(line + strlen(field) + 1, NULL, 16);
	}
	fclose(status);
	return value;
}

static uint64_t own(const char *field)
{
	char thread[32];

	snprintf(thread, sizeof(thread), "%ld", (long)gettid());
	return status_of(thread, field);
}

static bool has_capabilities(void)
{
	return (own("CapPrm") & NET_ADMIN) && (own("CapEff") & (UINT64_C(1) << CAP_SETPCAP));
}

/* Under qemu-user, the emulated process has one more thread. It blocks all signals, so it keeps its
 * capabilities, which weir rightly refuses. This process has not started a thread yet. */
static bool an_emulator_has_a_deaf_thread(void)
{
	uint64_t wanted = UINT64_C(1) << (SIGRTMIN - 1);
	DIR *threads = opendir("/proc/self/task");
	bool found = false;

	for (struct dirent *entry; threads && (entry = readdir(threads));) {
		if (entry->d_name[0] != '.' && atoi(entry->d_name) != gettid())
			found |= (status_of(entry->d_name, "SigBlk:") & wanted) != 0;
	}
	if (threads)
		closedir(threads);
	return found;
}

#define EMULATED "the emulator has a thread in this process that takes no signals"

static struct scenario *scenario_with(const char *device)
{
	struct scenario *scenario = scenario_make();

	assert_non_null(scenario);
	assert_int_equal(scenario_add_port(scenario, "a", device, NULL), 0);
	return scenario;
}

/* ---- threads of a child ---- */

enum way { SLEEPS, WORKS, DEAF };

struct thread {
	pthread_t thread;
	enum way way;
	int stop;
	char number[32];
};

static void *thread_main(void *argument)
{
	struct thread *thread = argument;
	sigset_t all;

	sigfillset(&all);
	if (thread->way == DEAF) {
		pthread_setname_np(pthread_self(), "deaf");
		pthread_sigmask(SIG_SETMASK, &all, NULL);
	}
	snprintf(thread->number, sizeof(thread->number), "%ld", (long)gettid());
	__atomic_store_n(&thread->stop, 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(&thread->stop, __ATOMIC_ACQUIRE) != 2) {
		if (thread->way != WORKS)
			usleep(10000);
	}
	return NULL;
}

static void start(struct thread *thread, enum way way)
{
	memset(thread, 0, sizeof(*thread));
	thread->way = way;
	pthread_create(&thread->thread, NULL, thread_main, thread);
	while (__atomic_load_n(&thread->stop, __ATOMIC_ACQUIRE) != 1)
		sched_yield();
}

static void stop(struct thread *thread)
{
	__atomic_store_n(&thread->stop, 2, __ATOMIC_RELEASE);
	pthread_join(thread->thread, NULL);
}

/* Runs `claim` in a child; `claim` returns NULL, or what is wrong. */
static void in_a_child(const char *(*claim)(void))
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		const char *wrong = claim();

		if (wrong)
			fprintf(stderr, "in the child: %s\n", wrong);
		fflush(NULL);
		_exit(wrong ? 1 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static const char *wrong_with(const char *thread, uint64_t kept)
{
	if (status_of(thread, "CapPrm:") != kept || status_of(thread, "CapEff:") != kept)
		return "a thread has other capabilities";
	if (status_of(thread, "CapBnd:") != 0 || status_of(thread, "CapInh:") != 0)
		return "an exec could give capabilities";
	return status_of(thread, "NoNewPrivs:") == 1 ? NULL : "an exec could give rights";
}

static const char *all_threads(void)
{
	struct scenario *scenario = scenario_with("net_af_xdp0,iface=eth1");
	uint64_t kept = privileges_of_device("net_af_xdp0");
	const enum way ways[] = {SLEEPS, WORKS, SLEEPS, WORKS};
	struct thread threads[4];
	struct problem problem = {.text = ""};
	const char *wrong = NULL;
	char number[32];

	for (size_t i = 0; i < 4; i++)
		start(&threads[i], ways[i]);
	if (privileges_give_up(scenario, 0, NULL, &problem) != 0)
		wrong = problem.text[0] ? "it was refused" : "it was refused without a reason";
	snprintf(number, sizeof(number), "%ld", (long)gettid());
	if (!wrong)
		wrong = wrong_with(number, kept);
	for (size_t i = 0; i < 4 && !wrong; i++)
		wrong = wrong_with(threads[i].number, kept);
	/* A thread that is made later has the privileges of its creator. */
	if (!wrong) {
		struct thread later;

		start(&later, SLEEPS);
		wrong = wrong_with(later.number, kept);
		stop(&later);
	}
	for (size_t i = 0; i < 4; i++)
		stop(&threads[i]);
	scenario_free(scenario);
	return wrong;
}

static void every_thread_keeps_what_the_ports_need_and_nothing_else(void **state)
{
	(void)state;
	if (!has_capabilities())
		UNABLE("this process has no capabilities to give up");
	if (an_emulator_has_a_deaf_thread())
		UNABLE(EMULATED);
	in_a_child(all_threads);
}

static const char *deaf_thread(void)
{
	struct scenario *scenario = scenario_with("net_null0");
	struct problem problem = {.text = ""};
	struct thread thread;
	const char *wrong = NULL;

	start(&thread, DEAF);
	if (privileges_give_up(scenario, 0, NULL, &problem) == 0)
		wrong = "a thread that blocks signals was overlooked";
	else if (!strstr(problem.text, "one of them deaf"))
		wrong = "the thread is not named";
	stop(&thread);
	scenario_free(scenario);
	return wrong;
}

static void a_thread_that_takes_no_signals_is_named(void **state)
{
	(void)state;
	if (!has_capabilities())
		UNABLE("this process has no capabilities to give up");
	in_a_child(deaf_thread);
}

/* Tries a folder that belongs to `owner` and is closed to all others. Returns NULL, or what is
 * wrong. */
static const char *folder_of(uid_t owner, uint64_t kept)
{
	struct scenario *scenario = scenario_with("net_null0");
	struct problem problem = {.text = ""};
	char folder[] = P_tmpdir "/privileges-XXXXXX", path[64], number[32];
	const char *wrong = NULL;

	if (!mkdtemp(folder) || chown(folder, owner, (gid_t)-1) < 0)
		wrong = "no folder";
	snprintf(path, sizeof(path), "%s/socket", folder);
	if (!wrong &&
	    privileges_give_up(scenario, 0, (const char *const[]){path, NULL}, &problem) != 0)
		wrong = "it was refused";
	snprintf(number, sizeof(number), "%ld", (long)gettid());
	if (!wrong)
		wrong = wrong_with(number, kept);
	rmdir(folder);
	scenario_free(scenario);
	return wrong;
}

static const char *own_folder(void)
{
	return folder_of(getuid(), 0);
}

static const char *folder_of_another(void)
{
	return folder_of(65534, UINT64_C(1) << CAP_DAC_OVERRIDE | UINT64_C(1) << CAP_FOWNER);
}

static void files_of_others_are_kept_only_where_the_end_needs_them(void **state)
{
	(void)state;
	if (!has_capabilities() || geteuid() != 0)
		UNABLE("this process is not root");
	if (an_emulator_has_a_deaf_thread())
		UNABLE(EMULATED);
	in_a_child(own_folder);
	in_a_child(folder_of_another);
}

static const char *without(void)
{
	struct scenario *scenario = scenario_with("net_null0");
	struct problem problem = {.text = ""};
	const char *wrong = NULL;

	if (privileges_give_up(scenario, 0, NULL, &problem) != 0)
		wrong = "it was refused";
	else if (own("NoNewPrivs:") != 0)
		wrong = "it was changed";
	scenario_free(scenario);
	return wrong;
}

static void without_capabilities_nothing_happens(void **state)
{
	(void)state;
	if (own("CapPrm:") != 0)
		UNABLE("this process has capabilities; tests/live/test_privileges.sh tries it "
		       "without");
	if (own("NoNewPrivs:") != 0)
		UNABLE("this process was started with no_new_privs");
	in_a_child(without);
}

static void a_device_of_which_nothing_is_known_keeps_its_administration(void **state)
{
	(void)state;
	assert_int_equal(privileges_of_device("net_null0,size=64"), 0);
	assert_int_equal(privileges_of_device("net_af_packet0,iface=eth1"), 0);
	assert_int_equal(privileges_of_device("file:in.pcap"), 0);
	assert_true(privileges_of_device("0000:03:00.1") & NET_ADMIN);
	assert_true(privileges_of_device("net_virtio_user0,path=/dev/vhost-net") & NET_ADMIN);
	assert_true(privileges_of_device("net_af_xdp0,iface=eth1") & NET_ADMIN);
}

static void an_interface_keeps_the_same_however_it_is_named(void **state)
{
	(void)state;
	assert_int_equal(privileges_of_device("interface:veth1"), NET_ADMIN);
	assert_int_equal(privileges_of_device("veth1"), NET_ADMIN);
	/* It is no device of net_tap's. */
	assert_int_equal(privileges_of_device("tap0"), NET_ADMIN);
}

GROUP(privileges)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(every_thread_keeps_what_the_ports_need_and_nothing_else),
	        cmocka_unit_test(a_thread_that_takes_no_signals_is_named),
	        cmocka_unit_test(files_of_others_are_kept_only_where_the_end_needs_them),
	        cmocka_unit_test(without_capabilities_nothing_happens),
	        cmocka_unit_test(a_device_of_which_nothing_is_known_keeps_its_administration),
	        cmocka_unit_test(an_interface_keeps_the_same_however_it_is_named),
	};

	return cmocka_run_group_tests_name("privileges", tests, NULL, NULL);
}
