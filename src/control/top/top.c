/* SPDX-License-Identifier: BSD-3-Clause */
#include "top/top.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <curses.h>

struct top {
	struct top_feed feed;
	struct top_lease lease;
	struct top_flight flight;
	struct top_model model;
	struct top_screen screen;
	uint64_t zoomed_n; /* the sample at which the zoomed cloud was last queried */
	uint32_t empty;    /* how often in turn the terminal was readable, but had no key */
	bool over, changed;
};

#define LOOK_MS   1000 /* longest wait: a signal may arrive just before it */
#define EMPTY_MAX 3

static volatile sig_atomic_t ended;

static void on_signal(int number)
{
	(void)number;
	ended = 1;
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Moves a message of the connections to the status line. */
static void hear(struct top *top)
{
	char *said = top->feed.said[0] != '\0'    ? top->feed.said
	             : top->lease.said[0] != '\0' ? top->lease.said
	                                          : top->flight.said;

	if (said[0] == '\0')
		return;
	snprintf(top->screen.status, sizeof(top->screen.status), "%s", said);
	said[0] = '\0';
	top->changed = true;
}

static void renew(void *argument)
{
	top_lease_poll(&((struct top *)argument)->lease, now_ms());
}

static bool type(struct top *top, const char *prompt, char *text, int room)
{
	const struct top_typing typing = {.over = &ended, .meanwhile = renew, .argument = top};

	return top_screen_type(prompt, text, room, &typing);
}

/* ---- the effect of keys ---- */

static void zoom_ask(struct top *top)
{
	char line[TOP_NAME_BYTES + 32], *slash = strchr(top->screen.zoom, '/');
	bool ok;

	if (slash != NULL)
		snprintf(line, sizeof(line), "show clouds %.*s %s", (int)(slash - top->screen.zoom),
		         top->screen.zoom, slash + 1);
	else
		snprintf(line, sizeof(line), "show cloud %s", top->screen.zoom);
	free(top->screen.zoomed);
	top->screen.zoomed = top_feed_ask(&top->feed, line, &ok);
	top->zoomed_n = top->model.n_samples;
}

static const char *selected(const struct top *top)
{
	if (top->screen.zoom[0] != '\0')
		return top->screen.zoom;
	return top->screen.selected < top->model.n_rows ? top->model.rows[top->screen.selected].name
	                                                : "";
}

static void zoom(struct top *top)
{
	char name[TOP_NAME_BYTES];

	snprintf(name, sizeof(name), "%s",
	         top->screen.zoom[0] ? ""
	         : selected(top)[0]  ? selected(top)
	                             : top->model.filter);
	memcpy(top->screen.zoom, name, sizeof(name));
	top->screen.scrolled = 0;
	if (name[0] != '\0')
		zoom_ask(top);
}

/* Executes what was typed: a line for weir; `lease TIME LINE`; or a command about the lease that is
 * held. Returns the answer, which the caller frees. */
static char *send(struct top *top, const char *line, bool *ok)
{
	const bool of_lease = top_lease_is_held(&top->lease) &&
	                      (strcmp(line, "keep") == 0 || strcmp(line, "revert") == 0);
	char *wrong;

	if (strncmp(line, "lease ", 6) != 0 && !of_lease)
		return top_feed_ask(&top->feed, line, ok);
	wrong = of_lease ? top_lease_say(&top->lease, line, now_ms())
	                 : top_lease_make(&top->lease, top->feed.path, line + 6, now_ms());
	*ok = wrong == NULL;
	return wrong;
}

static void change(struct top *top)
{
	char line[400], *answer;
	bool ok;

	snprintf(line, sizeof(line), "cloud %.*s ", (int)strcspn(selected(top), "/"),
	         selected(top));
	if (!type(top, "change> ", line, sizeof(line)))
		return;
	answer = send(top, line, &ok);
	if (ok)
		snprintf(top->screen.status, sizeof(top->screen.status), "done: %.*s%s%.100s",
		         (int)sizeof(top->screen.status) / 2, line,
		         answer != NULL && *answer != '\0' ? "; " : "",
		         answer != NULL ? answer : "");
	else
		snprintf(top->screen.status, sizeof(top->screen.status), "not done: %.250s",
		         answer != NULL ? answer : "no memory");
	top->screen.status[strcspn(top->screen.status, "\n")] = '\0';
	free(answer);
	if (top->screen.zoom[0] != '\0')
		zoom_ask(top);
}

static void write_picture(struct top *top)
{
	char path[200];
	time_t now = time(NULL);
	struct tm tm;
	FILE *out;
	bool whole = false;

	localtime_r(&now, &tm);
	strftime(path, sizeof(path), "weir-top-%Y%m%d-%H%M%S.txt", &tm);
	if (!type(top, "write to> ", path, sizeof(path)))
		return;
	top_screen_draw(&top->screen, &top->feed, &top->model);
	errno = 0;
	out = fopen(path, "we");
	if (out != NULL) {
		whole = top_screen_save(out);
		whole = fclose(out) == 0 && whole;
	}
	snprintf(top->screen.status, sizeof(top->screen.status), "%s%.150s%s%s",
	         whole ? "written: " : "", path, whole ? "" : ": ",
	         whole ? "" : strerror(errno != 0 ? errno : EIO));
}

/* Chooses another cloud, or scrolls the text that is shown instead of them. */
static void move_by(struct top *top, int rows)
{
	int at = (int)top->screen.selected + rows, n = (int)top->model.n_rows;

	if (top->screen.help || top->screen.zoom[0] != '\0') {
		at = top->screen.scrolled + rows;
		top->screen.scrolled = at < 0 ? 0 : at;
		return;
	}
	top->screen.selected = (uint32_t)(at < 0 || n == 0 ? 0 : at >= n ? n - 1 : at);
}

static void key(struct top *top, int typed)
{
	top->screen.status[0] = '\0';
	top->changed = true;
	switch (typed) {
	case 'q':
		top->over = true;
		break;
	case 'f':
		top_flight_dump(&top->flight, top->feed.path);
		break;
	case 'p':
		top->model.paused = !top->model.paused;
		break;
	case 's':
		top->model.sort = (top->model.sort + 1) % TOP_SORTS;
		top_model_arrange(&top->model);
		break;
	case '/':
		if (type(top, "filter> ", top->model.filter, sizeof(top->model.filter)))
			top->screen.selected = 0;
		top_model_arrange(&top->model);
		break;
	case '\n':
	case '\r':
	case KEY_ENTER:
		zoom(top);
		break;
	case 27:
		/* Leaves what was opened last: the help, then the cloud that is shown alone. */
		if (!top->screen.help)
			top->screen.zoom[0] = '\0';
		top->screen.help = false;
		top->screen.scrolled = 0;
		break;
	case 'e':
		change(top);
		break;
	case 'w':
		write_picture(top);
		break;
	case '?':
	case 'h':
		top->screen.help = !top->screen.help;
		top->screen.scrolled = 0;
		break;
	case KEY_UP:
	case 'k':
		move_by(top, -1);
		break;
	case KEY_DOWN:
	case 'j':
		move_by(top, 1);
		break;
	case KEY_PPAGE:
		move_by(top, -10);
		break;
	case KEY_NPAGE:
		move_by(top, 10);
		break;
	default:
		break;
	}
}

/* ---- the loop ---- */

static void wait_for(struct top *top)
{
	struct pollfd polled[3] = {{.fd = STDIN_FILENO, .events = POLLIN},
	                           {.fd = top->feed.up ? top->feed.link.fd : -1, .events = POLLIN},
	                           {.fd = top->flight.link.fd, .events = POLLIN}};
	int typed, keys = 0;

	/* The timeout makes it connect again each second while it is not connected. A signal that
	 * the window has another size ends the wait. */
	if (poll(polled, 3, top_lease_wait_ms(&top->lease, now_ms(), LOOK_MS)) < 0 &&
	    errno != EINTR)
		top->over = true;
	if (polled[0].revents & (POLLHUP | POLLERR | POLLNVAL))
		top->over = true;
	if (polled[1].revents & (POLLIN | POLLHUP | POLLERR))
		top_feed_read(&top->feed, &top->model, now_ms());
	top->changed |= polled[1].revents != 0;
	if (polled[2].revents & (POLLIN | POLLHUP | POLLERR))
		top_flight_read(&top->flight);
	for (; !top->over && (typed = getch()) != ERR; keys++)
		key(top, typed);
	/* If the terminal is readable and no key comes, its input has ended, or must not be read
	 * any more. */
	top->empty = polled[0].revents & POLLIN && keys == 0 ? top->empty + 1 : 0;
	top->over |= top->empty == EMPTY_MAX;
}

static void loop(struct top *top)
{
	while (!top->over && !ended) {
		if (!top->feed.up)
			top_feed_connect(&top->feed, now_ms());
		renew(top);
		hear(top);
		if (top->screen.zoom[0] != '\0' && top->feed.up && !top->model.paused &&
		    top->zoomed_n != top->model.n_samples)
			zoom_ask(top);
		if (top->changed)
			top_screen_draw(&top->screen, &top->feed, &top->model);
		top->changed = false;
		wait_for(top);
	}
}

int top_run(const char *path, const char *interval)
{
	/* While the terminal's output is stopped (^S), drawing blocks; then the second signal ends
	 * the process. */
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESETHAND};
	struct top *top = calloc(1, sizeof(*top));
	char why[200];
	int status = 0;

	if (top == NULL) {
		fputs("weir top: no memory\n", stderr);
		return 1;
	}
	top->feed.path = path;
	snprintf(top->feed.line, sizeof(top->feed.line), "sample %.40s clouds 128", interval);
	top->feed.link.fd = top->feed.asks.fd = top->lease.link.fd = top->flight.link.fd = -1;
	/* The first connection must succeed, so that a wrong path is reported at once. */
	if (top_feed_connect(&top->feed, now_ms()) != 0) {
		fprintf(stderr, "weir top: %s\n", top->feed.said);
		status = 2;
	} else if (top_screen_open(&top->screen, why) != 0) {
		fprintf(stderr, "weir top: %s\n", why);
		status = 1;
	} else {
		sigaction(SIGTERM, &action, NULL);
		sigaction(SIGHUP, &action, NULL);
		sigaction(SIGINT, &action, NULL);
		loop(top);
		top_screen_close(&top->screen);
	}
	ctl_link_close(&top->flight.link);
	ctl_link_close(&top->lease.link);
	top_feed_end(&top->feed);
	top_model_release(&top->model);
	free(top);
	return status;
}
