/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The machine on which a measurement was made, as the kernel describes it: facts without which a
 * figure means nothing, and facts that cost precision (doctor.h draws the conclusions).
 *
 * A fact that cannot be read is "" or 0, or -1 where 0 has a meaning.
 *
 * Thread: any; reads files and nothing else.
 */
#ifndef WEIR_BENCH_MACHINE_H
#define WEIR_BENCH_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BENCH_WORD_BYTES 1024 /* also for lists of processors */
/* The cost of idle states with this latency or less cannot be told from the noise. */
#define BENCH_SLEEP_SHORT_US 2

struct bench_machine {
	char cpu[BENCH_WORD_BYTES];
	char kernel[BENCH_WORD_BYTES];
	char hypervisor[BENCH_WORD_BYTES]; /* its name, or "yes" if it has none */
	char clocksource[BENCH_WORD_BYTES];
	bool tsc_constant, tsc_nonstop;
	uint32_t processors; /* online */
	uint32_t nodes;      /* NUMA */
	/* as lists of processors, `2-5,8` */
	char isolated[BENCH_WORD_BYTES], nohz_full[BENCH_WORD_BYTES];
	/* of the processor `core` */
	uint32_t core;
	char governor[BENCH_WORD_BYTES];
	uint64_t clock_least_khz, clock_most_khz; /* governor's min, hardware's max; 0: unknown */
	/* The deepest idle state that the processor may enter, and how long it takes to come out of
	 * it. */
	char sleep[BENCH_WORD_BYTES];
	int64_t sleep_us;
	char siblings[BENCH_WORD_BYTES]; /* threads of the same core, itself included */
	int node;
	int interrupts; /* that are delivered to it */
	double stolen;  /* share of its time since boot that a hypervisor gave to others */
	/* memory */
	char transparent[BENCH_WORD_BYTES];                          /* always, madvise or never */
	uint64_t huge_page_bytes, huge_total_bytes, huge_free_bytes; /* all sizes in the sums */
	uint64_t memory_bytes, available_bytes;
	int64_t rt_runtime_us, rt_period_us; /* time of real-time threads; -1 us: all */
	/* the first of these files that exists and could not be read; "": none */
	char unread[BENCH_WORD_BYTES];
};

/* Reads all of it. `root` is put in front of /proc and /sys: "" for this machine, a folder for a
 * test. */
void bench_machine_read(const char *root, uint32_t core, struct bench_machine *machine);
/* Returns the NUMA node of a PCI device, or -1 if it has none, or it is not known. */
int bench_machine_pci_node(const char *root, const char *address);
/* Returns true if a list of processors like `0-3,8` has this one. */
bool bench_machine_list_has(const char *list, uint32_t processor);

#endif
