/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `probe CLOUD [to ADDRESS] [within TIME]`: queries the routers of a path now, and prints their
 * answers.
 *
 * The cloud has `feedback proxy insert`, whose words select the queries. A cloud behind it has
 * `feedback proxy strip` of the same protocol, which reads the answers; feedback_probe.h has the
 * packets. The command is answered when all packets have come out at the strip, or when `within`
 * has passed (1 ms to 50 s, default 1 s). One probe at a time.
 *
 *   text   the table of `show path`, of the routers that have answered these requests, and a line
 *          that says how many of the requests came through
 *   JSON   {"ok":true,"cloud":NAME,"strip":NAME,"asked":N,"arrived":N,"path":[...]}
 *
 * Thread: the conversation's, which waits meanwhile.
 */
#ifndef WEIR_PROBE_H
#define WEIR_PROBE_H

#include "service/answer.h"
#include "service/control.h"
#include "socket/batch.h"
#include "text/word.h"

#define PROBE_WITHIN_DEFAULT SIMTIME_S
#define PROBE_WITHIN_MIN     SIMTIME_MS
#define PROBE_WITHIN_MAX     (50 * SIMTIME_S)

/* Probes, and answers. Returns 0; -ECANCELED if the waiting was ended; or another -errno with
 * error, and nothing was sent. */
int probe_line(struct control *control, const struct asker *asker, const char *line,
               const struct words *words, struct output *output, struct batch_error *error);

#endif
