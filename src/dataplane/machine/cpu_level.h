/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The processors for which this program is compiled. Several programs may stand beside each other;
 * the launcher chooses one (src/launcher.c). So the properties of a program's file, such as
 * capabilities, belong to the chosen file, and not to the `weir` that was typed.
 *
 * Thread: any.
 */
#ifndef WEIR_CPU_LEVEL_H
#define WEIR_CPU_LEVEL_H

/* Returns the level as -march has it (`x86-64-v3`, `native`), or the processor's family if the
 * build names no level. */
const char *cpu_level(void);
/* Returns the path of this program's file, or `weir` if /proc does not give it. */
const char *cpu_level_program(void);

#endif
