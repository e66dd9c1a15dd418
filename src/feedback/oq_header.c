/* SPDX-License-Identifier: BSD-3-Clause */
#include "oq_header.h"

enum oq_find oq_find(const struct headers *headers, const uint8_t *frame, uint8_t protocol)
{
	const uint8_t *oq = frame + headers->transport;
	uint32_t here = headers->transport_here;

	if (headers->protocol != protocol || headers->fragment || headers->ip == 0)
		return OQ_ABSENT;
	if (headers->transport == 0 || here < OQ_BYTES)
		return OQ_MALFORMED;
	if (oq[OQ_REQ_MODE] >= OQ_MODES || oq[OQ_REQ_PROBE] >= OQ_PROBES ||
	    oq[OQ_RES_PROBE] >= OQ_PROBES)
		return OQ_MALFORMED;
	if (oq[OQ_RES_LEN] % OQ_ANSWER_BYTES != 0 ||
	    oq[OQ_RES_LEN] > OQ_ANSWERS_MAX * OQ_ANSWER_BYTES ||
	    here < (uint32_t)OQ_BYTES + oq[OQ_RES_LEN])
		return OQ_MALFORMED;
	return OQ_FOUND;
}
