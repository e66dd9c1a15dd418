/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine_memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define KIB UINT64_C(1024)

int machine_memory_read(const char *path, struct machine_memory *memory)
{
	uint64_t free_pages = 0, promised_pages = 0, value;
	FILE *file = fopen(path, "r");
	char line[200], name[64];

	memset(memory, 0, sizeof(*memory));
	if (file == NULL)
		return -errno;
	while (fgets(line, sizeof(line), file) != NULL) {
		if (sscanf(line, "%63[^:]: %" SCNu64, name, &value) != 2)
			continue;
		if (strcmp(name, "MemAvailable") == 0)
			memory->available_bytes = value * KIB;
		else if (strcmp(name, "HugePages_Free") == 0)
			free_pages = value;
		else if (strcmp(name, "HugePages_Rsvd") == 0)
			promised_pages = value;
		else if (strcmp(name, "Hugepagesize") == 0)
			memory->huge_page_bytes = value * KIB;
	}
	fclose(file);
	if (free_pages > promised_pages)
		memory->huge_free_bytes = (free_pages - promised_pages) * memory->huge_page_bytes;
	memory->bytes = memory->available_bytes + memory->huge_free_bytes;
	return memory->available_bytes == 0 ? -ENODATA : 0;
}
