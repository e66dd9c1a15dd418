/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of `weir setup`: a step, the ports, the record of what was done, and the plan.
 */
#ifndef WEIR_SETUP_H
#define WEIR_SETUP_H

#include <jansson.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "machine/cpu_list.h"
#include "scenario/problem.h"
#include "scenario/scenario.h"
#include "show/doctor.h"

/*
 * One change of the machine: a value written to a file of the kernel, a driver bound to a PCI
 * device, a file of weir's own, a link by which systemd starts a unit. It can be printed as a
 * command of a shell, done, and undone.
 *
 * `root` is a prefix of every path: "" for this machine, a folder for a test.
 * Ownership: a value, which owns its texts: step_release.
 */

#define STEP_PATH_BYTES 160
#define STEP_NAME_BYTES 128 /* of a driver */

enum step_kind {
	STEP_WRITE,  /* path: of the kernel; value: what is written */
	STEP_DRIVER, /* path: a PCI address; value: the driver to bind */
	STEP_FILE,   /* path: of a file of weir's own; value: its line */
	STEP_LINK,   /* path: of a new symbolic link; value: its target */
	STEP_KINDS
};

struct step {
	enum step_kind kind;
	bool may_fail; /* the kernel refuses some of them: interrupts of its own */
	char path[STEP_PATH_BYTES];
	char *value;
	/* what was read, the driver ("": none), or the whole file (NULL: none); of a link NULL */
	char *before;
};

void step_release(struct step *step);
/* Prints the equivalent command, without a line end. */
void step_print(FILE *out, const struct step *step);
/* Fills in `before`. Returns 0 or -errno with problem. */
int step_look(const char *root, struct step *step, struct problem *problem);
/* Does the step. Returns 0; or -errno with problem, and then nothing
 * has changed, unless the step may be half done. */
int step_do(const char *root, const struct step *step, struct problem *problem);
/* Returns true with problem if the kernel has taken less than step_do wrote: it reserves as many
 * hugepages as it finds memory in one piece. */
bool step_fell_short(const char *root, const struct step *step, struct problem *problem);
/* Returns true for a driver and a file: if step_do fails, step_undo is to be called. */
bool step_may_be_half_done(const struct step *step);
/* Restores what was before. Returns 0; -ENOENT with problem if the thing is gone: a device, a
 * processor; or -errno with problem. */
int step_undo(const char *root, const struct step *step, struct problem *problem);

/* Gets the last part of the target of `path` below root, such as `vfio-pci` of a driver; "" if it
 * is no link. */
void step_link_name(const char *root, const char *path, char name[STEP_NAME_BYTES]);

/*
 * The ports that a machine is set up for: PCI devices and interfaces by their names, or those of a
 * service, /etc/weir/NAME.weir, by its name. They form one scenario, from which the memory and the
 * NICs follow.
 *
 * `root` is a prefix of /sys and /etc: "" for this machine, a folder for a test.
 * Ownership: setup_ports_release.
 */

#define SETUP_WORDS_MAX   32
#define SETUP_DEVICES_MAX SCENARIO_PORTS_MAX

struct setup_device {
	char address[16];         /* 0000:03:00.1 */
	char driver[64];          /* "": none */
	char interface[IFNAMSIZ]; /* of that driver; "": none */
	bool up;                  /* the interface is up */
};

struct setup_ports {
	uint32_t n_words;
	char word[SETUP_WORDS_MAX][64];
	/* The devices for DPDK. An interface stays with the kernel. */
	uint32_t n_devices;
	struct setup_device device[SETUP_DEVICES_MAX];
	struct scenario *nics; /* has these devices as ports */
	unsigned huge_mib;     /* huge pages for all of them */
};

/* Adds a device, an interface or a service. Returns 0; -ENOMEM with problem; -E2BIG with problem if
 * there are too many; or another error with problem if the word is none, or the service cannot be
 * read. */
int setup_ports_add(const char *root, const char *word, struct setup_ports *ports,
                    struct problem *problem);
/* To be called when all words are added. */
void setup_ports_finish(struct setup_ports *ports);
void setup_ports_release(struct setup_ports *ports);

/*
 * The record of what `weir setup --apply` has changed, so that it can be undone, and for which
 * ports: the file /var/lib/weir/setup.json. It is written before anything is changed. It keeps the
 * state before the first change of a thing, however often that is changed again, even after a
 * restart of the machine.
 */

/* Has room for CPU_LIST_MAX processors, with a comma between. */
#define SETUP_CORES_BYTES 320

/* A need of huge pages that was met, and all huge pages of the machine then, in use or not. 0, 0:
 * none. */
struct setup_huge {
	unsigned need_mib;
	uint64_t total_mib;
};

struct setup_record {
	uint32_t n_words;
	char word[SETUP_WORDS_MAX][64];
	uint32_t n;
	size_t room;
	struct step *steps;            /* in the order in which they were done */
	char cores[SETUP_CORES_BYTES]; /* value of --cores; "": not given */
	bool unsafe;                   /* --unsafe-noiommu */
	struct setup_huge huge;        /* at the last --apply */
	bool made_folder;              /* weir setup made the folder of the file */
};

/* Waits until no other process changes this machine, and keeps others waiting until this process
 * ends: a boot starts weir-setup@.service for each device at once. */
void setup_record_lock(const char *root);
/* Reads the record. Returns 0, with an empty record if there is no file; or -errno with problem. */
int setup_record_read(const char *root, struct setup_record *record, struct problem *problem);
/* Adds a copy of a step that is about to be done, with `before` filled in, unless the record has a
 * step for the same thing. Returns 0; -EINVAL with problem if `before` cannot be recorded; or
 * -ENOMEM with problem. */
int setup_record_add(struct setup_record *record, const struct step *step, struct problem *problem);
/* Adds a device or service, unless the record has it. Returns 0 or -E2BIG with problem. */
int setup_record_name(struct setup_record *record, const char *word, struct problem *problem);
/* Keeps the first n steps. */
void setup_record_cut(struct setup_record *record, uint32_t n);
/* Writes the record. Returns 0 or -errno with problem. */
int setup_record_write(const char *root, struct setup_record *record, struct problem *problem);
/* Removes the file, and its folder if that was made for it. */
void setup_record_remove(const char *root, const struct setup_record *record);
void setup_record_release(struct setup_record *record);

/*
 * What a machine lacks for some ports, what each lack costs, and the changes that remedy it. The
 * findings are those of doctor.h, for each processor that gets a worker, and those of the ports:
 * their drivers, whether the IOMMU keeps them apart, whether the changes last.
 *
 * A lack without changes is for a person to remedy: in the firmware, or with `ip link`.
 * Ownership: setup_plan_release.
 */

struct setup_finding {
	struct finding finding;
	char *what;        /* in place of that of the finding, which may be too short; NULL: none */
	uint32_t first, n; /* range in `steps` */
};

struct setup_plan {
	uint32_t n, n_steps;
	size_t room, steps_room;
	struct setup_finding *finding;
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
