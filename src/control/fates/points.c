/* SPDX-License-Identifier: BSD-3-Clause */
#include "fates/points.h"

static const struct {
	const char *name, *help;
	uint32_t kinds;
} points[POINT_COUNT] = {
#define X(id, name, help, kinds) [POINT_##id] = {name, help, kinds},
        POINTS(X)
#undef X
};

const char *point_name(enum point point)
{
	return points[point].name;
}

const char *point_help(enum point point)
{
	return points[point].help;
}

uint32_t points_kinds(uint32_t of)
{
	uint32_t kinds = 0;

	for (int i = 0; i < POINT_COUNT; i++)
		kinds |= of & (1u << i) ? points[i].kinds : 0;
	return kinds;
}

enum point point_of(enum fate_kind kind)
{
	int point = 0;

	while (point < POINT_COUNT && !(points[point].kinds & (1u << kind)))
		point++;
	return (enum point)point;
}
