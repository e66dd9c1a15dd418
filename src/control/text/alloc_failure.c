/* SPDX-License-Identifier: BSD-3-Clause */
#include "text/alloc_failure.h"

#include <stdlib.h>

#include <jansson.h>

static __thread bool noted;

void alloc_failure_note(void)
{
	noted = true;
}

bool alloc_failure_taken(void)
{
	bool taken = noted;

	noted = false;
	return taken;
}

void alloc_failure_restore(bool before)
{
	noted = before;
}

void *alloc_failure_calloc(size_t bytes)
{
	void *memory = calloc(1, bytes);

	if (memory == NULL)
		alloc_failure_note();
	return memory;
}

static void *json_allocate(size_t bytes)
{
	void *memory = malloc(bytes);

	if (memory == NULL)
		alloc_failure_note();
	return memory;
}

void alloc_failure_watch_json(void)
{
	json_set_alloc_funcs(json_allocate, free);
}

/* Loses what is printed; made before main(), so that it is there when memory is short. */
static FILE *sink;

__attribute__((constructor)) static void sink_make(void)
{
	sink = fopencookie(NULL, "w", (cookie_io_functions_t){.write = NULL});
	if (sink == NULL)
		abort();
}

FILE *printed_begin(struct printed *printed)
{
	printed->bytes = NULL;
	printed->n = 0;
	printed->out = open_memstream(&printed->bytes, &printed->n);
	return printed->out != NULL ? printed->out : sink;
}

char *printed_end(struct printed *printed)
{
	if (printed->out != NULL && fclose(printed->out) == 0)
		return printed->bytes;
	alloc_failure_note();
	free(printed->bytes);
	printed->bytes = NULL;
	return NULL;
}
