/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of processors, with as many as this machine lets the test use, and PCI addresses. */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "machine/cpu_list.h"
#include "machine_files.h"
#include "port/device_text.h"
#include "runner/group.h"

static uint32_t first_cpu(void)
{
	cpu_set_t allowed;
	uint32_t cpu = 0;

	assert_int_equal(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	while (!CPU_ISSET(cpu, &allowed))
		cpu++;
	return cpu;
}

static void a_list_is_taken_in_its_order_and_with_repetitions(void **state)
{
	uint32_t cpu = first_cpu();
	struct problem problem;
	struct cpu_list list;
	char text[64];
	(void)state;

	snprintf(text, sizeof(text), "%u,%u-%u,%u", cpu, cpu, cpu, cpu);
	assert_int_equal(cpu_list_parse(text, &list, &problem), 0);
	assert_int_equal(list.n, 3);
	for (uint32_t i = 0; i < list.n; i++)
		assert_int_equal(list.cpu[i], cpu);
}

static void without_a_list_it_is_the_last_processor(void **state)
{
	struct problem problem;
	struct cpu_list list;
	cpu_set_t allowed;
	(void)state;

	assert_int_equal(cpu_list_parse(NULL, &list, &problem), 0);
	assert_int_equal(list.n, 1);
	assert_int_equal(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	assert_true(CPU_ISSET(list.cpu[0], &allowed));
	for (uint32_t cpu = list.cpu[0] + 1; cpu < CPU_SETSIZE; cpu++)
		assert_false(CPU_ISSET(cpu, &allowed));
}

static void what_is_no_list_is_refused_with_an_example(void **state)
{
	static const char *const texts[] = {"",  ",",   "0,",  "-1",  "0-",
	                                    "a", "0;1", "0 1", "0x1", "3-2"};
	struct problem problem;
	struct cpu_list list;
	(void)state;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char wanted[64];

		assert_int_equal(cpu_list_parse(texts[i], &list, &problem), -EINVAL);
		snprintf(wanted, sizeof(wanted), "`%s` is not a list of processors", texts[i]);
		/* texts such as `0,` may fail earlier, at a processor that is not available */
		if (!strstr(problem.text, "is not available to weir"))
			assert_non_null(strstr(problem.text, wanted));
	}
}

static void a_processor_that_is_not_there_is_named_with_those_that_are(void **state)
{
	struct problem problem;
	struct cpu_list list;
	(void)state;

	assert_int_equal(cpu_list_parse("1023", &list, &problem), -EINVAL);
	assert_non_null(strstr(problem.text, "processor 1023 is not available to weir"));
	assert_int_equal(cpu_list_parse("99999999999999999999", &list, &problem), -EINVAL);
	assert_int_equal(cpu_list_parse("4294967296", &list, &problem), -EINVAL);
}

/* Computes which of this machine's processors a process that is bound to the first may name, if the
 * kernel reported that these are isolated. */
static void named_by_one_that_is_bound(const char *isolated, cpu_set_t *allowed, cpu_set_t *after)
{
	char path[] = "/tmp/weir-isolated-XXXXXX";
	cpu_set_t before, first;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, isolated, strlen(isolated)), strlen(isolated));
	close(fd);
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	CPU_ZERO(&first);
	CPU_SET(first_cpu(), &first);
	assert_int_equal(sched_setaffinity(0, sizeof(first), &first), 0);
	assert_int_equal(cpu_list_allowed(path, allowed), 0);
	assert_int_equal(sched_getaffinity(0, sizeof(*after), after), 0);
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
	remove(path);
	assert_true(CPU_ISSET(first_cpu(), allowed));
	assert_true(CPU_EQUAL(after, &first));
}

/* isolcpus= removes a processor from every affinity, and leaves it to those who request it by
 * number. */
static void an_isolated_processor_may_be_named_though_no_affinity_has_it(void **state)
{
	cpu_set_t mine, allowed, after;
	uint32_t other = first_cpu() + 1;
	char isolated[64];
	(void)state;

	assert_int_equal(sched_getaffinity(0, sizeof(mine), &mine), 0);
	while (other < CPU_SETSIZE && !CPU_ISSET(other, &mine))
		other++;
	named_by_one_that_is_bound("\n", &allowed, &after);
	assert_int_equal(CPU_COUNT(&allowed), 1);
	/* No machine that runs tests has a processor 1,000: the kernel refuses it. */
	named_by_one_that_is_bound("1000\n", &allowed, &after);
	assert_int_equal(CPU_COUNT(&allowed), 1);
	if (other == CPU_SETSIZE)
		return;
	snprintf(isolated, sizeof(isolated), "%u-%u,1000\n", other, other);
	named_by_one_that_is_bound(isolated, &allowed, &after);
	assert_int_equal(CPU_COUNT(&allowed), 2);
	assert_true(CPU_ISSET(other, &allowed));
}

static void a_processor_is_isolated_that_one_of_the_kernels_lists_has(void **state)
{
	cpu_set_t isolated;
	char text[CPU_LIST_TEXT];
	(void)state;

	assert_int_equal(machine_begin(), 0);
	cpu_list_isolated(root, &isolated);
	assert_int_equal(CPU_COUNT(&isolated), 0);
	put("/sys/devices/system/cpu/isolated", "\n");
	put("/sys/devices/system/cpu/nohz_full", "(null)\n");
	put("/sys/fs/cgroup/cpuset.cpus.isolated", "\n");
	cpu_list_isolated(root, &isolated);
	assert_int_equal(CPU_COUNT(&isolated), 0);
	put("/sys/devices/system/cpu/isolated", "2-3\n");
	put("/sys/devices/system/cpu/nohz_full", "3,5\n");
	put("/sys/fs/cgroup/cpuset.cpus.isolated", "8\n");
	cpu_list_isolated(root, &isolated);
	cpu_list_text(&isolated, text, sizeof(text));
	assert_string_equal(text, "2-3,5,8");
	assert_int_equal(remove_root(NULL), 0);
}

static void more_workers_than_can_be_are_refused(void **state)
{
	char text[CPU_LIST_MAX * 8] = "";
	uint32_t cpu = first_cpu();
	struct problem problem;
	struct cpu_list list;
	size_t at = 0;
	(void)state;

	for (int i = 0; i < CPU_LIST_MAX; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%u", i ? "," : "", cpu);
	assert_int_equal(cpu_list_parse(text, &list, &problem), 0);
	assert_int_equal(list.n, CPU_LIST_MAX);
	snprintf(text + at, sizeof(text) - at, ",%u", cpu);
	assert_int_equal(cpu_list_parse(text, &list, &problem), -EINVAL);
	assert_string_equal(problem.text, "more than 63 workers");
}

static void a_pci_address_is_told_from_a_virtual_device(void **state)
{
	static const struct {
		const char *device;
		bool is;
	} cases[] = {
	        {"0000:03:00.1", true},
	        {"03:00.1", true},
	        {"0000:03:00.0,arg=1", true},
	        {"abcd:ef:1f.7", true},
	        {"net_null0", false},
	        {"net_af_packet0,iface=eth1", false},
	        {"file:a.pcap", false},
	        {"0000:03:00", false},
	        {"0000:03:00.1x", false},
	        {"", false},
	        {"3", false},
	        {"10:20", false},
	        {" 3:00.0", false},
	        {"-1:00.0", false},
	        {"0x:00.0", false},
	};
	(void)state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(pci_device_is(cases[i].device), cases[i].is);
}

static void a_pci_address_stays_that_of_its_text(void **state)
{
	static const struct {
		const char *device, *address;
	} cases[] = {
	        {"0000:03:00.1", "0000:03:00.1"},
	        {"03:00.1", "0000:03:00.1"},
	        {"0:3.0", "0000:00:03.0"},
	        {"ABCD:EF:1F.7", "abcd:ef:1f.7"},
	        {"03:00.1,arg=1:2.3", "0000:03:00.1"},
	        {"0000:00:23.0", "0000:00:23.0"},
	        {"0000:00:03.8", "0000:00:03.8"},
	        {"ffff:ff:ff.f", "ffff:ff:ff.f"},
	};
	(void)state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char address[16];

		assert_true(pci_device_address(cases[i].device, address));
		assert_string_equal(address, cases[i].address);
	}
}

static void a_pci_device_that_does_not_exist_is_said(void **state)
{
	struct problem problem;
	(void)state;

	assert_int_equal(pci_device_check("fffe:7f:1f.7", &problem), -ENODEV);
	assert_non_null(strstr(problem.text, "there is no PCI device fffe:7f:1f.7; "
	                                     "`dpdk-devbind.py --status-dev net` lists"));
	assert_int_equal(pci_device_check("0000:00:20.0", &problem), -ENODEV);
	assert_non_null(strstr(problem.text, "there is no PCI device 0000:00:20.0; "));
	assert_int_equal(pci_device_check("00:00.8", &problem), -ENODEV);
	assert_non_null(strstr(problem.text, "there is no PCI device 0000:00:00.8; "));
}

GROUP(cpu_list)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_list_is_taken_in_its_order_and_with_repetitions),
	        cmocka_unit_test(without_a_list_it_is_the_last_processor),
	        cmocka_unit_test(what_is_no_list_is_refused_with_an_example),
	        cmocka_unit_test(a_processor_that_is_not_there_is_named_with_those_that_are),
	        cmocka_unit_test(an_isolated_processor_may_be_named_though_no_affinity_has_it),
	        cmocka_unit_test(a_processor_is_isolated_that_one_of_the_kernels_lists_has),
	        cmocka_unit_test(more_workers_than_can_be_are_refused),
	        cmocka_unit_test(a_pci_address_is_told_from_a_virtual_device),
	        cmocka_unit_test(a_pci_address_stays_that_of_its_text),
	        cmocka_unit_test(a_pci_device_that_does_not_exist_is_said),
	};

	return cmocka_run_group_tests_name("cpu_list", tests, NULL, NULL);
}
