/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "schedule/at.h"
#include "scenario/file.h"
#include "link/rate.h"
#include "schedule/path_trace.h"

#define TRACE_FIELD_FILE 0 /* as in path_trace.c */

/* A part of a line, not ended by 0. */
struct span {
	const char *text;
	size_t bytes;
};

static struct span trimmed(struct span span)
{
	while (span.bytes > 0 && isspace((unsigned char)span.text[0])) {
		span.text++;
		span.bytes--;
	}
	while (span.bytes > 0 && isspace((unsigned char)span.text[span.bytes - 1]))
		span.bytes--;
	return span;
}

/* Finds the next line that is neither empty nor a comment, and trims it. */
static bool next_line(const struct file *file, struct file_line *line, struct span *span)
{
	while (file_next_line(file, line)) {
		*span = trimmed((struct span){line->text, line->bytes});
		if (span->bytes > 0 && span->text[0] != '#')
			return true;
	}
	return false;
}

#define NUMBER_BYTES 40 /* most bytes of a number */

static struct file_shown shown(const struct file *file, struct span span)
{
	return file_shown(file, span.text, span.bytes);
}

static int refuse(const struct file *file, uint64_t line, struct problem *problem,
                  const char *format, ...) __attribute__((format(__printf__, 4, 5)));

static int refuse(const struct file *file, uint64_t line, struct problem *problem,
                  const char *format, ...)
{
	char text[sizeof(problem->text)];
	va_list arguments;

	va_start(arguments, format);
	__builtin_vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (line)
		problem_set(problem, TRACE_FIELD_FILE, "%s:%" PRIu64 ": %s", file->name, line,
		            text);
	else
		problem_set(problem, TRACE_FIELD_FILE, "%s: %s", file->name, text);
	return -EINVAL;
}

enum trace_format trace_format(const struct trace_conf *trace)
{
	struct file_line line = {0};
	struct span span;

	if (trace->conf.given >> 1 & 1)
		return (enum trace_format)trace->format;
	if (next_line(trace->file, &line, &span) && !isdigit((unsigned char)span.text[0]))
		return TRACE_CSV;
	return TRACE_MAHIMAHI;
}

/* ---- mahimahi ---- */

static bool number_of(struct span span, uint32_t *number)
{
	uint64_t value = 0;

	for (size_t i = 0; i < span.bytes; i++) {
		if (!isdigit((unsigned char)span.text[i]))
			return false;
		value = value * 10 + (uint64_t)(span.text[i] - '0');
		if (value > UINT32_MAX)
			return false;
	}
	*number = (uint32_t)value;
	return span.bytes > 0;
}

static int mahimahi_line(const struct file *file, uint64_t line, struct span span,
                         struct opportunities *list, struct problem *problem)
{
	uint32_t last = list->n ? list->at_ms[list->n - 1] : 0, at;

	if (!number_of(span, &at))
		return refuse(file, line, problem,
		              "`%s` is not the instant of an opportunity; write a whole number of "
		              "ms in each line, up to %" PRIu32,
		              shown(file, span).text, UINT32_MAX);
	if (at < last && file->secret)
		return refuse(file, line, problem,
		              "it comes before the line above: the lines of a trace must be in the "
		              "order of time");
	if (at < last)
		return refuse(file, line, problem,
		              "%" PRIu32 " ms comes after %" PRIu32
		              " ms: the lines of a trace must be in the order of time",
		              at, last);
	if (list->n == TRACE_LINES_MAX)
		return refuse(file, line, problem, "more than %" PRIu32 " lines; use fewer",
		              TRACE_LINES_MAX);
	list->at_ms[list->n++] = at;
	return 0;
}

/* Returns at least as many as there are opportunities. */
static uint32_t count_lines(const struct file *file)
{
	uint64_t n = 1;

	for (size_t i = 0; i < file->bytes; i++)
		n += file->text[i] == '\n';
	return (uint32_t)RTE_MIN(n, (uint64_t)TRACE_LINES_MAX);
}

int trace_read_mahimahi(const struct trace_conf *trace, struct opportunities *list,
                        struct problem *problem)
{
	struct file_line line = {0};
	struct span span;
	int error = 0;

	*list = (struct opportunities){.loop = trace->loop};
	list->at_ms = calloc(count_lines(trace->file) + 1, sizeof(*list->at_ms));
	if (!list->at_ms) {
		problem_set(problem, TRACE_FIELD_FILE, "no memory for the trace");
		return -ENOMEM;
	}
	while (!error && next_line(trace->file, &line, &span))
		error = mahimahi_line(trace->file, line.number, span, list, problem);
	if (!error && list->n == 0)
		error = refuse(trace->file, 0, problem,
		               "the trace is empty; it needs at least one opportunity");
	else if (!error && list->at_ms[list->n - 1] == 0)
		error = refuse(trace->file, line.number, problem,
		               "the trace ends at 0 ms; its last number says how long it is");
	if (error) {
		free(list->at_ms);
		list->at_ms = NULL;
		return error;
	}
	list->period_ns = list->at_ms[list->n - 1] * SIMTIME_MS;
	return 0;
}

uint64_t trace_mean_bps(const struct opportunities *list)
{
	unsigned __int128 bits =
	        (unsigned __int128)list->n * (OPPORTUNITY_BYTES + OPPORTUNITY_LESS) * 8;
	uint64_t bps = (uint64_t)(bits * SIMTIME_S / list->period_ns);

	return RTE_MIN(RTE_MAX(bps, UINT64_C(1)), RATE_BPS_MAX);
}

/* ---- csv ---- */

enum column { COLUMN_TIME, COLUMN_RATE, COLUMN_DELAY, COLUMN_JITTER, COLUMN_LOSS, COLUMNS };

struct unit {
	const char *name;
	double factor;
};

static const struct unit times[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {NULL, 0}};
static const struct unit rates[] = {{"bit", 1},    {"kbit", 1e3}, {"mbit", 1e6}, {"gbit", 1e9},
                                    {"bps", 1},    {"kbps", 1e3}, {"Mbps", 1e6}, {"Gbps", 1e9},
                                    {"mbps", 1e6}, {"gbps", 1e9}, {NULL, 0}};
static const struct unit shares[] = {{"%", 0.01}, {"percent", 0.01}, {NULL, 0}};

static const struct column_kind {
	const char *name;
	const struct unit *units;
	const char *written;
	double max;
	const char *range;
} kinds[COLUMNS] = {
        [COLUMN_TIME] = {"time", times, "ns, us, ms or s", (double)SCHEDULE_MAX_NS, "7 days"},
        [COLUMN_RATE] = {"rate", rates, "bit, kbit, mbit or gbit", (double)RATE_BPS_MAX, "400gbit"},
        [COLUMN_DELAY] = {"delay", times, "ns, us, ms or s", (double)DELAY_MAX_NS, "a day"},
        [COLUMN_JITTER] = {"jitter", times, "ns, us, ms or s", (double)DELAY_MAX_NS, "a day"},
        [COLUMN_LOSS] = {"loss", shares, "% or a fraction", 1, "100%"},
};

struct reader {
	const struct file *file;
	struct problem *problem;
	uint64_t line;
	uint32_t n;                       /* number of columns in the file */
	enum column column[COLUMNS];      /* their kinds, in order */
	const struct unit *unit[COLUMNS]; /* by kind, from the header; or NULL */
	uint32_t has;
	struct curve_conf *curve;
};

static bool is(struct span span, const char *text)
{
	return span.bytes == strlen(text) && memcmp(span.text, text, span.bytes) == 0;
}

static const struct unit *unit_find(const struct unit *units, struct span span)
{
	for (; units->name; units++) {
		if (is(span, units->name))
			return units;
	}
	return NULL;
}

/* Returns the next cell, and moves `at` behind it. */
static struct span next_cell(const char **at, const char *end)
{
	const char *comma = memchr(*at, ',', (size_t)(end - *at));
	struct span cell = {*at, (size_t)((comma ? comma : end) - *at)};

	*at = comma ? comma + 1 : NULL;
	cell = trimmed(cell);
	/* Spreadsheets quote cells. */
	if (cell.bytes >= 2 && cell.text[0] == '"' && cell.text[cell.bytes - 1] == '"')
		cell = trimmed((struct span){cell.text + 1, cell.bytes - 2});
	return cell;
}

static int header_cell(struct reader *reader, struct span cell)
{
	struct span name = cell, unit = {NULL, 0};
	uint32_t kind = 0;

	while (name.bytes > 0 && !isalpha((unsigned char)name.text[0])) {
		name.text++;
		name.bytes--;
	}
	for (size_t i = 0; i < name.bytes; i++) {
		if (isalpha((unsigned char)name.text[i]))
			continue;
		unit = (struct span){name.text + i, name.bytes - i};
		name.bytes = i;
	}
	while (unit.bytes > 0 && strchr("_ \t([", unit.text[0])) {
		unit.text++;
		unit.bytes--;
	}
	while (unit.bytes > 0 && strchr(" \t)]", unit.text[unit.bytes - 1]))
		unit.bytes--;
	while (kind < COLUMNS && !is(name, kinds[kind].name))
		kind++;
	if (kind == COLUMNS)
		return refuse(
		        reader->file, reader->line, reader->problem,
		        "unknown column `%s`; the columns are time, rate, delay, jitter and loss",
		        shown(reader->file, cell).text);
	if (reader->has >> kind & 1)
		return refuse(reader->file, reader->line, reader->problem,
		              "there are two columns `%s`; remove one", kinds[kind].name);
	reader->unit[kind] = unit.bytes ? unit_find(kinds[kind].units, unit) : NULL;
	if (unit.bytes && !reader->unit[kind])
		return refuse(reader->file, reader->line, reader->problem,
		              "column `%s` has an unknown unit; use %s",
		              shown(reader->file, cell).text, kinds[kind].written);
	reader->has |= UINT32_C(1) << kind;
	reader->column[reader->n++] = (enum column)kind;
	return 0;
}

static int read_header(struct reader *reader, struct span span)
{
	const char *at = span.text, *end = span.text + span.bytes;
	int error = 0;

	while (!error && at)
		error = header_cell(reader, next_cell(&at, end));
	if (error)
		return error;
	if (!(reader->has & 1 << COLUMN_TIME))
		return refuse(reader->file, reader->line, reader->problem,
		              "there is no column `time`; the first line names the columns, like "
		              "time_s,rate_mbit,delay_ms");
	if (reader->n == 1)
		return refuse(reader->file, reader->line, reader->problem,
		              "there is no column but the time; add rate, delay, jitter or loss");
	return 0;
}

/* Reads a number with its unit, in ns, bit/s, or as a fraction. */
static int cell_value(const struct reader *reader, enum column column, struct span cell,
                      double *value)
{
	const struct column_kind *kind = &kinds[column];
	const struct unit *unit = reader->unit[column];
	char text[NUMBER_BYTES + 1];
	struct span rest;
	char *end;

	memcpy(text, cell.text, RTE_MIN(cell.bytes, (size_t)NUMBER_BYTES));
	text[RTE_MIN(cell.bytes, (size_t)NUMBER_BYTES)] = 0;
	*value = strtod(text, &end);
	if (cell.bytes > NUMBER_BYTES || end == text || !strchr("0123456789.", text[0]) ||
	    text[1] == 'x' || text[1] == 'X')
		return refuse(reader->file, reader->line, reader->problem,
		              "`%s` is not a %s; write a number, in %s",
		              shown(reader->file, cell).text, kind->name, kind->written);
	rest = trimmed((struct span){end, strlen(end)});
	if (rest.bytes > 0)
		unit = unit_find(kind->units, rest);
	else if (!unit && column == COLUMN_LOSS)
		return *value <= 1 ? 0
		                   : refuse(reader->file, reader->line, reader->problem,
		                            "loss `%s` is out of range; it goes from 0%% to 100%%",
		                            shown(reader->file, cell).text);
	if (!unit)
		return refuse(reader->file, reader->line, reader->problem,
		              "%s `%s` has %s unit; write it here or in the first line, as in "
		              "`%s_%s`: %s",
		              kind->name, shown(reader->file, cell).text,
		              rest.bytes ? "an unknown" : "no", kind->name,
		              kind->units[kind->units == shares ? 0 : 2].name, kind->written);
	*value *= unit->factor;
	if (!(*value >= 0 && *value <= kind->max))
		return refuse(reader->file, reader->line, reader->problem,
		              "%s `%s` is out of range; it goes from 0 to %s", kind->name,
		              shown(reader->file, cell).text, kind->range);
	return 0;
}

static void point_put(struct curve_point *point, enum column column, double value)
{
	switch (column) {
	case COLUMN_TIME:
		point->at_ns = (simtime)llround(value);
		break;
	case COLUMN_RATE:
		point->rate_bps = (uint64_t)llround(value);
		break;
	case COLUMN_DELAY:
		point->delay_ns = (simtime)llround(value);
		break;
	case COLUMN_JITTER:
		point->jitter_ns = (simtime)llround(value);
		break;
	case COLUMN_LOSS:
		point->loss = value >= 1 ? PROBABILITY_ONE
		                         : (probability_q63)(value * (double)PROBABILITY_ONE);
		break;
	case COLUMNS:
		break;
	}
}

static int read_point(struct reader *reader, struct span span)
{
	struct curve_conf *curve = reader->curve;
	struct curve_point *point = &curve->points[curve->n];
	const char *at = span.text, *end = span.text + span.bytes;
	uint32_t i = 0;

	*point = curve->n ? point[-1] : (struct curve_point){0};
	for (; at && i < reader->n; i++) {
		struct span cell = next_cell(&at, end);
		double value;

		if (cell.bytes == 0 && curve->n > 0 && reader->column[i] != COLUMN_TIME)
			continue;
		if (cell_value(reader, reader->column[i], cell, &value))
			return -EINVAL;
		point_put(point, reader->column[i], value);
	}
	if (i != reader->n || at)
		return refuse(reader->file, reader->line, reader->problem,
		              "the first line names %" PRIu32 " columns, this one has %s",
		              reader->n, i < reader->n ? "fewer" : "more");
	if (curve->n > 0 && point->at_ns <= point[-1].at_ns)
		return refuse(reader->file, reader->line, reader->problem,
		              "its time is not after that of the line before: the lines of a trace "
		              "must be in the order of time");
	if (curve->n == TRACE_LINES_MAX)
		return refuse(reader->file, reader->line, reader->problem,
		              "more than %" PRIu32 " lines; use fewer", TRACE_LINES_MAX);
	curve->n++;
	return 0;
}

/* Checks the whole trace: a loop needs a length, and a link that stops has to go on at some
 * time. */
static int check_whole(const struct trace_conf *trace, struct reader *reader)
{
	struct curve_conf *curve = reader->curve;
	const struct curve_point *last;
	bool moves = false;

	if (curve->n == 0)
		return refuse(trace->file, 0, reader->problem,
		              "the trace is empty; after its first line, which names the columns, "
		              "it needs at least one point in time");
	last = &curve->points[curve->n - 1];
	for (uint32_t i = 0; i < curve->n; i++)
		moves |= curve->points[i].rate_bps != 0;
	if (curve->has & CURVE_RATE && (curve->loop ? !moves : last->rate_bps == 0))
		return refuse(trace->file, reader->line, reader->problem,
		              "the link would stop for ever: %s",
		              curve->loop ? "let one of its rates be more than 0"
		                          : "let its last rate be more than 0, or say `loop`");
	if (curve->loop && (curve->n == 1 || curve->points[0].at_ns != 0))
		return refuse(trace->file, 0, reader->problem,
		              "a trace with `loop` needs two points in time, the first of them 0");
	if (curve->loop)
		curve->period_ns = 2 * last->at_ns - last[-1].at_ns;
	return 0;
}

int trace_read_csv(const struct trace_conf *trace, struct curve_conf *curve,
                   struct problem *problem)
{
	struct reader reader = {.file = trace->file, .problem = problem, .curve = curve};
	struct file_line line = {0};
	struct span span;
	int error;

	*curve = (struct curve_conf){.loop = trace->loop, .queue = trace->queue};
	curve->points = calloc(count_lines(trace->file) + 1, sizeof(*curve->points));
	if (!curve->points) {
		problem_set(problem, TRACE_FIELD_FILE, "no memory for the trace");
		return -ENOMEM;
	}
	if (next_line(trace->file, &line, &span)) {
		reader.line = line.number;
		error = read_header(&reader, span);
	} else {
		error = refuse(trace->file, 0, problem,
		               "the file is empty; its first line names the columns, like "
		               "time_s,rate_mbit,delay_ms");
	}
	while (!error && next_line(trace->file, &line, &span)) {
		reader.line = line.number;
		error = read_point(&reader, span);
	}
	curve->has = (reader.has & 1 << COLUMN_RATE ? CURVE_RATE : 0) |
	             (reader.has & 1 << COLUMN_DELAY ? CURVE_DELAY : 0) |
	             (reader.has & 1 << COLUMN_JITTER ? CURVE_JITTER : 0) |
	             (reader.has & 1 << COLUMN_LOSS ? CURVE_LOSS : 0);
	if (!error)
		error = check_whole(trace, &reader);
	if (error) {
		free(curve->points);
		curve->points = NULL;
	}
	return error;
}
