/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a change has replaced, in the words of the scenario language. A statement that is different
 * or gone stands there as it was; for one that was not there, `no STATEMENT`:
 *
 *   cloud down delay 80ms          delay 40ms
 *   cloud down rate 1mbit          no rate
 *   no cloud down delay            delay 80ms
 *   no cloud down                  cloud down from a to b
 *                                  cloud down loss random 1%
 *   cloud new from a to b          no cloud new
 *
 * An `at` or `every` beside others replaces none of them, so it has no line.
 *
 * Thread: any.
 */
#ifndef WEIR_DIFFERENCE_TEXT_H
#define WEIR_DIFFERENCE_TEXT_H

#include "service/difference.h"

/* Returns the lines, each ended by LF: none if there is no difference. The caller frees them. NULL:
 * no memory. */
char *difference_before(const struct difference *difference);

#endif
