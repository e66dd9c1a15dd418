/* SPDX-License-Identifier: BSD-3-Clause */
#include "aqm/codel.h"

#include "snapshot/snapshot.h"

/* If a queue enters the selecting state within this many intervals after `next`, it continues the
 * count. */
#define MEMORY_INTERVALS 16

#define FRACTION_BITS 16
/* The bits of CODEL_INTERVAL_MAX in 2^-16 ns. */
#define ROOT_BITS 48

uint64_t codel_spacing_q16(const struct codel_rule *rule, uint32_t count)
{
	uint64_t interval = rule->interval_ns << FRACTION_BITS, root = 0;
	unsigned __int128 square = (unsigned __int128)interval * interval / count;

	if (count == 1)
		return interval;
	for (uint64_t bit = UINT64_C(1) << (ROOT_BITS - 1); bit; bit >>= 1) {
		uint64_t more = root | bit;

		if ((unsigned __int128)more * more <= square)
			root = more;
	}
	return root;
}

/* Sets the instant of the next selection: one spacing after `from` and its fraction. */
static void schedule(struct codel *codel, const struct codel_rule *rule, simtime from,
                     uint32_t from_q16)
{
	uint64_t later_q16 = from_q16 + codel_spacing_q16(rule, codel->count);

	codel->next = from + (later_q16 >> FRACTION_BITS);
	codel->next_q16 = later_q16 & ((1u << FRACTION_BITS) - 1);
}

static bool is_too_long(struct codel *codel, const struct codel_rule *rule, simtime sojourn,
                        uint64_t rest_bytes, simtime now)
{
	if (sojourn < rule->target_ns || rest_bytes <= rule->mtu_bytes) {
		codel->first_above = 0;
		return false;
	}
	if (codel->first_above == 0) {
		codel->first_above = now + rule->interval_ns;
		return false;
	}
	return now >= codel->first_above;
}

static void enter(struct codel *codel, const struct codel_rule *rule, simtime now)
{
	uint32_t gained = codel->count - codel->count_then;
	int64_t since = (int64_t)(now - codel->next);

	codel->dropping = true;
	codel->count = 1;
	if (gained > 1 && since < (int64_t)(MEMORY_INTERVALS * rule->interval_ns))
		codel->count = gained;
	codel->count_then = codel->count;
	schedule(codel, rule, now, 0);
	codel->step = CODEL_ENTERED;
}

bool codel_select(struct codel *codel, const struct codel_rule *rule, simtime sojourn,
                  uint64_t rest_bytes, simtime now)
{
	bool too_long = is_too_long(codel, rule, sojourn, rest_bytes, now);
	enum codel_step before = (enum codel_step)codel->step;

	codel->step = CODEL_NONE;
	if (before == CODEL_ENTERED)
		return false;
	if (!too_long) {
		codel->dropping = false;
		return false;
	}
	if (!codel->dropping) {
		enter(codel, rule, now);
		return true;
	}
	if (before == CODEL_SELECTED)
		schedule(codel, rule, codel->next, codel->next_q16);
	if (now < codel->next || (now == codel->next && codel->next_q16))
		return false;
	codel->count++;
	codel->step = CODEL_SELECTED;
	return true;
}

void codel_marked(struct codel *codel, const struct codel_rule *rule)
{
	if (codel->step == CODEL_SELECTED)
		schedule(codel, rule, codel->next, codel->next_q16);
	codel->step = CODEL_NONE;
}

void codel_emptied(struct codel *codel)
{
	codel->first_above = 0;
	codel->dropping = false;
	codel->step = CODEL_NONE;
}

/* More selections than a run makes. The count is a divisor: a larger one could overflow to 0. */
#define COUNT_MAX INT32_MAX

void codel_snapshot(struct codel *codel, struct snapshot *snapshot)
{
	snapshot_value(snapshot, codel->first_above);
	snapshot_value(snapshot, codel->next);
	snapshot_value(snapshot, codel->next_q16);
	snapshot_value(snapshot, codel->count);
	snapshot_value(snapshot, codel->count_then);
	codel->dropping = snapshot_flag(snapshot, codel->dropping);
	snapshot_value(snapshot, codel->step);
	snapshot_holds(
	        snapshot,
	        codel->next_q16 < 1u << FRACTION_BITS && codel->count <= COUNT_MAX &&
	                codel->count_then <= codel->count && codel->step <= CODEL_SELECTED &&
	                (codel->count > 0 || (!codel->dropping && codel->step == CODEL_NONE)));
}
