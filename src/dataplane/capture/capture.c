/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/capture.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "capture/capture_inside.h"

/* Bytes of a pcap's record besides its frame (16 more in a pcapng); for progress only. */
#define CAPTURE_RECORD_BYTES 16

simtime capture_first_ns(const struct capture *capture)
{
	const int64_t stamp_ns = capture->records.first_stamp_ns;

	return capture->interface && stamp_ns >= 0 && stamp_ns < INT64_MAX ? (simtime)stamp_ns
	                                                                   : SIMTIME_NEVER;
}

/* ---- the end ---- */

static bool end_damaged(struct capture *capture, const char *why)
{
	capture->ended = true;
	snprintf(capture->damage, sizeof(capture->damage), "after frame %" PRIu64 ": %s",
	         capture->counts.frames, why);
	return false;
}

static bool end_refused(struct capture *capture, const char *why)
{
	capture->ended = true;
	snprintf(capture->refused, sizeof(capture->refused), "%s", why);
	return false;
}

/* Ends the capture. If a compressed file ends too early, its own damage is reported, and not what
 * is missing because of it. `why` NULL: nothing is missing. */
static bool end(struct capture *capture, const char *why)
{
	if (capture->unpack && capture->block_reader.ended && unpack_damage(capture->unpack)[0])
		why = unpack_damage(capture->unpack);
	if (!why && capture->block_reader.error)
		why = strerror(capture->block_reader.error);
	if (why)
		return end_damaged(capture, why);
	capture->ended = true;
	return false;
}

/* ---- frames ---- */

static bool give(struct capture *capture, struct capture_frame *frame, const uint8_t *data,
                 uint32_t bytes, uint32_t wire_bytes)
{
	capture->counts.frames++;
	capture->counts.truncated += wire_bytes > bytes;
	capture->done_bytes += CAPTURE_RECORD_BYTES + bytes;
	frame->bytes = bytes;
	frame->wire_bytes = wire_bytes;
	frame->data = data;
	frame->sender = NULL;
	return true;
}

/* Returns a frame of another link with an Ethernet header in place of its own. */
static bool give_as_ethernet(struct capture *capture, struct capture_frame *frame,
                             const uint8_t *data, const struct record *record)
{
	uint32_t link_bytes, bytes, wire_bytes;
	const uint8_t *sender;
	const char *why =
	        link_layer_enter(capture->link_layer, data, record->bytes, record->wire_bytes,
	                         capture->frame, &link_bytes, &sender);

	if (why)
		return end_damaged(capture, why);
	bytes = record->bytes - link_bytes;
	if (bytes > CAPTURE_FRAME_MAX - LINK_LAYER_ETHERNET_BYTES)
		return end_damaged(capture, "the next packet has more than 262130 bytes");
	memcpy(capture->frame + LINK_LAYER_ETHERNET_BYTES, data + link_bytes, bytes);
	wire_bytes = record->wire_bytes - link_bytes;
	wire_bytes = RTE_MIN(wire_bytes, UINT32_MAX - LINK_LAYER_ETHERNET_BYTES);
	give(capture, frame, capture->frame, bytes + LINK_LAYER_ETHERNET_BYTES,
	     wire_bytes + LINK_LAYER_ETHERNET_BYTES);
	frame->sender = sender;
	return true;
}

static const char *capture_date(int64_t stamp_ns, char text[CAPTURE_DATE_BYTES])
{
	const time_t seconds =
	        (time_t)(stamp_ns / INT64_C(1000000000)) - (stamp_ns % 1000000000 < 0);
	struct tm date;

	if (!gmtime_r(&seconds, &date) ||
	    strftime(text, CAPTURE_DATE_BYTES, "%Y-%m-%dT%H:%M:%SZ", &date) == 0)
		snprintf(text, CAPTURE_DATE_BYTES, "%" PRId64 " s", (int64_t)seconds);
	return text;
}

static bool refuse_stamp(struct capture *capture, int64_t t_ns)
{
	char date[CAPTURE_DATE_BYTES], why[200];

	snprintf(why, sizeof(why),
	         "frame %" PRIu64 " is stamped %s, and a pcap can express only 1970 to 2106; "
	         "`editcap -t SECONDS` shifts all stamps",
	         capture->order.passed, capture_date(t_ns, date));
	return end_refused(capture, why);
}

/* Sets the instant and gives the frame. */
static inline bool give_at(struct capture *capture, struct capture_frame *frame, int64_t t_ns,
                           const uint8_t *data, const struct record *record)
{
	if (unlikely((uint64_t)t_ns / SIMTIME_S > UINT32_MAX))
		return refuse_stamp(capture, t_ns);
	frame->t_ns = (simtime)t_ns;
	if (unlikely(capture->link_layer != NULL))
		return give_as_ethernet(capture, frame, data, record);
	return give(capture, frame, data, record->bytes, record->wire_bytes);
}

/* ---- by libpcap ---- */

/* Returns the next frame of a format that only libpcap knows. libpcap returns the 32-bit seconds of
 * a pcap as a signed number. */
static bool next_by_libpcap(struct capture *capture, struct capture_frame *frame)
{
	struct record *record = frame_order_place(&capture->order);
	struct pcap_pkthdr *header;
	const u_char *data;
	int64_t t_ns;
	const int got = pcap_next_ex(capture->pcap, &header, &data);

	if (got != 1)
		return end(capture, got == PCAP_ERROR ? pcap_geterr(capture->pcap) : NULL);
	if (header->caplen > CAPTURE_FRAME_MAX)
		return end(capture, "the next frame claims more than 262144 bytes");
	*record = (struct record){
	        .stamp_ns = (int64_t)(uint32_t)header->ts.tv_sec * INT64_C(1000000000) +
	                    RTE_MAX((int64_t)header->ts.tv_usec, 0),
	        .bytes = header->caplen,
	        .wire_bytes = RTE_MAX(header->len, header->caplen),
	};
	frame_order_push(&capture->order);
	(void)frame_order_take(&capture->order, &t_ns);
	return give_at(capture, frame, t_ns, data, record);
}

/* ---- by records ---- */

void capture_fill(struct capture *capture)
{
	struct frame_order *order = &capture->order;
	struct records *records = &capture->records;

	records_release(records, frame_order_needs(order, records->parsed));
	while (order->n < capture->depth && records_ahead(records) < FRAME_ORDER_BYTES) {
		const enum records_got got = records_next(records, frame_order_place(order));

		if (likely(got == RECORDS_FRAME)) {
			frame_order_push(order);
			continue;
		}
		if (got == RECORDS_END || (got == RECORDS_FULL && order->n > 0))
			break;
		if (order->n == 0)
			records_release(records, records->parsed);
	}
}

bool capture_next(struct capture *capture, struct capture_frame *frame)
{
	const struct records *records = &capture->records;
	const struct record *record;
	int64_t t_ns;

	if (unlikely(capture->ended))
		return false;
	if (unlikely(capture->pcap != NULL))
		return next_by_libpcap(capture, frame);
	if (capture->order.n <= capture->depth / 2)
		capture_fill(capture);
	if (unlikely(capture->order.n == 0)) {
		if (records->refused[0])
			return end_refused(capture, records->refused);
		return end(capture, records->damage[0] ? records->damage : NULL);
	}
	record = frame_order_take(&capture->order, &t_ns);
	return give_at(capture, frame, t_ns, records_data(records, record), record);
}

/* ---- figures ---- */

int capture_error(const struct capture *capture)
{
	return capture->block_reader.error;
}

const char *capture_damage(const struct capture *capture)
{
	return capture->damage;
}

const char *capture_refused(const struct capture *capture)
{
	return capture->refused;
}

const struct capture_counts *capture_counts(const struct capture *capture)
{
	return &capture->counts;
}

const struct frame_order_counts *capture_order_counts(const struct capture *capture)
{
	return &capture->order.counts;
}

uint64_t capture_other_link(const struct capture *capture, const char **which)
{
	*which = capture->records.other;
	return capture->records.n_other;
}

const struct stat *capture_stat(const struct capture *capture)
{
	return &capture->stat;
}

uint64_t capture_done_bytes(const struct capture *capture)
{
	if (capture->ended)
		return capture_all_bytes(capture);
	return capture->unpack ? unpack_done_bytes(capture->unpack) : capture->done_bytes;
}

uint64_t capture_all_bytes(const struct capture *capture)
{
	return S_ISREG(capture->stat.st_mode) ? (uint64_t)capture->stat.st_size : 0;
}

/* Merges several captures. */

int capture_merge_start(struct capture_merge *merge, struct capture *const *captures, uint32_t n)
{
	*merge = (struct capture_merge){.captures = captures, .n = n, .taken = n};
	merge->heads = calloc(n, sizeof(*merge->heads));
	merge->live = calloc(n, sizeof(*merge->live));
	if (n > 0 && (!merge->heads || !merge->live)) {
		capture_merge_stop(merge);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n; i++)
		merge->live[i] = capture_next(captures[i], &merge->heads[i]);
	return 0;
}

void capture_merge_stop(struct capture_merge *merge)
{
	free(merge->heads);
	free(merge->live);
	merge->heads = NULL;
	merge->live = NULL;
	merge->n = 0;
}

const struct capture_frame *capture_merge_next(struct capture_merge *merge, uint32_t *from)
{
	uint32_t first = merge->n;

	/* The reader is advanced only now, because that invalidates the bytes of the frame it
	 * returned. */
	if (merge->taken < merge->n)
		merge->live[merge->taken] =
		        capture_next(merge->captures[merge->taken], &merge->heads[merge->taken]);
	for (uint32_t i = 0; i < merge->n; i++) {
		if (merge->live[i] &&
		    (first == merge->n || merge->heads[i].t_ns < merge->heads[first].t_ns))
			first = i;
	}
	merge->taken = first;
	if (first == merge->n)
		return NULL;
	*from = first;
	return &merge->heads[first];
}

/* Says in words what was wrong with the time stamps of a capture. */

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
