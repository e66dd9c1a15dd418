/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What may be asked for, and by what function each is answered.
 *
 * Thread: the caller's, one.
 */
#ifndef WEIR_SERVE_ROUTE_H
#define WEIR_SERVE_ROUTE_H

#include "serve/serve_call.h"

/* Answers, or suspends the call; then it comes again. */
enum MHD_Result serve_route(struct serve_call *call, const char *path, const char *method);

#endif
