/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a machine lacks for some ports, what each lack costs, and the changes that remedy it. The
 * findings are those of doctor.h, for each processor that gets a worker, and those of the ports:
 * their drivers, whether the IOMMU keeps them apart, whether the changes last.
 *
 * A lack without changes is for a person to remedy: in the firmware, or with `ip link`.
 * Ownership: setup_plan_release.
 * Thread: control; only reads files.
 */
#ifndef WEIR_SETUP_PLAN_H
#define WEIR_SETUP_PLAN_H

#include <jansson.h>

#include "machine/cpu_list.h"
#include "setup/setup_ports.h"
#include "setup/setup_record.h"
#include "setup/setup_step.h"
#include "show/doctor.h"

struct setup_finding {
	struct finding finding;
	char *what;        /* in place of that of the finding, which may be too short; NULL: none */
	uint32_t first, n; /* range in `steps` */
};

struct setup_plan {
	uint32_t n, room;
	struct setup_finding *finding;
	uint32_t n_steps, steps_room;
	struct step *steps;
	bool reboot;            /* a change takes effect at the next start of the machine */
	struct setup_huge huge; /* when the plan is done */
};

struct setup_request {
	const char *root; /* prefix of /proc, /sys, /etc: "" for this machine */
	const struct setup_ports *ports;
	const struct cpu_list *cores; /* of the workers */
	struct setup_huge huge;       /* that an earlier --apply met for these ports */
	bool unsafe;                  /* vfio without an IOMMU is requested */
};

/* Examines the machine. Returns 0 or -ENOMEM. */
int setup_plan_make(const struct setup_request *request, struct setup_plan *plan);
void setup_plan_release(struct setup_plan *plan);

void setup_plan_print(FILE *out, const struct setup_plan *plan);
/* Returns a new reference; NULL if there is no memory. */
json_t *setup_plan_json(const struct setup_plan *plan);

#endif
