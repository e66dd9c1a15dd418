/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/bench_machine.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KIB        UINT64_C(1024)
#define LINE_BYTES 8192 /* the flags of /proc/cpuinfo are long */

/* The files that facts are read from. */
struct source {
	const char *root;
	char path[PATH_MAX];           /* of the last file opened */
	char unread[BENCH_WORD_BYTES]; /* the first that exists and could not be read; "": none */
};

static void note_unread(struct source *source)
{
	if (!source->unread[0])
		snprintf(source->unread, sizeof(source->unread), "%.150s", source->path);
}

__attribute__((format(printf, 2, 3))) static FILE *open_file(struct source *source,
                                                             const char *format, ...)
{
	va_list arguments;
	size_t at = (size_t)snprintf(source->path, sizeof(source->path), "%s", source->root);
	FILE *file;

	if (at >= sizeof(source->path))
		return NULL;
	va_start(arguments, format);
	vsnprintf(source->path + at, sizeof(source->path) - at, format, arguments);
	va_end(arguments);
	file = fopen(source->path, "r");
	if (!file && errno != ENOENT)
		note_unread(source);
	return file;
}

static void close_file(struct source *source, FILE *file)
{
	if (!file)
		return;
	if (ferror(file))
		note_unread(source);
	fclose(file);
}

/* Reads the first line, without its end, and closes the file. */
static void take_line(struct source *source, FILE *file, char text[BENCH_WORD_BYTES])
{
	text[0] = '\0';
	if (file && fgets(text, BENCH_WORD_BYTES, file))
		text[strcspn(text, "\n")] = '\0';
	close_file(source, file);
}

static int64_t take_number(struct source *source, FILE *file, int64_t unknown)
{
	char text[BENCH_WORD_BYTES], *end;
	int64_t value;

	take_line(source, file, text);
	value = strtoll(text, &end, 10);
	return end == text ? unknown : value;
}

/* Keeps the word in brackets of `always [madvise] never`. */
static void keep_chosen(char text[BENCH_WORD_BYTES])
{
	char *from = strchr(text, '['), *to = from ? strchr(from, ']') : NULL;

	if (!to)
		return;
	*to = '\0';
	memmove(text, from + 1, (size_t)(to - from));
}

bool bench_machine_list_has(const char *list, uint32_t processor)
{
	while (*list) {
		char *end;
		unsigned long from = strtoul(list, &end, 10), to = from;

		if (end == list)
			return false;
		if (*end == '-')
			to = strtoul(end + 1, &end, 10);
		if (processor >= from && processor <= to)
			return true;
		list = *end == ',' ? end + 1 : end + strlen(end);
	}
	return false;
}

static const char *value_of(char *line)
{
	char *colon = strchr(line, ':');

	line[strcspn(line, "\n")] = '\0';
	return colon && colon[1] ? colon + 1 + strspn(colon + 1, " \t") : "";
}

static void read_cpuinfo(struct source *source, struct bench_machine *machine)
{
	FILE *file = open_file(source, "/proc/cpuinfo");
	char line[LINE_BYTES];

	while (file && fgets(line, sizeof(line), file)) {
		if (strncmp(line, "processor", 9) == 0) {
			machine->processors++;
		} else if (strncmp(line, "model name", 10) == 0) {
			snprintf(machine->cpu, sizeof(machine->cpu), "%.150s", value_of(line));
		} else if (strncmp(line, "CPU implementer", 15) == 0) {
			/* arm64 has one counter for all processors, and it never stops. */
			machine->tsc_constant = machine->tsc_nonstop = true;
		} else if (strncmp(line, "flags", 5) == 0) {
			machine->tsc_constant = strstr(line, " constant_tsc") != NULL;
			machine->tsc_nonstop = strstr(line, " nonstop_tsc") != NULL;
			if (strstr(line, " hypervisor") && !machine->hypervisor[0])
				strcpy(machine->hypervisor, "yes");
		}
	}
	close_file(source, file);
}

/* Reads the signature of the hypervisor, which a guest may do itself. */
static void ask_hypervisor(struct bench_machine *machine)
{
#if defined(__x86_64__)
	static const struct {
		const char *signature, *name;
	} known[] = {{"KVMKVMKVM", "KVM"},         {"VMwareVMware", "VMware"},
	             {"Microsoft Hv", "Hyper-V"},  {"XenVMMXenVMM", "Xen"},
	             {"TCGTCGTCGTCG", "QEMU TCG"}, {"bhyve bhyve ", "bhyve"}};
	unsigned eax, signature[4] = {0};

	__cpuid(0x40000000, eax, signature[0], signature[1], signature[2]);
	for (size_t i = 0; eax >= 0x40000000 && i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp((const char *)signature, known[i].signature) == 0)
			snprintf(machine->hypervisor, sizeof(machine->hypervisor), "%s",
			         known[i].name);
	}
#else
	(void)machine;
#endif
}

static void read_hypervisor(struct source *source, struct bench_machine *machine)
{
	char type[BENCH_WORD_BYTES], product[BENCH_WORD_BYTES];

	if (source->root[0] == '\0' && machine->hypervisor[0])
		ask_hypervisor(machine);
	if (machine->hypervisor[0] && strcmp(machine->hypervisor, "yes") != 0)
		return;
	take_line(source, open_file(source, "/sys/hypervisor/type"), type);
	take_line(source, open_file(source, "/sys/class/dmi/id/sys_vendor"), product);
	if (type[0])
		strcpy(machine->hypervisor, type);
	else if (machine->hypervisor[0] && product[0])
		strcpy(machine->hypervisor, product);
}

static void read_hugepages(struct source *source, struct bench_machine *machine)
{
	char path[PATH_MAX];
	DIR *folder;

	snprintf(path, sizeof(path), "%s/sys/kernel/mm/hugepages", source->root);
	folder = opendir(path);
	for (struct dirent *entry; folder && (entry = readdir(folder));) {
		uint64_t kib, total, unused;

		if (sscanf(entry->d_name, "hugepages-%" SCNu64 "kB", &kib) != 1)
			continue;
		total = (uint64_t)take_number(source,
		                              open_file(source,
		                                        "/sys/kernel/mm/hugepages/%s/nr_hugepages",
		                                        entry->d_name),
		                              0);
		unused = (uint64_t)take_number(source,
		                               open_file(source,
		                                         "/sys/kernel/mm/hugepages/%s/"
		                                         "free_hugepages",
		                                         entry->d_name),
		                               0);
		machine->huge_total_bytes += total * kib * KIB;
		machine->huge_free_bytes += unused * kib * KIB;
	}
	if (folder)
		closedir(folder);
}

/* Counts the interrupts that are delivered to this processor, although another could take them:
 * /proc/irq has no interrupts that belong to one processor, such as its timer's. */
static int count_interrupts(struct source *source, uint32_t core)
{
	char path[PATH_MAX], list[BENCH_WORD_BYTES];
	DIR *folder;
	int n = 0;

	snprintf(path, sizeof(path), "%s/proc/irq", source->root);
	folder = opendir(path);
	if (!folder)
		return -1;
	for (struct dirent *entry; (entry = readdir(folder));) {
		if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
			continue;
		take_line(source,
		          open_file(source, "/proc/irq/%s/effective_affinity_list", entry->d_name),
		          list);
		n += list[0] && bench_machine_list_has(list, core);
	}
	closedir(folder);
	return n;
}

/* Returns the share of `steal` in /proc/stat: user nice system idle iowait irq softirq steal ... */
static double stolen_fraction(struct source *source, uint32_t core)
{
	FILE *file = open_file(source, "/proc/stat");
	char line[512], name[32];
	double fraction = 0;

	snprintf(name, sizeof(name), "cpu%u ", core);
	while (file && fgets(line, sizeof(line), file)) {
		uint64_t t[8] = {0}, all = 0;

		if (strncmp(line, name, strlen(name)) != 0)
			continue;
		sscanf(line + strlen(name),
		       "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		       " %" SCNu64 " %" SCNu64,
		       &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7]);
		for (int i = 0; i < 8; i++)
			all += t[i];
		fraction = all ? (double)t[7] / (double)all : 0;
	}
	close_file(source, file);
	return fraction;
}

static uint32_t count_nodes(struct source *source, uint32_t core, int *node)
{
	uint32_t n = 0;

	*node = -1;
	for (uint32_t i = 0; i < 256; i++) {
		char list[BENCH_WORD_BYTES];
		FILE *file = open_file(source, "/sys/devices/system/node/node%u/cpulist", i);

		if (!file)
			continue;
		take_line(source, file, list);
		n++;
		if (bench_machine_list_has(list, core))
			*node = (int)i;
	}
	return n;
}

/* Finds the enabled idle state with the longest latency: the time that the processor takes to come
 * out of it. */
static void read_sleep(struct source *source, struct bench_machine *machine)
{
	for (unsigned i = 0; i < 32; i++) {
		FILE *file =
		        open_file(source, "/sys/devices/system/cpu/cpu%u/cpuidle/state%u/latency",
		                  machine->core, i);
		int64_t us;

		if (!file)
			return;
		us = take_number(source, file, 0);
		if (us < machine->sleep_us ||
		    take_number(source,
		                open_file(source,
		                          "/sys/devices/system/cpu/cpu%u/cpuidle/state%u/disable",
		                          machine->core, i),
		                0) != 0)
			continue;
		machine->sleep_us = us;
		take_line(source,
		          open_file(source, "/sys/devices/system/cpu/cpu%u/cpuidle/state%u/name",
		                    machine->core, i),
		          machine->sleep);
	}
}

static void read_core(struct source *source, struct bench_machine *machine)
{
	uint32_t core = machine->core;

	take_line(source,
	          open_file(source, "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_governor", core),
	          machine->governor);
	take_line(source,
	          open_file(source, "/sys/devices/system/cpu/cpu%u/topology/thread_siblings_list",
	                    core),
	          machine->siblings);
	machine->clock_least_khz = (uint64_t)take_number(
	        source,
	        open_file(source, "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_min_freq", core),
	        0);
	machine->clock_most_khz = (uint64_t)take_number(
	        source,
	        open_file(source, "/sys/devices/system/cpu/cpu%u/cpufreq/cpuinfo_max_freq", core),
	        0);
	read_sleep(source, machine);
	machine->nodes = count_nodes(source, core, &machine->node);
	machine->interrupts = count_interrupts(source, core);
	machine->stolen = stolen_fraction(source, core);
}

void bench_machine_read(const char *root, uint32_t core, struct bench_machine *machine)
{
	struct source from = {.root = root}, *source = &from;

	memset(machine, 0, sizeof(*machine));
	machine->core = core;
	take_line(source, open_file(source, "/proc/sys/kernel/osrelease"), machine->kernel);
	read_cpuinfo(source, machine);
	read_hypervisor(source, machine);
	take_line(source,
	          open_file(source,
	                    "/sys/devices/system/clocksource/clocksource0/current_clocksource"),
	          machine->clocksource);
	take_line(source, open_file(source, "/sys/devices/system/cpu/isolated"), machine->isolated);
	take_line(source, open_file(source, "/sys/devices/system/cpu/nohz_full"),
	          machine->nohz_full);
	if (strcmp(machine->nohz_full, "(null)") == 0)
		machine->nohz_full[0] = '\0';
	read_core(source, machine);
	take_line(source, open_file(source, "/sys/kernel/mm/transparent_hugepage/enabled"),
	          machine->transparent);
	keep_chosen(machine->transparent);
	FILE *file = open_file(source, "/proc/meminfo");
	char line[200], name[64];
	uint64_t value;

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%63[^:]: %" SCNu64, name, &value) != 2)
			continue;
		if (strcmp(name, "MemTotal") == 0)
			machine->memory_bytes = value * KIB;
		else if (strcmp(name, "MemAvailable") == 0)
			machine->available_bytes = value * KIB;
		else if (strcmp(name, "Hugepagesize") == 0)
			machine->huge_page_bytes = value * KIB;
	}
	close_file(source, file);
	read_hugepages(source, machine);
	machine->rt_runtime_us =
	        take_number(source, open_file(source, "/proc/sys/kernel/sched_rt_runtime_us"), -1);
	machine->rt_period_us =
	        take_number(source, open_file(source, "/proc/sys/kernel/sched_rt_period_us"), -1);
	strcpy(machine->unread, source->unread);
}

int bench_machine_pci_node(const char *root, const char *address)
{
	struct source from = {.root = root}, *source = &from;

	return (int)take_number(
	        source, open_file(source, "/sys/bus/pci/devices/%s/numa_node", address), -1);
}
