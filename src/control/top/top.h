/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of `weir top`: the connections, the data, the pages and the screen; and its main loop.
 * It is a client of the protocol (docs/control.md) and uses nothing else of weir.
 *
 * Thread: the caller's, one.
 */
#ifndef WEIR_TOP_H
#define WEIR_TOP_H

#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "ctl/ctl_link.h"

/*
 * The connection of `weir top`: receives what weir pushes, as objects, and connects again when weir
 * was started again. A second connection carries queries and changes.
 */

struct top_model;

#define TOP_FEED_RUN_BYTES 32

struct top_feed {
	const char *path; /* NULL: the default */
	char line[80];    /* the `sample` command */
	bool up;
	struct ctl_link link, asks;   /* `asks` is in text mode; fd -1: not open */
	char run[TOP_FEED_RUN_BYTES]; /* the run of weir that was connected last; "": none */
	uint64_t next;                /* the next event */
	json_t *hello;
	uint64_t again_ms; /* when to connect again */
	char said[300];    /* for the status line: the state of the connection; "": nothing new */
};

void top_feed_end(struct top_feed *feed);
/* Connects, if it is not connected and the time has come. Returns 0, or -errno with `said`. */
int top_feed_connect(struct top_feed *feed, uint64_t now_ms);
/* To be called when the descriptor of `link` is readable. The model takes what is pushed. */
void top_feed_read(struct top_feed *feed, struct top_model *model, uint64_t now_ms);
/* Sends a command in text mode. Returns the answer or the error, which the caller frees; NULL if
 * there is no memory. */
char *top_feed_ask(struct top_feed *feed, const char *line, bool *ok);

/*
 * A change by `weir top` that lasts as long as top runs: made under a lease (docs/control.md),
 * which is renewed over a connection of its own three times within its time. When top has ended, in
 * whatever way, weir undoes the change when the time is up. One at a time: a new lease replaces the
 * one before, which ends when its time is up.
 */

struct top_lease {
	struct ctl_link link; /* fd -1: no lease is held. Closing it stops renewing the lease */
	uint64_t every_ms, next_ms;
	char said[300]; /* for the status line: the lease was lost; "": nothing new */
};

bool top_lease_is_held(const struct top_lease *lease);
/* `words`: `TIME LINE`. Returns NULL, or an error message, which the caller frees; then nothing was
 * changed. */
char *top_lease_make(struct top_lease *lease, const char *path, const char *words, uint64_t now_ms);
/* Sends `keep` or `revert` for the lease that is held. Returns NULL, or an error message, which the
 * caller frees. */
char *top_lease_say(struct top_lease *lease, const char *line, uint64_t now_ms);
/* Renews the lease if the time has come. To be called often. */
void top_lease_poll(struct top_lease *lease, uint64_t now_ms);
/* Returns the time until top_lease_poll has something to do, but at most `most_ms`. */
int top_lease_wait_ms(const struct top_lease *lease, uint64_t now_ms, int most_ms);

/*
 * The key of `weir top` that dumps the flight (docs/record.md) into the default folder. It has a
 * connection of its own, because writing to a disk takes time, and the picture continues meanwhile.
 */

struct top_flight {
	struct ctl_link link; /* fd -1: no dump is under way. If it is closed, the dump continues */
	char said[300];       /* for the status line; "": nothing new */
};

/* `path`: the control socket; NULL: the default. */
void top_flight_dump(struct top_flight *flight, const char *path);
/* To be called when the descriptor of `link` is readable: reads the result. */
void top_flight_read(struct top_flight *flight);

/*
 * The data that `weir top` shows: the latest sample, the latest events, and the history of the
 * queue of each cloud that was in recent samples. Bounded: TOP_HISTORIES clouds, TOP_EVENTS events.
 */

#define TOP_EVENTS      256
#define TOP_EVENT_BYTES 320
#define TOP_HISTORIES   512
#define TOP_HISTORY     32
#define TOP_NAME_BYTES  160
#define TOP_ROWS        1152 /* templates and clouds in a sample */

enum top_sort {
	TOP_BY_OUT,
	TOP_BY_IN,
	TOP_BY_DROPS,
	TOP_BY_QUEUE,
	TOP_BY_DELAY,
	TOP_BY_NAME,
	TOP_SORTS
};
extern const char *const top_sort_names[TOP_SORTS];

struct top_history {
	char cloud[TOP_NAME_BYTES];
	uint64_t seen;                              /* the latest sample that contained it */
	float queue[TOP_HISTORY], out[TOP_HISTORY]; /* bytes, bytes a second; the latest last */
};

/* A cloud, or a template, in the latest sample. */
struct top_row {
	char name[TOP_NAME_BYTES];
	double clouds; /* of a template; else 0 */
	double in_bps, out_bps, out_pps;
	double emulated, congestion, real; /* a second */
	double queue_bytes, delay_p50;     /* -1: unknown */
	const struct top_history *history; /* or NULL */
};

struct top_model {
	json_t *sample; /* or NULL */
	bool paused;
	double seconds; /* the length of the sample */
	uint64_t n_samples;
	enum top_sort sort;
	char filter[64];
	uint32_t n_rows;
	struct top_row rows[TOP_ROWS]; /* filtered and sorted */
	struct top_history histories[TOP_HISTORIES];
	uint64_t n_events; /* so far */
	struct {
		bool real; /* weir's own loss, or a stall */
		char text[TOP_EVENT_BYTES];
	} events[TOP_EVENTS];
};

/* Takes a sample or an event. Samples are ignored while `paused` is set. */
void top_model_take(struct top_model *model, const json_t *object);
/* Makes the rows again, after a change of the sort or filter. */
void top_model_arrange(struct top_model *model);
void top_model_release(struct top_model *model);

/*
 * The part of a text that fits the screen. If the whole text does not fit, its blank lines are left
 * out; if it still does not fit, it is shown from line `from` on.
 *
 * Thread: pure functions, any.
 */

/* Numbers short enough for a column, in ASCII: 842k, 1.23M, 40.1ms; and a row of bars. */

#define TOP_TEXT_BYTES 24

/* At most six characters: `0`, `842`, `84.2k`, `1.23M`. Returns text. */
const char *top_count(char text[TOP_TEXT_BYTES], double value);
/* `801ns`, `40.1ms`, `3.2min`; below 0: `-`. */
const char *top_time(char text[TOP_TEXT_BYTES], double ns);
/* Draws the latest `points` values as bars; the greatest of all values has the highest bar. A bar
 * takes three bytes in UTF-8, else one. `text` has room for 3 TOP_HISTORY + 1 bytes. */
const char *top_spark(char *text, const float values[TOP_HISTORY], int points, bool utf8);

struct top_page {
	bool blanks; /* blank lines are shown */
	int rows;    /* lines that are shown */
	int from;    /* the first of them, from 0 */
	int below;   /* lines that follow the last one shown */
};

/* Lays the text out in at most `room` rows. It keeps its blank lines if they fit in `roomy` rows. A
 * `from` beyond the last page means the last page. */
struct top_page top_page_make(const char *text, int roomy, int room, int from);
/* Returns line number i of those that the page counts, or NULL. The line ends at LF or 0. */
const char *top_page_line(const struct top_page *page, const char *text, int i);

/* Draws `weir top`, with ncurses. */

struct top_screen {
	struct screen *of; /* ncurses' */
	bool colours, utf8;
	uint32_t selected;         /* row of the model; the order is that of the screen */
	uint32_t first;            /* the first row drawn */
	char zoom[TOP_NAME_BYTES]; /* the only cloud shown; "": all are */
	char *zoomed;              /* weir's answer about that cloud; or NULL */
	bool help;
	int scrolled; /* lines of a text above the picture */
	int below;    /* lines of it below the picture */
	char status[300];
};

/* Initialises the terminal. Returns 0, or -1 with the reason, a sentence, in `why`. */
int top_screen_open(struct top_screen *screen, char why[200]);
void top_screen_close(struct top_screen *screen);
void top_screen_draw(struct top_screen *screen, const struct top_feed *feed,
                     const struct top_model *model);
/* Writes the present picture as lines of text. Returns false if it could not be written. */
bool top_screen_save(FILE *out);
/* Edits a line at the bottom, after a prompt; `text` is its initial content. Returns false if the
 * user cancels, or `*over` is set, or the terminal is gone. The picture stands still meanwhile;
 * `meanwhile` is called often. */
struct top_typing {
	const volatile sig_atomic_t *over;
	void (*meanwhile)(void *argument);
	void *argument;
};
bool top_screen_type(const char *prompt, char *text, int room, const struct top_typing *typing);

/*
 * The main loop: keys, the connection and the picture.
 *
 * Thread: the main thread.
 */

/* `path`: the control socket; NULL: the default. `interval`: as in `sample`. Returns the exit
 * status; errors go to stderr. */
int top_run(const char *path, const char *interval);

#endif
