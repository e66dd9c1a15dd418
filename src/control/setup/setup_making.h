/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes a plan (setup_plan.h): findings with the changes that remedy them, and helpers for both.
 * Each of the examine functions looks at one part of the machine.
 *
 * Thread: control.
 */
#ifndef WEIR_SETUP_MAKING_H
#define WEIR_SETUP_MAKING_H

#include "setup/setup_plan.h"

struct making {
	const struct setup_request *request;
	struct setup_plan *plan;
	bool no_memory;
	bool iommu;
	const char *driver; /* the driver for NICs */
	/* For the kernel's command line. Three lists of CPU_LIST_MAX processors fit. */
	char kernel_words[2048];
};

/* Adds a copy of the finding, without changes yet. It is valid until the next is added. */
struct setup_finding *making_add(struct making *making, const struct finding *finding);
struct setup_finding *making_finding(struct making *making, const char *subject,
                                     enum doctor_state state);
void making_say(char text[DOCTOR_TEXT_BYTES], const char *format, ...)
        __attribute__((format(printf, 2, 3)));
/* Says what was found, however long it is. */
void making_say_all(struct making *making, struct setup_finding *row, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
/* Adds a change that remedies the last finding. `path` is complete; `format` is that of the
 * value. */
struct step *making_step(struct making *making, enum step_kind kind, const char *path,
                         const char *format, ...) __attribute__((format(printf, 4, 5)));
void making_kernel_word(struct making *making, const char *format, ...)
        __attribute__((format(printf, 2, 3)));

bool making_has(const struct making *making, const char *path);
/* Gets the first line of a file; "" if there is none. */
void making_line(const struct making *making, const char *path, char *text, size_t room);

/* setup_nics.c: drivers of NICs, and whether an IOMMU keeps them off other memory. */
void setup_examine_nics(struct making *making, bool intel);
/* setup_processors.c: findings of the doctor for each processor with a worker. */
void setup_examine_processors(struct making *making);
/* setup_lasting.c: what takes effect at the next start, and what is repeated then. */
void setup_examine_lasting(struct making *making);

#endif
