/* SPDX-License-Identifier: BSD-3-Clause */
#include "top/top.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <curses.h>
#include <term.h>

#include "figures/figures.h"

enum { PAIR_REAL = 1, PAIR_CONGESTION, PAIR_HEAD, PAIR_GOOD };

#define LEAST_ROWS    10
#define LEAST_COLUMNS 40

int top_screen_open(struct top_screen *screen, char why[200])
{
	const char *terminal = getenv("TERM");
	int error = 0;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		snprintf(why, 200, "it needs a terminal; for a pipe: weir ctl sample 1s");
		return -1;
	}
	/* initscr() would end the process, so the terminal is tested here. */
	if (terminal == NULL || setupterm(terminal, STDOUT_FILENO, &error) != OK ||
	    tigetstr("cup") == NULL || tigetstr("cup") == (char *)-1) {
		snprintf(why, 200,
		         "the terminal `%.40s` (TERM) cannot be drawn on, because its cursor "
		         "cannot be positioned; use weir ctl sample 1s, or set TERM to what it is",
		         terminal != NULL ? terminal : "");
		return -1;
	}
	del_curterm(cur_term); /* newterm() makes its own */
	setlocale(LC_CTYPE, "");
	screen->utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	screen->of = newterm(NULL, stdout, stdin);
	if (screen->of == NULL) {
		snprintf(why, 200, "the terminal cannot be used");
		return -1;
	}
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(50);
	curs_set(0);
	screen->colours = has_colors() && getenv("NO_COLOR") == NULL && start_color() == OK;
	if (screen->colours) {
		int ground = use_default_colors() == OK ? -1 : COLOR_BLACK;

		init_pair(PAIR_REAL, COLOR_RED, (short)ground);
		init_pair(PAIR_CONGESTION, COLOR_YELLOW, (short)ground);
		init_pair(PAIR_HEAD, COLOR_CYAN, (short)ground);
		init_pair(PAIR_GOOD, COLOR_GREEN, (short)ground);
	}
	return 0;
}

void top_screen_close(struct top_screen *screen)
{
	endwin();
	delscreen(screen->of);
	free(screen->zoomed);
	screen->zoomed = NULL;
}

/* Returns the attributes of a pair. Without colours, red text is bold and reversed, and has a mark
 * besides. */
static chtype look(const struct top_screen *screen, int pair)
{
	if (screen->colours)
		return (chtype)COLOR_PAIR(pair) | (pair == PAIR_REAL ? A_BOLD : 0);
	return pair == PAIR_REAL ? A_BOLD | A_REVERSE : pair == PAIR_HEAD ? A_BOLD : A_NORMAL;
}

static void put(int row, int column, chtype how, const char *text)
{
	if (row < 0 || row >= LINES || column >= COLS)
		return;
	attron(how);
	mvaddnstr(row, column, text, -1);
	attroff(how);
}

/* Draws a line, which is cut at the edge. */
static void put_line(int row, chtype how, const char *text)
{
	move(row, 0);
	clrtoeol();
	attron(how);
	addnstr(text, COLS);
	attroff(how);
}

static double number(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

static const char *word(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text != NULL ? text : "";
}

/* ---- parts; each function returns the row behind its part ---- */

static int draw_head(const struct top_screen *screen, const struct top_feed *feed,
                     const struct top_model *model)
{
	char line[400], up[TOP_TEXT_BYTES], every[TOP_TEXT_BYTES];
	const json_t *sample = model->sample;

	snprintf(line, sizeof(line),
	         "weir %s  up %s  seed %.0f  %.0f clouds, %.0f busy  by %s%s%s  %s%s",
	         word(feed->hello, "weir"), top_time(up, number(sample, "t_ns")),
	         number(feed->hello, "seed"), number(sample, "clouds_in_all"),
	         number(sample, "clouds_busy"), top_sort_names[model->sort],
	         model->filter[0] ? "  /" : "", model->filter,
	         top_time(every, model->seconds * 1e9),
	         model->paused ? "  PAUSED"
	         : feed->up    ? ""
	                       : "  NOT CONNECTED");
	put_line(0, look(screen, PAIR_HEAD) | A_REVERSE, line);
	return 1;
}

static int draw_ports(const struct top_screen *screen, const struct top_model *model, int row,
                      int end)
{
	const json_t *port;
	size_t i;

	put_line(row++, look(screen, PAIR_HEAD),
	         "port              in bit/s out bit/s   in/s  out/s   lost late p50     p99     "
	         "max");
	json_array_foreach(json_object_get(model->sample, "ports"), i, port)
	{
		const json_t *late = json_object_get(port, "lateness_ns");
		const struct figures_rate rate = figures_rate(port, model->seconds);
		char t[7][TOP_TEXT_BYTES], line[400];
		double lost = number(port, "lost");
		bool up = json_is_true(json_object_get(port, "link_up"));

		if (row >= end)
			break;
		snprintf(line, sizeof(line), "%-16.16s %9s %9s %6s %6s %6s %8s %7s %7s%s",
		         word(port, "port"), top_count(t[0], rate.in_bps),
		         top_count(t[1], rate.out_bps), top_count(t[2], rate.in_pps),
		         top_count(t[3], rate.out_pps), "", top_time(t[4], number(late, "p50")),
		         top_time(t[5], number(late, "p99")), top_time(t[6], number(late, "max")),
		         up ? "" : " DOWN");
		put_line(row, up ? A_NORMAL : look(screen, PAIR_REAL), line);
		snprintf(line, sizeof(line), "%s%s", lost > 0 ? "!" : "", top_count(t[0], lost));
		put(row++, 52 + 6 - (int)strlen(line),
		    lost > 0 ? look(screen, PAIR_REAL) : A_NORMAL, line);
	}
	return row;
}

static void draw_cloud(const struct top_screen *screen, const struct top_row *cloud, int row,
                       bool selected)
{
	char t[8][TOP_TEXT_BYTES], line[600], name[TOP_NAME_BYTES + 24];
	char spark[TOP_HISTORY * 3 + 1];
	int wide = COLS > 100 ? COLS - 100 : 0, name_n = 17 + (wide > 40 ? 40 : wide),
	    at = name_n + 21;
	int points = COLS - (name_n + 58);
	chtype how = selected ? A_REVERSE : A_NORMAL;

	snprintf(name, sizeof(name), "%s", cloud->name);
	if (cloud->clouds > 0)
		snprintf(name, sizeof(name), "%s (%.0f)", cloud->name, cloud->clouds);
	snprintf(line, sizeof(line), "%-*.*s %9s %9s %6s %6s %6s %7s %7s ", name_n, name_n, name,
	         top_count(t[0], cloud->in_bps), top_count(t[1], cloud->out_bps), "", "", "",
	         top_count(t[2], cloud->queue_bytes), top_time(t[3], cloud->delay_p50));
	put_line(row, how, line);
	put(row, at + 6 - (int)strlen(top_count(t[4], cloud->emulated)), how, t[4]);
	put(row, at + 13 - (int)strlen(top_count(t[5], cloud->congestion)),
	    how | (cloud->congestion > 0 ? look(screen, PAIR_CONGESTION) : 0), t[5]);
	snprintf(line, sizeof(line), "%s%s", cloud->real > 0 ? "!" : "",
	         top_count(t[6], cloud->real));
	put(row, at + 20 - (int)strlen(line), how | (cloud->real > 0 ? look(screen, PAIR_REAL) : 0),
	    line);
	if (cloud->history != NULL && points > 0)
		put(row, name_n + 58, screen->colours ? look(screen, PAIR_GOOD) : A_NORMAL,
		    top_spark(spark, cloud->history->queue, points, screen->utf8));
}

static int draw_clouds(struct top_screen *screen, const struct top_model *model, int row, int end)
{
	int wide = COLS > 100 ? COLS - 100 : 0, name_n = 17 + (wide > 40 ? 40 : wide);
	uint32_t room = end > row + 1 ? (uint32_t)(end - row - 1) : 1;
	char line[400];

	if (screen->selected >= model->n_rows)
		screen->selected = model->n_rows > 0 ? model->n_rows - 1 : 0;
	if (screen->selected < screen->first)
		screen->first = screen->selected;
	if (screen->selected >= screen->first + room)
		screen->first = screen->selected - room + 1;
	snprintf(line, sizeof(line), "%-*s %9s %9s %6s %6s %6s %7s %7s %s", name_n, "cloud",
	         "in bit/s", "out bit/s", "emul/s", "cong/s", "REAL/s", "queue B", "delay",
	         "queue");
	put_line(row++, look(screen, PAIR_HEAD), line);
	for (uint32_t i = screen->first; i < model->n_rows && row < end; i++)
		draw_cloud(screen, &model->rows[i], row++, i == screen->selected);
	if (model->n_rows == 0 && row < end)
		put_line(row++, A_NORMAL,
		         model->filter[0] ? "  no name of the busiest clouds contains this; Enter "
		                            "shows the cloud of this name"
		                          : "  none");
	return end;
}

static int draw_workers(const struct top_screen *screen, const struct top_model *model, int row,
                        int end)
{
	const json_t *worker;
	size_t i;

	put_line(row++, look(screen, PAIR_HEAD),
	         "worker role               cpu   busy    held  memory      of   longest stalls");
	json_array_foreach(json_object_get(model->sample, "workers"), i, worker)
	{
		char t[4][TOP_TEXT_BYTES], line[400];
		double polls = number(worker, "polls");

		if (row >= end)
			break;
		snprintf(line, sizeof(line), "%6.0f %-17.17s %4.0f %5.1f%% %7s %7s %7s %9s %6.0f",
		         number(worker, "worker"), word(worker, "role"), number(worker, "cpu"),
		         polls > 0 ? number(worker, "busy_polls") / polls * 100 : 0,
		         top_count(t[0], number(worker, "held_packets")),
		         top_count(t[1], number(worker, "memory_used_bytes")),
		         top_count(t[2], number(worker, "memory_bytes")),
		         top_time(t[3], number(worker, "longest_poll_ns")),
		         number(worker, "stalls"));
		put_line(row++, A_NORMAL, line);
	}
	return row;
}

/* Draws the latest events, the newest last. */
static void draw_events(const struct top_screen *screen, const struct top_model *model, int row,
                        int end)
{
	uint64_t n = (uint64_t)(end - row - 1), first;

	put_line(row++, look(screen, PAIR_HEAD), "events");
	n = n > TOP_EVENTS ? TOP_EVENTS : n;
	first = model->n_events > n ? model->n_events - n : 0;
	for (uint64_t i = first; i < model->n_events && row < end; i++)
		put_line(row++,
		         model->events[i % TOP_EVENTS].real ? look(screen, PAIR_REAL) : A_NORMAL,
		         model->events[i % TOP_EVENTS].text);
}

/* Draws a text in the rows up to `end`, and returns the row behind it. It is roomy if it leaves
 * `others` rows free. */
static int draw_text(struct top_screen *screen, const char *text, int row, int end, int others)
{
	const struct top_page page =
	        top_page_make(text, end - row - others, end - row, screen->scrolled);

	screen->scrolled = page.from;
	screen->below = page.below;
	for (int i = 0; i < page.rows; i++) {
		const char *line = top_page_line(&page, text, page.from + i);
		int n = (int)strcspn(line, "\n");
		bool real = strncmp(line, "warning", 7) == 0;

		move(row++, 0);
		attron(real ? look(screen, PAIR_REAL) : A_NORMAL);
		addnstr(line, n < COLS ? n : COLS);
		attroff(real ? look(screen, PAIR_REAL) : A_NORMAL);
	}
	return row;
}

static const char help[] =
        "\n  up down j k   choose a cloud            Enter   only this cloud, and back\n"
        "  s             sort by another column    /       only names that contain a text\n"
        "  e             change it: a line, which is sent as typed\n"
        "  p             pause the picture, and resume\n"
        "  w             write the picture to a file\n"
        "  f             dump the flight: a recording of the last seconds\n"
        "  Escape        back, from here too     q       end\n"
        "\n  emul, cong, REAL: packets a second that the scenario drops, that its\n"
        "  queues drop, and that weir itself loses. REAL should be 0.\n"
        "  delay: the median since the last sample. late: after the due time.\n";

void top_screen_draw(struct top_screen *screen, const struct top_feed *feed,
                     const struct top_model *model)
{
	int ports = (int)json_array_size(json_object_get(model->sample, "ports"));
	int workers = (int)json_array_size(json_object_get(model->sample, "workers"));
	int events = LINES / 6 + 1, last = LINES - 1, row;
	char more[80];

	erase();
	if (LINES < LEAST_ROWS || COLS < LEAST_COLUMNS) {
		put_line(0, A_NORMAL, "too small: 40 x 10 at least");
		refresh();
		return;
	}
	row = draw_head(screen, feed, model);
	ports = ports > LINES / 5 ? LINES / 5 : ports;
	workers = workers > LINES / 6 ? LINES / 6 : workers;
	screen->below = 0;
	if (screen->help) {
		draw_text(screen, help, row, last, 0);
	} else if (screen->zoom[0] != '\0') {
		const char *text = screen->zoomed != NULL ? screen->zoomed : "";

		/* What does not fit takes the place of the events. */
		row = draw_text(screen, text, row, last, events);
		row = row < last - events ? last - events : row;
		if (last - row > 1)
			draw_events(screen, model, row, last);
	} else if (model->sample != NULL) {
		row = draw_ports(screen, model, row, row + ports + 1);
		row = draw_clouds(screen, model, row, last - events - workers - 1);
		row = draw_workers(screen, model, row, row + workers + 1);
		draw_events(screen, model, row, last);
	}
	snprintf(more, sizeof(more), "up, down: %d more lines below  Escape back  ? help",
	         screen->below);
	put_line(last, look(screen, PAIR_HEAD),
	         screen->status[0]   ? screen->status
	         : screen->below > 0 ? more
	                             : "? help  s sort  / filter  Enter zoom  e change  p pause  w "
	                               "write  q end");
	refresh();
}

bool top_screen_save(FILE *out)
{
	char line[1024];

	for (int row = 0; row < LINES; row++) {
		int n;

		mvinnstr(row, 0, line, sizeof(line) - 1);
		n = (int)strlen(line);
		while (n > 0 && line[n - 1] == ' ')
			n--;
		fprintf(out, "%.*s\n", n, line);
	}
	return !ferror(out);
}

#define TYPE_LOOK_MS 200
/* After so many times in turn at which the terminal was readable, but had no key, its input has
 * ended, or must not be read any more. */
#define TYPE_EMPTY_MAX 20

/* Returns the next key, or ERR if `*over` is set or the terminal is gone. The wait is bounded,
 * because a signal may arrive just before it. */
static int key_wait(const struct top_typing *typing)
{
	int key, empty = 0;

	while ((key = getch()) == ERR && !*typing->over && empty < TYPE_EMPTY_MAX) {
		struct pollfd polled = {.fd = STDIN_FILENO, .events = POLLIN};

		if ((poll(&polled, 1, TYPE_LOOK_MS) < 0 && errno != EINTR) ||
		    polled.revents & (POLLHUP | POLLERR | POLLNVAL))
			break;
		empty = polled.revents & POLLIN ? empty + 1 : 0;
		typing->meanwhile(typing->argument);
	}
	return *typing->over ? ERR : key;
}

bool top_screen_type(const char *prompt, char *text, int room, const struct top_typing *typing)
{
	int n = (int)strlen(text), key;
	bool done = false;

	curs_set(1);
	while (!done) {
		int width = COLS - (int)strlen(prompt) - 1, from = n > width ? n - width : 0;

		put_line(LINES - 1, A_BOLD, prompt);
		addnstr(text + from, width);
		refresh();
		key = key_wait(typing);
		if (key == '\n' || key == '\r' || key == KEY_ENTER || key == 27 || key == ERR ||
		    key == 7)
			done = true;
		else if ((key == KEY_BACKSPACE || key == 127 || key == 8) && n > 0)
			text[--n] = '\0';
		else if (key == 21) /* ^U */
			text[n = 0] = '\0';
		else if (key >= ' ' && key < 127 && n + 1 < room) {
			text[n++] = (char)key;
			text[n] = '\0';
		}
	}
	curs_set(0);
	return key != 27 && key != ERR && key != 7;
}
