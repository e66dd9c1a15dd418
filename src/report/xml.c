/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/xml.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static bool xml_allows(uint32_t c)
{
	if (c < 0x20)
		return c == '\t' || c == '\n' || c == '\r';
	return (c < 0x7f || c > 0x9f) && (c < 0xd800 || c > 0xdfff) && c != 0xfffe && c != 0xffff &&
	       c <= 0x10ffff;
}

size_t xml_character(const char *s)
{
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *u = (const unsigned char *)s;
	if (u[0] < 0x80)
		return u[0] != 0 && xml_allows(u[0]) ? 1 : 0;
	size_t len = u[0] >= 0xf0 ? 4 : u[0] >= 0xe0 ? 3 : 2;
	if (u[0] < 0xc2 || u[0] > 0xf4)
		return 0;
	uint32_t c = u[0] & (0x7fU >> len);
	for (size_t i = 1; i < len; i++) {
		if ((u[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (u[i] & 0x3f);
	}
	return c >= smallest[len] && xml_allows(c) ? len : 0;
}

static const char *xml_entity(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

void xml_text_part(FILE *out, const char *text, size_t len)
{
	const char *end = text + len;
	while (text < end && *text != '\0') {
		size_t step = xml_character(text);
		const char *entity = xml_entity(*text);
		if (step == 0)
			fputs("\xef\xbf\xbd", out);
		else if (entity != NULL)
			fputs(entity, out);
		else
			fwrite(text, 1, step, out);
		text += step == 0 ? 1 : step;
	}
}

void xml_text(FILE *out, const char *text)
{
	if (text != NULL)
		xml_text_part(out, text, strlen(text));
}
