/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A source file that is embedded in the program; tools/embed.py generates tables of such files.
 *
 * Thread: constant.
 */
#ifndef WEIR_EMBEDDED_TEXT_H
#define WEIR_EMBEDDED_TEXT_H

#include <stddef.h>

/* One row of a table; the last row has name NULL. */
struct embedded_text {
	const char *name; /* of the file, without folder and extension */
	const char *text; /* terminated by 0 */
	size_t bytes;     /* without the final 0 */
};

#endif
