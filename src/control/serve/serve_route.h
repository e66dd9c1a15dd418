/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The paths that are served, and the function that answers each.
 *
 * Thread: the caller's, one.
 */
#ifndef WEIR_SERVE_ROUTE_H
#define WEIR_SERVE_ROUTE_H

#include "serve/serve_call.h"

/* Answers the call, or suspends it; then it is routed again later. */
enum MHD_Result serve_route(struct serve_call *call, const char *path, const char *method);

#endif
