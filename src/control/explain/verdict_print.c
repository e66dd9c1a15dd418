/* SPDX-License-Identifier: BSD-3-Clause */
/* A connection in words and bars. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "account/count.h"
#include "explain/explanation.h"
#include "units/human_unit.h"

#define BAR         24 /* columns */
#define NAME        24
#define DIGITS      3
#define LINES_MAX   16  /* phases that are printed one by one */
#define SMALL_SHARE 100 /* of the connection: what is less has no term in the sum, */
#define TINY_SHARE  200 /* and of a phase: is not named in its line. Together, they are "other". */

/* ---- names ---- */

void verdict_server(const struct verdict *verdict, char text[VERDICT_SERVER_BYTES])
{
	const struct flow_end *server = &verdict->ends[FLOW_DOWN];
	char address[INET6_ADDRSTRLEN];

	if (verdict->name[0] && server->port != DNS_PORT) {
		/* A Host field may have a port already; an address of IPv6 is in brackets. */
		const size_t bracket = strcspn(verdict->name, "]");
		const size_t n = verdict->name[bracket] ? bracket + 1 : strcspn(verdict->name, ":");

		snprintf(text, VERDICT_SERVER_BYTES, "%.*s:%u", (int)n, verdict->name,
		         server->port);
		return;
	}
	flow_end_text(server, address, sizeof(address));
	snprintf(text, VERDICT_SERVER_BYTES, server->family == 4 ? "%s:%u" : "[%s]:%u", address,
	         server->port);
}

static const char *words_of(enum part part, const struct explanation_of *of)
{
	return of->deaf && part == PART_SERVER ? "network and server" : part_words(part);
}

static void print_time(FILE *out, uint64_t ns)
{
	char text[HUMAN_UNIT_SIZE];

	human_unit_format(text, sizeof(text), HUMAN_NS, (double)ns, DIGITS);
	fputs(text, out);
}

/* ---- the sum ---- */

/* Returns true if this part is the time of a phase in the sum: what round trips take. What is
 * behind a capture has the delay of the network in it. */
static bool is_of_trips(enum part part, const struct explanation_of *of)
{
	return part == PART_DELAY || (of->deaf && part == PART_SERVER);
}

/* The phases of one kind, of which the sum has one term. */
struct term {
	const struct verdict_phase *first;
	uint64_t time_ns;
	uint32_t n, round_trips, windows;
};

static void gather(const struct verdict *verdict, enum phase kind, const struct explanation_of *of,
                   struct term *term)
{
	*term = (struct term){.first = NULL};
	for (uint32_t i = 0; i < verdict->n_phases; i++) {
		const struct verdict_phase *phase = &verdict->phases[i];

		if (phase->kind != kind)
			continue;
		term->first = term->first ? term->first : phase;
		term->n++;
		term->round_trips += phase->round_trips;
		term->windows += phase->windows;
		for (int part = 0; part < PART_COUNT; part++) {
			if (is_of_trips((enum part)part, of))
				term->time_ns += phase->parts_ns[part];
		}
	}
}

static void print_term(FILE *out, const struct verdict *verdict, const struct term *term,
                       bool first)
{
	const bool many = term->n > 1 && term->first->kind != PHASE_DNS;

	if (many)
		fprintf(out, "%" PRIu32 " ", term->n);
	fputs(phase_words(term->first->kind), out);
	fputs(many ? "s " : " ", out);
	if (!many && term->first->detail[0] && term->first->kind != PHASE_REQUEST)
		fprintf(out, "%s ", term->first->detail);
	print_time(out, term->time_ns);
	fprintf(out, " (%" PRIu32 "%s", term->round_trips,
	        !first                   ? ""
	        : term->round_trips == 1 ? " round trip"
	                                 : " round trips");
	if (term->windows > 0)
		fprintf(out, ", as TCP sends the %s in portions",
		        verdict->bytes[FLOW_DOWN] > verdict->bytes[FLOW_UP] ? "answer" : "data");
	fputc(')', out);
}

/* Prints each part of some time that is large enough to be named, and the rest as one. `skip`:
 * parts that are named already; `before`: what stands before the first. */
static void print_parts(FILE *out, const uint64_t parts_ns[PART_COUNT], uint64_t least_ns,
                        const bool skip[PART_COUNT], const char *before, const char *between,
                        const struct explanation_of *of)
{
	uint64_t other_ns = 0;

	for (int part = 0; part < PART_COUNT; part++) {
		if (skip[part])
			continue;
		if (parts_ns[part] == 0 || parts_ns[part] < least_ns) {
			other_ns += parts_ns[part];
			continue;
		}
		fprintf(out, "%s%s ", before, words_of((enum part)part, of));
		print_time(out, parts_ns[part]);
		before = between;
	}
	if (other_ns > 0 && other_ns >= least_ns / 2) {
		fprintf(out, "%sother ", before);
		print_time(out, other_ns);
	}
}

void verdict_print_sum(const struct verdict *verdict, const struct explanation_of *of, FILE *out)
{
	const uint64_t all_ns = verdict->end_ns - verdict->begin_ns;
	char server[VERDICT_SERVER_BYTES];
	uint64_t parts_ns[PART_COUNT];
	bool skip[PART_COUNT];
	const char *before = " = ";
	struct term term;

	verdict_server(verdict, server);
	fputs(server, out);
	fputs("  ", out);
	print_time(out, all_ns);
	if (verdict->refused)
		fputs(", refused", out);
	for (int kind = 0; kind < PHASE_COUNT; kind++) {
		gather(verdict, (enum phase)kind, of, &term);
		if (!term.first)
			continue;
		fputs(before, out);
		print_term(out, verdict, &term, strcmp(before, " = ") == 0);
		before = " + ";
	}
	for (int part = 0; part < PART_COUNT; part++) {
		parts_ns[part] = verdict_part_ns(verdict, (enum part)part);
		skip[part] = is_of_trips((enum part)part, of);
	}
	print_parts(out, parts_ns, all_ns / SMALL_SHARE, skip, " + ", " + ", of);
}

/* ---- phases ---- */

static void print_bar(FILE *out, const struct verdict *verdict, const struct verdict_phase *phase)
{
	const double all_ns = (double)(verdict->end_ns - verdict->begin_ns);
	const double from = all_ns > 0 ? (double)(phase->begin_ns - verdict->begin_ns) / all_ns : 0;
	const double to = all_ns > 0 ? (double)(phase->end_ns - verdict->begin_ns) / all_ns : 0;
	int begin = (int)(from * BAR + 0.5), end = (int)(to * BAR + 0.5);
	char bar[BAR];

	begin = begin < BAR ? begin : BAR - 1;
	end = end > begin ? end : begin + 1;
	end = end < BAR ? end : BAR;
	memset(bar, '.', sizeof(bar));
	memset(bar + begin, '#', (size_t)(end - begin));
	fwrite(bar, sizeof(bar), 1, out);
}

static void print_phase(FILE *out, const struct verdict *verdict, const struct verdict_phase *phase,
                        const struct explanation_of *of)
{
	const uint64_t all_ns = phase->end_ns - phase->begin_ns;
	char name[NAME + SPEECH_LINE_BYTES], time[HUMAN_UNIT_SIZE];

	snprintf(name, sizeof(name), "%s%s%s", phase_words(phase->kind),
	         phase->detail[0] ? " " : "", phase->detail);
	human_unit_format(time, sizeof(time), HUMAN_NS, (double)all_ns, DIGITS);
	fprintf(out, "  %-*.*s %8s  ", NAME, NAME, name, time);
	print_bar(out, verdict, phase);
	fputs("  ", out);
	fputs(count_of_these(phase->round_trips, "round trip", "round trips").text, out);
	if (phase->windows > 0)
		fprintf(out, ", %" PRIu32 " of them between portions", phase->windows);
	if (phase->turns > 1)
		fprintf(out, ", the client spoke %" PRIu32 " times", phase->turns);
	print_parts(out, phase->parts_ns, all_ns / TINY_SHARE, (const bool[PART_COUNT]){false},
	            ": ", ", ", of);
	fputc('\n', out);
}

/* ---- losses ---- */

static void print_loss(FILE *out, const struct verdict *verdict, const struct verdict_loss *loss,
                       const struct explanation_of *of)
{
	const char *port = loss->port < of->n_ports ? of->ports[loss->port] : "?";

	fputs("  lost ", out);
	if (loss->at_ns > verdict->begin_ns) {
		fputs("after ", out);
		print_time(out, loss->at_ns - verdict->begin_ns);
	} else {
		fputs("at the beginning", out);
	}
	fprintf(out, ": a packet of the %s (number %" PRIu64 " at port %s; ",
	        loss->way == FLOW_UP ? "client" : "server", loss->packet, port);
	if (loss->reason == REASON_LOSS)
		fputs("loss, as set)", out);
	else
		fprintf(out, "%s: %s)", reason_name((enum reason)loss->reason),
		        reason_help((enum reason)loss->reason));
	if (loss->acknowledgement) {
		fputs(", only an acknowledgement", out);
	} else if (loss->resent != RESENT_NOT) {
		fputs(", sent again ", out);
		print_time(out, loss->again_ns - loss->at_ns);
		fprintf(out, " later %s",
		        loss->resent == RESENT_FAST ? "because later packets arrived"
		                                    : "because no answer came");
	}
	if (loss->cost_ns > 0) {
		fputs(": cost ", out);
		print_time(out, loss->cost_ns);
	} else {
		fprintf(out, ": cost nothing%s",
		        loss->acknowledgement ? "" : ", as another wait was longer");
	}
	fputc('\n', out);
}

static int by_time(const void *a, const void *b)
{
	const struct verdict_loss *one = *(const struct verdict_loss *const *)a;
	const struct verdict_loss *two = *(const struct verdict_loss *const *)b;

	if (one->at_ns != two->at_ns)
		return one->at_ns < two->at_ns ? -1 : 1;
	return one < two ? -1 : 1;
}

static void print_losses(FILE *out, const struct verdict *verdict, const struct explanation_of *of)
{
	const uint64_t all = verdict->lost[FLOW_UP] + verdict->lost[FLOW_DOWN];

	const struct verdict_loss *losses[VERDICT_LOSSES_MAX];

	for (uint32_t i = 0; i < verdict->n_losses; i++)
		losses[i] = &verdict->losses[i];
	if (verdict->n_losses > 1)
		qsort(losses, verdict->n_losses, sizeof(losses[0]), by_time);
	for (uint32_t i = 0; i < verdict->n_losses; i++)
		print_loss(out, verdict, losses[i], of);
	if (all > verdict->n_losses)
		fprintf(out, "  lost: %s more\n", count_of(all - verdict->n_losses, "packet").text);
	if (verdict->needless > 0)
		fprintf(out, "  sent again without need, as nothing was lost: %s\n",
		        count_of(verdict->needless, "packet").text);
	if (verdict->holes > 0)
		fprintf(out, "  what became of %s is not known\n",
		        count_of(verdict->holes, "packet").text);
}

void verdict_print(const struct verdict *verdict, const struct explanation_of *of, FILE *out)
{
	const uint32_t lines = verdict->n_phases < LINES_MAX ? verdict->n_phases : LINES_MAX;

	verdict_print_sum(verdict, of, out);
	if (!verdict->whole)
		fputs(" (its beginning was not seen)", out);
	if (verdict->packets[FLOW_DOWN] == 0)
		fputs(" (no answer came)", out);
	fputc('\n', out);
	for (uint32_t i = 0; i < lines; i++)
		print_phase(out, verdict, &verdict->phases[i], of);
	if (verdict->n_phases > lines)
		fprintf(out, "  (and %" PRIu32 " more)\n", verdict->n_phases - lines);
	print_losses(out, verdict, of);
}
