/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine/machine_memory.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define LINE_BYTES 8192
#define PAIRS_MAX  2

/* The files of one version of control groups: each limit with the file that has the usage. */
struct files {
	struct {
		char limit[48], used[48];
	} pairs[PAIRS_MAX];
	uint32_t n;
	const char *cache[2]; /* words of memory.stat that count pages of files */
};

/* The folder of this process's group. */
struct place {
	char folder[PATH_MAX]; /* with the root in front */
	size_t mount_bytes;    /* length of the mount's part of `folder` */
};

static FILE *open_control(const char *root, const char *folder, const char *name)
{
	char path[PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s%s/%s", root, folder, name);
	return fopen(path, "r");
}

/* Reads a number. Returns false if the file has none, for example `max`. */
static bool read_number(const char *folder, const char *name, uint64_t *value)
{
	FILE *file = open_control("", folder, name);
	bool found;

	if (!file)
		return false;
	found = fscanf(file, "%" SCNu64, value) == 1;
	fclose(file);
	return found;
}

static uint64_t read_word(const char *folder, const char *word, uint64_t otherwise)
{
	FILE *file = open_control("", folder, "memory.stat");
	char line[200], name[64];
	uint64_t value;

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%63s %" SCNu64, name, &value) == 2 && strcmp(name, word) == 0) {
			otherwise = value;
			break;
		}
	}
	if (file)
		fclose(file);
	return otherwise;
}

/* ---- the folder of the group ---- */

static bool has_word(const char *list, const char *word)
{
	size_t bytes = strlen(word);

	for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',') {
		if (strncmp(at, word, bytes) == 0 && (at[bytes] == ',' || at[bytes] == '\0'))
			return true;
	}
	return false;
}

/* Finds the path of the group: `5:memory:/a/b`; of version 2 (`controller` is NULL) `0::/a/b`. */
static bool find_group(const char *root, const char *controller, char group[PATH_MAX])
{
	FILE *file = open_control(root, "/proc/self", "cgroup");
	char line[LINE_BYTES];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file)) {
		char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;

		line[strcspn(line, "\n")] = '\0';
		if (!path)
			continue;
		*path++ = '\0';
		found = controller ? has_word(list + 1, controller) : list[1] == '\0';
		if (found)
			snprintf(group, PATH_MAX, "%s", path);
	}
	if (file)
		fclose(file);
	/* A group outside this cgroup namespace has no path here. */
	return found && !strstr(group, "/..");
}

/* Decodes `\040`, as which the kernel writes a blank in mountinfo, and the like. */
static void unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from; to++) {
		unsigned code;

		if (from[0] == '\\' && sscanf(from + 1, "%3o", &code) == 1) {
			*to = (char)code;
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
}

/* Returns the part of the group's path that follows the mount, or NULL if the mount, which begins
 * at `top` of its hierarchy, does not show the group. */
static const char *below(const char *group, const char *top)
{
	size_t bytes = strcmp(top, "/") == 0 ? 0 : strlen(top);

	if (strncmp(group, top, bytes) != 0 || (group[bytes] != '/' && group[bytes] != '\0'))
		return NULL;
	return strcmp(group + bytes, "/") == 0 ? "" : group + bytes;
}

/* Splits a line of mountinfo: `31 23 0:28 TOP MOUNT rw,relatime shared:1 - cgroup2 SOURCE
 * OPTIONS` */
static bool is_mount(char *line, const char *controller, char **top, char **mount)
{
	char *rest = strstr(line, " - "), *type, *options, *save;

	if (!rest)
		return false;
	*rest = '\0';
	type = strtok_r(rest + 3, " ", &save);
	strtok_r(NULL, " ", &save);
	options = strtok_r(NULL, " \n", &save);
	if (!type || strcmp(type, controller ? "cgroup" : "cgroup2") != 0 ||
	    (controller && (!options || !has_word(options, controller))))
		return false;
	for (int field = 0; field < 4; field++)
		*top = strtok_r(field ? NULL : line, " ", &save);
	*mount = strtok_r(NULL, " ", &save);
	if (!*mount)
		return false;
	unescape(*top);
	unescape(*mount);
	return true;
}

static bool find_place(const char *root, const char *controller, struct place *place)
{
	char group[PATH_MAX], line[LINE_BYTES];
	bool found = false;
	FILE *file;

	if (!find_group(root, controller, group))
		return false;
	file = open_control(root, "/proc/self", "mountinfo");
	while (file && !found && fgets(line, sizeof(line), file)) {
		char *top, *mount;
		const char *rest;

		if (!is_mount(line, controller, &top, &mount) || !(rest = below(group, top)))
			continue;
		place->mount_bytes = strlen(root) + strlen(mount);
		found = (size_t)snprintf(place->folder, sizeof(place->folder), "%s%s%s", root,
		                         mount, rest) < sizeof(place->folder);
	}
	if (file)
		fclose(file);
	return found;
}

/* ---- what the group leaves ---- */

static void note(const struct place *place, const char *file, uint64_t limit, uint64_t used,
                 struct cgroup_room *room)
{
	uint64_t free_bytes = limit > used ? limit - used : 0;
	const char *group = place->folder + place->mount_bytes;
	size_t bytes = strlen(group);

	if (free_bytes >= room->free_bytes)
		return;
	room->free_bytes = free_bytes;
	room->limit_bytes = limit;
	snprintf(room->file, sizeof(room->file), "%s", file);
	if (bytes >= sizeof(room->group))
		group += bytes - sizeof(room->group) + 1;
	snprintf(room->group, sizeof(room->group), "%s", *group ? group : "/");
}

/* Reads the limits of the group in the folder of `place`, without the groups above it. */
static void look(const struct place *place, const struct files *files, struct cgroup_room *room)
{
	for (uint32_t i = 0; i < files->n; i++) {
		uint64_t limit, used = 0, cache = 0;

		if (!read_number(place->folder, files->pairs[i].limit, &limit))
			continue;
		read_number(place->folder, files->pairs[i].used, &used);
		for (int word = 0; word < 2 && files->cache[word]; word++)
			cache += read_word(place->folder, files->cache[word], 0);
		note(place, files->pairs[i].limit, limit, used > cache ? used - cache : 0, room);
	}
}

/* Returns false if this group of v1 does not limit the groups below it (possible before Linux
 * 5.11). */
static bool limits_others(const struct place *place)
{
	uint64_t value;

	return !read_number(place->folder, "memory.use_hierarchy", &value) || value != 0;
}

static void look_upward(struct place *place, const struct files *files, struct cgroup_room *room)
{
	look(place, files, room);
	while (strlen(place->folder) > place->mount_bytes) {
		*strrchr(place->folder, '/') = '\0';
		if (!limits_others(place))
			return;
		look(place, files, room);
	}
}

/* Finds the group that leaves the least memory. Returns false if no group limits it. `root` is put
 * in front of /proc and of the mounts: "" for this machine, a folder for a test. */
static bool cgroup_memory(const char *root, struct cgroup_room *room)
{
	static const struct files first = {
	        .pairs = {{"memory.limit_in_bytes", "memory.usage_in_bytes"}},
	        .n = 1,
	        .cache = {"total_inactive_file", "total_active_file"},
	};
	static const struct files second = {
	        .pairs = {{"memory.max", "memory.current"}, {"memory.high", "memory.current"}},
	        .n = 2,
	        .cache = {"inactive_file", "active_file"},
	};
	struct place place;

	*room = (struct cgroup_room){.free_bytes = UINT64_MAX, .limit_bytes = UINT64_MAX};
	if (find_place(root, "memory", &place)) {
		struct place own = place;

		look_upward(&place, &first, room);
		/* v1's limit of the groups above the mount: v1 does not give their usage, so that
		 * of this process's group is taken. */
		uint64_t limit = read_word(own.folder, "hierarchical_memory_limit", UINT64_MAX);
		uint64_t used = 0;

		read_number(own.folder, "memory.usage_in_bytes", &used);
		if (limit < room->limit_bytes)
			note(&own, "hierarchical_memory_limit", limit, used, room);
	}
	if (find_place(root, NULL, &place))
		look_upward(&place, &second, room);
	return room->free_bytes != UINT64_MAX;
}

static void size_text(uint64_t bytes, char text[16])
{
	static const char *const units[] = {"KB", "MB", "GB", "TB"};
	int unit = 0;

	for (bytes >>= 10; bytes >= 1024 && unit < 3; bytes >>= 10)
		unit++;
	snprintf(text, 16, "%" PRIu64 "%s", bytes & 0xffff, units[unit]);
}

/* Does the same for huge pages of one size. */
static bool cgroup_huge_pages(const char *root, uint64_t page_bytes, struct cgroup_room *room)
{
	struct files first = {.n = 1}, second = {.n = 2};
	struct place place;
	char size[16];

	size_text(page_bytes, size);
	snprintf(first.pairs[0].limit, sizeof(first.pairs[0].limit), "hugetlb.%s.limit_in_bytes",
	         size);
	snprintf(first.pairs[0].used, sizeof(first.pairs[0].used), "hugetlb.%s.usage_in_bytes",
	         size);
	for (int i = 0; i < 2; i++) {
		const char *kind = i ? ".rsvd" : "";

		snprintf(second.pairs[i].limit, sizeof(second.pairs[i].limit), "hugetlb.%s%s.max",
		         size, kind);
		snprintf(second.pairs[i].used, sizeof(second.pairs[i].used), "hugetlb.%s%s.current",
		         size, kind);
	}
	*room = (struct cgroup_room){.free_bytes = UINT64_MAX, .limit_bytes = UINT64_MAX};
	if (find_place(root, "hugetlb", &place))
		look_upward(&place, &first, room);
	if (find_place(root, NULL, &place))
		look_upward(&place, &second, room);
	return room->free_bytes != UINT64_MAX;
}

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
