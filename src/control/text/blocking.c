/* SPDX-License-Identifier: BSD-3-Clause */
#include "text/blocking.h"

static _Thread_local bool refused;

void blocking_allow(bool allowed)
{
	refused = !allowed;
}

int blocking_begin(struct language_error *error)
{
	if (!refused)
		return 0;
	return language_error_set(error, ERROR_WOULD_BLOCK, "this takes long");
}
