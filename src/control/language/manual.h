/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The manual page weir-scenario(5), from the tables; `weir help --man` prints it, and the build
 * makes the page that is installed with it.
 */
#ifndef WEIR_MANUAL_H
#define WEIR_MANUAL_H

#include <stdio.h>

/* In man(7) macros. */
void manual_print(FILE *out);

#endif
