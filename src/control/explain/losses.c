/* SPDX-License-Identifier: BSD-3-Clause */
#include "explain/walk.h"

static void add_loss(struct verdict *verdict, int way, uint32_t number,
                     const struct passage *passage)
{
	struct verdict_loss *loss;

	verdict->lost[way]++;
	loss = verdict_loss_add(verdict);
	if (loss)
		*loss = (struct verdict_loss){.packet = passage->packet,
		                              .number = number,
		                              .port = passage->port,
		                              .way = (uint8_t)way,
		                              .reason = passage->reason,
		                              .acknowledgement = passage->bytes == 0,
		                              .at_ns = passage->sent_ns};
}

static void add_resent(struct verdict *verdict, const struct ground *ground, int way,
                       const struct passage *passage)
{
	const struct way *own = &ground->flow->ways[way];

	if (passage->repeats < own->first ||
	    way_at(own, passage->repeats)->fate == PASSAGE_ARRIVED) {
		verdict->needless++;
		return;
	}
	for (uint32_t i = 0; i < verdict->n_losses; i++) {
		struct verdict_loss *loss = &verdict->losses[i];

		if (loss->way != way || loss->number != passage->repeats)
			continue;
		loss->again_ns = passage->sent_ns;
		loss->resent =
		        !(passage->marks & PASSAGE_SYN) && ground_reacts(ground, way, passage)
		                ? RESENT_FAST
		                : RESENT_TIMEOUT;
	}
}

void losses_tell(struct flow *flow, const struct ground *ground, uint32_t recent,
                 struct verdict *verdict)
{
	for (int way = 0; way < FLOW_WAYS; way++) {
		const struct way *own = &ground->flow->ways[way];
		const uint32_t until = way_kept(own) > recent ? own->end - recent : own->first;
		uint32_t i = flow->story.told[way];

		for (i = i > own->first ? i : own->first; i < until; i++) {
			const struct passage *passage = way_at(own, i);

			verdict->packets[way]++;
			if (passage->fate == PASSAGE_UNDER_WAY)
				verdict->holes++;
			if (passage->fate == PASSAGE_LOST)
				add_loss(verdict, way, i, passage);
			if (passage->repeats != PASSAGE_NONE)
				add_resent(verdict, ground, way, passage);
			else
				verdict->bytes[way] +=
				        passage->bytes -
				        !!(passage->marks & (PASSAGE_SYN | PASSAGE_FIN));
		}
		flow->story.told[way] = i;
	}
}
