/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The record of what `weir setup --apply` has changed, so that it can be undone, and for which
 * ports: the file /var/lib/weir/setup.json. It is written before anything is changed. It keeps the
 * state before the first change of a thing, however often that is changed again, even after a
 * restart of the machine.
 *
 * Thread: the main thread of `weir setup`.
 */
#ifndef WEIR_SETUP_RECORD_H
#define WEIR_SETUP_RECORD_H

#include "setup/setup_ports.h"
#include "setup/setup_step.h"

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
	uint32_t n, room;
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

#endif
