/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_ORDERS_CHECK_H
#define WEIR_ORDERS_CHECK_H

#include "scenario/orders.h"

/* Whether each order is right in this cloud, with the others; `field` is where to point. 0, -EINVAL
 * or -ENOMEM with problem. */
int orders_check(const struct orders *orders, const struct cloud_conf *cloud, int field,
                 struct problem *problem);

#endif
