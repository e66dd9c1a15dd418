/* SPDX-License-Identifier: BSD-3-Clause */
#include "setup/setup_plan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROCESSOR "/sys/devices/system/cpu/cpu%u/"
#define HUGE_2M   "/sys/kernel/mm/hugepages/hugepages-2048kB"
#define GRUB      "/etc/default/grub.d"
#define UNIT      "weir-setup@"
#define WANTS     "/etc/systemd/system/multi-user.target.wants"
#define NOIOMMU   "/sys/module/vfio/parameters/enable_unsafe_noiommu_mode"
#define MIB       (UINT64_C(1) << 20)
#define TRIES     64 /* idle states and the like */

struct making {
	const struct setup_request *request;
	struct setup_plan *plan;
	bool no_memory;
	bool iommu;
	char kernel_words[STEP_VALUE_BYTES]; /* for its command line */
};

/* ---- what a plan is made of ---- */

static struct setup_finding *add(struct making *making, const struct finding *finding)
{
	struct setup_plan *plan = making->plan;
	struct setup_finding *row = &plan->finding[plan->n];

	if (plan->n + 1 < SETUP_FINDINGS_MAX)
		plan->n++;
	row->finding = *finding;
	row->first = plan->n_steps;
	row->n = 0;
	return row;
}

static struct setup_finding *find(struct making *making, const char *subject,
                                  enum doctor_state state)
{
	const struct finding finding = {.subject = subject, .state = state};

	return add(making, &finding);
}

__attribute__((format(printf, 2, 3))) static void say(char text[DOCTOR_TEXT_BYTES],
                                                      const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, DOCTOR_TEXT_BYTES, format, arguments);
	va_end(arguments);
}

/* Of the finding that was added last. `path` is complete; behind it the value's format. */
__attribute__((format(printf, 4, 5))) static struct step *
step(struct making *making, enum step_kind kind, const char *path, const char *format, ...)
{
	static struct step nowhere;
	struct setup_plan *plan = making->plan;
	struct step *steps = plan->steps;
	va_list arguments;

	if (plan->n_steps == plan->room) {
		steps = realloc(steps, (plan->room + 64) * sizeof(*steps));
		if (!steps) {
			making->no_memory = true;
			return &nowhere;
		}
		plan->steps = steps;
		plan->room += 64;
	}
	steps += plan->n_steps++;
	memset(steps, 0, sizeof(*steps));
	steps->kind = kind;
	snprintf(steps->path, sizeof(steps->path), "%s", path);
	va_start(arguments, format);
	vsnprintf(steps->value, sizeof(steps->value), format, arguments);
	va_end(arguments);
	plan->finding[plan->n - 1].n++;
	return steps;
}

static bool is_there(const struct making *making, const char *path)
{
	char whole[PATH_MAX];

	/* A link of systemd's is there wherever it leads. */
	snprintf(whole, sizeof(whole), "%s%s", making->request->root, path);
	return faccessat(AT_FDCWD, whole, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void read_line(const struct making *making, const char *path, char *text, size_t room)
{
	char whole[PATH_MAX];
	FILE *file;

	snprintf(whole, sizeof(whole), "%s%s", making->request->root, path);
	file = fopen(whole, "r");
	if (!file || !fgets(text, (int)room, file))
		text[0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (file)
		fclose(file);
}

__attribute__((format(printf, 2, 3))) static void kernel_word(struct making *making,
                                                              const char *format, ...)
{
	size_t at = strlen(making->kernel_words);
	va_list arguments;

	if (at && at + 1 < sizeof(making->kernel_words))
		making->kernel_words[at++] = ' ';
	va_start(arguments, format);
	vsnprintf(making->kernel_words + at, sizeof(making->kernel_words) - at, format, arguments);
	va_end(arguments);
}

/* ---- ports ---- */

/* Drivers that leave the NIC with the kernel, too: DPDK works beside them. */
static bool is_bifurcated(const char *driver)
{
	static const char *const names[] = {"mlx4_core", "mlx5_core", "mana"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(driver, names[i]) == 0)
			return true;
	}
	return false;
}

static bool is_dpdks(const char *driver)
{
	return strcmp(driver, "vfio-pci") == 0 || strcmp(driver, "igb_uio") == 0 ||
	       strcmp(driver, "uio_pci_generic") == 0;
}

static bool has_iommu(const struct making *making)
{
	char path[PATH_MAX];
	bool found = false;
	DIR *folder;

	snprintf(path, sizeof(path), "%s/sys/class/iommu", making->request->root);
	folder = opendir(path);
	for (struct dirent *entry; folder && !found && (entry = readdir(folder));)
		found = entry->d_name[0] != '.';
	if (folder)
		closedir(folder);
	return found;
}

static void examine_iommu(struct making *making, bool intel)
{
	struct setup_finding *row =
	        find(making, "IOMMU", making->iommu ? DOCTOR_GOOD : DOCTOR_COSTS);
	struct finding *finding = &row->finding;
	char mode[8];

	if (making->iommu) {
		say(finding->what, "on: a NIC reaches weir's memory and no other");
		return;
	}
	say(finding->what, "off, or none");
	say(finding->cost, "only root can open a NIC, and what its driver gets wrong is written "
	                   "anywhere in memory");
	say(finding->remedy, "VT-d, AMD-Vi or SMMU in the firmware; in a guest, a virtual IOMMU%s",
	    making->request->unsafe ? "" : "; or without one: --unsafe-noiommu");
	if (intel)
		kernel_word(making, "intel_iommu=on iommu=pt");
	if (!making->request->unsafe)
		return;
	read_line(making, NOIOMMU, mode, sizeof(mode));
	if (mode[0] == 'Y')
		finding->state = DOCTOR_GOOD;
	else
		step(making, STEP_WRITE, NOIOMMU, "Y");
}

static void examine_driver(struct making *making, const struct setup_device *device)
{
	bool shared = is_bifurcated(device->driver);
	bool good = shared || is_dpdks(device->driver);
	struct setup_finding *row = find(making, "driver", good ? DOCTOR_GOOD : DOCTOR_COSTS);
	struct finding *finding = &row->finding;

	say(finding->what, "%s has %s%s%s%s", device->address,
	    device->driver[0] ? device->driver : "none", shared ? ", which DPDK shares" : "",
	    device->interface[0] ? ", the kernel's interface " : "", device->interface);
	if (good)
		return;
	say(finding->cost, "as an interface of the kernel it takes some 100,000 packets a second, "
	                   "with DPDK's driver millions");
	if (device->up) {
		say(finding->remedy,
		    "%s is up, and its connections end when DPDK takes it: if that is meant, "
		    "`ip link set %s down` first",
		    device->interface, device->interface);
	} else if (!making->iommu && !making->request->unsafe) {
		say(finding->remedy, "an IOMMU first, or --unsafe-noiommu");
	} else {
		step(making, STEP_DRIVER, device->address, "vfio-pci");
	}
}

/* ---- the processors ---- */

static void calm_interrupts(struct making *making, uint32_t core)
{
	const struct cpu_list *cores = making->request->cores;
	char path[PATH_MAX], list[160], online[160], others[160] = "";
	DIR *folder;

	read_line(making, "/sys/devices/system/cpu/online", online, sizeof(online));
	for (uint32_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		size_t at = strlen(others);
		bool worker = false;

		for (uint32_t i = 0; i < cores->n; i++)
			worker |= cores->cpu[i] == cpu;
		if (!worker && bench_machine_list_has(online, cpu))
			snprintf(others + at, sizeof(others) - at, at ? ",%u" : "%u", cpu);
	}
	snprintf(path, sizeof(path), "%s/proc/irq", making->request->root);
	folder = others[0] ? opendir(path) : NULL;
	for (struct dirent *entry; folder && (entry = readdir(folder));) {
		snprintf(path, sizeof(path), "/proc/irq/%.20s/effective_affinity_list",
		         entry->d_name);
		if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
			continue;
		read_line(making, path, list, sizeof(list));
		if (!list[0] || !bench_machine_list_has(list, core))
			continue;
		snprintf(path, sizeof(path), "/proc/irq/%.20s/smp_affinity_list", entry->d_name);
		step(making, STEP_WRITE, path, "%s", others)->may_fail = true;
	}
	if (folder)
		closedir(folder);
}

static void keep_awake(struct making *making, uint32_t core)
{
	for (unsigned i = 0; i < TRIES; i++) {
		char path[PATH_MAX], latency[32], disabled[8];

		snprintf(path, sizeof(path), PROCESSOR "cpuidle/state%u/latency", core, i);
		read_line(making, path, latency, sizeof(latency));
		snprintf(path, sizeof(path), PROCESSOR "cpuidle/state%u/disable", core, i);
		read_line(making, path, disabled, sizeof(disabled));
		if (latency[0] && disabled[0] == '0' && atoi(latency) > BENCH_SLEEP_SHORT_US)
			step(making, STEP_WRITE, path, "1");
	}
}

static void reserve_hugepages(struct making *making, const struct bench_machine *machine)
{
	uint64_t missing = making->request->ports->huge_mib * MIB - machine->huge_free_bytes;
	char total[32];

	read_line(making, HUGE_2M "/nr_hugepages", total, sizeof(total));
	if (total[0])
		step(making, STEP_WRITE, HUGE_2M "/nr_hugepages", "%llu",
		     strtoull(total, NULL, 10) + (missing + 2 * MIB - 1) / (2 * MIB));
}

/* The doctor's finding of a processor, and what mends it. */
static void mend(struct making *making, const struct finding *finding,
                 const struct bench_machine *machine)
{
	char path[PATH_MAX];

	add(making, finding);
	if (finding->state != DOCTOR_COSTS)
		return;
	if (strcmp(finding->subject, "hugepages") == 0) {
		reserve_hugepages(making, machine);
	} else if (strcmp(finding->subject, "transparent hugepages") == 0) {
		step(making, STEP_WRITE, "/sys/kernel/mm/transparent_hugepage/enabled", "madvise");
	} else if (strcmp(finding->subject, "frequency governor") == 0) {
		snprintf(path, sizeof(path), PROCESSOR "cpufreq/scaling_governor", machine->core);
		step(making, STEP_WRITE, path, "performance");
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

static void examine_processors(struct making *making)
{
	const struct setup_request *request = making->request;
	char isolate[160] = "", tickless[160] = "";

	for (uint32_t i = 0; i < request->cores->n; i++) {
		struct bench_machine machine;
		struct doctor doctor;

		bench_machine_read(request->root, request->cores->cpu[i], &machine);
		doctor_examine(request->root, &machine, request->ports->nics,
		               request->ports->huge_mib, &doctor);
		for (uint32_t k = 0; k < doctor.n; k++) {
			const struct finding *finding = &doctor.findings[k];
			char *list = strcmp(finding->subject, "isolcpus") == 0    ? isolate
			             : strcmp(finding->subject, "nohz_full") == 0 ? tickless
			                                                          : NULL;

			if (i > 0 && !is_per_processor(finding->subject))
				continue;
			mend(making, finding, &machine);
			if (list && finding->state == DOCTOR_COSTS && machine.processors > 1)
				snprintf(list + strlen(list), sizeof(isolate) - strlen(list),
				         list[0] ? ",%u" : "%u", machine.core);
		}
	}
	if (isolate[0])
		kernel_word(making, "isolcpus=%s", isolate);
	if (tickless[0])
		kernel_word(making, "nohz_full=%s rcu_nocbs=%s", tickless, tickless);
}

/* ---- what it takes to last ---- */

static void examine_command_line(struct making *making)
{
	static const char *const path = GRUB "/weir.cfg";
	char line[STEP_VALUE_BYTES], now[STEP_VALUE_BYTES];
	struct setup_finding *row;

	if (!making->kernel_words[0])
		return;
	row = find(making, "command line", DOCTOR_COSTS);
	say(row->finding.what, "the kernel's lacks %.150s", making->kernel_words);
	say(row->finding.cost, "what stands above of these");
	making->plan->reboot = true;
	snprintf(line, sizeof(line),
	         "GRUB_CMDLINE_LINUX_DEFAULT=\"$GRUB_CMDLINE_LINUX_DEFAULT %.200s\"",
	         making->kernel_words);
	read_line(making, path, now, sizeof(now));
	if (strcmp(now, line) == 0) {
		say(row->finding.remedy, "it is in %s: reboot", path);
	} else if (is_there(making, GRUB)) {
		say(row->finding.remedy, "and then reboot");
		step(making, STEP_FILE, path, "%s", line);
	} else {
		say(row->finding.remedy, "the boot loader of this machine, and then reboot");
	}
}

static void examine_lasting(struct making *making)
{
	static const char *const folders[] = {"/usr/lib/systemd/system", "/lib/systemd/system",
	                                      "/usr/local/lib/systemd/system",
	                                      "/etc/systemd/system"};
	const struct setup_ports *ports = making->request->ports;
	char unit[PATH_MAX] = "", path[PATH_MAX];
	struct setup_finding *row = find(making, "lasting", DOCTOR_GOOD);
	uint32_t missing = 0;

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]) && !unit[0]; i++) {
		snprintf(path, sizeof(path), "%s/" UNIT ".service", folders[i]);
		if (is_there(making, path))
			strcpy(unit, path);
	}
	for (uint32_t i = 0; i < ports->n_words; i++) {
		snprintf(path, sizeof(path), WANTS "/" UNIT "%s.service", ports->word[i]);
		if (is_there(making, path))
			continue;
		missing++;
		if (unit[0] && is_there(making, "/etc/systemd/system"))
			step(making, STEP_LINK, path, "%s", unit);
	}
	say(row->finding.what, missing || ports->n_words == 0 ? "until the machine is started again"
	                                                      : "done again at each start");
	if (!missing)
		return;
	row->finding.state = DOCTOR_COSTS;
	say(row->finding.cost, "all of this, after the next start");
	if (row->n == 0)
		say(row->finding.remedy, "no unit " UNIT ".service is installed here: call "
		                         "`weir setup --apply` at each start");
}

/* ---- all of it ---- */

int setup_plan_make(const struct setup_request *request, struct setup_plan *plan)
{
	struct making making = {.request = request, .plan = plan};
	const struct setup_ports *ports = request->ports;
	struct bench_machine machine;
	bool vfio = false;

	memset(plan, 0, sizeof(*plan));
	making.iommu = has_iommu(&making);
	bench_machine_read(request->root, request->cores->cpu[0], &machine);
	for (uint32_t i = 0; i < ports->n_devices; i++)
		vfio |= !is_bifurcated(ports->device[i].driver);
	if (vfio)
		examine_iommu(&making, strstr(machine.cpu, "Intel") != NULL);
	for (uint32_t i = 0; i < ports->n_devices; i++)
		examine_driver(&making, &ports->device[i]);
	examine_processors(&making);
	examine_command_line(&making);
	examine_lasting(&making);
	return making.no_memory ? -ENOMEM : 0;
}

void setup_plan_release(struct setup_plan *plan)
{
	free(plan->steps);
}

void setup_plan_print(FILE *out, const struct setup_plan *plan)
{
	static const char *const marks[] = {
	        [DOCTOR_GOOD] = "good", [DOCTOR_COSTS] = "LACKS", [DOCTOR_UNKNOWN] = "-"};

	for (uint32_t i = 0; i < plan->n; i++) {
		const struct setup_finding *row = &plan->finding[i];
		const struct finding *finding = &row->finding;

		fprintf(out, "%-5s  %-22s %s\n", marks[finding->state], finding->subject,
		        finding->what);
		if (finding->cost[0])
			fprintf(out, "%-5s  %-22s costs: %s\n", "", "", finding->cost);
		for (uint32_t k = 0; k < row->n; k++) {
			fprintf(out, "%-5s  %-22s $ ", "", "");
			step_print(out, &plan->steps[row->first + k]);
			fputc('\n', out);
		}
		if (finding->remedy[0] &&
		    (row->n == 0 || strcmp(finding->subject, "command line") == 0))
			fprintf(out, "%-5s  %-22s remedy: %s\n", "", "", finding->remedy);
	}
}

static json_t *commands_json(const struct setup_plan *plan, const struct setup_finding *row)
{
	json_t *array = json_array();

	for (uint32_t k = 0; k < row->n; k++) {
		char *text = NULL;
		size_t bytes;
		FILE *out = open_memstream(&text, &bytes);

		if (!out)
			break;
		step_print(out, &plan->steps[row->first + k]);
		if (fclose(out) == 0)
			json_array_append_new(array, json_string(text));
		free(text);
	}
	return array;
}

json_t *setup_plan_json(const struct setup_plan *plan)
{
	static const char *const states[] = {"good", "lacks", "unknown"};
	json_t *array = json_array();

	for (uint32_t i = 0; i < plan->n; i++) {
		const struct setup_finding *row = &plan->finding[i];
		const struct finding *finding = &row->finding;

		json_array_append_new(
		        array, json_pack("{s:s,s:s,s:s,s:s,s:s,s:o}", "subject", finding->subject,
		                         "state", states[finding->state], "what", finding->what,
		                         "cost", finding->cost, "remedy", finding->remedy,
		                         "commands", commands_json(plan, row)));
	}
	return array;
}
