/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `hello`: what a client must know at once: which weir this is, which protocol it speaks, which run
 * it is, and what this conversation may do.
 *
 * PROTOCOL grows by one when a client of before would misread something. Until then answers and
 * events may have more members, there may be more lines and more kinds of events, and
 * `capabilities` more words; docs/control.md.
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
