/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine/machine_memory.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define KIB          UINT64_C(1024)
#define HUGE_PAGES   "/sys/kernel/mm/hugepages"
#define CAP_IPC_LOCK 14 /* linux/capability.h */

static FILE *open_file(const char *root, const char *path)
{
	char whole[PATH_MAX];

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	return fopen(whole, "r");
}

static uint64_t mib(uint64_t bytes)
{
	return bytes >> 20;
}

/* ---- the machine ---- */

static int read_available(const char *root, uint64_t *bytes)
{
	FILE *file = open_file(root, "/proc/meminfo");
	char line[200];
	uint64_t kib;
	int rc = -ENODATA;

	if (!file)
		return -errno;
	while (rc < 0 && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "MemAvailable: %" SCNu64, &kib) == 1) {
			*bytes = kib * KIB;
			rc = 0;
		}
	}
	fclose(file);
	return rc;
}

static uint64_t read_count(const char *root, const char *folder, const char *name)
{
	char path[PATH_MAX];
	uint64_t count = 0;
	FILE *file;

	snprintf(path, sizeof(path), HUGE_PAGES "/%s/%s", folder, name);
	file = open_file(root, path);
	if (!file)
		return 0;
	if (fscanf(file, "%" SCNu64, &count) != 1)
		count = 0;
	fclose(file);
	return count;
}

static uint64_t read_huge_pages(const char *root, uint64_t file_bytes_max, char *forbidden)
{
	char path[PATH_MAX];
	uint64_t bytes = 0;
	DIR *folder;

	snprintf(path, sizeof(path), "%s" HUGE_PAGES, root);
	folder = opendir(path);
	if (!folder)
		return 0;
	for (struct dirent *entry; (entry = readdir(folder));) {
		uint64_t page_kib, there, promised, of_size;
		struct cgroup_room room;

		if (sscanf(entry->d_name, "hugepages-%" SCNu64 "kB", &page_kib) != 1)
			continue;
		there = read_count(root, entry->d_name, "free_hugepages");
		promised = read_count(root, entry->d_name, "resv_hugepages");
		of_size = there > promised ? (there - promised) * page_kib * KIB : 0;
		if (of_size > 0 && page_kib * KIB > file_bytes_max) {
			*forbidden = 'f';
			continue;
		}
		if (of_size > 0 && cgroup_huge_pages(root, page_kib * KIB, &room) &&
		    room.free_bytes < of_size)
			of_size = room.free_bytes;
		bytes += of_size;
	}
	closedir(folder);
	if (bytes > 0)
		*forbidden = '\0';
	return bytes;
}

/* ---- limits of the process ---- */

/* Returns the soft limit of a line of /proc/self/limits, or UINT64_MAX if it is unlimited or not
 * known. */
static uint64_t read_rlimit(const char *root, const char *name)
{
	FILE *file = open_file(root, "/proc/self/limits");
	uint64_t limit = UINT64_MAX;
	char line[200];

	while (file && fgets(line, sizeof(line), file)) {
		if (strncmp(line, name, strlen(name)) != 0)
			continue;
		if (sscanf(line + strlen(name), " %" SCNu64, &limit) != 1)
			limit = UINT64_MAX;
		break;
	}
	if (file)
		fclose(file);
	return limit;
}

struct usage {
	uint64_t address, data, locked;
	bool may_lock;
};

static void read_usage(const char *root, struct usage *usage)
{
	FILE *file = open_file(root, "/proc/self/status");
	char line[200];
	uint64_t value;

	memset(usage, 0, sizeof(*usage));
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "VmSize: %" SCNu64, &value) == 1)
			usage->address = value * KIB;
		else if (sscanf(line, "VmData: %" SCNu64, &value) == 1)
			usage->data = value * KIB;
		else if (sscanf(line, "VmLck: %" SCNu64, &value) == 1)
			usage->locked = value * KIB;
		else if (sscanf(line, "CapEff: %" SCNx64, &value) == 1)
			usage->may_lock = (value >> CAP_IPC_LOCK) & 1;
	}
	if (file)
		fclose(file);
}

static void limit_to(struct memory_limit *least, uint64_t limit, uint64_t used, const char *what)
{
	uint64_t free_bytes = limit > used ? limit - used : 0;

	if (limit == UINT64_MAX || free_bytes >= least->free_bytes)
		return;
	least->free_bytes = free_bytes;
	snprintf(least->text, sizeof(least->text),
	         "%s is %" PRIu64 " MiB, %" PRIu64 " MiB of it in use", what, mib(limit),
	         mib(limit - free_bytes));
}

static void limit_by_cgroup(const char *root, struct memory_limit *least)
{
	struct cgroup_room room;
	char what[sizeof(room.file) + sizeof(room.group) + 32];

	if (!cgroup_memory(root, &room))
		return;
	snprintf(what, sizeof(what), "%s of the cgroup %s", room.file, room.group);
	limit_to(least, room.limit_bytes, room.limit_bytes - room.free_bytes, what);
}

int machine_memory_read(const char *root, struct machine_memory *memory)
{
	struct usage usage;
	int rc;

	*memory = (struct machine_memory){.pages.free_bytes = 0,
	                                  .address.free_bytes = UINT64_MAX,
	                                  .locked.free_bytes = UINT64_MAX};
	rc = read_available(root, &memory->pages.free_bytes);
	if (rc < 0)
		return rc;
	read_usage(root, &usage);
	limit_by_cgroup(root, &memory->pages);
	limit_to(&memory->pages, read_rlimit(root, "Max data size"), usage.data,
	         "the limit on data (ulimit -d)");
	limit_to(&memory->address, read_rlimit(root, "Max address space"), usage.address,
	         "the limit on address space (ulimit -v)");
	if (!usage.may_lock)
		limit_to(&memory->locked, read_rlimit(root, "Max locked memory"), usage.locked,
		         "the limit on locked memory (ulimit -l)");
	if (memory->address.free_bytes != UINT64_MAX)
		memory->huge_forbidden = 'v';
	else
		memory->huge_free_bytes = read_huge_pages(root, read_rlimit(root, "Max file size"),
		                                          &memory->huge_forbidden);
	return 0;
}
