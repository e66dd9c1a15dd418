/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/tap_end.h"

#include <stdio.h>
#include <unistd.h>

#include "namespace/namespace.h"
#include "port/tap_port.h"

const struct tap_end tap_end_none = {.net = -1, .tap = -1, .stamps = -1};

static int open_stamps(void *argument)
{
	const struct tap_end *end = argument;

	return tap_stamps_socket(end->index);
}

int tap_end_open(struct tap_end *end, const char *name, int opening, struct problem *problem)
{
	char with_opening[24] = "", with_stamps[24] = "";

	end->tap = namespace_tap(end->net, name, &end->index, problem);
	if (end->tap < 0)
		return end->tap;
	/* Without the time stamps, `late` does not know when a frame came. */
	end->stamps = namespace_run(end->net, open_stamps, end);
	if (opening >= 0)
		snprintf(with_opening, sizeof(with_opening), ",opening=%d", opening);
	if (end->stamps >= 0)
		snprintf(with_stamps, sizeof(with_stamps), ",stamps=%d", end->stamps);
	snprintf(end->device, sizeof(end->device), TAP_PORT "%d%s%s", end->tap, with_opening,
	         with_stamps);
	return 0;
}

void tap_end_close(struct tap_end *end)
{
	int *fds[] = {&end->tap, &end->stamps, &end->net};

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
}
