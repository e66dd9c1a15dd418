/* SPDX-License-Identifier: BSD-3-Clause */
#include "show/achieved.h"

#include <inttypes.h>
#include <stdlib.h>

#include "link/class.h"
#include "link/rate.h"
#include "loss/loss_every.h"
#include "show/achieved_filler.h"
#include "show/share.h"
#include "statements.h"
#include "text/alloc_failure.h"
#include "account/count.h"
#include "text/statement_text.h"

/* Prints the statement as the user would write it, without its name. */
void filler_asked(struct achieved_row *row, const struct conf *conf)
{
	FILE *text = fmemopen(row->asked, sizeof(row->asked), "w");
	size_t name = strlen(conf->statement->name);

	if (!text) {
		alloc_failure_note();
		return;
	}
	statement_print(text, conf);
	fclose(text);
	row->asked[sizeof(row->asked) - 1] = '\0';
	if (strncmp(row->asked, conf->statement->name, name) == 0 && row->asked[name] == ' ')
		memmove(row->asked, row->asked + name + 1, strlen(row->asked + name + 1) + 1);
}

static void got_share(const struct achieved_filler *filler, const struct conf *conf,
                      struct achieved_row *row)
{
	struct share share = share_of(filler->cloud, filler->report, conf);
	char text[SHARE_SIZE];

	share_format(text, &share, "no packet came to it", "");
	snprintf(row->got, sizeof(row->got), "%s", text);
}

static void add_loss(struct achieved_filler *filler, const struct conf *conf)
{
	struct achieved_row *row = filler_add(filler, "loss");
	double share = -1;

	filler_asked(row, conf);
	/* The numbers of packets as a share, for comparison. */
	if (conf->statement == &loss_every_statement) {
		const struct loss_every_conf *every = (const struct loss_every_conf *)conf;

		share = (double)every->burst / (double)(every->every - 1 + every->burst);
	}
	if (share >= 0)
		snprintf(row->asked + strlen(row->asked), sizeof(row->asked) - strlen(row->asked),
		         ": %s", filler_unit(HUMAN_PERCENT, share).text);
	got_share(filler, conf, row);
}

/* Adds the size of a queue that was not given. */
static void asked_queue(const struct achieved_filler *filler, const struct rate_conf *rate,
                        struct achieved_row *row)
{
	const struct class_conf *classes[CLASSES_MAX];
	const size_t at = strlen(row->asked);

	if (rate->queue.unit != LIMIT_NONE || class_confs(filler->cloud, classes) > 0)
		return;
	snprintf(row->asked + at, sizeof(row->asked) - at, " queue %s (default)",
	         filler_unit(HUMAN_BYTES, (double)rate_queue(rate, filler->cloud).value).text);
}

static void add_rate(struct achieved_filler *filler, const struct conf *conf)
{
	const struct counters *c = &filler->report->counters;
	struct achieved_row *row = filler_add(filler, "rate");
	double seconds = (double)filler->run->duration_ns / 1e9;
	size_t at = 0;

	filler_asked(row, conf);
	asked_queue(filler, (const struct rate_conf *)conf, row);
	if (filler->run->busiest_second_bytes > 0)
		at = (size_t)snprintf(
		        row->got, sizeof(row->got), "%s in the busiest second, ",
		        filler_rate(filler, (double)filler->run->busiest_second_bytes * 8).text);
	if (seconds > 0)
		snprintf(row->got + at, sizeof(row->got) - at, "%s on average",
		         filler_rate(filler, (double)c->tx_bytes * 8 / seconds).text);
}

static void got_meter(const struct achieved_filler *filler, struct achieved_row *row,
                      const struct observed *observed)
{
	const struct meter_reading *meter = &observed->meter;

	if (!observed->has_meter || !meter->measured)
		return;
	snprintf(row->got, sizeof(row->got), "in the latest window %s sent, %s queuing delay",
	         filler_rate(filler, (double)meter->sent_bps).text,
	         filler_time(filler, (double)meter->delay_ns).text);
}

static void add_other(struct achieved_filler *filler, const struct conf *conf)
{
	struct achieved_row *row = filler_add(filler, conf->statement->name);

	filler_asked(row, conf);
	achieved_counts(filler->cloud, filler->report,
	                filler->run->time_unit ? filler->run->time_unit : HUMAN_NS, conf, row->got,
	                sizeof(row->got));
	if (strcmp(conf->statement->name, "meter") == 0)
		got_meter(filler, row, &filler->report->observed);
	if (conf->statement->role == ROLE_SCHEDULE)
		shares_format(filler->cloud, filler->report, conf, "no packet came", row->got,
		              sizeof(row->got));
	else if (statement_acts(conf->statement))
		got_share(filler, conf, row);
}

static void add_drops(struct achieved_filler *filler)
{
	static const char *const kinds[] = {
	        [REASON_EMULATED] = "as configured",
	        [REASON_CONGESTION] = "by the emulated queue",
	        [REASON_REAL] = "NOT configured: lost by weir itself",
	};
	const struct counters *c = &filler->report->counters;

	for (int i = 0; i < REASON_COUNT; i++) {
		enum reason reason = (enum reason)i;
		struct achieved_row *row;

		if (c->drops[i] == 0)
			continue;
		row = filler_add(filler, "");
		snprintf(row->what, sizeof(row->what), "dropped: %s", reason_name(reason));
		snprintf(row->got, sizeof(row->got), "%s, %s", count_of(c->drops[i], "packet").text,
		         kinds[reason_kind(reason)]);
	}
}

static void add_statement(struct achieved_filler *filler, const struct conf *conf)
{
	if (strcmp(conf->statement->name, "loss") == 0)
		add_loss(filler, conf);
	else if (strcmp(conf->statement->name, "rate") == 0)
		add_rate(filler, conf);
	else
		add_other(filler, conf);
}

/* Adds to a sentence what became of packets; nothing of 0. */
static void add_to_books(struct achieved_row *row, uint64_t count, const char *words, bool always)
{
	const size_t at = strlen(row->got);
	char digits[COUNT_SIZE];

	if (count > 0 || always)
		snprintf(row->got + at, sizeof(row->got) - at, "%s%s %s", at ? ", " : "",
		         count_text(digits, count), words);
}

/* Prints all terms of the sum that every cloud keeps (counters.h), so that a reader can check it:
 * what came in or was made is what went out, was dropped, or is still here. */
static void add_books(struct achieved_filler *filler)
{
	const struct counters *c = &filler->report->counters;
	struct achieved_row *row = filler_add(filler, "packets");
	const size_t room = sizeof(row->got);
	char digits[COUNT_SIZE];
	size_t at;

	add_to_books(row, c->rx_packets, "in", true);
	add_to_books(row, c->duplicated, "copied", false);
	add_to_books(row, c->generated, "made", false);
	add_to_books(row, c->tx_packets, "out", true);
	add_to_books(row, counters_drops(c), "dropped", false);
	at = strlen(row->got);
	if (filler->report->held_packets > 0)
		snprintf(row->got + at, room - at, "; still on their way: %s",
		         count_text(digits, filler->report->held_packets));
}

uint32_t achieved_rows(const struct cloud_conf *cloud, const struct cloud_report *report,
                       const struct achieved_run *run, struct achieved_row *rows)
{
	struct achieved_filler filler = {
	        .cloud = cloud, .report = report, .run = run, .rows = rows};

	add_books(&filler);
	for (const struct statement *const *s = statements; *s; s++) {
		/* A scoped statement may occur once in each class. */
		for (uint32_t i = 0; i < cloud->n_confs; i++) {
			if (cloud->confs[i]->statement == *s && strcmp((*s)->name, "delay") != 0)
				add_statement(&filler, cloud->confs[i]);
		}
	}
	filler_add_times(&filler);
	add_drops(&filler);
	return filler.n;
}
