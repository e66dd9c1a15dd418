/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/label.h"

#include <string.h>

#include "report/xml.h"

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
