/* SPDX-License-Identifier: BSD-3-Clause */
#include "statements.h"

#include <stddef.h>
#include <string.h>

#include "delay.h"
#include "loss_every.h"
#include "loss_random.h"
#include "rate.h"

const struct statement *const statements[] = {
        /* ingress stages */
        &loss_random_statement,
        &loss_every_statement,
        /* link */
        &rate_statement,
        /* line */
        &delay_statement,
        NULL,
};

const struct statement *statement_find(const char *name, const char *variant)
{
	for (const struct statement *const *row = statements; *row; row++) {
		if (strcmp((*row)->name, name) != 0)
			continue;
		if (!(*row)->variant == !variant &&
		    (!variant || strcmp((*row)->variant, variant) == 0))
			return *row;
	}
	return NULL;
}
