/* SPDX-License-Identifier: BSD-3-Clause */
#include "show/doctor.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "machine/eal.h"
#include "port/device_text.h"

#define STOLEN_MUCH 0.001

__attribute__((format(printf, 2, 3))) static void say(char text[DOCTOR_TEXT_BYTES],
                                                      const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, DOCTOR_TEXT_BYTES, format, arguments);
	va_end(arguments);
}

/* Adds a finding; `what` is still to be said. */
static struct finding *add(struct doctor *doctor, const char *subject, bool known, bool good)
{
	struct finding *finding = &doctor->findings[doctor->n];

	if (doctor->n + 1 < DOCTOR_FINDINGS_MAX)
		doctor->n++;
	memset(finding, 0, sizeof(*finding));
	finding->subject = subject;
	finding->state = !known ? DOCTOR_UNKNOWN : good ? DOCTOR_GOOD : DOCTOR_COSTS;
	return finding;
}

/* Says what a finding costs and what helps, if it costs something. */
__attribute__((format(printf, 3, 4))) static void costs(struct finding *finding, const char *cost,
                                                        const char *remedy, ...)
{
	va_list arguments;

	if (finding->state != DOCTOR_COSTS)
		return;
	say(finding->cost, "%s", cost);
	va_start(arguments, remedy);
	vsnprintf(finding->remedy, DOCTOR_TEXT_BYTES, remedy, arguments);
	va_end(arguments);
}

static void examine_clock(struct doctor *doctor, const struct bench_machine *machine)
{
	struct finding *finding = add(doctor, "processors", true, machine->processors >= 2);

	say(finding->what, "%u: %s", machine->processors, machine->cpu);
	costs(finding, "the worker shares its processor with the system and with weir ctl",
	      "a machine with two or more");
	finding = add(doctor, "tsc", true, machine->tsc_constant && machine->tsc_nonstop);
	say(finding->what, "%s, the kernel's clock is %s",
	    finding->state == DOCTOR_GOOD ? "invariant"
	    : machine->tsc_constant       ? "stops in deep sleep (no nonstop_tsc)"
	                                  : "runs with the processor's frequency (no constant_tsc)",
	    machine->clocksource[0] ? machine->clocksource : "not known");
	costs(finding, "weir's clock is wrong whenever the processor changes its speed",
	      "a processor with an invariant TSC; in a guest, pass the flag "
	      "through (`-cpu host,+invtsc`)");
	finding = add(doctor, "hypervisor", true, !machine->hypervisor[0]);
	if (finding->state == DOCTOR_GOOD)
		say(finding->what, "none: this is the hardware");
	else
		say(finding->what, "a guest (%s), %.2f %% of the core's time stolen since boot",
		    strcmp(machine->hypervisor, "yes") == 0 ? "of an unnamed hypervisor"
		                                            : machine->hypervisor,
		    machine->stolen * 100);
	costs(finding,
	      machine->stolen > STOLEN_MUCH ? "the host takes the processor away for "
	                                      "milliseconds; packets leave late then"
	                                    : "exits to the host: microseconds now and then",
	      "bare metal; or pin each virtual processor to a processor of the host "
	      "that nothing else uses");
}

static void examine_memory(struct doctor *doctor, const struct bench_machine *machine,
                           unsigned huge_mib)
{
	const uint64_t free_mib = machine->huge_free_bytes >> 20;
	struct finding *finding = add(doctor, "hugepages", true, free_mib >= huge_mib);

	if (finding->state == DOCTOR_GOOD) {
		say(finding->what, "%" PRIu64 " MiB are free, %u are needed", free_mib, huge_mib);
	} else {
		eal_huge_needed(finding->what, free_mib, huge_mib);
		say(finding->cost,
		    "packet buffers lie in small pages: 40 instead of 25 ns a packet with a "
		    "NIC, 27 with virtual devices; and no NIC works with igb_uio");
		eal_huge_remedy(finding->remedy, huge_mib);
	}
	finding = add(doctor, "transparent hugepages", machine->transparent[0],
	              strcmp(machine->transparent, "never") != 0);
	say(finding->what, "%s", machine->transparent[0] ? machine->transparent : "not known");
	costs(finding,
	      "packets in flight lie in small pages: the more there are, the more misses of the "
	      "TLB",
	      "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled");
}

static void examine_isolation(struct doctor *doctor, const struct bench_machine *machine)
{
	const unsigned core = machine->core;
	struct finding *finding =
	        add(doctor, "isolcpus", true, bench_machine_list_has(machine->isolated, core));

	say(finding->what, "processor %u is %s (isolated: %s)", core,
	    finding->state == DOCTOR_GOOD ? "isolated" : "not isolated",
	    machine->isolated[0] ? machine->isolated : "none");
	costs(finding, "other processes preempt the worker: packets leave milliseconds late",
	      "isolcpus=%u on the kernel's command line", core);
	finding = add(doctor, "nohz_full", true, bench_machine_list_has(machine->nohz_full, core));
	say(finding->what, "processor %u %s", core,
	    finding->state == DOCTOR_GOOD ? "has no timer tick while weir polls"
	                                  : "has the timer tick");
	costs(finding, "some microseconds, 100 to 1000 times a second",
	      "nohz_full=%u rcu_nocbs=%u on the kernel's command line", core, core);
}

/* How fast the core is, and whether it sleeps or is shared. */
static void examine_speed(struct doctor *doctor, const struct bench_machine *machine)
{
	const double least = (double)machine->clock_least_khz,
	             most = (double)machine->clock_most_khz;
	struct finding *finding = add(doctor, "frequency governor", machine->governor[0],
	                              strcmp(machine->governor, "performance") == 0);

	say(finding->what, "%s",
	    machine->governor[0] ? machine->governor
	                         : "not known: the kernel does not control it (guest, or BIOS)");
	costs(finding, "the core is slower than it could be, and changes its speed",
	      "echo performance > /sys/devices/system/cpu/cpu%u/cpufreq/scaling_governor",
	      machine->core);
	if (finding->state == DOCTOR_COSTS && least > 0 && most > least)
		say(finding->cost,
		    "the core may run at %.1f instead of %.1f GHz: up to %.1f times the time per "
		    "packet",
		    least / 1e6, most / 1e6, most / least);
	finding = add(doctor, "C-states", machine->sleep[0],
	              machine->sleep_us <= BENCH_SLEEP_SHORT_US);
	if (!machine->sleep[0])
		say(finding->what, "not known: the kernel does not choose them (guest)");
	else
		say(finding->what, "processor %u sleeps as deep as %.40s", machine->core,
		    machine->sleep);
	costs(finding, "", "`cpupower -c %u idle-set -D %d`", machine->core, BENCH_SLEEP_SHORT_US);
	if (finding->state == DOCTOR_COSTS)
		say(finding->cost,
		    "%" PRId64 " us late when it was asleep: this affects what the kernel sends "
		    "and receives, and the start; a polling worker keeps it awake",
		    machine->sleep_us);
	finding =
	        add(doctor, "SMT", machine->siblings[0], strpbrk(machine->siblings, ",-") == NULL);
	if (!machine->siblings[0])
		say(finding->what, "not known");
	else
		say(finding->what,
		    finding->state == DOCTOR_COSTS ? "processors %s are threads of one core"
		                                   : "processor %s alone",
		    machine->siblings);
	costs(finding, "up to half of the packets a second, whenever the sibling works",
	      "nosmt, or leave the others of %s idle", machine->siblings);
}

static void examine_kernel(struct doctor *doctor, const struct bench_machine *machine)
{
	struct finding *finding =
	        add(doctor, "interrupts", machine->interrupts >= 0, machine->interrupts == 0);

	if (machine->interrupts < 0)
		say(finding->what, "not known: no /proc/irq");
	else
		say(finding->what, "%d go to processor %u", machine->interrupts, machine->core);
	costs(finding, "some microseconds each",
	      "write another processor to /proc/irq/N/smp_affinity_list, or "
	      "irqaffinity= on the kernel's command line");
	finding =
	        add(doctor, "real-time share", true,
	            machine->rt_runtime_us < 0 || machine->rt_runtime_us >= machine->rt_period_us);
	if (finding->state == DOCTOR_GOOD)
		say(finding->what, "real-time threads may use all of the processor");
	else
		say(finding->what, "real-time threads have %" PRId64 " of %" PRId64 " ms",
		    machine->rt_runtime_us / 1000, machine->rt_period_us / 1000);
	costs(finding,
	      "matters only with a real-time priority: then the rest of each period "
	      "may go to others, in one piece",
	      "sysctl kernel.sched_rt_runtime_us=-1, and a core of its own");
}

static void examine_nics(struct doctor *doctor, const char *root,
                         const struct bench_machine *machine, const struct scenario *scenario)
{
	struct finding *finding = add(doctor, "NUMA", true, true);

	if (machine->nodes <= 1) {
		say(finding->what, "one node");
		return;
	}
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
		finding = add(doctor, "NUMA", true, false);
		say(finding->what, "port %s (%s) is on node %d, processor %u on node %d",
		    scenario->ports[i].name, address, node, machine->core, machine->node);
		costs(finding,
		      "each packet crosses between the nodes: some 100 ns and up to a "
		      "third of the packets a second",
		      "--cores with a processor of node %d", node);
	}
}

void doctor_examine(const char *root, const struct bench_machine *machine,
                    const struct scenario *scenario, unsigned huge_mib, struct doctor *doctor)
{
	static const char *const late[] = {"processors", "hypervisor", "isolcpus",
	                                   "nohz_full",  "interrupts", "frequency governor"};

	doctor->n = 0;
	examine_clock(doctor, machine);
	examine_memory(doctor, machine, huge_mib);
	examine_isolation(doctor, machine);
	examine_speed(doctor, machine);
	examine_kernel(doctor, machine);
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
