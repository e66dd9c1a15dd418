/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What may take long in a line: files that it names, and filters. A thread that must not wait,
 * control's say, says so, and then such a line is refused with ERROR_WOULD_BLOCK before it has cost
 * anything: it is parsed again by a thread that may.
 *
 * Thread: each has its own; at first all is allowed.
 */
#ifndef WEIR_BLOCKING_H
#define WEIR_BLOCKING_H

#include <stdbool.h>

#include "text/language_error.h"

#define ERROR_WOULD_BLOCK "would-block" /* goes to no user */

void blocking_allow(bool allowed);
/* 0: go on; -EINVAL with error. */
int blocking_begin(struct language_error *error);

#endif
