/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenario/orders.h"

#include <stdlib.h>

#include "scenario/scenario.h"

void orders_clear(struct orders *orders)
{
	for (uint32_t i = 0; i < orders->n; i++)
		conf_free(orders->order[i].conf);
	free(orders->order);
	*orders = (struct orders){0};
}

bool orders_copy(struct orders *to, const struct orders *from)
{
	*to = (struct orders){0};
	if (from->n == 0)
		return true;
	to->order = calloc(from->n, sizeof(*to->order));
	if (!to->order)
		return false;
	for (; to->n < from->n; to->n++) {
		const struct order *order = &from->order[to->n];

		to->order[to->n].name = order->name;
		to->order[to->n].role = order->role;
		if (!order->conf)
			continue;
		to->order[to->n].conf = conf_copy(order->conf);
		if (!to->order[to->n].conf) {
			orders_clear(to);
			return false;
		}
	}
	return true;
}

static bool has_name(const struct orders *orders, const char *name)
{
	uint32_t i = 0;

	while (i < orders->n && strcmp(orders->order[i].name, name) != 0)
		i++;
	return i < orders->n;
}

bool orders_same_names(const struct orders *a, const struct orders *b)
{
	/* Each names a statement once. */
	for (uint32_t i = 0; i < a->n; i++) {
		if (!has_name(b, a->order[i].name))
			return false;
	}
	return a->n == b->n;
}

bool orders_equal(const struct orders *a, const struct orders *b)
{
	if (a->n != b->n)
		return false;
	for (uint32_t i = 0; i < a->n; i++) {
		const struct conf *x = a->order[i].conf, *y = b->order[i].conf;

		if (strcmp(a->order[i].name, b->order[i].name) != 0 || !conf_equal(x, y))
			return false;
	}
	return true;
}

void states_clear(struct states *states)
{
	for (uint32_t i = 0; i < states->n; i++)
		orders_clear(&states->state[i].orders);
	free(states->state);
	*states = (struct states){0};
}

bool states_copy(struct states *to, const struct states *from)
{
	*to = (struct states){0};
	if (from->n == 0)
		return true;
	to->state = calloc(from->n, sizeof(*to->state));
	if (!to->state)
		return false;
	for (; to->n < from->n; to->n++) {
		struct state *state = &to->state[to->n];

		*state = from->state[to->n];
		if (!orders_copy(&state->orders, &from->state[to->n].orders)) {
			states_clear(to);
			return false;
		}
	}
	return true;
}

static bool state_equal(const struct state *a, const struct state *b)
{
	if (strcmp(a->name, b->name) != 0 || a->mean_ns != b->mean_ns || a->n_to != b->n_to)
		return false;
	for (uint32_t i = 0; i < a->n_to; i++) {
		if (strcmp(a->to[i].name, b->to[i].name) != 0 || a->to[i].share != b->to[i].share)
			return false;
	}
	return orders_equal(&a->orders, &b->orders);
}

bool states_equal(const struct states *a, const struct states *b)
{
	if (a->n != b->n)
		return false;
	for (uint32_t i = 0; i < a->n; i++) {
		if (!state_equal(&a->state[i], &b->state[i]))
			return false;
	}
	return true;
}

struct cloud_conf *orders_carry_out(const struct orders *orders, const struct cloud_conf *cloud)
{
	struct cloud_conf *after = cloud_conf_copy(cloud);

	for (uint32_t i = 0; after && i < orders->n; i++) {
		const struct order *order = &orders->order[i];
		struct conf *conf = NULL;

		if (!order->conf) {
			cloud_conf_remove(after, order->name);
			continue;
		}
		conf = conf_copy(order->conf);
		if (!conf || cloud_conf_put(after, conf)) {
			conf_free(conf);
			cloud_conf_free(after);
			return NULL;
		}
	}
	return after;
}
