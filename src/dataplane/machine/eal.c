/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts the EAL for live use. */
#include "machine/eal.h"

#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_log.h>

#include "machine/cpu_list.h"
#include "machine/machine_memory.h"
#include "machine/run_log.h"

void shared_heap_use(void)
{
#ifdef M_ARENA_MAX
	mallopt(M_ARENA_MAX, 1);
	/* A threshold that is set does not grow with the size of freed blocks. */
	mallopt(M_MMAP_THRESHOLD, SHARED_HEAP_LARGE);
#endif
}

#define ARGUMENTS_MAX 96
#define TEXT_BYTES    2048
#define PROCESSORS    "/sys/devices/system/cpu"

struct arguments {
	int n;
	char *list[ARGUMENTS_MAX + 1];
	char lcores[TEXT_BYTES], prefix[64], memory[32];
};

static struct {
	bool live;
	cpu_set_t cpus;
	/* The folder with the folders of all runs, the name of this run's, and what holds it. */
	char folder[PATH_MAX / 2], prefix[64];
	int hold;
} before;

static void add(struct arguments *arguments, const char *text)
{
	if (arguments->n < ARGUMENTS_MAX)
		arguments->list[arguments->n++] = (char *)(uintptr_t)text;
}

/* Assigns processors to lcores: `0@(0,3),1@1,2@2`. The main lcore may run on every processor
 * without a worker or, if all have one, on every processor of this process. */
static void lcores_text(const struct cpu_list *workers, const cpu_set_t *allowed, char *text)
{
	cpu_set_t control = *allowed;
	size_t at = 0;

	for (uint32_t i = 0; i < workers->n; i++)
		CPU_CLR(workers->cpu[i], &control);
	if (CPU_COUNT(&control) == 0)
		control = *allowed;
	at += (size_t)snprintf(text, TEXT_BYTES, "0@(");
	/* In order. Processors that do not fit are left out; one is enough. */
	for (int cpu = 0, n = 0; cpu < CPU_SETSIZE && at < TEXT_BYTES / 4; cpu++) {
		if (CPU_ISSET(cpu, &control))
			at += (size_t)snprintf(text + at, TEXT_BYTES - at, n++ ? ",%d" : "%d", cpu);
	}
	at += (size_t)snprintf(text + at, TEXT_BYTES - at, ")");
	for (uint32_t i = 0; i < workers->n; i++)
		at += (size_t)snprintf(text + at, TEXT_BYTES - at, ",%u@%u", i + 1,
		                       workers->cpu[i]);
}

static bool has(int n, char **arguments, const char *const *words)
{
	for (int i = 0; i < n; i++) {
		for (const char *const *word = words; *word; word++) {
			size_t bytes = strlen(*word);

			if (strncmp(arguments[i], *word, bytes) == 0 &&
			    (arguments[i][bytes] == '\0' || arguments[i][bytes] == '=' ||
			     (*word)[1] != '-'))
				return true;
		}
	}
	return false;
}

void eal_huge_needed(char *text, uint64_t free_mib, unsigned needed_mib)
{
	snprintf(text, EAL_HUGE_TEXT, "%llu MiB are free, but %u are needed",
	         (unsigned long long)free_mib, needed_mib);
}

void eal_huge_remedy(char *text, unsigned needed_mib)
{
	snprintf(text, EAL_HUGE_TEXT, "`dpdk-hugepages.py -r %uM` reserves them",
	         RTE_ALIGN_CEIL(needed_mib, 2));
}

void eal_huge_lacking(const struct machine_memory *machine, unsigned needed_mib, char *needed,
                      char *remedy)
{
	const char limit = machine->huge_forbidden;

	if (!limit) {
		eal_huge_needed(needed, machine->huge_free_bytes >> 20, needed_mib);
		eal_huge_remedy(remedy, needed_mib);
		return;
	}
	snprintf(needed, EAL_HUGE_TEXT, "the limit on %s (ulimit -%c) forbids them",
	         limit == 'f' ? "file size" : "address space", limit);
	snprintf(remedy, EAL_HUGE_TEXT, "`ulimit -%c unlimited` lifts it", limit);
}

/* `machine`: receives what the machine has. */
static bool has_huge_pages(struct machine_memory *machine, unsigned memory_mib)
{
	return machine_memory_read("", machine) == 0 &&
	       machine->huge_free_bytes >> 20 >= memory_mib;
}

bool eal_takes_huge_pages(unsigned memory_mib)
{
	struct machine_memory machine;

	return has_huge_pages(&machine, memory_mib + EAL_OWN_MIB);
}

/* The cost was measured with 64-byte frames between net_null ports (docs/run.md). */
static void add_memory(struct arguments *arguments, bool need_pci, unsigned memory_mib,
                       struct problem *remark)
{
	char needed[EAL_HUGE_TEXT], remedy[EAL_HUGE_TEXT];
	struct machine_memory machine = {0};

	if (has_huge_pages(&machine, memory_mib)) {
		add(arguments, "--in-memory");
		return;
	}
	/* DPDK 22.11 refuses --in-memory together with --no-huge. If a device needs bus addresses,
	 * an mbuf must not cross a 4 KiB page, so each mbuf takes a whole page. */
	snprintf(arguments->memory, sizeof(arguments->memory), "%u",
	         need_pci ? 2 * memory_mib : memory_mib);
	add(arguments, "--no-huge");
	add(arguments, "--no-shconf");
	add(arguments, "-m");
	add(arguments, arguments->memory);
	/* Virtual devices have their buffers in transparent ones. */
	if (!need_pci)
		return;
	eal_huge_lacking(&machine, memory_mib, needed, remedy);
	problem_set(remark, -1,
	            "hugepages: %s; weir does without them: about 15 ns more per packet, and no "
	            "NIC on a UIO driver; %s",
	            needed, remedy);
}

static void compose(struct arguments *arguments, int n_given, char **given, bool need_pci,
                    unsigned memory_mib, struct problem *remark)
{
	static const char *const memory_words[] = {
	        "--no-huge",  "--in-memory",  "-m", "--socket-mem",
	        "--huge-dir", "--legacy-mem", NULL};
	static const char *const telemetry_words[] = {"--telemetry", NULL};
	static const char *const device_words[] = {"-a", "--allow", "-b", "--block", NULL};

	uint32_t unique;

	add(arguments, "weir");
	add(arguments, "--lcores");
	add(arguments, arguments->lcores);
	add(arguments, "--main-lcore=0");
	add(arguments, "--file-prefix");
	/* Process ids are not unique: there may be several PID namespaces. */
	if (getrandom(&unique, sizeof(unique), 0) != sizeof(unique))
		unique = (uint32_t)time(NULL);
	snprintf(arguments->prefix, sizeof(arguments->prefix), "weir-%ld-%08x", (long)getpid(),
	         unique);
	add(arguments, arguments->prefix);
	/* The EAL ignores --telemetry: telemetry is on unless --no-telemetry is given. */
	if (!has(n_given, given, telemetry_words))
		add(arguments, "--no-telemetry");
	/* PCI devices are attached one by one, when a port needs them. Without a list of allowed
	 * devices the EAL would take all that are bound to a driver that it supports. */
	if (!need_pci)
		add(arguments, "--no-pci");
	else if (!has(n_given, given, device_words))
		add(arguments, "--allow=0000:00:00.0");
	if (!has(n_given, given, memory_words))
		add_memory(arguments, need_pci, memory_mib, remark);
	for (int i = 0; i < n_given; i++)
		add(arguments, given[i]);
	arguments->list[arguments->n] = NULL;
}

/* If an argument is wrong, the EAL prints its usage and may leave rte_errno unset; the error is
 * then EIO. */
static int start_failed(struct problem *problem)
{
	int reason = rte_errno > 0 ? rte_errno : EIO;
	const char *cause = eal_log_cause();

	problem_set(problem, -1, "DPDK did not start: %s%s%s", rte_strerror(reason),
	            *cause ? "; DPDK reports: " : "", cause);
	return -reason;
}

/* Makes the folder of the run, where the EAL would (eal_create_runtime_dir); the EAL takes one that
 * is there. So it is locked before anybody could take it for that of a killed weir. A failure is
 * the EAL's to report, which then fails at the same folder. */
static void make_folder(const char *prefix)
{
	const char *place = getenv("RUNTIME_DIRECTORY"); /* from systemd */

	if (!place && getuid() == 0) {
		place = "/var/run";
		/* An image of a container may have neither. */
		mkdir("/var", 0755);
		mkdir(place, 0755);
	} else if (!place) {
		place = getenv("XDG_RUNTIME_DIR");
	}
	snprintf(before.folder, sizeof(before.folder), "%s/dpdk", place ? place : "/tmp");
	snprintf(before.prefix, sizeof(before.prefix), "%s", prefix);
	mkdir(before.folder, 0700);
	before.hold = leftovers_hold(before.folder, prefix);
}

/* Removes what the run has left in the file system. */
static void end_run(void)
{
	leftovers_remove("", before.folder, before.prefix);
	leftovers_release(before.hold);
}

int eal_start_live(const char *cores, int n_arguments, char **arguments, bool need_pci,
                   unsigned memory_mib, struct problem *problem)
{
	static const char *const log_words[] = {"--log-level", NULL};
	/* Static: the EAL keeps pointers to its arguments. */
	static struct arguments all;
	static char *list[ARGUMENTS_MAX + 1];
	char run[PATH_MAX];
	struct cpu_list workers;
	int rc;

	problem->text[0] = '\0';
	rc = cpu_list_parse(cores, &workers, problem);
	if (rc < 0)
		return rc;
	if (n_arguments > ARGUMENTS_MAX / 2)
		return problem_set(problem, -1, "%d arguments after `--`, the maximum is %d",
		                   n_arguments, ARGUMENTS_MAX / 2);
	if (access(PROCESSORS, F_OK) < 0) {
		problem_set(problem, -1,
		            PROCESSORS ": %s; DPDK finds the processors there: "
		                       "mount -t sysfs sysfs /sys",
		            strerror(errno));
		return -ENOENT;
	}
	shared_heap_use();
	/* Frees huge pages before they are counted. */
	leftovers_remove("", "", NULL);
	sched_getaffinity(0, sizeof(before.cpus), &before.cpus);
	memset(&all, 0, sizeof(all));
	lcores_text(&workers, &before.cpus, all.lcores);
	compose(&all, n_arguments, arguments, need_pci, memory_mib + EAL_OWN_MIB, problem);
	memcpy(list, all.list, sizeof(list)); /* getopt changes the order */
	eal_log_start(has(n_arguments, arguments, log_words));
	make_folder(all.prefix);
	if (rte_eal_init(all.n, list) < 0) {
		rc = start_failed(problem);
		eal_log_stop();
		end_run();
		return rc;
	}
	before.live = true;
	/* Without a shared configuration it is empty: nothing is left however this process ends. */
	snprintf(run, sizeof(run), "%s/%s", before.folder, before.prefix);
	rmdir(run);
	leftovers_remove("", before.folder, NULL);
	return 0;
}

void eal_stop_live(void)
{
	if (!before.live)
		return;
	before.live = false;
	rte_eal_cleanup();
	eal_log_stop();
	end_run();
	sched_setaffinity(0, sizeof(before.cpus), &before.cpus);
}

#define LINE_BYTES  400
#define CAUSE_BYTES 160 /* what weir quotes of a line */

static struct {
	pthread_mutex_t lock;
	FILE *stream;
	char line[CAUSE_BYTES]; /* the first error */
	bool asked;
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Returns the level of a line of DPDK's. What DPDK calls an error is often no error for weir's
 * user: a driver that finds no device, a page that cannot be had and is not needed. weir's own
 * lines report what matters. */
static enum run_log_level level_of(int eal_level)
{
	if (kept.asked)
		return RUN_LOG_NOTICE;
	return eal_level <= (int)RTE_LOG_ERR ? RUN_LOG_INFO : RUN_LOG_DEBUG;
}

/* Logs a message. DPDK flushes after each message, so each arrives here whole. */
static ssize_t keep(void *cookie, const char *text, size_t bytes)
{
	static const struct journal_field fields[] = {{"WEIR_EVENT", "dpdk"}};
	int eal_level = rte_log_cur_msg_loglevel();
	char line[LINE_BYTES];
	size_t n = bytes < LINE_BYTES - 1 ? bytes : LINE_BYTES - 1;
	(void)cookie;

	while (n > 0 && text[n - 1] == '\n')
		n--;
	for (size_t i = 0; i < n; i++)
		line[i] = (unsigned char)text[i] < ' ' ? ' ' : text[i];
	line[n] = '\0';
	if (eal_level <= (int)RTE_LOG_ERR) {
		pthread_mutex_lock(&kept.lock);
		if (kept.line[0] == '\0')
			snprintf(kept.line, sizeof(kept.line), "%s", line);
		pthread_mutex_unlock(&kept.lock);
	}
	if (n > 0)
		run_log_with(level_of(eal_level), fields, 1, "DPDK: %s", line);
	return (ssize_t)bytes;
}

void eal_log_start(bool asked)
{
	kept.asked = asked;
	kept.stream = fopencookie(NULL, "w", (cookie_io_functions_t){.write = keep});
	if (kept.stream)
		rte_openlog_stream(kept.stream);
}

void eal_log_stop(void)
{
	if (!kept.stream)
		return;
	rte_openlog_stream(NULL);
	fclose(kept.stream);
	kept.stream = NULL;
}

const char *eal_log_cause(void)
{
	static char cause[CAUSE_BYTES];

	pthread_mutex_lock(&kept.lock);
	memcpy(cause, kept.line, sizeof(cause));
	kept.line[0] = '\0';
	pthread_mutex_unlock(&kept.lock);
	return cause;
}
