/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/axis.h"

#include <errno.h>
#include <math.h>

int axis_check(const struct axis *axis)
{
	if (axis->unit >= CHART_UNITS || axis->scale > AXIS_LOG10)
		return -EINVAL;
	if (!isfinite(axis->min) || !isfinite(axis->max) || axis->min > axis->max)
		return -EINVAL;
	if (axis->scale == AXIS_LOG10 && axis->min < axis->max && axis->min <= 0)
		return -EINVAL;
	if ((axis->n_ticks > 0 && axis->ticks == NULL) ||
	    (axis->n_categories > 0 && axis->categories == NULL))
		return -EINVAL;
	return 0;
}
