/* SPDX-License-Identifier: BSD-3-Clause */
#include "text/array.h"

#include <stdlib.h>
#include <string.h>

bool array_fits(void *array, size_t *room, size_t n, size_t bytes)
{
	size_t more = 2 * *room + 16;
	void *elements;

	if (n <= *room)
		return true;
	if (more < n)
		more = n;
	memcpy(&elements, array, sizeof(elements));
	elements = reallocarray(elements, more, bytes);
	if (elements == NULL)
		return false;
	memcpy(array, &elements, sizeof(elements));
	*room = more;
	return true;
}
