/* SPDX-License-Identifier: BSD-3-Clause */
#include "language/explain_word.h"

#include <string.h>

#include "language/explain.h"
#include "match/selection.h"
#include "scenario/port_setting.h"
#include "text/statement_text.h"
#include "statements.h"

static const struct {
	const char *word, *help;
} places[] = {
        {"PLACE", "  where the packets of a cloud come from: the name of a port, or of a cloud,\n"
                  "  whose packets then continue into this one instead of leaving at its port:\n\n"
                  "  cloud access from a to b\n"
                  "  cloud core from access to b\n"},
        {"PORT",
         "  the name of a port, where packets come in and leave; `port NAME` defines one\n"},
        {"CLOUD", "  the name of a cloud; `cloud NAME from PLACE to PORT` defines one\n"},
        {"NAME", "  a new name: 1 to 31 letters, digits, `-`, `_` and `.`; ports and clouds share\n"
                 "  their names\n"},
        {"INTERFACE", "  an interface of this machine, as `ip link` shows it: eth1\n"},
        {"STATEMENT", "  what a cloud does to its packets; help cloud lists them\n"},
        {"CLASS", "  the name of a class of a cloud; help class\n"},
        {"SETTING", "  a setting of a port, like rx-latency; help port\n"},
        {"LINE", "  a line of tc-netem(8); help netem\n"},
        {"ADDRESS", "  an address, or a flow, for which a template has a cloud\n"},
};

static const char match_examples[] =
        "\n"
        "  match udp port 53\n"
        "  match src net 10.0.0.0/16\n"
        "  match tcp and dst port 443\n"
        "  match dscp 46                    0 to 63; tcpdump does not have it\n"
        "  match vlan 7 and host 10.0.0.1\n";

bool explain_place(FILE *out, const char *word)
{
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (strcmp(places[i].word, word) == 0) {
			fputs(places[i].help, out);
			return true;
		}
	}
	if (strcmp(word, "SELECTION") != 0)
		return false;
	fputs("cloud NAME from PLACE to PORT [SELECTION...]\n", out);
	explain_selection(out, false);
	fputs("\nclouds NAME from PLACE to PORT per SELECTION...\n", out);
	explain_selection(out, true);
	return true;
}

void explain_selection(FILE *out, bool template)
{
	const struct statement *of = template ? &selection_per_statement : &selection_statement;

	for (const struct field *field = of->fields; field->name; field++)
		explain_field(out, field);
}

/* Explains the fields of this name in a statement, each below the line that has it. */
static bool explain_in(FILE *out, const struct statement *statement, const char *head,
                       const char *word)
{
	bool found = false;

	for (const struct field *field = statement->fields; field->name; field++) {
		if (field->flags & FIELD_POSITIONAL || strcmp(field->name, word) != 0)
			continue;
		if (head != NULL) {
			fprintf(out, "%s\n", head);
		} else {
			fputs("cloud NAME ", out);
			statement_print_synopsis(out, statement);
			fputc('\n', out);
		}
		explain_field(out, field);
		found = true;
	}
	return found;
}

bool explain_fields(FILE *out, const char *word)
{
	bool found = explain_in(out, &selection_statement,
	                        "cloud NAME from PLACE to PORT [SELECTION...]", word);

	if (found && strcmp(word, "match") == 0)
		fprintf(out, "%s\n", match_examples);
	found |= explain_in(out, &selection_per_statement,
	                    "clouds NAME from PLACE to PORT per SELECTION...", word);
	found |= explain_in(out, &port_setting_statement, "port NAME device TEXT [SETTING...]",
	                    word);
	for (const struct statement *const *row = statements; *row; row++)
		found |= explain_in(out, *row, NULL, word);
	return found;
}

static void try_fields(const struct statement *statement, struct nearest *nearest)
{
	for (const struct field *field = statement->fields; field->name; field++) {
		if (!(field->flags & FIELD_POSITIONAL))
			nearest_try(nearest, field->name);
	}
}

void explain_word_candidates(struct nearest *nearest)
{
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		nearest_try(nearest, places[i].word);
	try_fields(&selection_per_statement, nearest);
	try_fields(&port_setting_statement, nearest);
	for (const struct statement *const *row = statements; *row; row++)
		try_fields(*row, nearest);
}
