/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The source of experiments: those of lab/experiments are built in; any other is a file.
 *
 * Ownership: experiments are the caller's.
 * Thread: control's.
 */
#ifndef WEIR_LAB_STORE_H
#define WEIR_LAB_STORE_H

#include "lab/lab_experiment.h"
#include "text/embedded_text.h"

/* In the order of their names, ended by a NULL name; made by tools/embed.py. */
extern const struct embedded_text lab_texts[];

/* Reads all that are built in. Returns 0 and an array of as many pointers as lab_texts has, the
 * caller's; or -errno with message. */
int lab_store_all(struct experiment ***all, uint32_t *n, char *message, size_t room);
void lab_store_free(struct experiment **all, uint32_t n);
/* Reads one from a file. */
int lab_store_file(const char *path, struct experiment **experiment, char *message, size_t room);

#endif
