/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The devices behind the text of a port, and that a second process is refused a device that another
 * one has. The interface is lo, which exists everywhere. Whether another process has claimed it
 * depends on the machine, so the claims are made in a network namespace of the test, if possible.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "folder.h"
#include "port/port.h"
#include "port/port_identity.h"
#include "port/port_kinds.h"
#include "runner/group.h"
#include "unable.h"

static bool shared(const char *one, const char *other, char *what)
{
	static struct port_identity first, second;
	char text[PATH_MAX] = "";
	bool found;

	identity_of(one, &first);
	identity_of(other, &second);
	found = identity_shared(&first, &second, text, sizeof(text));
	if (what)
		snprintf(what, 200, "%.199s", text);
	identity_release(&first);
	identity_release(&second);
	return found;
}

static void texts_that_mean_one_interface_or_device_are_known(void **state)
{
	static const struct {
		const char *one, *other, *what;
	} same[] = {
	        {"net_af_packet0,iface=lo", "net_af_packet1,iface=lo", "interface lo"},
	        {"net_af_packet0,iface=lo,framecnt=512", "net_af_xdp0,start_queue=1,iface=lo",
	         "interface lo"},
	        {"net_pcap0,rx_iface=lo,tx_iface=eth99", "net_af_packet1,iface=eth99",
	         "interface eth99"},
	        {"net_pcap0,iface=lo", "net_pcap1,rx_iface_in=lo", "interface lo"},
	        {"net_tap0,iface=tap7", "net_tap1,iface=tap7", "interface tap7"},
	        /* A comma belongs to the name of an interface; what `ip link` appends does not. */
	        {"interface:lan,1", "interface:lan,1", "interface lan,1"},
	        {"interface:lo@if7", "lo", "interface lo"},
	        {"file:,out=a\\,b", "file:x,out=./a\\,b", NULL},
	        {"net_tap0,iface=tap7", "net_af_packet0,iface=tap7", "interface tap7"},
	        {"net_tap0,iface=tap7,remote=lo", "net_af_packet0,iface=lo", "interface lo"},
	        {"0000:03:00.1", "03:00.1", "PCI device 0000:03:00.1"},
	        {"0000:03:00.1,representor=0", "0000:03:00.1,dv_flow_en=0",
	         "PCI device 0000:03:00.1"},
	        {"file:,out=x.pcap", "file:y.pcap,loop,out=./x.pcap", NULL},
	        {"file:,out=there", "file:,out=link", NULL},
	        {"file:,out=sub/../x", "file:,out=x", NULL},
	        {"file:,out=-", "file:,out=-", "the file of standard output"},
	};
	static const struct {
		const char *one, *other;
	} different[] = {
	        {"net_af_packet0,iface=eth98", "net_af_packet1,iface=eth99"},
	        {"net_af_packet0,iface=eth9", "net_af_packet1,iface=eth99"},
	        {"net_null0,size=64", "net_null1,size=64"},
	        {"net_ring0", "net_ring1"},
	        {"net_vhost0,iface=/tmp/s0", "net_vhost1,iface=/tmp/s0"}, /* sockets: up to DPDK */
	        {"0000:03:00.0", "0000:03:00.1"},
	        {"0000:03:00.0", "0001:03:00.0"},
	        {"interface:lan", "interface:lan,1"},
	        {"interface:a,iface=lo", "lo"},
	        {"file:,out=a\\,b", "file:,out=a"},
	        {"file:x.pcap", "file:x.pcap"},
	        {"file:x.pcap,out=y.pcap", "file:x.pcap,out=z.pcap"},
	        {"file:,out=/dev/null", "file:,out=/dev/null"},
	        {"file:,out=nowhere/x", "file:,out=nowhere/x"}, /* refused when it is opened */
	        {"", ""},
	        {",", ",iface="},
	        {"net_x,iface", "net_x,iface"},
	};
	char what[200];
	(void)state;

	assert_int_equal(mkdir("sub", 0700), 0);
	fclose(fopen("there", "w"));
	assert_int_equal(symlink("there", "link"), 0);
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		if (!shared(same[i].one, same[i].other, what) ||
		    !shared(same[i].other, same[i].one, NULL))
			fail_msg("%s and %s are the same", same[i].one, same[i].other);
		if (same[i].what)
			assert_string_equal(what, same[i].what);
	}
	for (size_t i = 0; i < sizeof(different) / sizeof(different[0]); i++) {
		if (shared(different[i].one, different[i].other, what))
			fail_msg("%s and %s are not the same: %s", different[i].one,
			         different[i].other, what);
	}
	assert_false(shared(NULL, "net_null0", NULL));
}

static void two_ports_of_a_scenario_are_refused_with_both_names(void **state)
{
	static struct scenario scenario = {.n_ports = 3,
	                                   .ports = {{.name = "a"}, {.name = "b"}, {.name = "c"}}};
	struct port_conf *ports = scenario.ports;
	struct problem problem;
	(void)state;

	ports[0].device = (char *)(uintptr_t) "net_af_packet0,iface=lo";
	ports[1].device = NULL;
	ports[2].device = (char *)(uintptr_t) "net_af_xdp0,iface=lo";
	assert_int_equal(port_check_distinct(&scenario, &problem), -EINVAL);
	assert_int_equal(problem.port, 3);
	assert_string_equal(problem.text,
	                    "port c: net_af_xdp0,iface=lo is interface lo, which port a "
	                    "(net_af_packet0,iface=lo) already uses: each port needs its own");
	ports[2].device = NULL;
	assert_int_equal(port_check_distinct(&scenario, &problem), 0);
}

/* ---- claims ---- */

static bool alone; /* in a network namespace of our own */

static struct port_identity claimed(const char *device, int expected, struct problem *problem)
{
	struct port_identity identity;

	identity_of(device, &identity);
	assert_int_equal(identity_claim(&identity, problem), expected);
	return identity;
}

/* Starts a process that claims the device, reports this, and waits until it is killed. */
static pid_t claim_elsewhere(const char *device, bool other_namespace)
{
	int ways[2];
	char word = 'n';
	pid_t pid;

	assert_int_equal(pipe(ways), 0);
	pid = fork();
	if (pid == 0) {
		struct port_identity identity;
		struct problem problem;

		if (other_namespace && unshare(CLONE_NEWNET) < 0)
			_exit(1);
		identity_of(device, &identity);
		word = identity_claim(&identity, &problem) == 0 ? 'y' : 'n';
		if (write(ways[1], &word, 1) == 1)
			pause();
		_exit(0);
	}
	close(ways[1]);
	assert_int_equal(read(ways[0], &word, 1), 1);
	close(ways[0]);
	assert_int_equal(word, 'y');
	return pid;
}

static void kill_it(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void what_another_process_has_is_refused_with_its_number_until_it_is_killed(void **state)
{
	static const char *const devices[][2] = {
	        {"net_af_packet0,iface=lo", "net_af_xdp7,iface=lo"},
	        {"0000:7f:1f.7", "7f:1f.7,mac=x"},
	};
	(void)state;

	if (!alone)
		UNABLE("no network namespace can be made");
	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
		pid_t pid = claim_elsewhere(devices[i][0], false);
		struct port_identity identity;
		struct problem problem;
		char expected[100];

		identity = claimed(devices[i][1], -EBUSY, &problem);
		identity_release(&identity);
		snprintf(expected, sizeof(expected), "%s is a port of another weir, process %d;",
		         i ? "PCI device 0000:7f:1f.7" : "interface lo", (int)pid);
		assert_memory_equal(problem.text, expected, strlen(expected));
		kill_it(pid);
		identity = claimed(devices[i][1], 0, &problem);
		/* After its release, the device is free. */
		identity_release(&identity);
		identity = claimed(devices[i][1], 0, &problem);
		identity_release(&identity);
	}
}

/* An interface of the same name and index, and another one. */
static void the_interface_of_another_network_namespace_is_another_one(void **state)
{
	struct port_identity identity;
	struct problem problem;
	pid_t pid;
	(void)state;

	if (!alone)
		UNABLE("no network namespace can be made");
	pid = claim_elsewhere("net_af_packet0,iface=lo", true);
	identity = claimed("net_af_packet0,iface=lo", 0, &problem);
	identity_release(&identity);
	kill_it(pid);
}

/* A device that weir creates may be the cable to another weir; a device that does not exist cannot
 * be taken. */
static void what_is_made_or_not_there_is_not_claimed(void **state)
{
	static const char *const devices[] = {"net_tap0,iface=tap7", "net_af_packet0,iface=eth99",
	                                      "net_null0", "file:,out=x"};
	(void)state;

	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
		struct problem problem;
		struct port_identity one = claimed(devices[i], 0, &problem);
		struct port_identity other = claimed(devices[i], 0, &problem);

		identity_release(&one);
		identity_release(&other);
	}
}

/* A missing privilege is not the only possible reason. */
static void a_packet_socket_that_cannot_be_opened_is_refused_with_the_reason(void **state)
{
	const int lowest = fcntl(0, F_DUPFD_CLOEXEC, 0);
	const int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	struct problem opened = {.text = ""}, received = {.text = ""};
	struct packet_port *packets;
	struct interface lo = {.name = "lo", .index = 1}, interface;
	struct rlimit before, none;
	int rc[2];
	(void)state;

	assert_true(lowest > 0);
	close(lowest);
	if (fd < 0)
		UNABLE("this process has no right to packet sockets");
	close(fd);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = (rlim_t)lowest;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	rc[0] = interface_open("lo", &interface, &opened);
	rc[1] = packet_port_open(&lo, NULL, &packets, &received);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(rc[0], -EMFILE);
	assert_int_equal(rc[1], -EMFILE);
	assert_string_equal(opened.text,
	                    "interface lo: cannot open a packet socket: Too many open files");
	assert_string_equal(received.text, opened.text);
}

static int start(void **state)
{
	alone = unshare(CLONE_NEWNET) == 0;
	return enter_folder(state);
}

GROUP(port_identity)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(texts_that_mean_one_interface_or_device_are_known),
	        cmocka_unit_test(two_ports_of_a_scenario_are_refused_with_both_names),
	        cmocka_unit_test(
	                what_another_process_has_is_refused_with_its_number_until_it_is_killed),
	        cmocka_unit_test(the_interface_of_another_network_namespace_is_another_one),
	        cmocka_unit_test(what_is_made_or_not_there_is_not_claimed),
	        cmocka_unit_test(a_packet_socket_that_cannot_be_opened_is_refused_with_the_reason),
	};

	return cmocka_run_group_tests_name("port_identity", tests, start, leave_folder);
}
