/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/svg.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static bool xml_allows(uint32_t c)
{
	if (c < 0x20)
		return c == '\t' || c == '\n' || c == '\r';
	return (c < 0x7f || c > 0x9f) && (c < 0xd800 || c > 0xdfff) && c != 0xfffe && c != 0xffff &&
	       c <= 0x10ffff;
}

/* Returns the length in bytes of the well-formed UTF-8 character at s, if XML allows it; 0 if there
 * is none (or the end). */
static size_t xml_character(const char *s)
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

void svg_number(FILE *out, double px)
{
	long tenths = lround(px * 10);
	long whole = labs(tenths) / 10, rest = labs(tenths) % 10;
	if (tenths < 0)
		fputc('-', out);
	if (rest == 0)
		fprintf(out, "%ld", whole);
	else
		fprintf(out, "%ld.%ld", whole, rest);
}

void svg_point(FILE *out, double x_px, double y_px)
{
	svg_number(out, x_px);
	fputc(' ', out);
	svg_number(out, y_px);
}

static void svg_attribute(FILE *out, const char *name, double px)
{
	fprintf(out, " %s=\"", name);
	svg_number(out, px);
	fputc('"', out);
}

void svg_line(FILE *out, const char *class, double x1_px, double y1_px, double x2_px, double y2_px)
{
	fprintf(out, "<path class=\"%s\" d=\"M", class);
	svg_point(out, x1_px, y1_px);
	fputc('L', out);
	svg_point(out, x2_px, y2_px);
	fputs("\"/>\n", out);
}

void svg_rect_open(FILE *out, const char *class, double x_px, double y_px, double width_px,
                   double height_px)
{
	fprintf(out, "<rect class=\"%s\"", class);
	svg_attribute(out, "x", x_px);
	svg_attribute(out, "y", y_px);
	svg_attribute(out, "width", width_px);
	svg_attribute(out, "height", height_px);
	fputc('>', out);
}

void svg_rect_close(FILE *out)
{
	fputs("</rect>\n", out);
}

void svg_text(FILE *out, const char *class, double x_px, double y_px, const char *anchor,
              double degrees, const char *text)
{
	fprintf(out, "<text class=\"%s\" text-anchor=\"%s\"", class, anchor);
	if (degrees == 0) {
		svg_attribute(out, "x", x_px);
		svg_attribute(out, "y", y_px);
	} else {
		fputs(" transform=\"translate(", out);
		svg_point(out, x_px, y_px);
		fputs(")rotate(", out);
		svg_number(out, degrees);
		fputs(")\"", out);
	}
	fputc('>', out);
	xml_text(out, text);
	fputs("</text>\n", out);
}

#define SAFETY 1.1

/* clang-format off */
/* Thousandths of the font size, for the characters from space to tilde. */
static const unsigned short ascii_widths[] = {
	/* space to / */
	278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
	/* 0 to ? */
	556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
	/* @ to O */
	1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
	/* P to _ */
	667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
	/* ` to o */
	333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
	/* p to ~ */
	556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
};
/* clang-format on */

static double character_width(const char *s, size_t len)
{
	unsigned char c = (unsigned char)*s;
	if (len <= 1)
		return c >= ' ' && c <= '~' ? ascii_widths[c - ' '] : 600;
	return c < 0xe3 ? 600 : 1000; /* from 0xe3 on, most characters are full-width */
}

double label_width_px(const char *text, double font_px)
{
	double width = 0;
	while (text != NULL && *text != '\0') {
		size_t len = xml_character(text);
		width += character_width(text, len);
		text += len == 0 ? 1 : len;
	}
	return width * font_px * SAFETY / 1000;
}

void label_fit(char *buf, const char *text, double font_px, double max_px)
{
	static const char ellipsis[] = "…";
	if (text == NULL)
		text = "";
	if (strlen(text) < LABEL_SIZE && label_width_px(text, font_px) <= max_px) {
		memcpy(buf, text, strlen(text) + 1);
		return;
	}
	double left_px = max_px - label_width_px(ellipsis, font_px);
	size_t used = 0;
	while (text[used] != '\0') {
		size_t len = xml_character(text + used);
		left_px -= character_width(text + used, len) * font_px * SAFETY / 1000;
		len = len == 0 ? 1 : len;
		if (left_px < 0 || used + len + sizeof(ellipsis) > LABEL_SIZE)
			break;
		used += len;
	}
	while (used > 0 && text[used - 1] == ' ')
		used--;
	memcpy(buf, text, used);
	memcpy(buf + used, ellipsis, sizeof(ellipsis));
}
