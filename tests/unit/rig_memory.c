/* SPDX-License-Identifier: BSD-3-Clause */
#include "rig_memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "poison_ops.h"
#include "rig.h"

/* Without AddressSanitizer, the filling is a file of this size that is mapped over and over. A test
 * writes to few of its pages, and only these are copied. */
#define FILLING_BYTES (UINT64_C(1) << 20)
#define SPARES        8u

static void *spares[SPARES]; /* a ring */
static uint32_t spares_from, spares_n;

static uint32_t spares_max(void)
{
	return poison_is_real() ? SPARES : 1;
}

static int filling_make(void)
{
	int file = memfd_create("filling", MFD_CLOEXEC);
	void *filling = malloc(FILLING_BYTES);

	assert_true(file >= 0);
	assert_non_null(filling);
	memset(filling, 0xa5, FILLING_BYTES);
	assert_int_equal(write(file, filling, FILLING_BYTES), FILLING_BYTES);
	free(filling);
	return file;
}

static void *memory_map(void)
{
	static int filling = -1;
	char *memory = mmap(NULL, RIG_MEMORY, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (filling < 0)
		filling = filling_make();
	for (uint64_t at = 0; memory != MAP_FAILED && at < RIG_MEMORY; at += FILLING_BYTES) {
		if (mmap(memory + at, FILLING_BYTES, PROT_READ | PROT_WRITE,
		         MAP_PRIVATE | MAP_FIXED, filling, 0) == MAP_FAILED)
			return NULL;
	}
	return memory == MAP_FAILED ? NULL : memory;
}

void *rig_memory_take(size_t bytes)
{
	void *memory;

	if (bytes != RIG_MEMORY)
		return aligned_alloc(64, RTE_ALIGN_CEIL(bytes, 64u));
	if (spares_n < spares_max())
		return poison_is_real() ? aligned_alloc(64, bytes) : memory_map();
	memory = spares[spares_from++ % SPARES];
	spares_n--;
	unpoison_bytes(memory, bytes);
	return memory;
}

void rig_memory_give_back(void *memory, size_t bytes)
{
	if (bytes == RIG_MEMORY && spares_n < spares_max()) {
		poison_bytes(memory, bytes);
		spares[(spares_from + spares_n++) % SPARES] = memory;
	} else if (bytes == RIG_MEMORY && !poison_is_real()) {
		munmap(memory, bytes);
	} else {
		free(memory);
	}
}
