/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The manual page weir-scenario(5), from the tables. `weir help --man` prints it; the build
 * generates the installed page with that command.
 */
#ifndef WEIR_MANUAL_H
#define WEIR_MANUAL_H

#include <stdio.h>

/* Prints the page in man(7) macros. */
void manual_print(FILE *out);

#endif
