/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Text on its way into XML or HTML, as content or inside a double-quoted attribute. What may not
 * stand there is escaped (& < > " ') or, when no escape exists - control characters, broken UTF-8
 * - replaced by U+FFFD, so that a name out of a scenario or a capture cannot break or script a
 * report.
 */
#ifndef WEIR_XML_H
#define WEIR_XML_H

#include <stdio.h>

/* Writes text escaped; NULL writes nothing. Errors stay in ferror(out). */
void xml_text(FILE *out, const char *text);

/* The same for at most the first len bytes. */
void xml_text_part(FILE *out, const char *text, size_t len);

/* The length in bytes of the well-formed UTF-8 character at s, which XML allows; 0 if there is none
 * (or the end). */
size_t xml_character(const char *s);

#endif
