/* SPDX-License-Identifier: BSD-3-Clause */
#include "text/shortage.h"

#include <stdlib.h>

#include <jansson.h>

static __thread bool noted;

void shortage_note(void)
{
	noted = true;
}

bool shortage_taken(void)
{
	bool taken = noted;

	noted = false;
	return taken;
}

void *shortage_calloc(size_t bytes)
{
	void *memory = calloc(1, bytes);

	if (memory == NULL)
		shortage_note();
	return memory;
}

FILE *shortage_stream(char **text, size_t *bytes)
{
	FILE *stream = open_memstream(text, bytes);

	if (stream == NULL)
		shortage_note();
	return stream;
}

int shortage_close(FILE *stream)
{
	if (fclose(stream) == 0)
		return 0;
	shortage_note();
	return -1;
}

static void *json_allocate(size_t bytes)
{
	void *memory = malloc(bytes);

	if (memory == NULL)
		shortage_note();
	return memory;
}

void shortage_watch_json(void)
{
	json_set_alloc_funcs(json_allocate, free);
}
