/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * weir-host's command line.
 */
#ifndef WEIR_LINUX_OPTIONS_H
#define WEIR_LINUX_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "responses.h"

#define OPTIONS_ERROR_BYTES 256
#define OPTIONS_FRESH_MS    10000

struct options {
	const struct response *response; /* NULL: `help` */
	const char *interface;           /* for quenched responses */
	uint32_t bit;
	const char *socket, *cloud; /* for informed responses */
	uint32_t fresh_ms;          /* older answers of routers are ignored */
	bool check;                 /* load and attach, then end */
	bool json;
	bool verbose; /* prints the messages of libbpf and the kernel's verifier */
};

/* Returns 0, or -1 with `error` set: what is wrong, and what would be right. The options point into
 * argv. */
int options_parse(struct options *options, int argc, char **argv, char error[OPTIONS_ERROR_BYTES]);

#endif
