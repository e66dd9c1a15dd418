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

static int talk_begin(void **state, const char *scenario)
{
	struct talk *talk = calloc(1, sizeof(*talk));

	if (talk == NULL || !fake_start(&talk->fake, scenario))
		return -1;
	talk->session = session_make(&talk->fake.control, 0);
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
