/* SPDX-License-Identifier: BSD-3-Clause */
/* Says in words what was wrong with the time stamps of a capture. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "capture/capture_inside.h"

/* A line of several parts. */
struct line {
	char *text;
	size_t room;
};

static __attribute__((format(printf, 2, 3))) void add(struct line *line, const char *form, ...)
{
	const size_t used = strlen(line->text);
	va_list values;

	if (used > 0)
		snprintf(line->text + used, line->room - used, "; ");
	va_start(values, form);
	vsnprintf(line->text + strlen(line->text), line->room - strlen(line->text), form, values);
	va_end(values);
}

#define SPAN_BYTES 32

static const char *span_of(int64_t ns, char text[SPAN_BYTES])
{
	const double s = (double)(ns < 0 ? -ns : ns) / 1e9;

	if (s >= 86400)
		snprintf(text, SPAN_BYTES, "%.4g days", s / 86400);
	else if (s >= 3600)
		snprintf(text, SPAN_BYTES, "%.4g h", s / 3600);
	else if (s >= 1)
		snprintf(text, SPAN_BYTES, "%.6g s", s);
	else
		snprintf(text, SPAN_BYTES, "%.6g us", s * 1e6);
	return text;
}

static const char *frames(uint64_t n)
{
	return n == 1 ? "frame" : "frames";
}

static void say_wrong(struct line *line, const struct frame_order_counts *counts)
{
	char date[CAPTURE_DATE_BYTES], span[SPAN_BYTES];

	add(line,
	    "frame %" PRIu64
	    " is stamped %s, %s %s its neighbours: a frame with a wrong stamp comes "
	    "with its neighbour (%" PRIu64 " in all); `editcap IN OUT %" PRIu64 "` leaves it out",
	    counts->odd_frame, capture_date(counts->odd_stamp_ns, date),
	    span_of(counts->odd_by_ns, span), counts->odd_by_ns < 0 ? "behind" : "ahead of",
	    counts->wrong, counts->odd_frame);
}

static void say_set_back(struct line *line, const struct frame_order_counts *counts)
{
	char span[SPAN_BYTES], at[40] = "";

	if (counts->wrong == 0)
		snprintf(at, sizeof(at), "at frame %" PRIu64 " ", counts->odd_frame);
	add(line,
	    "%sthe clock was set back (by %s at most, %" PRIu64 " %s): from there on frames keep "
	    "their distances, and their stamps are shifted; `reordercap IN OUT` sorts them by "
	    "their "
	    "stamps instead",
	    at, span_of((int64_t)counts->back_max_ns, span), counts->set_back,
	    counts->set_back == 1 ? "time" : "times");
}

bool capture_say_order(const struct capture *capture, char *text, size_t room)
{
	const struct frame_order_counts *counts = &capture->order.counts;
	struct line line = {text, room};

	text[0] = '\0';
	if (counts->wrong)
		say_wrong(&line, counts);
	if (counts->set_back)
		say_set_back(&line, counts);
	if (counts->late)
		add(&line,
		    "%" PRIu64
		    " %s stamped earlier than frames that came before: too far away to be "
		    "put in order, they come with the frame ahead of them; `reordercap IN OUT` "
		    "puts "
		    "all in order",
		    counts->late, frames(counts->late));
	if (counts->sorted)
		add(&line, "%" PRIu64 " %s put in the order of the time stamps", counts->sorted,
		    frames(counts->sorted));
	if (counts->timeless)
		add(&line,
		    "%" PRIu64
		    " %s in simple packet blocks, which have no time: each comes with the "
		    "frame ahead of it, so delays and rates of them mean nothing",
		    counts->timeless, frames(counts->timeless));
	return text[0] != '\0';
}
