/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The journal of systemd, which takes an entry as fields with values, in one datagram: the native
 * journal protocol (https://systemd.io/JOURNAL_NATIVE_PROTOCOL/). A value without a newline is
 * `NAME=value\n`; any other value is `NAME\n`, its length as 64 bits, little-endian, the bytes,
 * `\n`.
 *
 * weir sends the datagram itself. libsystemd would wait for a stopped journal that does not read,
 * and the thread that logs is control's, or a worker's. libsystemd would also be one more library
 * with rights of its own in a process that gives up its rights.
 *
 * Thread: journal_open: the main thread; journal_send: any.
 */
#ifndef WEIR_JOURNAL_H
#define WEIR_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

/* The path of systemd's socket. */
#define JOURNAL_SOCKET "/run/systemd/journal/socket"
/* The maximum size of an entry. The kernel takes datagrams of about 200 kB. */
#define JOURNAL_BYTES_MAX 16384

/* A field of an entry. Name: capitals, digits and underscores, as `WEIR_CLOUD`. Value: any bytes
 * but a 0. */
struct journal_field {
	const char *name, *value;
};

/* Returns true if the descriptor leads to the journal. systemd says so in $JOURNAL_STREAM: the
 * device and inode of what it has connected to standard output or standard error. */
bool journal_is_behind(int fd);
/* Opens a descriptor to send by. Returns it, or -errno. The socket is not connected, so a restarted
 * journal is reached again. */
int journal_open(void);
/* Sends one entry to the socket at `path`. Never waits. Returns 0; -EMSGSIZE if the entry is longer
 * than JOURNAL_BYTES_MAX; -EAGAIN if the journal does not read at the moment; another -errno if
 * there is no journal. */
int journal_send(int fd, const char *path, const struct journal_field *fields, uint32_t n);

#endif
