/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/response.h"

const struct response response_none = {
        .name = "none",
        .help = "not capable of ECN, ignores quenches",
};

static const struct response *const responses[] = {
        &response_none,     &response_ecn,      &response_becn,
        &response_ecn_becn, &response_bcn,      &response_ecn_mod,
        &response_limited,  &response_extended, NULL,
};

const struct response *response_at(uint32_t index)
{
	return index < sizeof(responses) / sizeof(responses[0]) ? responses[index] : NULL;
}
