/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For which processors this program is compiled: several programs may stand beside each other, of
 * which the launcher chooses (src/launcher.c). So what belongs to the file of a program, as
 * capabilities do, belongs to one of these, and not to the `weir` that was typed.
 *
 * Thread: any.
 */
#ifndef WEIR_CPU_LEVEL_H
#define WEIR_CPU_LEVEL_H

/* As -march has it: `x86-64-v3`, `native`; or the processor's family, if nobody has said one. */
const char *cpu_level(void);
/* Where the file of this program is; `weir` where /proc does not say it. */
const char *cpu_level_program(void);

#endif
