/* SPDX-License-Identifier: BSD-3-Clause */
#include "account/reason.h"

#include <stddef.h>

static const struct {
	const char *name;
	const char *help;
	enum reason_kind kind;
	const char *stage;
} reasons[REASON_COUNT] = {
#define X(id, name, kind, stage, help) [REASON_##id] = {name, help, REASON_##kind, stage},
        REASONS(X)
#undef X
};

const char *reason_name(enum reason reason)
{
	return reasons[reason].name;
}

const char *reason_help(enum reason reason)
{
	return reasons[reason].help;
}

enum reason_kind reason_kind(enum reason reason)
{
	return reasons[reason].kind;
}

const char *reason_kind_name(enum reason_kind kind)
{
	static const char *const names[] = {[REASON_EMULATED] = "emulated",
	                                    [REASON_CONGESTION] = "congestion",
	                                    [REASON_REAL] = "real"};

	return names[kind];
}

const char *reason_stage(enum reason reason)
{
	return reasons[reason].stage;
}
