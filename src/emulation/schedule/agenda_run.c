/* SPDX-License-Identifier: BSD-3-Clause */
#include "schedule/agenda.h"

static void find_next(struct cloud *cloud)
{
	const struct agenda *agenda = cloud->agenda;

	cloud->change = SIMTIME_NEVER;
	for (uint32_t i = 0; agenda && i < agenda->n; i++)
		cloud->change = simtime_min(cloud->change, agenda->track[i]->next);
}

void agenda_run(struct cloud *cloud, simtime until)
{
	struct agenda *agenda = cloud->agenda;
	simtime now = cloud->change;

	for (uint32_t i = 0; i < agenda->n; i++) {
		if (agenda->track[i]->next == now)
			agenda->track[i]->run(agenda->track[i], cloud, until);
	}
	find_next(cloud);
}

/* Nothing waits, and nothing that was sent has still to be paid for: what happens in between makes no
 * difference to what comes. */
static bool is_at_rest(struct cloud *cloud, simtime now)
{
	if (cloud_is_busy(cloud))
		return false;
	return link_at_rest(&cloud->link, now);
}

/* One that sends nothing and has still to pay for what it sent, at 1 bit/s for hours, goes through so many points one by
 * one, and then to where they lead. */
#define POINTS_MAX (UINT32_C(1) << 18)

void agenda_keep_up(struct cloud *cloud, simtime now)
{
	cloud_advance_link(cloud, now);
	for (uint32_t points = 0; cloud->change <= now; points++) {
		bool at_once = points >= POINTS_MAX || is_at_rest(cloud, cloud->change);

		agenda_run(cloud, at_once ? now : cloud->change);
	}
}

void agenda_take_off(struct cloud *cloud, simtime now)
{
	struct agenda *agenda = cloud->agenda;

	for (uint32_t i = agenda ? agenda->n : 0; i-- > 0;) {
		struct track *track = agenda->track[i];

		if (track->on)
			track->take_off(track, cloud, now);
	}
	cloud->change = SIMTIME_NEVER;
}

void agenda_end(struct cloud *cloud, simtime now)
{
	agenda_keep_up(cloud, now);
	agenda_take_off(cloud, now);
}

void agenda_begin(struct cloud *cloud, simtime now)
{
	struct agenda *agenda = cloud->agenda;

	for (uint32_t i = 0; agenda && i < agenda->n; i++)
		agenda->track[i]->enter(agenda->track[i], cloud, now);
	find_next(cloud);
}

void agenda_key(struct cloud *cloud, uint64_t seed)
{
	const struct agenda *agenda = cloud->agenda;

	for (uint32_t i = 0; agenda && i < agenda->n; i++) {
		if (agenda->track[i]->key)
			agenda->track[i]->key(agenda->track[i], cloud, seed);
	}
}

void agenda_apply_below(struct cloud *cloud, struct setting *setting, agenda_places place,
                        simtime now)
{
	struct agenda *agenda = cloud->agenda;
	agenda_places off = 0;

	for (uint32_t i = agenda->n; i-- > 0;) {
		struct track *track = agenda->track[i];

		if (!track->on || !(track->places & place))
			continue;
		track->take_off(track, cloud, now);
		off |= UINT64_C(1) << i;
	}
	setting_apply(setting, now);
	for (uint32_t i = 0; i < agenda->n; i++) {
		if (off >> i & 1)
			agenda->track[i]->put_on(agenda->track[i], cloud, now);
	}
}
