/* SPDX-License-Identifier: BSD-3-Clause */
/* What a line holds back to reorder it; when that is, engine/cloud_reorder.h says. */
#ifndef WEIR_REORDER_BACK_H
#define WEIR_REORDER_BACK_H

#include "holding/log.h"
#include "line/reorder.h"

struct holder;

/* In struct line; only the deadline is looked at while there is no rule. */
struct reorder_back {
	struct log packets;
	struct log notes; /* struct reorder_note, in records */
	uint64_t entered; /* packets that came since the rule did */
	simtime latest;   /* the latest due time of all that have one */
	simtime passed;   /* the latest of those that passed what is held back */
	simtime released; /* the latest of those that were held back */
	struct reorder_choice choice;
};

/* Frees all that is held back and returns how many packets that were. */
uint64_t reorder_clear(struct reorder_back *back, struct holder *holder);

#endif
