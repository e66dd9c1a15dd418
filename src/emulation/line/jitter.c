/* SPDX-License-Identifier: BSD-3-Clause */
#include "line/jitter.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "line/delay_table.h"
#include "match/flows.h"
#include "scenario/scenario.h"

/* ---- making ---- */

/* The jitters of the process, hashed by configuration. */
#define BUCKETS 1024
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct jitter *made[BUCKETS];

static struct jitter **bucket_of(const struct delay_conf *delay)
{
	uint64_t hash = delay->delay_ns * UINT64_C(0x9E3779B97F4A7C15) ^
	                delay->jitter_ns * UINT64_C(0xC2B2AE3D27D4EB4F);

	return &made[hash >> 54];
}

static void destroy(struct jitter *jitter)
{
	distribution_release(&jitter->distribution);
	conf_free(jitter->conf);
	free(jitter->keep);
	jitter_netem_release(&jitter->netem);
	free(jitter);
}

static int keep_make(struct jitter *jitter, const struct delay_conf *delay)
{
	struct jitter_keep *keep = malloc(sizeof(*keep));

	if (!keep)
		return -ENOMEM;
	jitter->keep = keep;
	if (!jitter_keep_make(keep, &jitter->distribution))
		return 0; /* a constant delay keeps order by itself */
	if (delay->half_life_ns)
		jitter_keep_half_life(keep, delay->half_life_ns);
	else if (delay->correlation)
		jitter_keep_correlation(keep, ldexp((double)delay->correlation, -63));
	jitter->method = JITTER_KEEP;
	return 0;
}

static struct jitter *make(const struct delay_conf *delay, int *error)
{
	struct jitter *jitter = calloc(1, sizeof(*jitter));

	*error = -ENOMEM;
	if (!jitter)
		return NULL;
	jitter->references = 1;
	jitter->keyed = (enum keyed)delay->keyed;
	jitter->conf = conf_copy(&delay->conf);
	if (!jitter->conf)
		goto err_destroy;
	*error = delay_distribution_make(delay, &jitter->distribution);
	if (*error)
		goto err_destroy;
	if (delay->as_netem) {
		jitter->method = JITTER_NETEM;
		*error = jitter_netem_make(
		        &jitter->netem, delay->correlation, delay->jitter_ns,
		        delay->distribution == DELAY_UNIFORM ? NULL : &jitter->distribution);
		if (*error)
			goto err_destroy;
		return jitter;
	}
	jitter->has_copula = delay->half_life_ns || delay->correlation;
	if (delay->half_life_ns)
		jitter_copula_half_life(&jitter->copula, &jitter->distribution,
		                        delay->half_life_ns);
	else if (delay->correlation)
		jitter_copula_correlation(&jitter->copula, &jitter->distribution,
		                          ldexp((double)delay->correlation, -63));
	jitter->method = jitter->has_copula ? JITTER_COPULA : JITTER_INDEPENDENT;
	if (delay->order == ORDER_KEEP)
		*error = keep_make(jitter, delay);
	if (*error == 0)
		return jitter;
err_destroy:
	destroy(jitter);
	return NULL;
}

int jitter_make(const struct delay_conf *delay, struct jitter **result)
{
	struct jitter **bucket = bucket_of(delay), *jitter;
	int error = 0;

	*result = NULL;
	if (!delay_has_jitter(delay))
		return 0;
	pthread_mutex_lock(&lock);
	for (jitter = *bucket; jitter && !conf_equal(jitter->conf, &delay->conf);)
		jitter = jitter->next;
	if (jitter) {
		jitter->references++;
	} else {
		jitter = make(delay, &error);
		if (jitter) {
			jitter->next = *bucket;
			*bucket = jitter;
		}
	}
	pthread_mutex_unlock(&lock);
	*result = jitter;
	return error;
}

void jitter_release(const struct jitter *released)
{
	struct jitter **place, *jitter;

	if (!released)
		return;
	pthread_mutex_lock(&lock);
	place = bucket_of((const struct delay_conf *)released->conf);
	while (*place != released)
		place = &(*place)->next;
	jitter = *place;
	if (--jitter->references == 0) {
		*place = jitter->next;
		destroy(jitter);
	}
	pthread_mutex_unlock(&lock);
}

/* ---- drawing ---- */

/* Draws the copula's next delay; the one before was at state->t_ns. */
static int64_t copula_draw(const struct jitter *jitter, struct jitter_state *state, simtime t,
                           uint64_t uniform)
{
	const struct jitter_copula *copula = &jitter->copula;

	if (state->has_z)
		state->z = jitter_copula_next(copula, state->z, t - state->t_ns, uniform);
	else
		state->z = jitter_copula_first(copula, uniform);
	state->has_z = true;
	return distribution_draw(&jitter->distribution,
	                         gaussian_uniform(copula->gaussian, state->z));
}

/* Draws a delay independently of the one before, if order does not constrain it. */
static int64_t keep_draw_free(const struct jitter *jitter, struct jitter_state *state,
                              struct draw_key key, uint64_t ordinal, simtime t)
{
	uint64_t uniform = draw_u64(key, ordinal, 0);
	int64_t deviation;

	if (jitter->has_copula)
		deviation = copula_draw(jitter, state, t, uniform);
	else
		deviation = distribution_draw(&jitter->distribution, uniform);
	state->keep.rest_q32 = 0;
	jitter_keep_set(jitter->keep, &state->keep, deviation, draw_u64(key, ordinal, 1));
	return deviation;
}

static int64_t keep_draw(const struct jitter *jitter, struct jitter_state *state,
                         struct draw_key key, uint64_t ordinal, simtime t)
{
	const struct jitter_keep *keep = jitter->keep;
	uint64_t passed = t - state->t_ns;
	int64_t fall, level;

	if (unlikely(!state->begun || passed >= (uint64_t)keep->span))
		return keep_draw_free(jitter, state, key, ordinal, t);
	state->has_z = false;
	fall = jitter_keep_fall(keep, &state->keep, passed);
	level = state->keep.level - fall;
	if (likely(level > state->keep.stop)) {
		state->keep.level = level;
		return level;
	}
	return jitter_keep_jump(keep, &state->keep, fall, draw_u64(key, ordinal, 1));
}

void jitter_draw(const struct jitter *jitter, struct jitter_state *state, struct draw_key key,
                 uint64_t first, const simtime *t_ns, uint16_t n, int64_t *deviation_ns)
{
	uint64_t draw[BURST_ROOM];

	if (jitter->method == JITTER_KEEP) {
		for (uint16_t i = 0; i < n; i++) {
			deviation_ns[i] = keep_draw(jitter, state, key, first + i, t_ns[i]);
			state->begun = true;
			state->t_ns = t_ns[i];
		}
		return;
	}
	draw_burst(key, first, 0, n, draw);
	if (jitter->method == JITTER_NETEM) {
		state->netem.rho = jitter->netem.rho;
		for (uint16_t i = 0; i < n; i++)
			deviation_ns[i] = jitter_netem_deviation(
			        &jitter->netem, netem_recurrence_next(&state->netem, draw[i]));
		return;
	}
	if (jitter->method == JITTER_INDEPENDENT) {
		distribution_draw_burst(&jitter->distribution, draw, n, deviation_ns);
		return;
	}
	for (uint16_t i = 0; i < n; i++) {
		deviation_ns[i] = copula_draw(jitter, state, t_ns[i], draw[i]);
		state->t_ns = t_ns[i];
	}
}

/* A memory has room for 56 bits: z without its last 8, and not 0. */
#define Z_BITS 8
#define Z_ZERO (INT64_C(1) << 55)
#define Z_MOST (INT64_C(1) << 54)

void jitter_recall(struct jitter_state *state, uint64_t memory)
{
	int64_t z = (int64_t)flow_recall(memory, FLOW_MARK_JITTER) - Z_ZERO;

	state->has_z = z > -Z_MOST && z < Z_MOST;
	state->z = state->has_z ? z * (INT64_C(1) << Z_BITS) : 0;
}

uint64_t jitter_remember(const struct jitter_state *state)
{
	return state->has_z
	               ? flow_remember((uint64_t)((state->z >> Z_BITS) + Z_ZERO), FLOW_MARK_JITTER)
	               : 0;
}

void jitter_adopt(struct jitter_state *state, const struct jitter *from, const struct jitter *to)
{
	bool kept = from && from->method == JITTER_KEEP;
	bool keeps = to && to->method == JITTER_KEEP;

	if (from == to)
		return;
	if (kept && keeps && state->begun)
		jitter_keep_adopt(to->keep, &state->keep, from->keep);
	else
		state->begun = false;
	state->has_z &= from && from->has_copula && to && to->has_copula;
}
