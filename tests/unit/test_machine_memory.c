/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The available memory, on machines that are made of files: cgroups of both versions, of both at
 * once, nested, in containers, without limits, unreadable; limits of the process; huge pages. And
 * how much of it a weir takes.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "check/memory_plan.h"
#include "language/scenario_file.h"
#include "live/runtime.h"
#include "machine/eal.h"
#include "machine/machine_memory.h"
#include "machine/pool.h"
#include "machine_files.h"
#include "port/port.h"
#include "runner/group.h"

#define MIB       (UINT64_C(1) << 20)
#define MACHINE   (20000 * MIB)
#define UNLIMITED "9223372036854771712" /* v1's value for no limit */

#define V1_MOUNT                                                                                   \
	"31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"                               \
	"35 31 0:32 %s /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup "                \
	"rw,memory\n"                                                                              \
	"36 31 0:33 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
#define V2_MOUNT "35 31 0:32 %s /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw,nsdelegate\n"

static int make_root(void **state)
{
	(void)state;
	if (machine_begin() != 0)
		return -1;
	put("/proc/meminfo", "MemTotal: 24683520 kB\nMemFree: 1 kB\nMemAvailable:   %llu kB\n",
	    (unsigned long long)(MACHINE >> 10));
	return 0;
}

static struct machine_memory read_memory(void)
{
	struct machine_memory memory;

	assert_int_equal(machine_memory_read(root, &memory), 0);
	return memory;
}

#define ASSERT_PAGES(mib, what)                                                                    \
	do {                                                                                       \
		struct machine_memory found = read_memory();                                       \
                                                                                                   \
		assert_int_equal(found.pages.free_bytes, (mib)*MIB);                               \
		assert_string_equal(found.pages.text, what);                                       \
	} while (0)

/* Makes a group of version 1 or 2, with values in MiB. */
static void group_v1(const char *path, const char *limit, uint64_t used, uint64_t files)
{
	char name[300];

	snprintf(name, sizeof(name), "/sys/fs/cgroup/memory%s/memory.limit_in_bytes", path);
	put(name, "%s\n", limit);
	snprintf(name, sizeof(name), "/sys/fs/cgroup/memory%s/memory.usage_in_bytes", path);
	put(name, "%llu\n", (unsigned long long)(used * MIB));
	snprintf(name, sizeof(name), "/sys/fs/cgroup/memory%s/memory.stat", path);
	put(name,
	    "cache 1\nactive_file 7\nhierarchical_memory_limit " UNLIMITED
	    "\ntotal_inactive_file %llu\ntotal_active_file %llu\n",
	    (unsigned long long)(files * MIB / 2), (unsigned long long)(files * MIB / 2));
}

static void group_v2(const char *path, const char *max, const char *high, uint64_t used,
                     uint64_t files)
{
	char name[300];

	snprintf(name, sizeof(name), "/sys/fs/cgroup%s/memory.max", path);
	put(name, "%s\n", max);
	snprintf(name, sizeof(name), "/sys/fs/cgroup%s/memory.high", path);
	put(name, "%s\n", high);
	snprintf(name, sizeof(name), "/sys/fs/cgroup%s/memory.current", path);
	put(name, "%llu\n", (unsigned long long)(used * MIB));
	snprintf(name, sizeof(name), "/sys/fs/cgroup%s/memory.stat", path);
	put(name, "anon 1\nfile 999999999999\ninactive_file %llu\nactive_file %llu\n",
	    (unsigned long long)(files * MIB / 4), (unsigned long long)(files * MIB * 3 / 4));
}

static void a_machine_without_groups_and_limits_has_what_is_available(void **state)
{
	struct machine_memory memory;
	(void)state;

	ASSERT_PAGES(20000, "");
	memory = read_memory();
	assert_int_equal(memory.address.free_bytes, UINT64_MAX);
	assert_int_equal(memory.locked.free_bytes, UINT64_MAX);
	assert_int_equal(memory.huge_free_bytes, 0);
}

static void without_meminfo_nothing_is_known(void **state)
{
	struct machine_memory memory;
	(void)state;

	put("/proc/meminfo", "MemTotal: 5 kB\n");
	assert_int_equal(machine_memory_read(root, &memory), -ENODATA);
	assert_int_equal(machine_memory_read("/nowhere", &memory), -ENOENT);
	assert_int_equal(machine_memory_read("", &memory), 0);
	assert_true(memory.pages.free_bytes > 0);
}

static void of_version_1_the_tightest_group_on_the_way_up_counts(void **state)
{
	(void)state;
	put("/proc/self/cgroup", "9:name=systemd:/x\n4:memory:/lab/weir\n1:cpu,cpuacct:/other\n");
	put("/proc/self/mountinfo", V1_MOUNT, "/");
	group_v1("/lab/weir", UNLIMITED, 5, 0);
	group_v1("/lab", UNLIMITED, 5, 0);
	ASSERT_PAGES(20000, "");
	group_v1("/lab/weir", "157286400", 12, 0);
	ASSERT_PAGES(138,
	             "memory.limit_in_bytes of the cgroup /lab/weir is 150 MiB, 12 MiB of it in "
	             "use");
	/* A neighbour in the parent group uses part of the memory that this group may have. */
	group_v1("/lab", "209715200", 180, 0);
	ASSERT_PAGES(20,
	             "memory.limit_in_bytes of the cgroup /lab is 200 MiB, 180 MiB of it in use");
	/* Pages of files are reclaimable. */
	group_v1("/lab", "209715200", 180, 100);
	ASSERT_PAGES(120,
	             "memory.limit_in_bytes of the cgroup /lab is 200 MiB, 80 MiB of it in use");
	/* An old kernel, where the limit of a parent does not include its children. */
	put("/sys/fs/cgroup/memory/lab/memory.use_hierarchy", "0\n");
	ASSERT_PAGES(138,
	             "memory.limit_in_bytes of the cgroup /lab/weir is 150 MiB, 12 MiB of it in "
	             "use");
}

static void of_version_2_max_and_high_count(void **state)
{
	(void)state;
	put("/proc/self/cgroup", "0::/system.slice/lab.service\n");
	put("/proc/self/mountinfo", V2_MOUNT, "/");
	group_v2("/system.slice/lab.service", "max", "max", 50, 0);
	ASSERT_PAGES(20000, "");
	group_v2("/system.slice/lab.service", "157286400", "max", 50, 40);
	ASSERT_PAGES(140,
	             "memory.max of the cgroup /system.slice/lab.service is 150 MiB, 10 MiB of it "
	             "in use");
	group_v2("/system.slice/lab.service", "157286400", "104857600", 50, 40);
	ASSERT_PAGES(90,
	             "memory.high of the cgroup /system.slice/lab.service is 100 MiB, 10 MiB of it "
	             "in use");
	group_v2("/system.slice", "1073741824", "max", 1000, 0);
	ASSERT_PAGES(24,
	             "memory.max of the cgroup /system.slice is 1024 MiB, 1000 MiB of it in use");
	/* More is in use than allowed: nothing is left. */
	group_v2("/system.slice", "1073741824", "max", 1100, 0);
	ASSERT_PAGES(0,
	             "memory.max of the cgroup /system.slice is 1024 MiB, 1024 MiB of it in use");
}

static void of_both_at_once_the_one_with_the_controller_counts(void **state)
{
	(void)state;
	put("/proc/self/cgroup", "4:memory:/lab\n0::/lab\n");
	put("/proc/self/mountinfo",
	    V1_MOUNT "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n", "/");
	put("/sys/fs/cgroup/unified/lab/cgroup.controllers", "\n");
	group_v1("/lab", "157286400", 12, 0);
	ASSERT_PAGES(138,
	             "memory.limit_in_bytes of the cgroup /lab is 150 MiB, 12 MiB of it in use");
	/* The other way round. */
	group_v1("/lab", UNLIMITED, 12, 0);
	put("/sys/fs/cgroup/unified/lab/memory.max", "104857600\n");
	ASSERT_PAGES(100, "memory.max of the cgroup /lab is 100 MiB, 0 MiB of it in use");
}

/* A container sees its group as the root of the mount, by its full name or, in a namespace of
 * groups, as /. */
static void a_container_sees_its_own_part(void **state)
{
	static const struct {
		const char *group, *top;
	} rows[] = {{"/docker/0123", "/docker/0123"}, {"/", "/"}};
	(void)state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		put("/proc/self/cgroup", "4:memory:%s\n", rows[i].group);
		put("/proc/self/mountinfo", V1_MOUNT, rows[i].top);
		group_v1("", "157286400", 12, 0);
		ASSERT_PAGES(
		        138,
		        "memory.limit_in_bytes of the cgroup / is 150 MiB, 12 MiB of it in use");
		put("/proc/self/cgroup", "0::%s\n", rows[i].group);
		put("/proc/self/mountinfo", V2_MOUNT, rows[i].top);
		group_v2("", "104857600", "max", 12, 0);
		ASSERT_PAGES(88, "memory.max of the cgroup / is 100 MiB, 12 MiB of it in use");
	}
	/* A group inside the container's group. */
	put("/proc/self/cgroup", "0::/docker/0123/in it\n");
	put("/proc/self/mountinfo", V2_MOUNT, "/docker/0123");
	group_v2("/in it", "52428800", "max", 12, 0);
	ASSERT_PAGES(38, "memory.max of the cgroup /in it is 50 MiB, 12 MiB of it in use");
}

static void of_groups_above_the_mount_version_1_says_the_limit(void **state)
{
	(void)state;
	put("/proc/self/cgroup", "4:memory:/docker/0123\n");
	put("/proc/self/mountinfo", V1_MOUNT, "/docker/0123");
	group_v1("", UNLIMITED, 12, 0);
	put("/sys/fs/cgroup/memory/memory.stat", "hierarchical_memory_limit 104857600\n");
	ASSERT_PAGES(88,
	             "hierarchical_memory_limit of the cgroup / is 100 MiB, 12 MiB of it in use");
}

static void a_mount_with_blanks_in_its_name_is_found(void **state)
{
	(void)state;
	put("/proc/self/cgroup", "0::/lab\n");
	put("/proc/self/mountinfo", "35 31 0:32 / /my\\040groups\\134 rw - cgroup2 none rw\n");
	put("/my groups\\/lab/memory.max", "104857600\n");
	ASSERT_PAGES(100, "memory.max of the cgroup /lab is 100 MiB, 0 MiB of it in use");
}

/* Whatever the files contain: no limit is invented, and nothing outside the mount is read. */
static void what_cannot_be_read_limits_nothing(void **state)
{
	static const char *const groups[] = {"",
	                                     "\n",
	                                     "0::",
	                                     "nonsense",
	                                     "4:memory",
	                                     "0::/../../other",
	                                     "0::/gone (deleted)",
	                                     "4:memory:/elsewhere\n"};
	static const char *const mounts[] = {
	        "",
	        "\n",
	        " - ",
	        " - cgroup2",
	        "1 2 3 / - cgroup2 x rw",
	        "35 31 0:32 /here /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
	        "35 31 0:32 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"};
	(void)state;

	put("/sys/fs/other/memory.max", "4096\n");
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		for (size_t j = 0; j < sizeof(mounts) / sizeof(mounts[0]); j++) {
			put("/proc/self/cgroup", "%s", groups[i]);
			put("/proc/self/mountinfo", "%s", mounts[j]);
			ASSERT_PAGES(20000, "");
		}
	}
	put("/proc/self/cgroup", "0::/lab\n");
	put("/sys/fs/cgroup/lab/memory.max", "nonsense\n");
	ASSERT_PAGES(20000, "");
}

static void limits_of_the_process_count(void **state)
{
	struct machine_memory memory;
	(void)state;

	put("/proc/self/status", "VmPeak: 9 kB\nVmSize:\t  51200 kB\nVmLck:\t 1024 kB\nVmData:\t"
	                         "10240 kB\nCapEff:\t0000000000003000\n");
	put("/proc/self/limits",
	    "Limit                     Soft Limit           Hard Limit           Units     \n"
	    "Max data size             104857600            unlimited            bytes     \n"
	    "Max locked memory         8388608              8388608              bytes     \n"
	    "Max address space         209715200            unlimited            bytes     \n");
	ASSERT_PAGES(90, "the limit on data (ulimit -d) is 100 MiB, 10 MiB of it in use");
	memory = read_memory();
	assert_int_equal(memory.address.free_bytes, 150 * MIB);
	assert_string_equal(
	        memory.address.text,
	        "the limit on address space (ulimit -v) is 200 MiB, 50 MiB of it in use");
	assert_int_equal(memory.locked.free_bytes, 7 * MIB);
	/* With CAP_IPC_LOCK, locked memory is unlimited. */
	put("/proc/self/status", "CapEff:\t0000000000004000\n");
	assert_int_equal(read_memory().locked.free_bytes, UINT64_MAX);
	put("/proc/self/limits",
	    "Max data size             unlimited            unlimited     bytes\n"
	    "Max address space         unlimited            unlimited     bytes\n");
	ASSERT_PAGES(20000, "");
	assert_int_equal(read_memory().address.free_bytes, UINT64_MAX);
}

static void huge_pages_count_as_far_as_groups_let_them(void **state)
{
	(void)state;
	put("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "1000\n");
	put("/sys/kernel/mm/hugepages/hugepages-2048kB/resv_hugepages", "100\n");
	put("/sys/kernel/mm/hugepages/hugepages-1048576kB/free_hugepages", "1\n");
	assert_int_equal(read_memory().huge_free_bytes, 1800 * MIB + 1024 * MIB);
	put("/proc/self/cgroup", "0::/lab/weir\n");
	put("/proc/self/mountinfo", V2_MOUNT, "/");
	put("/sys/fs/cgroup/lab/weir/hugetlb.2MB.max", "max\n");
	put("/sys/fs/cgroup/lab/hugetlb.2MB.max", "104857600\n");
	put("/sys/fs/cgroup/lab/hugetlb.2MB.current", "4194304\n");
	put("/sys/fs/cgroup/lab/weir/hugetlb.1GB.rsvd.max", "0\n");
	assert_int_equal(read_memory().huge_free_bytes, 96 * MIB);
	put("/proc/self/cgroup", "7:hugetlb:/lab\n");
	put("/proc/self/mountinfo",
	    "37 31 0:35 / /sys/fs/cgroup/hugetlb rw - cgroup cgroup rw,hugetlb\n");
	put("/sys/fs/cgroup/hugetlb/lab/hugetlb.2MB.limit_in_bytes", "20971520\n");
	put("/sys/fs/cgroup/hugetlb/lab/hugetlb.1GB.limit_in_bytes", UNLIMITED "\n");
	assert_int_equal(read_memory().huge_free_bytes, 20 * MIB + 1024 * MIB);
	assert_int_equal(read_memory().huge_forbidden, 0);
	/* For DPDK, a page is a file. */
	put("/proc/self/limits",
	    "Max file size             2097152              unlimited   bytes\n");
	assert_int_equal(read_memory().huge_free_bytes, 20 * MIB);
	assert_int_equal(read_memory().huge_forbidden, 0);
	put("/proc/self/limits",
	    "Max file size             2096128              unlimited   bytes\n");
	assert_int_equal(read_memory().huge_free_bytes, 0);
	assert_int_equal(read_memory().huge_forbidden, 'f');
	/* DPDK maps much more than it uses, which fails if the address space is limited. */
	put("/proc/self/limits",
	    "Max address space         209715200            unlimited   bytes\n");
	assert_int_equal(read_memory().huge_free_bytes, 0);
	assert_int_equal(read_memory().huge_forbidden, 'v');
}

/* ---- how much of it a weir takes ---- */

#define PORTS "port a device net_null0\nport b device net_null1\ncloud x from a to b\n"
#define PCI   "port a device 0000:03:00.0\nport b device net_null1\ncloud x from a to b\n"
#define XDP   "port a device net_af_xdp0,iface=eth1\nport b device net_null1\ncloud x from a to b\n"

struct planned {
	int rc;
	struct memory_plan plan;
	char text[sizeof(((struct problem *)NULL)->text)];
};

static struct planned plan_of(const char *text, const struct machine_memory *machine,
                              uint64_t asked_bytes)
{
	struct planned planned = {.text = ""};
	char message[SCENARIO_FILE_ERROR];
	struct scenario *scenario;
	struct problem problem;
	struct budget budget;

	if (scenario_text_load(text, strlen(text), "t", &scenario, message, sizeof(message)) != 0)
		fail_msg("%s", message);
	assert_int_equal(budget_of(scenario, NULL, &budget), 0);
	planned.rc = memory_plan_make(&(struct memory_request){.scenario = scenario,
	                                                       .budget = &budget,
	                                                       .machine = machine,
	                                                       .workers = 1,
	                                                       .asked_bytes = asked_bytes},
	                              &planned.plan, &problem);
	if (planned.rc < 0)
		strcpy(planned.text, problem.text);
	budget_release(&budget);
	scenario_free(scenario);
	return planned;
}

static struct machine_memory machine_with(uint64_t pages_mib)
{
	return (struct machine_memory){.pages = {.free_bytes = pages_mib * MIB, .text = "a limit"},
	                               .address.free_bytes = UINT64_MAX,
	                               .locked.free_bytes = UINT64_MAX};
}

/* From nothing to plenty: refused up to a bound, which is the need that the message states. From
 * there on, weir takes more and more room for changes, but never more than there is. */
static void room_for_changes_is_taken_as_far_as_there_is_memory(void **state)
{
	uint64_t least = 0, before = 0;
	(void)state;

	for (uint64_t mib = 0; mib < 300; mib++) {
		struct machine_memory machine = machine_with(mib);
		struct planned planned = plan_of(PORTS "cloud x delay 1ms\n", &machine, 0);
		uint64_t taken = planned.plan.memory_bytes +
		                 planned.plan.mbufs * (uint64_t)pool_mbuf_bytes();

		assert_int_equal(planned.plan.there_bytes, mib * MIB);
		assert_string_equal(planned.plan.limit, "a limit");
		assert_int_equal(planned.rc, planned.plan.needed_bytes <= mib * MIB ? 0 : -ENOMEM);
		if (planned.rc == 0 && least == 0)
			least = mib;
		if (planned.rc < 0) {
			assert_non_null(strstr(planned.text, "MiB are available (a limit); "));
			continue;
		}
		assert_true(taken >= before);
		assert_true(taken < mib * MIB);
		before = taken;
	}
	assert_in_range(least, 40, 80);
	assert_int_equal(before, 64 * MIB + 16384 * (uint64_t)pool_mbuf_bytes());
}

static void what_was_asked_for_is_had_or_refused_with_what_would_be_right(void **state)
{
	struct machine_memory machine = machine_with(1000);
	struct planned planned = plan_of(PORTS, &machine, 500 * MIB);
	unsigned long long right;
	uint64_t taken;
	(void)state;

	assert_int_equal(planned.rc, 0);
	taken = planned.plan.memory_bytes + planned.plan.mbufs * (uint64_t)pool_mbuf_bytes();
	assert_in_range(taken, 499 * MIB, 500 * MIB);
	planned = plan_of(PORTS, &machine, UINT64_C(1) << 40);
	assert_int_equal(planned.rc, -ENOMEM);
	assert_non_null(strstr(planned.text, "--memory 1048576MiB: "));
	assert_non_null(
	        strstr(planned.text, "1000 MiB are available (a limit); at most --memory "));
	/* That value fits, and little more would not. */
	assert_int_equal(sscanf(strstr(planned.text, "at most --memory "),
	                        "at most --memory %lluMiB", &right),
	                 1);
	assert_int_equal(plan_of(PORTS, &machine, right * MIB).rc, 0);
	assert_int_equal(plan_of(PORTS, &machine, (right + 2) * MIB).rc, -ENOMEM);
	machine = machine_with(10);
	assert_non_null(strstr(plan_of(PORTS, &machine, 100 * MIB).text,
	                       "not even --memory 4MiB would fit"));
}

static void in_huge_pages_packet_buffers_take_nothing_of_the_limits(void **state)
{
	struct machine_memory machine = machine_with(0);
	uint64_t needed = plan_of(PORTS, &machine, 0).plan.needed_bytes, small;
	(void)state;

	machine.huge_free_bytes = needed + EAL_OWN_MIB * MIB;
	small = plan_of(PORTS, &machine, 0).plan.needed_bytes - EAL_OWN_MIB * MIB;
	/* The sum is the same, except for the EAL's own memory. */
	assert_in_range(small, needed - MIB, needed + MIB);
	/* The limits still have to cover 24 MiB of the process, 1 MiB of its events, the memory for
	 * small packets, and DPDK's variables of lcores. */
	machine.pages.free_bytes = 31 * MIB + EAL_LCORE_BYTES;
	assert_int_equal(plan_of(PORTS, &machine, 0).rc, 0);
	machine.huge_free_bytes = 20 * MIB;
	assert_int_equal(plan_of(PORTS, &machine, 0).rc, -ENOMEM);
}

static void few_addresses_or_little_locked_memory_are_refused_by_name(void **state)
{
	struct machine_memory machine = machine_with(1000);
	struct planned planned;
	(void)state;

	machine.address = (struct memory_limit){100 * MIB, "ulimit -v is low"};
	planned = plan_of(PORTS, &machine, 0);
	assert_int_equal(planned.rc, -ENOMEM);
	assert_non_null(strstr(planned.text, "100 MiB are available (ulimit -v is low)"));
	assert_string_equal(planned.plan.limit, "ulimit -v is low");
	machine = machine_with(1000);
	machine.locked = (struct memory_limit){8 * MIB, "ulimit -l is low"};
	assert_int_equal(plan_of(PORTS, &machine, 0).rc, 0);
	planned = plan_of(PCI, &machine, 0);
	assert_int_equal(planned.rc, -ENOMEM);
	assert_non_null(strstr(planned.text, "must be locked, and ulimit -l is low; raise it"));
	assert_int_equal(plan_of(XDP, &machine, 0).rc, -ENOMEM);
	machine.locked.free_bytes = UINT64_MAX;
	assert_int_equal(plan_of(PCI, &machine, 0).rc, 0);
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, make_root, remove_root)

GROUP(machine_memory)
{
	const struct CMUnitTest tests[] = {
	        CLAIM(a_machine_without_groups_and_limits_has_what_is_available),
	        CLAIM(without_meminfo_nothing_is_known),
	        CLAIM(of_version_1_the_tightest_group_on_the_way_up_counts),
	        CLAIM(of_version_2_max_and_high_count),
	        CLAIM(of_both_at_once_the_one_with_the_controller_counts),
	        CLAIM(a_container_sees_its_own_part),
	        CLAIM(of_groups_above_the_mount_version_1_says_the_limit),
	        CLAIM(a_mount_with_blanks_in_its_name_is_found),
	        CLAIM(what_cannot_be_read_limits_nothing),
	        CLAIM(limits_of_the_process_count),
	        CLAIM(huge_pages_count_as_far_as_groups_let_them),
	        cmocka_unit_test(room_for_changes_is_taken_as_far_as_there_is_memory),
	        cmocka_unit_test(what_was_asked_for_is_had_or_refused_with_what_would_be_right),
	        cmocka_unit_test(in_huge_pages_packet_buffers_take_nothing_of_the_limits),
	        cmocka_unit_test(few_addresses_or_little_locked_memory_are_refused_by_name),
	};

	return cmocka_run_group_tests_name("machine_memory", tests, NULL, NULL);
}
