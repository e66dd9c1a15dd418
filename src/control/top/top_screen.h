/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Draws `weir top`, with ncurses.
 *
 * Thread: the caller's, one.
 */
#ifndef WEIR_TOP_SCREEN_H
#define WEIR_TOP_SCREEN_H

#include <signal.h>
#include <stdio.h>

#include "top/top_feed.h"
#include "top/top_model.h"

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

#endif
