/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine/run_log.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

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

/* Opens a descriptor to send by. Returns it, or -errno. The socket is not connected, so a restarted
 * journal is reached again. */
static int journal_open(void)
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

/* Sends one entry to the socket at `path`. Never waits. Returns 0; -EMSGSIZE if the entry is longer
 * than JOURNAL_BYTES_MAX; -EAGAIN if the journal does not read at the moment; another -errno if
 * there is no journal. */
static int journal_send(int fd, const char *path, const struct journal_field *fields, uint32_t n)
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

#define OWN_FIELDS 4 /* beside those of the line */

const char *const run_log_levels[] = {"error", "warning", "notice", "info", "debug", NULL};
/* The priorities of syslog(3), in the order of the levels. */
static const char *const priorities[] = {"3", "4", "5", "6", "7"};

static struct {
	const char *command, *socket;
	enum run_log_level most;
	int journal; /* a descriptor; -1: the lines go to standard error */
	uint64_t lost;
} state = {.command = "", .most = RUN_LOG_NOTICE, .journal = -1};

void run_log_begin(const char *command, enum run_log_level most, const char *socket)
{
	state.command = command;
	state.most = most;
	state.socket = socket;
	state.lost = 0;
	state.journal = journal_is_behind(STDERR_FILENO) ? journal_open() : -1;
}

/* One call, so that lines of several threads or processes are not interleaved. */
static void to_standard_error(const char *text)
{
	fprintf(stderr, "weir%s%s: %s\n", *state.command ? " " : "", state.command, text);
}

static int to_journal(enum run_log_level level, const struct journal_field *fields, uint32_t n,
                      const char *text)
{
	struct journal_field all[OWN_FIELDS + RUN_LOG_FIELDS_MAX] = {
	        {"MESSAGE", text},
	        {"PRIORITY", priorities[level]},
	        {"SYSLOG_IDENTIFIER", "weir"},
	        {"WEIR_COMMAND", state.command}};

	n = n < RUN_LOG_FIELDS_MAX ? n : RUN_LOG_FIELDS_MAX;
	for (uint32_t i = 0; i < n; i++)
		all[OWN_FIELDS + i] = fields[i];
	return journal_send(state.journal, state.socket, all, OWN_FIELDS + n);
}

/* Logs how many lines the journal did not take. Returns false if it does not take this line
 * either. */
static bool tell_lost(void)
{
	uint64_t lost = __atomic_exchange_n(&state.lost, 0, __ATOMIC_RELAXED);
	char text[100];

	if (lost == 0)
		return true;
	snprintf(text, sizeof(text),
	         "%" PRIu64 " lines are missing here: the journal was not accepting messages",
	         lost);
	if (to_journal(RUN_LOG_WARNING, NULL, 0, text) == 0)
		return true;
	__atomic_fetch_add(&state.lost, lost, __ATOMIC_RELAXED);
	return false;
}

void run_log_end(void)
{
	if (state.journal >= 0 && !tell_lost())
		to_standard_error(
		        "lines are missing at the end: the journal was not accepting messages");
	if (state.journal >= 0)
		close(state.journal);
	state.journal = -1;
	state.command = "";
	state.most = RUN_LOG_NOTICE;
}

__attribute__((format(printf, 4, 0))) static void say(enum run_log_level level,
                                                      const struct journal_field *fields,
                                                      uint32_t n, const char *format,
                                                      va_list arguments)
{
	char text[RUN_LOG_TEXT_BYTES];
	int error = errno, result;

	if (level > state.most)
		return;
	vsnprintf(text, sizeof(text), format, arguments);
	if (state.journal < 0) {
		to_standard_error(text);
		errno = error;
		return;
	}
	result = tell_lost() ? to_journal(level, fields, n, text) : -EAGAIN;
	/* Not to standard error, which leads to the journal, too, and would wait for it. */
	if (result == -EAGAIN)
		__atomic_fetch_add(&state.lost, 1, __ATOMIC_RELAXED);
	else if (result < 0)
		to_standard_error(text);
	errno = error;
}

void run_log(enum run_log_level level, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(level, NULL, 0, format, arguments);
	va_end(arguments);
}

void run_log_with(enum run_log_level level, const struct journal_field *fields, uint32_t n,
                  const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(level, fields, n, format, arguments);
	va_end(arguments);
}
