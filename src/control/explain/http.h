/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HTTP/1.1 in clear (RFC 9112): the line of a request, and the host that it names.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_HTTP_H
#define WEIR_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns true if a request begins here; and writes its method and target to `line`, and its host
 * to `host`; "": they are not known, or not in these bytes. Both are cut to their room. */
bool http_request(const uint8_t *data, size_t bytes, char *line, size_t line_room, char *host,
                  size_t host_room);

#endif
