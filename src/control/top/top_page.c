/* SPDX-License-Identifier: BSD-3-Clause */
#include "top/top_page.h"

#include <stddef.h>
#include <string.h>

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
