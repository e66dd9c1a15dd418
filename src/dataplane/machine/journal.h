/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The journal of systemd, which takes an entry as fields with values, in one datagram: the native
 * journal protocol (https://systemd.io/JOURNAL_NATIVE_PROTOCOL/). A value without a new line is
 * `NAME=value\n`; another one is `NAME\n`, its length as 64 bits, little-endian, the bytes, `\n`.
 *
 * weir sends the datagram itself. libsystemd would wait while a journal that stands still does not
 * read, and the thread that logs is control's, or a worker's; it is also one more library with
 * rights of its own in a process that gives up its rights.
 *
 * Thread: journal_open and journal_close: the main thread; journal_send: any.
 */
#ifndef WEIR_JOURNAL_H
#define WEIR_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

/* Where systemd has the socket. */
#define JOURNAL_SOCKET "/run/systemd/journal/socket"
/* The most bytes of an entry. The kernel takes datagrams of about 200 kB. */
#define JOURNAL_BYTES_MAX 16384

/* Of an entry: capitals, digits and underscores, as `WEIR_CLOUD`; and any bytes but a 0. */
struct journal_field {
	const char *name, *value;
};

/* Whether the descriptor leads to the journal, as systemd says in $JOURNAL_STREAM: the device and
 * the inode of what it has connected to standard output or standard error. */
bool journal_is_behind(int fd);
/* A descriptor to send by; -errno. Nothing is connected: a journal that is started anew is found
 * again. */
int journal_open(void);
/* One entry, to the socket at `path`. Never waits. 0; -EMSGSIZE: longer than JOURNAL_BYTES_MAX;
 * -EAGAIN: the journal does not read just now; other -errno: there is none. */
int journal_send(int fd, const char *path, const struct journal_field *fields, uint32_t n);

#endif
