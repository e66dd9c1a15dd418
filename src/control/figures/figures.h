/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All figures that weir reports, in one table: what each is called in JSON, in text and as a
 * metric, its unit, where it is read, and in which outputs it appears. `show`, the tables and
 * reports of `run`, `exec` and `replay`, samples, `weir serve` and the Python client stand on it.
 *
 *   scope        a row is read from
 *   port         struct port_report
 *   cloud        struct cloud_report; with FIGURE_SAMPLE and FIGURE_GROWTH also struct cloud_brief
 *   class        struct class_report
 *   worker       struct worker_report
 *   replay-port  struct replay_port_report: a port of a replay, or of `weir exec`
 *   run          nothing: it is for metrics only
 *
 * To add a figure: a row of figures.c. Of a counter of clouds: a row of account/counters.h, and its
 * increment. Order matters: JSON and tables have the order of the rows.
 *
 * The management of a queue reports figures of its own (account/aqm_report.h), which are not rows.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_FIGURES_H
#define WEIR_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

struct histogram;
struct port_report;
struct table;

enum figure_scope {
	FIGURE_PORT,
	FIGURE_CLOUD,
	FIGURE_CLASS,
	FIGURE_WORKER,
	FIGURE_REPLAY_PORT,
	FIGURE_RUN,
	FIGURE_SCOPES
};

/* The type in the record; that of a getter is COUNT, WORD or PART. */
enum figure_type {
	FIGURE_COUNT,   /* uint64_t */
	FIGURE_COUNT32, /* uint32_t */
	FIGURE_FLAG,    /* bool */
	FIGURE_REAL,    /* double */
	FIGURE_WORD,    /* const char *; NULL: "" */
	FIGURE_TEXT,    /* char[] */
	FIGURE_SPREAD,  /* struct histogram: percentiles */
	FIGURE_LATE,    /* struct histogram: percentiles; null if it is empty */
	FIGURE_LATE_AT, /* struct histogram *: the same */
	FIGURE_DROPS,   /* uint64_t[REASON_COUNT] */
	FIGURE_AQM,     /* struct aqm_report; its name is the key */
	FIGURE_CLASSES, /* classes of a struct cloud_report */
	FIGURE_PART,    /* a count of a whole, as a share */
	FIGURE_NULL,    /* not known here */
};

enum figure_unit { FIGURE_PLAIN, FIGURE_PACKETS, FIGURE_BYTES, FIGURE_NS, FIGURE_BPS };
enum figure_kind { FIGURE_COUNTER, FIGURE_GAUGE, FIGURE_HISTOGRAM };

/* Outputs; a row has one bit for each in which it appears. */
enum {
	FIGURE_JSON = 1 << 0,    /* the object of `show` and of reports */
	FIGURE_SINCE = 1 << 1,   /* `since` of a cloud: what was counted since its last change */
	FIGURE_SAMPLE = 1 << 2,  /* a sample, as it is */
	FIGURE_GROWTH = 1 << 3,  /* a sample, as the difference to the last one */
	FIGURE_OUTCOME = 1 << 4, /* outcome.json of a recording */
	FIGURE_COLUMN = 1 << 5,  /* a column of the table of all ports, clouds, classes, workers */
	FIGURE_LOSSES = 1 << 6,  /* a column of the table of what ports lose */
	FIGURE_SUMMARY = 1 << 7, /* a column of the tables at the end of `weir run` */
	FIGURE_LOST = 1 << 8,    /* the sum of what weir itself loses at a port */
	FIGURE_LINE = 1 << 9,    /* a line of `show cloud NAME` */
	FIGURE_FOOT = 1 << 10,   /* a line below these */
	/* How a line is printed. */
	FIGURE_IF_ANY = 1 << 11, /* not if the value is 0 */
	FIGURE_BESIDE = 1 << 12, /* bytes, in the line of the row before */
};

struct figure_value {
	enum figure_type type;
	union {
		uint64_t count; /* COUNT, COUNT32, FLAG, PART */
		double real;
		const char *word;               /* WORD, TEXT; never NULL */
		const struct histogram *spread; /* SPREAD, LATE, LATE_AT; may be NULL */
		const void *record;             /* DROPS, AQM, CLASSES */
	};
	uint64_t whole; /* PART */
};

struct figure {
	const char *name;   /* the key in JSON */
	const char *object; /* the member that has the key; NULL: the object itself */
	const char *label;  /* for people: a heading, or the beginning of a line */
	const char *metric; /* its family; NULL: it is no metric */
	const char *help;
	const char *loss; /* if it counts losses: their kind or reason; else NULL */
	enum figure_type type;
	enum figure_unit unit;
	enum figure_kind kind;
	unsigned in; /* outputs */
	size_t offset;
	struct figure_value (*get)(const void *record); /* instead of type and offset; or NULL */
	bool (*there)(const void *record); /* whether a record has it; NULL: every one has */
};

/* Returns the next figure of a scope that is in one of these outputs (0: in any or none), and that
 * the record has (NULL: may have). `after` is the one before, NULL at first. Returns NULL at the
 * end:
 *
 *   for (const struct figure *f = NULL; (f = figure_next(scope, in, record, f));) */
const struct figure *figure_next(enum figure_scope scope, unsigned in, const void *record,
                                 const struct figure *after);
struct figure_value figure_read(const struct figure *figure, const void *record);
/* `cloud`, `replay-port`; `bytes`; `counter`. */
extern const char *const figure_scope_names[], *const figure_unit_names[],
                                                       *const figure_kind_names[];

/* Returns what weir itself has lost at the port. */
uint64_t figures_lost(const struct port_report *port);
/* Writes into a record the counts of the other one that have the same names. */
void figures_copy(enum figure_scope scope, void *to, enum figure_scope from_scope,
                  const void *from);

/* ---- text: figures_write.c ---- */

/* Add cells to a row of a table: headings, and values. */
void figures_headings(struct table *table, enum figure_scope scope, unsigned in);
void figures_cells(struct table *table, enum figure_scope scope, unsigned in, const void *record);
/* Adds lines to a table of three columns: name, packets, bytes. `in`: FIGURE_LINE, FIGURE_FOOT. */
void figures_lines(struct table *table, enum figure_scope scope, unsigned in, const void *record);

/* ---- JSON: figures_write.c ----
 *
 * Counters have 64 bits; readers of JSON expect 63, which no count exceeds. A value that is not a
 * whole number of its unit (an average) is a real. If there is no memory for a member, the whole
 * object is released, and becomes NULL. */

/* Adds a member, and takes ownership of it. */
void figures_set(json_t **object, const char *key, json_t *value);
/* Adds a figure, to its member of the object. */
void figures_put(json_t **object, const struct figure *figure, struct figure_value value);
/* Adds all figures of these outputs. */
void figures_add(json_t **object, enum figure_scope scope, unsigned in, const void *record);
/* Returns {"min":0,"p50":0,"p99":0,"p99.9":0,"max":0}. */
json_t *figures_spread(const struct histogram *h);
/* The same; null if it is empty or NULL: nothing has left, or time is virtual. */
json_t *figures_late(const struct histogram *late);
/* Return a string of any text, such as the name of a file: JSON must be UTF-8. NULL: no memory. */
json_t *figures_string(const char *text);
json_t *figures_text(const char *text, size_t n);
/* Returns the table, for `weir help --json`: {"cloud":[{"name":..,"object":..},..],..}. */
json_t *figures_table(void);

/* ---- CSV: figures_write.c ---- */

#define FIGURES_CSV_HEAD "scope,name,figure,value,unit,kind\n"
/* Prints a line for each figure that the JSON object has. */
void figures_csv(FILE *out, enum figure_scope scope, const char *name, const void *record);

#endif
