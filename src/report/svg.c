/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/svg.h"

#include <math.h>
#include <stdlib.h>

#include "report/xml.h"

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
