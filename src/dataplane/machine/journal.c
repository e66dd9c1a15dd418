/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine/journal.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

struct entry {
	char bytes[JOURNAL_BYTES_MAX];
	size_t n;
	bool whole;
};

bool journal_is_behind(int fd)
{
	const char *text = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat status;
	int end = 0;

	if (!text || sscanf(text, "%llu:%llu%n", &device, &inode, &end) != 2 || text[end])
		return false;
	return fstat(fd, &status) == 0 && status.st_dev == (dev_t)device &&
	       status.st_ino == (ino_t)inode;
}

int journal_open(void)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return fd < 0 ? -errno : fd;
}

static void add(struct entry *entry, const void *bytes, size_t n)
{
	if (n > sizeof(entry->bytes) - entry->n) {
		entry->whole = false;
		return;
	}
	memcpy(entry->bytes + entry->n, bytes, n);
	entry->n += n;
}

static void add_field(struct entry *entry, const struct journal_field *field)
{
	size_t n = strlen(field->value);
	uint64_t length = htole64(n);

	add(entry, field->name, strlen(field->name));
	if (strchr(field->value, '\n')) {
		add(entry, "\n", 1);
		add(entry, &length, sizeof(length));
	} else {
		add(entry, "=", 1);
	}
	add(entry, field->value, n);
	add(entry, "\n", 1);
}

int journal_send(int fd, const char *path, const struct journal_field *fields, uint32_t n)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct entry entry;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	entry.n = 0;
	entry.whole = true;
	for (uint32_t i = 0; i < n; i++)
		add_field(&entry, &fields[i]);
	if (!entry.whole)
		return -EMSGSIZE;
	if (sendto(fd, entry.bytes, entry.n, MSG_DONTWAIT | MSG_NOSIGNAL,
	           (const struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	return 0;
}
