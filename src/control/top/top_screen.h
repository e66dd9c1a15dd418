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
	uint32_t selected;         /* row of the model, in the order of the screen */
	uint32_t first;            /* row that is drawn first */
	char zoom[TOP_NAME_BYTES]; /* one cloud is shown; "": all */
	char *zoomed;              /* what weir says of it; or NULL */
	bool help;
	char status[300];
};

/* Takes the terminal. 0, or -1 with why, a sentence. */
int top_screen_open(struct top_screen *screen, char why[200]);
void top_screen_close(struct top_screen *screen);
void top_screen_draw(struct top_screen *screen, const struct top_feed *feed,
                     const struct top_model *model);
/* What stands there now, as lines of text. False: it could not be written. */
bool top_screen_save(FILE *out);
/* Lets a line be typed at the bottom, behind a prompt; `text` holds what stands there at first.
 * False: it was given up, or `*over` says so, or the terminal is gone. The screen stands still
 * meanwhile; `meanwhile` is called often. */
struct top_typing {
	const volatile sig_atomic_t *over;
	void (*meanwhile)(void *argument);
	void *argument;
};
bool top_screen_type(const char *prompt, char *text, int room, const struct top_typing *typing);

#endif
