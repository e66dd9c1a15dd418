/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/page.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "report/svg.h"
#include "report/theme.h"

#define UNIT_LONGEST 10 /* bytes that may follow a number */

/* clang-format off */
static const char style[] =
	":root{color-scheme:light dark}\n"
	"*{box-sizing:border-box}\n"
	"body{margin:0;background:var(--paper);color:var(--ink);line-height:1.55;font-size:16px;"
	"font-family:system-ui,-apple-system,'Segoe UI','Helvetica Neue',Helvetica,Arial,"
	"sans-serif}\n"
	"main{max-width:48rem;margin:0 auto;padding:3rem 1.5rem 5rem}\n"
	"header{border-bottom:1px solid var(--rule);padding-bottom:1.2rem;margin-bottom:2rem}\n"
	"h1{font-size:1.9rem;line-height:1.2;margin:0;letter-spacing:-.01em}\n"
	".subtitle{color:var(--mute);margin:.4rem 0 0}\n"
	"h2{font-size:1.25rem;line-height:1.3;margin:2.6rem 0 .6rem}\n"
	"p{margin:.7rem 0;max-width:42rem}\n"
	"pre{font-size:.84rem;line-height:1.45;padding:.8rem 1rem;border:1px solid var(--rule);"
	"border-radius:4px;overflow-x:auto;font-family:ui-monospace,'SF Mono',Menlo,Consolas,"
	"'Liberation Mono',monospace}\n"
	"figure{margin:1.6rem 0 2rem}\n"
	"figure .chart{display:block;max-width:100%;height:auto}\n"
	".narrow{display:none}\n"
	"figcaption,caption{font-size:.88rem;line-height:1.45;color:var(--mute);text-align:left}\n"
	"figcaption{margin-top:.5rem;max-width:42rem}\n"
	"caption{caption-side:top;padding-bottom:.5rem}\n"
	".number{font-weight:600;color:var(--ink)}\n"
	".wide{overflow-x:auto;margin:1.4rem 0 1.8rem}\n"
	"table{border-collapse:collapse;font-size:.9rem;line-height:1.4;"
	"border-top:1.5px solid var(--ink);border-bottom:1.5px solid var(--ink)}\n"
	"tr.alarm td,p.alarm{background:#fbe0e0;color:#8c0011;font-weight:600}\n"
	"p.alarm{padding:.5rem .9rem}\n"
	"th,td{padding:.32rem .9rem;text-align:left;vertical-align:top}\n"
	"th{font-weight:600;border-bottom:1px solid var(--mute);vertical-align:bottom}\n"
	"tbody tr+tr td{border-top:1px solid var(--rule)}\n"
	".right{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\n"
	"@media screen and (max-width:640px){main{padding:1.5rem 1rem 3rem}h1{font-size:1.5rem}"
	".broad{display:none}.narrow{display:block}"
	"table{font-size:.8rem}th,td{padding:.25rem .35rem;overflow-wrap:break-word}"
	"pre{white-space:pre-wrap;overflow-wrap:anywhere}"
	".right{white-space:normal;overflow-wrap:normal}}\n"
	"@media print{@page{margin:18mm}body{font-size:10.5pt}main{max-width:none;padding:0}"
	"figure,table,pre{break-inside:avoid}h2{break-after:avoid}pre{white-space:pre-wrap}}\n";
/* clang-format on */

/* Returns the state of the output: the first error is kept. Every function ends with this call. */
static int page_state(struct page *page)
{
	if (page->error == 0 && ferror(page->out))
		page->error = -EIO;
	return page->error;
}

static void element(struct page *page, const char *open, const char *text, const char *close)
{
	fputs(open, page->out);
	xml_text(page->out, text);
	fputs(close, page->out);
}

int page_open(struct page *page, FILE *out, const char *title, const char *subtitle)
{
	memset(page, 0, sizeof(*page));
	page->out = out;
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n",
	      out);
	element(page, "<title>", title, "</title>\n<style>\n");
	theme_write(out);
	fputs(style, out);
	element(page, "</style>\n</head>\n<body>\n<main>\n<header>\n<h1>", title, "</h1>\n");
	if (subtitle != NULL)
		element(page, "<p class=\"subtitle\">", subtitle, "</p>\n");
	fputs("</header>\n", out);
	return page_state(page);
}

int page_heading(struct page *page, const char *text)
{
	element(page, "<h2>", text, "</h2>\n");
	return page_state(page);
}

int page_text(struct page *page, const char *text)
{
	fputs("<p>", page->out);
	while (text != NULL && *text != '\0') {
		const char *blank = strstr(text, "\n\n");
		size_t len = blank != NULL ? (size_t)(blank - text) : strlen(text);
		xml_text_part(page->out, text, len);
		text += len;
		text += strspn(text, "\n");
		if (blank != NULL && *text != '\0')
			fputs("</p>\n<p>", page->out);
	}
	fputs("</p>\n", page->out);
	return page_state(page);
}

int page_alarm(struct page *page, const char *text)
{
	element(page, "<p class=\"alarm\">", text, "</p>\n");
	return page_state(page);
}

int page_code(struct page *page, const char *text)
{
	element(page, "<pre>", text, "</pre>\n");
	return page_state(page);
}

static bool is_missing(const char *cell)
{
	return cell == NULL || strcmp(cell, "") == 0 || strcmp(cell, "-") == 0 ||
	       strcmp(cell, "–") == 0 || strcmp(cell, "n/a") == 0;
}

/* Returns true for a number - sign, digits, commas, point, exponent - and perhaps a short unit
 * without digits. */
static bool is_number(const char *cell)
{
	static const char digits[] = "0123456789";
	cell += strspn(cell, "+-<>~ ");
	size_t len = strspn(cell, digits);
	if (len == 0)
		return false;
	cell += len;
	cell += strspn(cell, "0123456789,");
	if (*cell == '.')
		cell += 1 + strspn(cell + 1, digits);
	if ((*cell == 'e' || *cell == 'E') && strspn(cell + 1, "+-0123456789") > 0)
		cell += 1 + strspn(cell + 1, "+-0123456789");
	if (*cell == ' ')
		cell++;
	return strlen(cell) <= UNIT_LONGEST && strpbrk(cell, "0123456789.:-, ") == NULL;
}

static bool column_is_numeric(const struct page_rows *rows, size_t column)
{
	bool any = false;
	for (size_t r = 0; r < rows->n_rows; r++) {
		const char *cell = rows->cells[r * rows->n_columns + column];
		if (is_missing(cell))
			continue;
		if (!is_number(cell))
			return false;
		any = true;
	}
	return any;
}

/* Writes a row. `right` has a bit for each column that is aligned right. */
static void row_write(struct page *page, const char *const *cells, size_t n_columns, uint64_t right,
                      const char *tag, bool alarm)
{
	fputs(alarm ? "<tr class=\"alarm\">" : "<tr>", page->out);
	for (size_t c = 0; c < n_columns; c++) {
		fprintf(page->out, "<%s%s>", tag, right >> c & 1 ? " class=\"right\"" : "");
		xml_text(page->out, cells[c]);
		fprintf(page->out, "</%s>", tag);
	}
	fputs("</tr>\n", page->out);
}

int page_table(struct page *page, const struct page_rows *rows)
{
	uint64_t right = 0;
	if (rows->n_columns > PAGE_COLUMNS_MAX)
		return -EINVAL;
	for (size_t c = 0; c < rows->n_columns; c++)
		right |= (uint64_t)column_is_numeric(rows, c) << c;
	fputs("<div class=\"wide\">\n<table>\n", page->out);
	if (rows->caption != NULL) {
		fprintf(page->out, "<caption><span class=\"number\">Table %u.</span> ",
		        ++page->n_tables);
		element(page, "", rows->caption, "</caption>\n");
	}
	if (rows->head != NULL) {
		fputs("<thead>\n", page->out);
		row_write(page, rows->head, rows->n_columns, right, "th", false);
		fputs("</thead>\n", page->out);
	}
	fputs("<tbody>\n", page->out);
	for (size_t r = 0; r < rows->n_rows; r++)
		row_write(page, rows->cells + r * rows->n_columns, rows->n_columns, right, "td",
		          rows->alarms != NULL && rows->alarms[r]);
	fputs("</tbody>\n</table>\n</div>\n", page->out);
	return page_state(page);
}

/* Draws the chart twice: as it is, and narrow for a telephone, where the other would be cut, or
 * have letters half as high as a reader needs. The style sheet shows one of them. */
static int embed_twice(const struct page *page, const struct chart *chart)
{
	struct chart narrow = *chart;
	int rc;

	narrow.width_px = PAGE_NARROW_PX;
	narrow.height_px = PAGE_NARROW_HEIGHT_PX;
	fputs("<div class=\"broad\">\n", page->out);
	rc = chart_write(chart, page->out);
	fputs("</div>\n<div class=\"narrow\">\n", page->out);
	if (rc == 0)
		rc = chart_write(&narrow, page->out);
	fputs("</div>\n", page->out);
	return rc;
}

int page_figure(struct page *page, const struct chart *chart, const char *caption)
{
	int rc = chart_check(chart);
	if (rc != 0)
		return rc;
	fputs("<figure>\n", page->out);
	rc = embed_twice(page, chart);
	if (caption != NULL) {
		fprintf(page->out, "<figcaption><span class=\"number\">Figure %u.</span> ",
		        ++page->n_figures);
		element(page, "", caption, "</figcaption>\n");
	}
	fputs("</figure>\n", page->out);
	if (page->error == 0)
		page->error = rc;
	return page_state(page);
}

int page_close(struct page *page)
{
	fputs("</main>\n</body>\n</html>\n", page->out);
	if (fflush(page->out) != 0 && page->error == 0)
		page->error = -errno;
	return page_state(page);
}
