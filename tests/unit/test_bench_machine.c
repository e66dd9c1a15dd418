/* SPDX-License-Identifier: BSD-3-Clause */
/* How the machine is read from its files, and the doctor's findings. Each case has a tree of such
 * files of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "show/doctor.h"
#include "machine_files.h"
#include "runner/group.h"

#define CPU0 "/sys/devices/system/cpu/cpu0"

static int make_root(void **state)
{
	(void)state;
	return machine_begin();
}

/* Makes a well-tuned machine of bare metal, without findings. */
static void put_good_machine(void)
{
	put("/proc/cpuinfo", "processor\t: 0\nmodel name\t: Test 9000\n"
	                     "flags\t\t: fpu tsc constant_tsc nonstop_tsc avx2\n"
	                     "processor\t: 1\nmodel name\t: Test 9000\n"
	                     "flags\t\t: fpu tsc constant_tsc nonstop_tsc avx2\n");
	put("/proc/meminfo", "MemTotal: 16000 kB\nMemAvailable: 8000 kB\nHugepagesize: 2048 kB\n");
	put("/proc/stat", "cpu  1 1 1 1 1 1 1 1 0 0\ncpu0 50 0 50 900 0 0 0 0 0 0\n");
	put("/proc/sys/kernel/osrelease", "6.1.0-test\n");
	put("/proc/sys/kernel/sched_rt_runtime_us", "-1\n");
	put("/proc/sys/kernel/sched_rt_period_us", "1000000\n");
	put("/proc/irq/9/effective_affinity_list", "1\n");
	put("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
	put("/sys/devices/system/cpu/isolated", "0\n");
	put("/sys/devices/system/cpu/nohz_full", "0\n");
	put(CPU0 "/cpufreq/scaling_governor", "performance\n");
	put(CPU0 "/cpufreq/scaling_min_freq", "800000\n");
	put(CPU0 "/cpufreq/cpuinfo_max_freq", "3200000\n");
	put(CPU0 "/cpuidle/state0/name", "POLL\n");
	put(CPU0 "/cpuidle/state0/latency", "0\n");
	put(CPU0 "/cpuidle/state0/disable", "0\n");
	put(CPU0 "/cpuidle/state1/name", "C6\n");
	put(CPU0 "/cpuidle/state1/latency", "133\n");
	put(CPU0 "/cpuidle/state1/disable", "1\n");
	put(CPU0 "/topology/thread_siblings_list", "0\n");
	put("/sys/devices/system/node/node0/cpulist", "0-1\n");
	put("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
	put("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "100\n");
	put("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "90\n");
}

static struct doctor examine(const struct scenario *scenario)
{
	struct bench_machine machine;
	struct doctor doctor;

	bench_machine_read(root, 0, &machine);
	doctor_examine(root, &machine, scenario, 180, &doctor);
	return doctor;
}

static const struct finding *finding(const struct doctor *doctor, const char *subject)
{
	const struct finding *found = NULL;

	for (uint32_t i = 0; i < doctor->n; i++) {
		if (strcmp(doctor->findings[i].subject, subject) == 0)
			found = &doctor->findings[i];
	}
	assert_non_null(found);
	return found;
}

static void the_files_are_read(void **state)
{
	struct bench_machine machine;

	(void)state;
	put_good_machine();
	bench_machine_read(root, 0, &machine);
	assert_string_equal(machine.cpu, "Test 9000");
	assert_string_equal(machine.kernel, "6.1.0-test");
	assert_int_equal(machine.processors, 2);
	assert_true(machine.tsc_constant && machine.tsc_nonstop);
	assert_string_equal(machine.hypervisor, "");
	assert_string_equal(machine.transparent, "madvise");
	assert_int_equal(machine.huge_total_bytes, 200 << 20);
	assert_int_equal(machine.huge_free_bytes, 180 << 20);
	assert_int_equal(machine.available_bytes, 8000 << 10);
	assert_int_equal(machine.clock_least_khz, 800000);
	assert_int_equal(machine.clock_most_khz, 3200000);
	assert_string_equal(machine.sleep, "POLL");
	assert_int_equal(machine.sleep_us, 0);
	assert_int_equal(machine.node, 0);
	assert_int_equal(machine.nodes, 1);
	assert_int_equal(machine.interrupts, 0);
	assert_true(machine.stolen == 0);
}

static void a_tuned_machine_gets_no_complaint(void **state)
{
	struct doctor doctor;

	(void)state;
	put_good_machine();
	doctor = examine(NULL);
	for (uint32_t i = 0; i < doctor.n; i++) {
		assert_int_equal(doctor.findings[i].state, DOCTOR_GOOD);
		assert_string_equal(doctor.findings[i].remedy, "");
	}
}

/* `show workers` has those of the findings that make packets late. */
static void expect_late(const struct doctor *doctor, const struct finding *found)
{
	static const char *const late[] = {"processors", "hypervisor", "isolcpus",
	                                   "nohz_full",  "interrupts", "frequency governor"};
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);
	bool is_late = false;

	assert_non_null(out);
	doctor_print_late(out, "> ", doctor);
	fclose(out);
	for (size_t i = 0; i < sizeof(late) / sizeof(late[0]); i++)
		is_late |= strcmp(found->subject, late[i]) == 0;
	assert_true((strstr(text, found->remedy) != NULL) == is_late);
	assert_true(n == 0 || text[0] == '>');
	free(text);
}

static void what_costs_is_named_with_its_remedy(void **state)
{
	static const struct {
		const char *subject, *path, *text, *remedy;
	} rows[] = {
	        {"isolcpus", "/sys/devices/system/cpu/isolated", "\n", "isolcpus=0"},
	        {"nohz_full", "/sys/devices/system/cpu/nohz_full", "1-3\n", "nohz_full=0"},
	        {"nohz_full", "/sys/devices/system/cpu/nohz_full", " (null)\n", "nohz_full=0"},
	        {"frequency governor", CPU0 "/cpufreq/scaling_governor", "powersave\n",
	         "performance"},
	        {"C-states", CPU0 "/cpuidle/state1/disable", "0\n", "cpupower -c 0 idle-set -D 2"},
	        {"SMT", CPU0 "/topology/thread_siblings_list", "0,2\n", "nosmt"},
	        {"interrupts", "/proc/irq/7/effective_affinity_list", "0-1\n", "smp_affinity_list"},
	        {"hugepages", "/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "3\n",
	         "dpdk-hugepages.py"},
	        {"transparent hugepages", "/sys/kernel/mm/transparent_hugepage/enabled",
	         "always madvise [never]\n", "madvise"},
	        {"real-time share", "/proc/sys/kernel/sched_rt_runtime_us", "950000\n",
	         "sched_rt_runtime_us=-1"},
	        {"tsc", "/proc/cpuinfo",
	         "processor: 0\nflags: tsc constant_tsc\nprocessor: 1\nflags: tsc constant_tsc\n",
	         "invariant"},
	        {"hypervisor", "/proc/cpuinfo",
	         "processor: 0\nflags: tsc hypervisor constant_tsc nonstop_tsc\nprocessor: 1\n",
	         "bare metal"},
	        {"processors", "/proc/cpuinfo", "processor: 0\nflags: constant_tsc nonstop_tsc\n",
	         "two or more"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct doctor doctor;
		const struct finding *found;

		put_good_machine();
		put("/proc/irq/7/effective_affinity_list", "1\n");
		put(rows[i].path, "%s", rows[i].text);
		doctor = examine(NULL);
		found = finding(&doctor, rows[i].subject);
		expect_late(&doctor, found);
		assert_int_equal(found->state, DOCTOR_COSTS);
		assert_non_null(strstr(found->remedy, rows[i].remedy));
		assert_true(found->cost[0] != '\0');
	}
}

static void a_nic_on_another_node_is_named(void **state)
{
	struct scenario *scenario = scenario_make();
	struct doctor doctor;
	const struct finding *found;

	(void)state;
	put_good_machine();
	put("/sys/devices/system/node/node0/cpulist", "0\n");
	put("/sys/devices/system/node/node1/cpulist", "1\n");
	put("/sys/bus/pci/devices/0000:03:00.1/numa_node", "1\n");
	put("/sys/bus/pci/devices/0000:04:00.0/numa_node", "0\n");
	assert_int_equal(scenario_add_port(scenario, "near", "0000:04:00.0", NULL), 0);
	assert_int_equal(scenario_add_port(scenario, "far", "0000:03:00.1", NULL), 0);
	doctor = examine(scenario);
	found = finding(&doctor, "NUMA");
	assert_int_equal(found->state, DOCTOR_COSTS);
	assert_non_null(strstr(found->what, "far"));
	assert_null(strstr(found->what, "near"));
	scenario_free(scenario);
}

static void a_nic_is_the_same_without_its_domain(void **state)
{
	struct scenario *scenario = scenario_make();
	struct doctor doctor;

	(void)state;
	put_good_machine();
	put("/sys/devices/system/node/node0/cpulist", "0\n");
	put("/sys/devices/system/node/node1/cpulist", "1\n");
	put("/sys/bus/pci/devices/0000:03:00.1/numa_node", "1\n");
	assert_int_equal(scenario_add_port(scenario, "far", "03:00.1,mprq_en=1", NULL), 0);
	doctor = examine(scenario);
	assert_string_equal(finding(&doctor, "NUMA")->what,
	                    "port far (0000:03:00.1) is on node 1, processor 0 on node 0");
	scenario_free(scenario);
}

static void a_machine_without_these_files_is_unknown_and_no_fault(void **state)
{
	struct bench_machine machine;
	struct doctor doctor;

	(void)state;
	bench_machine_read(root, 0, &machine);
	assert_string_equal(machine.cpu, "");
	assert_int_equal(machine.interrupts, -1);
	doctor = examine(NULL);
	assert_int_equal(finding(&doctor, "frequency governor")->state, DOCTOR_UNKNOWN);
	assert_int_equal(finding(&doctor, "interrupts")->state, DOCTOR_UNKNOWN);
	assert_int_equal(finding(&doctor, "SMT")->state, DOCTOR_UNKNOWN);
	assert_string_equal(finding(&doctor, "SMT")->what, "not known");
}

static void a_file_that_is_there_and_cannot_be_read_is_named(void **state)
{
	struct bench_machine machine;
	char path[200];

	(void)state;
	bench_machine_read(root, 0, &machine);
	assert_string_equal(machine.unread, "");
	/* A folder can be opened, but not read. */
	put("/proc/cpuinfo/x", "\n");
	bench_machine_read(root, 0, &machine);
	snprintf(path, sizeof(path), "%s/proc/cpuinfo", root);
	assert_string_equal(machine.unread, path);
}

static void processors_are_found_in_lists(void **state)
{
	static const struct {
		const char *list;
		uint32_t processor;
		bool has;
	} rows[] = {{"", 0, false},     {"0", 0, true},      {"1-3", 2, true}, {"1-3", 4, false},
	            {"0,2-4", 3, true}, {"0,2-4", 1, false}, {"10", 1, false}, {"none", 0, false}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(bench_machine_list_has(rows[i].list, rows[i].processor),
		                 rows[i].has);
}

GROUP(bench_machine)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(the_files_are_read, make_root, remove_root),
	        cmocka_unit_test_setup_teardown(a_tuned_machine_gets_no_complaint, make_root,
	                                        remove_root),
	        cmocka_unit_test_setup_teardown(what_costs_is_named_with_its_remedy, make_root,
	                                        remove_root),
	        cmocka_unit_test_setup_teardown(a_nic_on_another_node_is_named, make_root,
	                                        remove_root),
	        cmocka_unit_test_setup_teardown(a_nic_is_the_same_without_its_domain, make_root,
	                                        remove_root),
	        cmocka_unit_test_setup_teardown(
	                a_machine_without_these_files_is_unknown_and_no_fault, make_root,
	                remove_root),
	        cmocka_unit_test_setup_teardown(a_file_that_is_there_and_cannot_be_read_is_named,
	                                        make_root, remove_root),
	        cmocka_unit_test(processors_are_found_in_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
