/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine/bell.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

int bell_make(struct bell *bell)
{
	bell->listens = 0;
	bell->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	bell->made = bell->fd >= 0;
	return bell->made ? 0 : -errno;
}

void bell_free(struct bell *bell)
{
	if (bell->made)
		close(bell->fd);
	bell->made = false;
}

void bell_ignore(struct bell *bell, bool rung)
{
	uint64_t times;
	ssize_t got;

	__atomic_store_n(&bell->listens, 0, __ATOMIC_SEQ_CST);
	if (!rung)
		return;
	got = read(bell->fd, &times, sizeof(times));
	(void)got;
}

void bell_strike(struct bell *bell)
{
	const uint64_t one = 1;
	ssize_t put;

	if (!__atomic_exchange_n(&bell->listens, 0, __ATOMIC_SEQ_CST))
		return;
	put = write(bell->fd, &one, sizeof(one));
	(void)put;
}
