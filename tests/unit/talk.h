/* SPDX-License-Identifier: BSD-3-Clause */
/* A session with a fake emulator (fake_control.h): the state of a test of the control socket. */
#ifndef WEIR_TEST_TALK_H
#define WEIR_TEST_TALK_H

#include "fake_control.h"
#include "socket/session.h"

struct talk {
	struct fake fake;
	struct session *session;
};

/* A client that is there when its change is posted, and gone when that is waited for. */
static inline bool talk_leaves(void *argument)
{
	uint32_t *asked = argument;

	return (*asked)++ == 0;
}

static int talk_begin(void **state, const char *scenario)
{
	struct talk *talk = calloc(1, sizeof(*talk));

	if (talk == NULL || !fake_start(&talk->fake, scenario))
		return -1;
	talk->session = session_make(&talk->fake.control);
	*state = talk;
	return talk->session != NULL ? 0 : -1;
}

static int talk_stop(void **state)
{
	struct talk *talk = *state;

	session_free(talk->session);
	fake_stop(&talk->fake);
	free(talk);
	return 0;
}

#endif
