/* SPDX-License-Identifier: BSD-3-Clause */
#include "show/doctor.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "machine/eal.h"
#include "port/device_text.h"

#define STOLEN_MUCH 0.001

static struct finding *add(struct doctor *doctor, const char *subject, enum doctor_state state)
{
	struct finding *finding = &doctor->findings[doctor->n];

	if (doctor->n + 1 < DOCTOR_FINDINGS_MAX)
		doctor->n++;
	memset(finding, 0, sizeof(*finding));
	finding->subject = subject;
	finding->state = state;
	return finding;
}

__attribute__((format(printf, 2, 3))) static void say(char text[DOCTOR_TEXT_BYTES],
                                                      const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, DOCTOR_TEXT_BYTES, format, arguments);
	va_end(arguments);
}

static void examine_tsc(struct doctor *doctor, const struct bench_machine *machine)
{
	bool even = machine->tsc_constant && machine->tsc_nonstop;
	struct finding *finding = add(doctor, "tsc", even ? DOCTOR_GOOD : DOCTOR_COSTS);

	say(finding->what, "%s, the kernel's clock is %s",
	    even                    ? "invariant"
	    : machine->tsc_constant ? "stops in deep sleep (no nonstop_tsc)"
	                            : "runs with the processor's frequency (no constant_tsc)",
	    machine->clocksource[0] ? machine->clocksource : "not known");
	if (even)
		return;
	say(finding->cost, "weir's clock is wrong whenever the processor changes its speed");
	say(finding->remedy, "a processor with an invariant TSC; in a guest, pass the flag "
	                     "through (`-cpu host,+invtsc`)");
}

static void examine_hypervisor(struct doctor *doctor, const struct bench_machine *machine)
{
	struct finding *finding =
	        add(doctor, "hypervisor", machine->hypervisor[0] ? DOCTOR_COSTS : DOCTOR_GOOD);

	if (!machine->hypervisor[0]) {
		say(finding->what, "none: this is the hardware");
		return;
	}
	say(finding->what, "a guest (%s), %.2f %% of the core's time stolen since boot",
	    strcmp(machine->hypervisor, "yes") == 0 ? "of an unnamed hypervisor"
	                                            : machine->hypervisor,
	    machine->stolen * 100);
	say(finding->cost, "%s",
	    machine->stolen > STOLEN_MUCH
	            ? "the host takes the processor away for milliseconds; packets leave late then"
	            : "exits to the host: microseconds now and then");
	say(finding->remedy, "bare metal; or pin each virtual processor to a processor of the host "
	                     "that nothing else uses");
}

static void examine_hugepages(struct doctor *doctor, const struct bench_machine *machine,
                              unsigned huge_mib)
{
	bool enough = machine->huge_free_bytes >> 20 >= huge_mib;
	struct finding *finding = add(doctor, "hugepages", enough ? DOCTOR_GOOD : DOCTOR_COSTS);

	if (enough) {
		say(finding->what, "%" PRIu64 " MiB are free, %u are needed",
		    machine->huge_free_bytes >> 20, huge_mib);
		return;
	}
	eal_huge_needed(finding->what, machine->huge_free_bytes >> 20, huge_mib);
	say(finding->cost, "packet buffers lie in small pages: 40 instead of 25 ns a packet with a "
	                   "NIC, 27 with virtual devices; and no NIC works with igb_uio");
	eal_huge_remedy(finding->remedy, huge_mib);
}

static void examine_transparent(struct doctor *doctor, const struct bench_machine *machine)
{
	bool never = strcmp(machine->transparent, "never") == 0;
	struct finding *finding = add(doctor, "transparent hugepages",
	                              !machine->transparent[0] ? DOCTOR_UNKNOWN
	                              : never                  ? DOCTOR_COSTS
	                                                       : DOCTOR_GOOD);

	say(finding->what, "%s", machine->transparent[0] ? machine->transparent : "not known");
	if (!never)
		return;
	say(finding->cost,
	    "packets in flight lie in small pages: the more there are, the more misses of the TLB");
	say(finding->remedy, "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled");
}

static void examine_isolation(struct doctor *doctor, const struct bench_machine *machine)
{
	bool isolated = bench_machine_list_has(machine->isolated, machine->core);
	bool tickless = bench_machine_list_has(machine->nohz_full, machine->core);
	struct finding *finding = add(doctor, "isolcpus", isolated ? DOCTOR_GOOD : DOCTOR_COSTS);

	say(finding->what, "processor %u is %s (isolated: %s)", machine->core,
	    isolated ? "isolated" : "not isolated",
	    machine->isolated[0] ? machine->isolated : "none");
	if (!isolated) {
		say(finding->cost,
		    "other processes preempt the worker: packets leave milliseconds late");
		say(finding->remedy, "isolcpus=%u on the kernel's command line", machine->core);
	}
	finding = add(doctor, "nohz_full", tickless ? DOCTOR_GOOD : DOCTOR_COSTS);
	say(finding->what, "processor %u %s", machine->core,
	    tickless ? "has no timer tick while weir polls" : "has the timer tick");
	if (tickless)
		return;
	say(finding->cost, "some microseconds, 100 to 1000 times a second");
	say(finding->remedy, "nohz_full=%u rcu_nocbs=%u on the kernel's command line",
	    machine->core, machine->core);
}

static void examine_processors(struct doctor *doctor, const struct bench_machine *machine)
{
	bool enough = machine->processors >= 2;
	struct finding *finding = add(doctor, "processors", enough ? DOCTOR_GOOD : DOCTOR_COSTS);

	say(finding->what, "%u: %s", machine->processors, machine->cpu);
	if (enough)
		return;
	say(finding->cost, "the worker shares its processor with the system and with weir ctl");
	say(finding->remedy, "a machine with two or more");
}

static void examine_governor(struct doctor *doctor, const struct bench_machine *machine)
{
	bool good = strcmp(machine->governor, "performance") == 0;
	struct finding *finding = add(doctor, "frequency governor",
	                              !machine->governor[0] ? DOCTOR_UNKNOWN
	                              : good                ? DOCTOR_GOOD
	                                                    : DOCTOR_COSTS);

	say(finding->what, "%s",
	    machine->governor[0] ? machine->governor
	                         : "not known: the kernel does not control it (guest, or BIOS)");
	if (good || !machine->governor[0])
		return;
	if (machine->clock_least_khz && machine->clock_most_khz > machine->clock_least_khz)
		say(finding->cost,
		    "the core may run at %.1f instead of %.1f GHz: up to %.1f times the time per "
		    "packet",
		    (double)machine->clock_least_khz / 1e6, (double)machine->clock_most_khz / 1e6,
		    (double)machine->clock_most_khz / (double)machine->clock_least_khz);
	else
		say(finding->cost, "the core is slower than it could be, and changes its speed");
	say(finding->remedy,
	    "echo performance > /sys/devices/system/cpu/cpu%u/cpufreq/scaling_governor",
	    machine->core);
}

static void examine_sleep(struct doctor *doctor, const struct bench_machine *machine)
{
	bool good = machine->sleep_us <= BENCH_SLEEP_SHORT_US;
	struct finding *finding = add(doctor, "C-states",
	                              !machine->sleep[0] ? DOCTOR_UNKNOWN
	                              : good             ? DOCTOR_GOOD
	                                                 : DOCTOR_COSTS);

	if (!machine->sleep[0]) {
		say(finding->what, "not known: the kernel does not choose them (guest)");
		return;
	}
	say(finding->what, "processor %u sleeps as deep as %.40s", machine->core, machine->sleep);
	if (good)
		return;
	say(finding->cost,
	    "%" PRId64 " us late when it was asleep: this affects what the kernel sends and "
	    "receives, and the start; a polling worker keeps it awake",
	    machine->sleep_us);
	say(finding->remedy, "`cpupower -c %u idle-set -D %d`", machine->core,
	    BENCH_SLEEP_SHORT_US);
}

static void examine_siblings(struct doctor *doctor, const struct bench_machine *machine)
{
	bool shared = strpbrk(machine->siblings, ",-") != NULL;
	struct finding *finding = add(doctor, "SMT",
	                              !machine->siblings[0] ? DOCTOR_UNKNOWN
	                              : shared              ? DOCTOR_COSTS
	                                                    : DOCTOR_GOOD);

	if (!machine->siblings[0])
		say(finding->what, "not known");
	else
		say(finding->what,
		    shared ? "processors %s are threads of one core" : "processor %s alone",
		    machine->siblings);
	if (!shared)
		return;
	say(finding->cost, "up to half of the packets a second, whenever the sibling works");
	say(finding->remedy, "nosmt, or leave the others of %s idle", machine->siblings);
}

static void examine_interrupts(struct doctor *doctor, const struct bench_machine *machine)
{
	struct finding *finding = add(doctor, "interrupts",
	                              machine->interrupts < 0    ? DOCTOR_UNKNOWN
	                              : machine->interrupts == 0 ? DOCTOR_GOOD
	                                                         : DOCTOR_COSTS);

	if (machine->interrupts < 0) {
		say(finding->what, "not known: no /proc/irq");
		return;
	}
	say(finding->what, "%d go to processor %u", machine->interrupts, machine->core);
	if (machine->interrupts == 0)
		return;
	say(finding->cost, "some microseconds each");
	say(finding->remedy, "write another processor to /proc/irq/N/smp_affinity_list, or "
	                     "irqaffinity= on the kernel's command line");
}

static void examine_throttling(struct doctor *doctor, const struct bench_machine *machine)
{
	bool all = machine->rt_runtime_us < 0 || machine->rt_runtime_us >= machine->rt_period_us;
	struct finding *finding = add(doctor, "real-time share", all ? DOCTOR_GOOD : DOCTOR_COSTS);

	if (all) {
		say(finding->what, "real-time threads may use all of the processor");
		return;
	}
	say(finding->what, "real-time threads have %" PRId64 " of %" PRId64 " ms",
	    machine->rt_runtime_us / 1000, machine->rt_period_us / 1000);
	say(finding->cost, "matters only with a real-time priority: then the rest of each period "
	                   "may go to others, in one piece");
	say(finding->remedy, "sysctl kernel.sched_rt_runtime_us=-1, and a core of its own");
}

static void examine_nics(struct doctor *doctor, const char *root,
                         const struct bench_machine *machine, const struct scenario *scenario)
{
	struct finding *finding;

	if (machine->nodes <= 1) {
		finding = add(doctor, "NUMA", DOCTOR_GOOD);
		say(finding->what, "one node");
		return;
	}
	finding = add(doctor, "NUMA", DOCTOR_GOOD);
	say(finding->what, "%u nodes, processor %u is on node %d", machine->nodes, machine->core,
	    machine->node);
	for (uint32_t i = 0; scenario && i < scenario->n_ports; i++) {
		const char *device = scenario->ports[i].device;
		char address[16];
		int node;

		if (!device || !pci_device_address(device, address))
			continue;
		node = bench_machine_pci_node(root, address);
		if (node < 0 || node == machine->node)
			continue;
		finding = add(doctor, "NUMA", DOCTOR_COSTS);
		say(finding->what, "port %s (%s) is on node %d, processor %u on node %d",
		    scenario->ports[i].name, address, node, machine->core, machine->node);
		say(finding->cost, "each packet crosses between the nodes: some 100 ns and up to a "
		                   "third of the packets a second");
		say(finding->remedy, "--cores with a processor of node %d", node);
	}
}

void doctor_examine(const char *root, const struct bench_machine *machine,
                    const struct scenario *scenario, unsigned huge_mib, struct doctor *doctor)
{
	static const char *const late[] = {"processors", "hypervisor", "isolcpus",
	                                   "nohz_full",  "interrupts", "frequency governor"};

	doctor->n = 0;
	examine_processors(doctor, machine);
	examine_tsc(doctor, machine);
	examine_hypervisor(doctor, machine);
	examine_hugepages(doctor, machine, huge_mib);
	examine_transparent(doctor, machine);
	examine_isolation(doctor, machine);
	examine_governor(doctor, machine);
	examine_sleep(doctor, machine);
	examine_siblings(doctor, machine);
	examine_interrupts(doctor, machine);
	examine_throttling(doctor, machine);
	examine_nics(doctor, root, machine, scenario);
	for (uint32_t i = 0; i < doctor->n; i++) {
		struct finding *finding = &doctor->findings[i];

		for (size_t k = 0; k < sizeof(late) / sizeof(late[0]); k++)
			finding->late |= strcmp(finding->subject, late[k]) == 0;
	}
}

void doctor_print_late(FILE *out, const char *indent, const struct doctor *doctor)
{
	for (uint32_t i = 0; i < doctor->n; i++) {
		const struct finding *finding = &doctor->findings[i];

		if (finding->late && finding->state == DOCTOR_COSTS)
			fprintf(out, "%s%s: %s; remedy: %s\n", indent, finding->subject,
			        finding->what, finding->remedy);
	}
}

json_t *doctor_json(const struct doctor *doctor)
{
	static const char *const states[] = {"good", "costs", "unknown"};
	json_t *array = json_array();

	for (uint32_t i = 0; i < doctor->n; i++) {
		const struct finding *finding = &doctor->findings[i];

		json_array_append_new(
		        array, json_pack("{s:s,s:s,s:s,s:s,s:s}", "subject", finding->subject,
		                         "state", states[finding->state], "what", finding->what,
		                         "cost", finding->cost, "remedy", finding->remedy));
	}
	return array;
}
