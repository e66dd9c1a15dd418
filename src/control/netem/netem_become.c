/* SPDX-License-Identifier: BSD-3-Clause */
#include "netem/netem_become.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "netem/netem.h"
#include "netem/netem_value.h"
#include "units/human_unit.h"
#include "text/quantity.h"
#include "text/statement_text.h"

const char *const netem_statements[] = {"loss",  "duplicate", "corrupt", "rate",
                                        "slots", "delay",     "reorder", NULL};

struct maker {
	const struct netem *netem;
	bool exact;
	struct netem_result *result;
	FILE *remarks;
	struct language_error *error;
	int failed; /* the first error; after it, nothing is done */
};

/* By value, so that one printf can have several. */
struct percent {
	char text[PROBABILITY_TEXT_BYTES];
};

static struct percent percent(probability_q63 p)
{
	struct percent q;

	probability_print(p, q.text);
	return q;
}

static double share_of(probability_q63 p)
{
	return ldexp((double)p, -63);
}

/* ---- statements: printed, then parsed like any other ---- */

static void make(struct maker *maker, uint32_t column, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

static void make(struct maker *maker, uint32_t column, const char *format, ...)
{
	struct netem_result *result = maker->result;
	struct words words;
	char line[1024];
	va_list arguments;

	if (maker->failed)
		return;
	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	maker->failed = words_split(line, &words, maker->error);
	if (!maker->failed)
		maker->failed = statement_parse(&words, 0, &result->conf[result->n], maker->error);
	maker->error->column = column;
	if (!maker->failed)
		result->column[result->n++] = column;
}

/* Returns `correlation 25%`, with `as-netem` if netem's recurrence is kept; "" without
 * correlation. */
static const char *correlated_words(const struct maker *maker, probability_q63 correlation,
                                    char text[80])
{
	if (correlation == 0)
		return "";
	snprintf(text, 80, " correlation %s%s", percent(correlation).text,
	         maker->exact ? " as-netem" : "");
	return text;
}

/* Remarks what netem's recurrence makes of a share. */
static void remark_share(const struct maker *maker, const char *what, const char *happens,
                         const struct netem_share_of *of)
{
	char netems[HUMAN_UNIT_SIZE], said[HUMAN_UNIT_SIZE];
	double share = share_of(of->share);

	if (of->correlation == 0 || of->share == 0 || of->share == PROBABILITY_ONE)
		return;
	human_unit_format(netems, sizeof(netems), HUMAN_PERCENT,
	                  netem_rate(share, share_of(of->correlation)), 3);
	human_unit_format(said, sizeof(said), HUMAN_PERCENT, share, 6);
	fprintf(maker->remarks,
	        maker->exact
	                ? "%s %s %s: netem's recurrence is kept: %s of the packets %s, not %s\n"
	                : "%s %s %s: with netem's recurrence %s of the packets %s; here it is %s, "
	                  "as in the line\n",
	        what, percent(of->share).text, percent(of->correlation).text, netems, happens,
	        said);
}

static void make_loss(struct maker *maker)
{
	const struct netem *netem = maker->netem;
	const probability_q63 *p = netem->transition;
	const char *ecn = netem->ecn_column ? " ecn" : "";
	char words[80];

	switch (netem->loss_model) {
	case NETEM_LOSS_NONE:
		break;
	case NETEM_LOSS_RANDOM:
		make(maker, netem->loss_column, "loss random %s%s%s",
		     percent(netem->loss.share).text,
		     correlated_words(maker, netem->loss.correlation, words), ecn);
		remark_share(maker, "loss", "are lost", &netem->loss);
		break;
	case NETEM_LOSS_STATE:
		make(maker, netem->loss_column,
		     "loss four-state p13 %s p31 %s p32 %s p23 %s p14 %s%s", percent(p[0]).text,
		     percent(p[1]).text, percent(p[2]).text, percent(p[3]).text, percent(p[4]).text,
		     ecn);
		break;
	case NETEM_LOSS_GEMODEL:
		make(maker, netem->loss_column, "loss gilbert-elliott p %s r %s bad %s good %s%s",
		     percent(p[0]).text, percent(p[1]).text, percent(p[2]).text, percent(p[3]).text,
		     ecn);
		break;
	}
}

static void make_share(struct maker *maker, const char *statement, const char *happens,
                       const struct netem_share_of *of)
{
	char words[80];

	if (of->column == 0)
		return;
	make(maker, of->column, "%s random %s%s", statement, percent(of->share).text,
	     correlated_words(maker, of->correlation, words));
	remark_share(maker, statement, happens, of);
}

static void make_rate(struct maker *maker)
{
	const struct netem *netem = maker->netem;
	char queue[40] = "", overhead[40] = "", cells[80] = "";

	if (netem->rate_column == 0)
		return;
	if (netem->limit_column)
		snprintf(queue, sizeof(queue), " queue %" PRId64 "pkt", netem->limit);
	if (netem->overhead != 0)
		snprintf(overhead, sizeof(overhead), " overhead %" PRId64, netem->overhead);
	if (netem->cell_bytes != 0) {
		int n = snprintf(cells, sizeof(cells), " cell %" PRId64 "B", netem->cell_bytes);

		if (netem->cell_overhead != 0)
			snprintf(cells + n, sizeof(cells) - (size_t)n,
			         " cell-overhead %" PRId64 "B", netem->cell_overhead);
	}
	make(maker, netem->rate_column, "rate %" PRIu64 "bit%s%s%s", netem->rate_bps, overhead,
	     cells, queue);
}

/* With the distribution `uniform`, slots are from delay - jitter to delay + jitter, as in netem. */
static void make_slots(struct maker *maker)
{
	const struct netem *netem = maker->netem;
	uint64_t min_ns = netem->slot_min_ns, max_ns = netem->slot_max_ns;
	char packets[40] = "", bytes[40] = "", queue[40] = "";

	if (netem->slot_column == 0 || maker->failed)
		return;
	maker->error->column = netem->slot_column;
	if (netem->slot_distribution) {
		if (strcmp(netem->slot_distribution, "uniform") != 0) {
			maker->failed = language_error_set(
			        maker->error, ERROR_BAD_VALUE,
			        "slots are spread evenly here: write `slot distribution uniform`, "
			        "or `slot` with a minimum and a maximum time");
			return;
		}
		min_ns -= RTE_MIN(netem->slot_min_ns, netem->slot_max_ns);
		max_ns += netem->slot_min_ns;
	}
	if (netem->slot_packets > 0)
		snprintf(packets, sizeof(packets), " packets %" PRId64, netem->slot_packets);
	if (netem->slot_bytes > 0)
		snprintf(bytes, sizeof(bytes), " bytes %" PRId64 "B", netem->slot_bytes);
	if (netem->limit_column && !netem->rate_column)
		snprintf(queue, sizeof(queue), " queue %" PRId64 "pkt", netem->limit);
	make(maker, netem->slot_column, "slots min %" PRIu64 "ns max %" PRIu64 "ns%s%s%s", min_ns,
	     max_ns, packets, bytes, queue);
}

/* Gets `distribution NAME`, or the table of that name. Returns false with error if there is
 * none. */
static bool distribution_words(struct maker *maker, char *words, size_t room)
{
	static const char *const families[] = {"uniform", "normal", "pareto", "paretonormal", NULL};
	const char *name = maker->netem->distribution;

	if (name == NULL)
		name = "uniform";
	for (int i = 0; families[i] != NULL; i++) {
		if (strcmp(families[i], name) == 0) {
			snprintf(words, room, " distribution %s", name);
			return true;
		}
	}
	maker->error->column = maker->netem->distribution_column;
	maker->failed = netem_table_words(name, words, room, maker->error);
	return maker->failed == 0;
}

static void remark_delay(const struct maker *maker)
{
	const struct netem *netem = maker->netem;
	const char *name = netem->distribution ? netem->distribution : "uniform";

	if (netem->delay_correlation != 0)
		fprintf(maker->remarks,
		        maker->exact ? "delay with the correlation %s: as in netem: almost no "
		                       "correlation, because its lookup uses the low-order digits\n"
		                     : "delay with the correlation %s: netem's lookup uses the "
		                       "low-order digits of its numbers, which leaves 0%%; here it "
		                       "is as in the line\n",
		        percent(netem->delay_correlation).text);
	if (!maker->exact && strncmp(name, "pareto", 6) == 0)
		fprintf(maker->remarks,
		        "distribution %s: netem's table ends at 4 jitters, with a deviation of %s "
		        "jitters; here it does not end, and the deviation is %s jitters\n",
		        name, name[6] ? "0.83" : "0.82", name[6] ? "1.05" : "1.15");
}

static void make_delay(struct maker *maker)
{
	const struct netem *netem = maker->netem;
	char distribution[600], correlation[64] = "", limit[40] = "";

	if (netem->delay_column == 0) {
		/* Without delay, rate and slots no packet is held. */
		if (netem->limit_column && !netem->rate_column && !netem->slot_column)
			fprintf(maker->remarks,
			        "limit %" PRId64 ": has no effect: no packet is held here\n",
			        netem->limit);
		return;
	}
	if (netem->limit_column)
		snprintf(limit, sizeof(limit), " limit %" PRId64 "pkt", netem->limit);
	if (netem->jitter_ns == 0) {
		make(maker, netem->delay_column, "delay %" PRIu64 "ns%s", netem->delay_ns, limit);
		return;
	}
	if (!distribution_words(maker, distribution, sizeof(distribution)))
		return;
	if (netem->delay_correlation != 0)
		snprintf(correlation, sizeof(correlation), " correlation %s",
		         percent(netem->delay_correlation).text);
	make(maker, netem->delay_column,
	     "delay %" PRIu64 "ns jitter %" PRIu64 "ns%s%s order allow%s%s", netem->delay_ns,
	     netem->jitter_ns, distribution, correlation, maker->exact ? " as-netem" : "", limit);
	if (maker->failed && strcmp(maker->error->name, ERROR_BAD_FILE) == 0)
		maker->error->column = netem->distribution_column;
	remark_delay(maker);
}

static void make_reorder(struct maker *maker)
{
	const struct netem_share_of *of = &maker->netem->reorder;
	char gap[32] = "", correlation[64] = "";

	if (of->share == 0)
		return;
	if (maker->netem->gap > 1)
		snprintf(gap, sizeof(gap), " gap %" PRId64, maker->netem->gap);
	if (of->correlation != 0)
		snprintf(correlation, sizeof(correlation), " %s", percent(of->correlation).text);
	make(maker, of->column, "reorder %s%s%s%s", percent(of->share).text, correlation, gap,
	     of->correlation != 0 && maker->exact ? " as-netem" : "");
	remark_share(maker, "reorder",
	             maker->netem->gap > 1 ? "that can be reordered are sent at once"
	                                   : "are sent at once",
	             of);
}

/* ---- */

static int become(struct maker *maker)
{
	make_loss(maker);
	make_share(maker, "duplicate", "are sent twice", &maker->netem->duplicate);
	make_share(maker, "corrupt", "are corrupted", &maker->netem->corrupt);
	make_rate(maker);
	make_slots(maker);
	make_delay(maker);
	make_reorder(maker);
	maker->result->seed = maker->netem->seed;
	maker->result->seed_column = maker->netem->seed_column;
	return maker->failed;
}

int netem_become(const struct words *words, uint32_t at, bool exact, struct netem_result **result,
                 struct language_error *error)
{
	struct netem netem;
	struct maker maker = {.netem = &netem, .exact = exact, .error = error};
	size_t bytes;

	if (netem_parse(words, at, &netem, error) != 0)
		return -EINVAL;
	maker.result = calloc(1, sizeof(*maker.result));
	if (maker.result)
		maker.remarks = open_memstream(&maker.result->remarks, &bytes);
	if (!maker.remarks) {
		free(maker.result);
		return language_error_set(error, ERROR_NO_MEMORY, "no memory for a statement");
	}
	become(&maker);
	if (fclose(maker.remarks) != 0 && !maker.failed)
		maker.failed =
		        language_error_set(error, ERROR_NO_MEMORY, "no memory for a statement");
	if (maker.failed) {
		netem_release(maker.result);
		return maker.failed;
	}
	*result = maker.result;
	return 0;
}

void netem_release(struct netem_result *result)
{
	if (!result)
		return;
	for (uint32_t i = 0; i < result->n; i++)
		conf_free(result->conf[i]);
	free(result->remarks);
	free(result);
}

uint32_t netem_column(const struct netem_result *result, const char *statement)
{
	for (uint32_t i = 0; i < result->n; i++) {
		if (strcmp(result->conf[i]->statement->name, statement) == 0)
			return result->column[i];
	}
	return 0;
}

void netem_print(FILE *out, const struct netem_result *result, const char *word, const char *cloud)
{
	const char *line = result->remarks;

	if (result->seed_column)
		fprintf(out, "seed %" PRIu64 "\n", result->seed);
	for (uint32_t i = 0; i < result->n; i++) {
		fprintf(out, "%s %s ", word, cloud);
		statement_print(out, result->conf[i]);
		fputc('\n', out);
	}
	while (*line) {
		size_t bytes = strcspn(line, "\n");

		fprintf(out, "# %.*s\n", (int)bytes, line);
		line += bytes + (line[bytes] == '\n');
	}
}
