/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Escapes text for XML or HTML, as content or inside a double-quoted attribute. Characters that may
 * not stand there are escaped (& < > " ') or, if there is no escape for them - control characters,
 * broken UTF-8 - replaced by U+FFFD, so that a name from a scenario or a capture cannot break or
 * script a report.
 */
#ifndef WEIR_XML_H
#define WEIR_XML_H

#include <stdio.h>

/* Writes text escaped; NULL writes nothing. Errors stay in ferror(out). */
void xml_text(FILE *out, const char *text);

/* Does the same for at most the first len bytes. */
void xml_text_part(FILE *out, const char *text, size_t len);

/* Returns the length in bytes of the well-formed UTF-8 character at s, if XML allows it; 0 if there
 * is none (or the end). */
size_t xml_character(const char *s);

#endif
