/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_ORDERS_CHECK_H
#define WEIR_ORDERS_CHECK_H

#include "scenario/orders.h"

/* Checks each order in this cloud, together with the others. `field` is the one to point at.
 * Returns 0, or -EINVAL or -ENOMEM with problem. */
int orders_check(const struct orders *orders, const struct cloud_conf *cloud, int field,
                 struct problem *problem);

#endif
