/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `hello` answers what a client must know first: the version of weir, the protocol, the identity of
 * this run, and what this conversation may do.
 *
 * HELLO_PROTOCOL grows by one when an older client would misread something. Until then answers and
 * events may get more members, there may be more lines and more kinds of events, and `capabilities`
 * may get more words; docs/control.md.
 *
 * Thread: control's.
 */
#ifndef WEIR_HELLO_H
#define WEIR_HELLO_H

#include "service/answer.h"
#include "service/control.h"

#define HELLO_PROTOCOL 1

void hello_answer(struct output *output, struct control *control, bool read_only);

#endif
