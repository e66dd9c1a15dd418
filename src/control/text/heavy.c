/* SPDX-License-Identifier: BSD-3-Clause */
#include "text/heavy.h"

static _Thread_local bool refused;

void heavy_allow(bool allowed)
{
	refused = !allowed;
}

int heavy_begin(struct language_error *error)
{
	if (!refused)
		return 0;
	return language_error_set(error, ERROR_HEAVY, "this takes long");
}
