/* SPDX-License-Identifier: BSD-3-Clause */
#include "setup/setup_plan.h"

#include <dirent.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define PROCESSOR "/sys/devices/system/cpu/cpu%u/"
#define HUGE_2M   "/sys/kernel/mm/hugepages/hugepages-2048kB"
#define MIB       (UINT64_C(1) << 20)
#define TRIES     64 /* idle states */

static cpu_set_t workers_of(const struct making *making)
{
	const struct cpu_list *cores = making->request->cores;
	cpu_set_t workers;

	CPU_ZERO(&workers);
	for (uint32_t i = 0; i < cores->n; i++)
		CPU_SET(cores->cpu[i], &workers);
	return workers;
}

static void calm_interrupts(struct making *making, uint32_t core)
{
	const cpu_set_t workers = workers_of(making);
	char path[PATH_MAX], list[CPU_LIST_TEXT], online[CPU_LIST_TEXT], others_text[CPU_LIST_TEXT];
	cpu_set_t others;
	DIR *folder;

	making_line(making, "/sys/devices/system/cpu/online", online, sizeof(online));
	CPU_ZERO(&others);
	for (uint32_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &workers) && bench_machine_list_has(online, cpu))
			CPU_SET(cpu, &others);
	}
	snprintf(path, sizeof(path), "%s/proc/irq", making->request->root);
	folder = CPU_COUNT(&others) > 0 ? opendir(path) : NULL;
	cpu_list_text(&others, others_text, sizeof(others_text));
	for (struct dirent *entry; folder && (entry = readdir(folder));) {
		snprintf(path, sizeof(path), "/proc/irq/%.20s/effective_affinity_list",
		         entry->d_name);
		if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
			continue;
		making_line(making, path, list, sizeof(list));
		if (!list[0] || !bench_machine_list_has(list, core))
			continue;
		snprintf(path, sizeof(path), "/proc/irq/%.20s/smp_affinity_list", entry->d_name);
		making_step(making, STEP_WRITE, path, "%s", others_text)->may_fail = true;
	}
	if (folder)
		closedir(folder);
}

static void keep_awake(struct making *making, uint32_t core)
{
	for (unsigned i = 0; i < TRIES; i++) {
		char path[PATH_MAX], latency[32], disabled[8];

		snprintf(path, sizeof(path), PROCESSOR "cpuidle/state%u/latency", core, i);
		making_line(making, path, latency, sizeof(latency));
		snprintf(path, sizeof(path), PROCESSOR "cpuidle/state%u/disable", core, i);
		making_line(making, path, disabled, sizeof(disabled));
		if (latency[0] && disabled[0] == '0' && atoi(latency) > BENCH_SLEEP_SHORT_US)
			making_step(making, STEP_WRITE, path, "1");
	}
}

/* A weir that runs holds pages, so few may be free although the need was met. */
static void examine_hugepages(struct making *making, struct finding *finding,
                              const struct bench_machine *machine)
{
	const struct setup_huge *met = &making->request->huge;
	const unsigned needed = making->request->ports->huge_mib;
	uint64_t total = machine->huge_total_bytes / MIB, there = machine->huge_free_bytes / MIB;
	bool stays = met->need_mib > 0 && total >= met->total_mib;
	char pages[32];

	making->plan->huge = stays && met->need_mib >= needed
	                             ? *met
	                             : (struct setup_huge){.total_mib = total, .need_mib = needed};
	if (finding->state == DOCTOR_GOOD)
		return;
	if (stays && met->need_mib >= needed) {
		finding->state = DOCTOR_GOOD;
		making_say(
		        finding->what,
		        "%u MiB are needed, and an earlier --apply has seen to them; a weir that "
		        "runs holds some (%llu MiB are free)",
		        needed, (unsigned long long)there);
		finding->cost[0] = finding->remedy[0] = '\0';
		return;
	}
	if (stays && met->need_mib > there)
		there = met->need_mib;
	making_line(making, HUGE_2M "/nr_hugepages", pages, sizeof(pages));
	if (!pages[0]) {
		making->plan->huge = *met;
		return;
	}
	making->plan->huge.total_mib += 2 * ((needed - there + 1) / 2);
	making_step(making, STEP_WRITE, HUGE_2M "/nr_hugepages", "%llu",
	            strtoull(pages, NULL, 10) + (needed - there + 1) / 2);
}

/* Adds the doctor's finding of a processor, and the changes that remedy it. */
static void mend(struct making *making, const struct finding *finding,
                 const struct bench_machine *machine)
{
	struct setup_finding *row;
	char path[PATH_MAX];

	row = making_add(making, finding);
	if (strcmp(finding->subject, "hugepages") == 0)
		examine_hugepages(making, &row->finding, machine);
	if (finding->state != DOCTOR_COSTS)
		return;
	if (strcmp(finding->subject, "transparent hugepages") == 0) {
		making_step(making, STEP_WRITE, "/sys/kernel/mm/transparent_hugepage/enabled",
		            "madvise");
	} else if (strcmp(finding->subject, "frequency governor") == 0) {
		snprintf(path, sizeof(path), PROCESSOR "cpufreq/scaling_governor", machine->core);
		making_step(making, STEP_WRITE, path, "performance");
	} else if (strcmp(finding->subject, "interrupts") == 0) {
		calm_interrupts(making, machine->core);
	} else if (strcmp(finding->subject, "C-states") == 0) {
		keep_awake(making, machine->core);
	}
}

static bool is_per_processor(const char *subject)
{
	static const char *const names[] = {"isolcpus", "nohz_full", "frequency governor",
	                                    "C-states", "SMT",       "interrupts",
	                                    "NUMA"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(subject, names[i]) == 0)
			return true;
	}
	return false;
}

void setup_examine_processors(struct making *making)
{
	const struct setup_request *request = making->request;
	const cpu_set_t workers = workers_of(making);
	bool isolate = false, tickless = false;
	char list[CPU_LIST_TEXT];

	for (uint32_t i = 0; i < request->cores->n; i++) {
		struct bench_machine machine;
		struct doctor doctor;

		bench_machine_read(request->root, request->cores->cpu[i], &machine);
		doctor_examine(request->root, &machine, request->ports->nics,
		               request->ports->huge_mib, &doctor);
		for (uint32_t k = 0; k < doctor.n; k++) {
			const struct finding *finding = &doctor.findings[k];
			bool lacks = finding->state == DOCTOR_COSTS && machine.processors > 1;

			if (i > 0 && !is_per_processor(finding->subject))
				continue;
			mend(making, finding, &machine);
			isolate |= lacks && strcmp(finding->subject, "isolcpus") == 0;
			tickless |= lacks && strcmp(finding->subject, "nohz_full") == 0;
		}
	}
	/* A list replaces the one before it, so it has all workers, not only those that lack it. */
	cpu_list_text(&workers, list, sizeof(list));
	if (isolate)
		making_kernel_word(making, "isolcpus=%s", list);
	if (tickless)
		making_kernel_word(making, "nohz_full=%s rcu_nocbs=%s", list, list);
}
