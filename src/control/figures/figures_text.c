/* SPDX-License-Identifier: BSD-3-Clause */
#include "figures/figures.h"
#include "text/table.h"

static const enum human_unit units[] = {[FIGURE_PLAIN] = HUMAN_COUNT,
                                        [FIGURE_PACKETS] = HUMAN_COUNT,
                                        [FIGURE_BYTES] = HUMAN_BYTES,
                                        [FIGURE_NS] = HUMAN_NS,
                                        [FIGURE_BPS] = HUMAN_BPS};

static void cell(struct table *table, const struct figure *figure, const void *record)
{
	struct figure_value value = figure_read(figure, record);

	if (value.type == FIGURE_PART)
		table_share(table, value.count, value.whole);
	else if (value.type == FIGURE_REAL)
		table_unit(table, units[figure->unit], value.real);
	else if (figure->unit == FIGURE_PLAIN || figure->unit == FIGURE_PACKETS)
		table_count(table, value.count);
	else
		table_unit(table, units[figure->unit], (double)value.count);
}

void figures_headings(struct table *table, enum figure_scope scope, unsigned in)
{
	for (const struct figure *f = NULL; (f = figure_next(scope, in, NULL, f));)
		table_text(table, f->label);
}

void figures_cells(struct table *table, enum figure_scope scope, unsigned in, const void *record)
{
	for (const struct figure *f = NULL; (f = figure_next(scope, in, record, f));)
		cell(table, f, record);
}

static bool is_zero(struct figure_value value)
{
	return value.type == FIGURE_REAL ? value.real <= 0 : value.count == 0;
}

void figures_lines(struct table *table, enum figure_scope scope, unsigned in, const void *record)
{
	bool open = false; /* a line lacks its last cell */

	for (const struct figure *f = NULL; (f = figure_next(scope, in, record, f));) {
		bool beside = (f->in & FIGURE_BESIDE) != 0, bytes = f->unit == FIGURE_BYTES;

		if ((f->in & FIGURE_IF_ANY) != 0 && is_zero(figure_read(f, record)))
			continue;
		if (open && !beside)
			table_text(table, "");
		if (!beside)
			table_text(table, f->label);
		if (bytes && !beside)
			table_text(table, "");
		cell(table, f, record);
		open = !bytes;
	}
	if (open)
		table_text(table, "");
}
