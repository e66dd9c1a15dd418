/* SPDX-License-Identifier: BSD-3-Clause */
/* What killed weirs have left in the file system. */
#include "machine/eal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define UNIQUE_DIGITS 8

/* Returns true if a name is `weir-PID-XXXXXXXX`, followed by `rest`. */
static bool is_ours(const char *name, const char *rest, int *pid)
{
	int end = 0;

	if (sscanf(name, "weir-%d-%n", pid, &end) != 1 || end == 0 || *pid <= 0 ||
	    strspn(name + end, "0123456789abcdef") != UNIQUE_DIGITS)
		return false;
	name += end + UNIQUE_DIGITS;
	return *rest ? strncmp(name, rest, strlen(rest)) == 0 : *name == '\0';
}

static bool is_alive(int pid)
{
	return kill(pid, 0) == 0 || errno != ESRCH;
}

/* Returns true if a process holds a lock: weir on its folder, which is of another kind than that
 * for which DPDK waits there (flock), or DPDK on its file. */
static bool is_held(int fd)
{
	struct flock other = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	return fd < 0 || fcntl(fd, F_OFD_GETLK, &other) < 0 || other.l_type != F_UNLCK ||
	       flock(fd, LOCK_EX | LOCK_NB) < 0;
}

/* Returns true if the entry is to be removed: it belongs to the run `prefix`, or to a run that is
 * over. */
static bool is_left(int folder, const char *name, const char *rest, const char *prefix)
{
	int pid, fd;
	bool held;

	if (!is_ours(name, rest, &pid))
		return false;
	if (prefix)
		return strncmp(name, prefix, strlen(prefix)) == 0;
	if (is_alive(pid))
		return false;
	fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	held = is_held(fd);
	leftovers_release(fd);
	return !held;
}

static bool remove_run(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	DIR *run = fd < 0 ? NULL : fdopendir(fd);

	if (!run) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	for (struct dirent *entry; (entry = readdir(run));) {
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			unlinkat(fd, entry->d_name, 0);
	}
	closedir(run);
	return unlinkat(folder, name, AT_REMOVEDIR) == 0;
}

/* Removes a huge page's file: `weir-PID-XXXXXXXXmap_0` */
static bool remove_page(int folder, const char *name)
{
	return unlinkat(folder, name, 0) == 0;
}

/* Removes from a folder what the run `prefix` or, if it is NULL, ended runs have left there:
 * entries with `middle` behind the name of the run. Returns their number. */
static uint32_t remove_left(const char *path, const char *middle, const char *prefix,
                            bool (*remove_one)(int folder, const char *name))
{
	DIR *folder = opendir(path);
	uint32_t n = 0;

	if (!folder)
		return 0;
	/* Then no weir is between making its folder and holding it. */
	flock(dirfd(folder), LOCK_EX);
	for (struct dirent *entry; (entry = readdir(folder));) {
		if (is_left(dirfd(folder), entry->d_name, middle, prefix))
			n += remove_one(dirfd(folder), entry->d_name);
	}
	closedir(folder);
	return n;
}

static uint32_t remove_all_pages(const char *root, const char *prefix)
{
	char path[PATH_MAX], mount[PATH_MAX - 64], line[PATH_MAX + 512];
	uint32_t n = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/proc/self/mountinfo", root);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file)) {
		if (!strstr(line, " - hugetlbfs ") ||
		    sscanf(line, "%*s %*s %*s %*s %4031s", mount) != 1)
			continue;
		snprintf(path, sizeof(path), "%s%s", root, mount);
		n += remove_left(path, "map_", prefix, remove_page);
	}
	if (file)
		fclose(file);
	return n;
}

uint32_t leftovers_remove(const char *root, const char *folder, const char *prefix)
{
	return remove_left(folder, "", prefix, remove_run) + remove_all_pages(root, prefix);
}

int leftovers_hold(const char *folder, const char *run)
{
	struct flock mine = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
	int all = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd = -1;

	if (all >= 0 && flock(all, LOCK_SH) == 0 &&
	    (mkdirat(all, run, 0700) == 0 || errno == EEXIST))
		fd = openat(all, run, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		fcntl(fd, F_OFD_SETLK, &mine);
	leftovers_release(all);
	return fd;
}

void leftovers_release(int hold)
{
	if (hold >= 0)
		close(hold);
}
