/* SPDX-License-Identifier: BSD-3-Clause */
#include "top/top.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Prints three significant digits and a unit. */
static void three(char text[TOP_TEXT_BYTES], double value, const char *unit)
{
	int places = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;

	if (unit[0] == '\0' && value == floor(value))
		places = 0;
	snprintf(text, TOP_TEXT_BYTES, "%.*f%s", places, value, unit);
}

const char *top_count(char text[TOP_TEXT_BYTES], double value)
{
	static const char *const units[] = {"", "k", "M", "G", "T", "P"};
	int i = 0;

	while (value >= 999.5 && i < 5) {
		value /= 1000;
		i++;
	}
	three(text, value > 0 ? value : 0, units[i]);
	return text;
}

const char *top_time(char text[TOP_TEXT_BYTES], double ns)
{
	static const struct {
		const char *name;
		double ns, most;
	} units[] = {{"ns", 1, 999.5},        {"us", 1e3, 999.5}, {"ms", 1e6, 999.5},
	             {"s", 1e9, 120},         {"min", 60e9, 120}, {"h", 3600e9, 72},
	             {"d", 86400e9, HUGE_VAL}};
	int i = 0;

	if (ns < 0) {
		strcpy(text, "-");
		return text;
	}
	while (ns / units[i].ns >= units[i].most)
		i++;
	if (i == 0)
		snprintf(text, TOP_TEXT_BYTES, "%.0fns", ns);
	else
		three(text, ns / units[i].ns, units[i].name);
	return text;
}

const char *top_spark(char *text, const float values[TOP_HISTORY], int points, bool utf8)
{
	static const char *const bars[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char *const plain[] = {" ", ".", ":", "-", "=", "+", "*", "#", "@"};
	float most = 0;
	size_t at = 0;

	for (int i = 0; i < TOP_HISTORY; i++)
		most = values[i] > most ? values[i] : most;
	for (int i = points < TOP_HISTORY ? TOP_HISTORY - points : 0; i < TOP_HISTORY; i++) {
		int height = most > 0 ? (int)ceilf(values[i] / most * 8) : 0;
		const char *bar = (utf8 ? bars : plain)[height];

		memcpy(text + at, bar, strlen(bar));
		at += strlen(bar);
	}
	text[at] = '\0';
	return text;
}

const char *top_page_line(const struct top_page *page, const char *text, int i)
{
	while (*text != '\0') {
		if ((*text != '\n' || page->blanks) && i-- == 0)
			return text;
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return NULL;
}

static int count(const struct top_page *page, const char *text)
{
	int n = 0;

	while (top_page_line(page, text, n) != NULL)
		n++;
	return n;
}

struct top_page top_page_make(const char *text, int roomy, int room, int from)
{
	struct top_page page = {.blanks = true};
	int n = count(&page, text);

	if (n > roomy) {
		page.blanks = false;
		n = count(&page, text);
	}
	page.rows = n < room ? n : room;
	page.from = from > n - page.rows ? n - page.rows : from;
	page.below = n - page.from - page.rows;
	return page;
}
