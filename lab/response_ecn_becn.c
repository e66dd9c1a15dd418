/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ECN and BECN together (Akujobi et al., the combined approach): echoes and quenches share the
 * limit of one cut a window. CWR reports a cut by a quench to the receiver, too.
 */
#include "lab/response.h"

static bool ecn_becn_spares(const struct tcp *tcp)
{
	return tcp->acked <= tcp->recover && tcp->action == TCP_ACTION_SIGNAL;
}

const struct response response_ecn_becn = {
        .name = "ecn-becn",
        .help = "an echo or a source quench halves the window, once a window",
        .capable = true,
        .echo = ECHO_LATCHED,
        .echoed = response_ecn_echoed,
        .quenched = response_becn_quenched,
        .holds = response_becn_holds,
        .spares = ecn_becn_spares,
};
