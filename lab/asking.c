/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/asking.h"

void asking_request(struct asking *asking, struct frame_oq *oq)
{
	uint32_t hop = (uint32_t)(asking->asked % asking->hops);
	bool queue = asking->asked / asking->hops % 2;

	*oq = (struct frame_oq){
	        .mode = OQ_TTL,
	        .probe = queue ? OQ_QUEUE : OQ_LINK,
	        .ttl = (uint8_t)(FRAME_TTL - hop),
	        .request = {{OQ_NOBODY, OQ_NOBODY}},
	};
	asking->asked++;
}

void asking_hear(struct asking *asking, const struct frame_oq *oq)
{
	for (uint32_t i = 0; i < oq->n; i++) {
		uint32_t hop = FRAME_TTL + i - oq->res_ttl;

		/* Ignores answers that were not requested. */
		if ((oq->res_probe != OQ_LINK && oq->res_probe != OQ_QUEUE) ||
		    hop >= asking->hops || asking->heard[oq->res_probe][hop])
			continue;
		asking->heard[oq->res_probe][hop] = true;
		asking->value[oq->res_probe][hop] = oq->answers[i];
	}
}

bool asking_least(const struct asking *asking, enum oq_probe probe, int number, uint32_t *least)
{
	*least = UINT32_MAX;
	for (uint32_t hop = 0; hop < asking->hops; hop++) {
		uint32_t said = asking->value[probe][hop].number[number];

		if (!asking->heard[probe][hop])
			return false;
		if (said < *least)
			*least = said;
	}
	return asking->hops > 0;
}
