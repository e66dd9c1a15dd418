/* SPDX-License-Identifier: BSD-3-Clause */
#include "setup/setup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text/array.h"

/*
 * How a plan is made: findings with the changes that remedy them, and helpers for both. Each of the
 * examine functions looks at one part of the machine.
 */
struct making {
	const struct setup_request *request;
	struct setup_plan *plan;
	bool no_memory;
	bool iommu;
	const char *driver; /* the driver for NICs */
	/* For the kernel's command line. Three lists of CPU_LIST_MAX processors fit. */
	char kernel_words[2048];
};

/* Findings of the doctor for each processor with a worker. */
static void setup_examine_processors(struct making *making);

/* Drivers of NICs, and whether an IOMMU keeps them off other memory. */
static void setup_examine_nics(struct making *making, bool intel);

/* Adds a copy of the finding, without changes yet. It is valid until the next is added. */
static struct setup_finding *making_add(struct making *making, const struct finding *finding)
{
	static struct setup_finding nowhere;
	struct setup_plan *plan = making->plan;
	struct setup_finding *row;

	if (!array_fits(&plan->finding, &plan->room, plan->n + 1, sizeof(*row))) {
		making->no_memory = true;
		return &nowhere;
	}
	row = &plan->finding[plan->n++];
	*row = (struct setup_finding){.finding = *finding, .first = plan->n_steps};
	return row;
}

static struct setup_finding *making_finding(struct making *making, const char *subject,
                                            enum doctor_state state)
{
	const struct finding finding = {.subject = subject, .state = state};

	return making_add(making, &finding);
}

static __attribute__((format(printf, 2, 3))) void making_say(char text[DOCTOR_TEXT_BYTES],
                                                             const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, DOCTOR_TEXT_BYTES, format, arguments);
	va_end(arguments);
}

/* Says what was found, however long it is. */
static __attribute__((format(printf, 3, 4))) void
making_say_all(struct making *making, struct setup_finding *row, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	if (vasprintf(&row->what, format, arguments) < 0) {
		row->what = NULL;
		making->no_memory = true;
	}
	va_end(arguments);
}

/* Adds a change that remedies the last finding. `path` is complete; `format` is that of the
 * value. */
static __attribute__((format(printf, 4, 5))) struct step *
making_step(struct making *making, enum step_kind kind, const char *path, const char *format, ...)
{
	static struct step nowhere;
	struct setup_plan *plan = making->plan;
	struct step *steps;
	va_list arguments;

	if (!array_fits(&plan->steps, &plan->steps_room, plan->n_steps + 1, sizeof(*steps))) {
		making->no_memory = true;
		return &nowhere;
	}
	steps = &plan->steps[plan->n_steps++];
	memset(steps, 0, sizeof(*steps));
	steps->kind = kind;
	snprintf(steps->path, sizeof(steps->path), "%s", path);
	va_start(arguments, format);
	if (vasprintf(&steps->value, format, arguments) < 0) {
		steps->value = NULL;
		making->no_memory = true;
	}
	va_end(arguments);
	if (plan->n > 0)
		plan->finding[plan->n - 1].n++;
	return steps;
}

static bool making_has(const struct making *making, const char *path)
{
	char whole[PATH_MAX];

	/* A link of systemd counts even if its target is missing. */
	snprintf(whole, sizeof(whole), "%s%s", making->request->root, path);
	return faccessat(AT_FDCWD, whole, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Gets the first line of a file; "" if there is none. */
static void making_line(const struct making *making, const char *path, char *text, size_t room)
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

static __attribute__((format(printf, 2, 3))) void making_kernel_word(struct making *making,
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

#define GRUB "/etc/default/grub.d"
/* What is in weir.cfg, and as much again, fit into a line. */
#define LINE_BYTES (4 * sizeof(((struct making *)NULL)->kernel_words))
#define LINE_BEGIN "GRUB_CMDLINE_LINUX_DEFAULT=\"$GRUB_CMDLINE_LINUX_DEFAULT "
#define BLANKS     " \""
#define UNIT       "weir-setup@"
#define WANTS      "/etc/systemd/system/multi-user.target.wants"

/* Returns true if a word of the line is the first n bytes of `word`, with one of `ends` behind. */
static bool has_word(const char *line, const char *word, size_t n, const char *ends)
{
	for (const char *at = line; *at; at += strcspn(at, BLANKS), at += strspn(at, BLANKS)) {
		if (strncmp(at, word, n) == 0 && strchr(ends, at[n]))
			return true;
	}
	return false;
}

static bool has_all(const char *line, const char *words)
{
	for (const char *at = words; *at; at += strcspn(at, BLANKS), at += strspn(at, BLANKS)) {
		if (!has_word(line, at, strcspn(at, BLANKS), BLANKS))
			return false;
	}
	return true;
}

static void examine_command_line(struct making *making)
{
	static const char *const path = GRUB "/weir.cfg";
	char line[LINE_BYTES], now[LINE_BYTES / 2];
	struct setup_finding *row;

	if (!making->kernel_words[0])
		return;
	row = making_finding(making, "command line", DOCTOR_COSTS);
	making_say_all(making, row, "the kernel's command line lacks %s", making->kernel_words);
	making_say(row->finding.cost, "see the findings above");
	making->plan->reboot = true;
	making_line(making, path, now, sizeof(now));
	/* In the line of weir.cfg, words that are in it and are not given anew stay: they may be
	 * the reason why nothing else is lacking. */
	char words[LINE_BYTES] = "", *rest = NULL;
	size_t at = (size_t)snprintf(line, LINE_BYTES, "%s", LINE_BEGIN);

	if (strncmp(now, LINE_BEGIN, at) == 0)
		strcpy(words, now + at);
	for (char *word = strtok_r(words, BLANKS, &rest); word;
	     word = strtok_r(NULL, BLANKS, &rest)) {
		if (!has_word(making->kernel_words, word, strcspn(word, "="), "=" BLANKS))
			at += (size_t)snprintf(line + at, LINE_BYTES - at, "%s ", word);
	}
	snprintf(line + at, LINE_BYTES - at, "%s\"", making->kernel_words);
	if (now[0] != '#' && has_all(now, making->kernel_words)) {
		making_say(row->finding.remedy, "already in %s: reboot", path);
	} else if (making_has(making, GRUB)) {
		making_say(row->finding.remedy, "and then reboot");
		making_step(making, STEP_FILE, path, "%s", line);
	} else {
		making_say(row->finding.remedy,
		           "add it in the boot loader of this machine, and then reboot");
	}
}

static void examine_unit(struct making *making)
{
	static const char *const folders[] = {"/usr/lib/systemd/system", "/lib/systemd/system",
	                                      "/usr/local/lib/systemd/system",
	                                      "/etc/systemd/system"};
	const struct setup_ports *ports = making->request->ports;
	char unit[PATH_MAX] = "", path[PATH_MAX];
	struct setup_finding *row = making_finding(making, "lasting", DOCTOR_GOOD);
	uint32_t missing = 0;

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]) && !unit[0]; i++) {
		snprintf(path, sizeof(path), "%s/" UNIT ".service", folders[i]);
		if (making_has(making, path))
			strcpy(unit, path);
	}
	for (uint32_t i = 0; i < ports->n_words; i++) {
		snprintf(path, sizeof(path), WANTS "/" UNIT "%s.service", ports->word[i]);
		if (making_has(making, path))
			continue;
		missing++;
		if (unit[0] && making_has(making, "/etc/systemd/system"))
			making_step(making, STEP_LINK, path, "%s", unit);
	}
	making_say(row->finding.what, missing || ports->n_words == 0
	                                      ? "until the next start of the machine"
	                                      : "applied again at each start");
	if (!missing)
		return;
	row->finding.state = DOCTOR_COSTS;
	making_say(row->finding.cost, "all of this is lost at the next start");
	if (row->n == 0)
		making_say(row->finding.remedy, "no unit " UNIT ".service is installed here: call "
		                                "`weir setup --apply` at each start");
}

int setup_plan_make(const struct setup_request *request, struct setup_plan *plan)
{
	struct making making = {.request = request, .plan = plan};
	struct bench_machine machine;

	memset(plan, 0, sizeof(*plan));
	bench_machine_read(request->root, request->cores->cpu[0], &machine);
	setup_examine_nics(&making, strstr(machine.cpu, "Intel") != NULL);
	setup_examine_processors(&making);
	/* What takes effect at the next start, and what is repeated then. */
	examine_command_line(&making);
	examine_unit(&making);
	return making.no_memory ? -ENOMEM : 0;
}

void setup_plan_release(struct setup_plan *plan)
{
	for (uint32_t i = 0; i < plan->n; i++)
		free(plan->finding[i].what);
	for (uint32_t i = 0; i < plan->n_steps; i++)
		step_release(&plan->steps[i]);
	free(plan->finding);
	free(plan->steps);
}

static const char *what_of(const struct setup_finding *row)
{
	return row->what ? row->what : row->finding.what;
}

void setup_plan_print(FILE *out, const struct setup_plan *plan)
{
	static const char *const marks[] = {
	        [DOCTOR_GOOD] = "good", [DOCTOR_COSTS] = "LACKS", [DOCTOR_UNKNOWN] = "-"};

	for (uint32_t i = 0; i < plan->n; i++) {
		const struct setup_finding *row = &plan->finding[i];
		const struct finding *finding = &row->finding;

		fprintf(out, "%-5s  %-22s %s\n", marks[finding->state], finding->subject,
		        what_of(row));
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
		                         "state", states[finding->state], "what", what_of(row),
		                         "cost", finding->cost, "remedy", finding->remedy,
		                         "commands", commands_json(plan, row)));
	}
	return array;
}

#define NOIOMMU "/sys/module/vfio/parameters/enable_unsafe_noiommu_mode"

/* Returns true for drivers that leave the NIC to the kernel as well: DPDK works beside them. */
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
	        making_finding(making, "IOMMU", making->iommu ? DOCTOR_GOOD : DOCTOR_COSTS);
	struct finding *finding = &row->finding;
	char mode[8];

	if (making->iommu) {
		making_say(finding->what, "on: a NIC can access weir's memory and no other");
		return;
	}
	making_say(finding->what, "off, or none");
	making_say(finding->cost,
	           "only root can open a NIC, and an error of its driver may overwrite any memory");
	making_say(finding->remedy,
	           "VT-d, AMD-Vi or SMMU in the firmware; in a guest, a virtual IOMMU%s",
	           making->request->unsafe ? "" : "; or without one: --unsafe-noiommu");
	if (intel)
		making_kernel_word(making, "intel_iommu=on iommu=pt");
	if (!making->request->unsafe)
		return;
	if (!making_has(making, NOIOMMU)) {
		/* Debian's vfio has no such mode. */
		making->driver = "uio_pci_generic";
		return;
	}
	making_line(making, NOIOMMU, mode, sizeof(mode));
	if (mode[0] == 'Y')
		finding->state = DOCTOR_GOOD;
	else
		making_step(making, STEP_WRITE, NOIOMMU, "Y");
}

static void examine_driver(struct making *making, const struct setup_device *device)
{
	bool shared = is_bifurcated(device->driver);
	bool good = shared || is_dpdks(device->driver);
	struct setup_finding *row =
	        making_finding(making, "driver", good ? DOCTOR_GOOD : DOCTOR_COSTS);
	struct finding *finding = &row->finding;

	making_say(finding->what, "%s has %s%s%s%s", device->address,
	           device->driver[0] ? device->driver : "none", shared ? ", which DPDK shares" : "",
	           device->interface[0] ? ", the kernel's interface " : "", device->interface);
	if (good)
		return;
	making_say(finding->cost,
	           "as an interface of the kernel it takes some 100,000 packets a second, "
	           "with DPDK's driver millions");
	if (device->up) {
		making_say(finding->remedy,
		           "%s is up, and its connections end when DPDK takes it: if that is "
		           "intended, `ip link set %s down` first",
		           device->interface, device->interface);
	} else if (!making->iommu && !making->request->unsafe) {
		making_say(finding->remedy, "set up an IOMMU first, or give --unsafe-noiommu");
	} else {
		making_step(making, STEP_DRIVER, device->address, "%s", making->driver);
	}
}

static void setup_examine_nics(struct making *making, bool intel)
{
	const struct setup_ports *ports = making->request->ports;
	bool vfio = false;

	making->iommu = has_iommu(making);
	making->driver = "vfio-pci";
	for (uint32_t i = 0; i < ports->n_devices; i++)
		vfio |= !is_bifurcated(ports->device[i].driver);
	if (vfio)
		examine_iommu(making, intel);
	for (uint32_t i = 0; i < ports->n_devices; i++)
		examine_driver(making, &ports->device[i]);
}

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

static void setup_examine_processors(struct making *making)
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
