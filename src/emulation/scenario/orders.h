/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Statements inside a statement: what a schedule puts in force, and when it is in which state.
 *
 *   orders   rate 5mbit and loss random 1% and no delay
 *   states   good 10s then bad 500ms rate 1mbit and loss random 2% then out 100ms to good 90% down
 *
 * An order gives a statement, or takes one away. A state has a name, a mean duration and perhaps
 * orders. It names the states to which it goes, with probabilities; if it names none, it goes to
 * each of the others with the same probability.
 *
 * Ownership: orders own their configurations.
 * Thread: control.
 */
#ifndef WEIR_ORDERS_H
#define WEIR_ORDERS_H

#include "random/draw.h"
#include "scenario/statement.h"

#define ORDERS_MAX       8
#define STATES_MAX       16
#define STATE_NAME_BYTES 32 /* with the final 0 */
/* A bound on the work of catching up with a long idle time, duration by duration. */
#define STATE_MEAN_MIN_NS SIMTIME_MS

struct order {
	const char *name; /* of the statement: of its row in the table */
	enum statement_role role;
	struct conf *conf; /* NULL: removes the statement */
};

struct orders {
	uint32_t n;
	struct order *order;
};

struct state {
	char name[STATE_NAME_BYTES];
	simtime mean_ns;
	struct orders orders;
	uint32_t n_to; /* 0: to each of the others */
	struct {
		char name[STATE_NAME_BYTES];
		probability_q63 share;
	} to[STATES_MAX];
};

struct states {
	uint32_t n;
	struct state *state;
};

/* Returns false if there is no memory; then `to` is empty. */
bool orders_copy(struct orders *to, const struct orders *from);
bool orders_equal(const struct orders *a, const struct orders *b);
/* Returns true if both give or remove the same statements, in any order. */
bool orders_same_names(const struct orders *a, const struct orders *b);
void orders_clear(struct orders *orders);

bool states_copy(struct states *to, const struct states *from);
bool states_equal(const struct states *a, const struct states *b);
void states_clear(struct states *states);

/* Returns a copy of the cloud's configuration with the orders carried out, or NULL if there is no
 * memory or no room. The caller frees it by cloud_conf_free. */
struct cloud_conf *orders_carry_out(const struct orders *orders, const struct cloud_conf *cloud);

#endif
