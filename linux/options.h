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
	const char *interface;           /* of responses that are quenched */
	uint32_t bit;
	const char *socket, *cloud; /* of those that are informed */
	uint32_t fresh_ms;          /* older answers of routers are not used */
	bool check;                 /* load and attach, then end */
	bool json;
	bool verbose; /* what libbpf and the kernel's verifier say, on standard error */
};

/* 0, or -1 with what is wrong, and what would be right. Points into argv. */
int options_parse(struct options *options, int argc, char **argv, char error[OPTIONS_ERROR_BYTES]);

#endif
