/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work in a line that may take long: reading the files that it names, and filters. A thread that
 * must not wait, such as control, declares this with blocking_allow(false). Such a line is then
 * refused with ERROR_WOULD_BLOCK before the work begins, and a thread that may wait parses it
 * again.
 *
 * Thread: each thread has its own setting; initially, blocking is allowed.
 */
#ifndef WEIR_BLOCKING_H
#define WEIR_BLOCKING_H

#include <stdbool.h>

#include "text/language_error.h"

#define ERROR_WOULD_BLOCK "would-block" /* is never shown to a user */

void blocking_allow(bool allowed);
/* Returns 0 if the thread may block, else -EINVAL with error. */
int blocking_begin(struct language_error *error);

#endif
