/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/theme.h"

#include <stddef.h>
#include <string.h>

#define ARRAY_LENGTH(a) (sizeof(a) / sizeof((a)[0]))

/* clang-format off */
static const struct {
	const char *name, *light, *dark;
} colors[] = {
	{"c1",    "#0072b2", "#4aa3e0"}, /* blue */
	{"c2",    "#d55e00", "#f5843c"}, /* vermilion */
	{"c3",    "#009e73", "#2cc597"}, /* bluish green */
	{"c4",    "#b2559b", "#e29ac9"}, /* reddish purple */
	{"c5",    "#e69f00", "#f3bb45"}, /* orange */
	{"c6",    "#56b4e9", "#a6dbfb"}, /* sky blue */
	{"c7",    "#8a7a00", "#ece06a"}, /* yellow */
	{"c8",    "#5d6670", "#b4bcc5"}, /* grey, for black */
	{"ink",   "#1c2127", "#e6e9ed"},
	{"mute",  "#57606a", "#9aa4af"},
	{"rule",  "#e3e7eb", "#30373f"},
	{"paper", "#ffffff", "#14181d"},
};

static const struct {
	const char *selector, *property, *color;
} rules[] = {
	{".chart .c1",      "color",  "c1"},
	{".chart .c2",      "color",  "c2"},
	{".chart .c3",      "color",  "c3"},
	{".chart .c4",      "color",  "c4"},
	{".chart .c5",      "color",  "c5"},
	{".chart .c6",      "color",  "c6"},
	{".chart .c7",      "color",  "c7"},
	{".chart .c8",      "color",  "c8"},
	{".chart text",     "fill",   "ink"},
	{".chart .tick",    "fill",   "mute"},
	{".chart .grid",    "stroke", "rule"},
	{".chart .axis",    "stroke", "mute"},
	{".chart .whisker", "stroke", "ink"},
	{".chart .paper",   "fill",   "paper"},
};

static const char shapes[] =
	".chart{font-size:12px;font-family:system-ui,-apple-system,'Segoe UI','Helvetica Neue',"
	"Helvetica,Arial,'Liberation Sans',sans-serif}\n"
	".chart .title{font-size:14px;font-weight:600}\n"
	".chart .tick,.chart .small{font-size:11px;font-variant-numeric:tabular-nums}\n"
	".chart .grid,.chart .axis{fill:none;stroke-width:1}\n"
	".chart .faint{stroke-opacity:.45}\n"
	".chart .line{fill:none;stroke:currentColor;stroke-width:1.75;stroke-linejoin:round;"
	"stroke-linecap:round}\n"
	".chart .thin{fill:none;stroke:currentColor;stroke-width:1.25}\n"
	".chart .whisker{fill:none;stroke-width:1}\n"
	".chart .dash{stroke-dasharray:6 4;stroke-linecap:butt}\n"
	".chart .fill{fill:currentColor;stroke:none}\n"
	".chart .area{fill:currentColor;fill-opacity:.22;stroke:none}\n"
	".chart .hollow{stroke:currentColor;stroke-width:1.5}\n"
	".chart .hover{fill:none;stroke:none;pointer-events:all}\n"
	".chart .dots{fill:none;stroke:currentColor;stroke-linecap:round}\n";
/* clang-format on */

void theme_write(FILE *out)
{
	fputs(":root{", out);
	for (size_t i = 0; i < ARRAY_LENGTH(colors); i++)
		fprintf(out, "--%s:%s;", colors[i].name, colors[i].light);
	fputs("}\n@media screen and (prefers-color-scheme:dark){:root{", out);
	for (size_t i = 0; i < ARRAY_LENGTH(colors); i++)
		fprintf(out, "--%s:%s;", colors[i].name, colors[i].dark);
	fputs("}}\n", out);
	for (size_t i = 0; i < ARRAY_LENGTH(rules); i++) {
		const char *light = "";
		for (size_t k = 0; k < ARRAY_LENGTH(colors); k++)
			if (strcmp(colors[k].name, rules[i].color) == 0)
				light = colors[k].light;
		fprintf(out, "%s{%s:%s;%s:var(--%s)}\n", rules[i].selector, rules[i].property,
		        light, rules[i].property, rules[i].color);
	}
	fputs(shapes, out);
}
