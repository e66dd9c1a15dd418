/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file of the sources that is a part of the program: tools/embed.py makes tables of them.
 *
 * Thread: constant.
 */
#ifndef WEIR_EMBEDDED_TEXT_H
#define WEIR_EMBEDDED_TEXT_H

#include <stddef.h>

/* A table ends with name NULL. */
struct embedded_text {
	const char *name; /* without folder and ending */
	const char *text; /* ended by a 0 */
	size_t bytes;     /* without it */
};

#endif
