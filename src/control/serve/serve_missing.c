/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces serve.c in a build without libmicrohttpd. */
#include <stdio.h>

#include "serve/serve.h"

int serve_run(const struct serve_options *options)
{
	(void)options;
	fputs("weir serve: this weir was built without libmicrohttpd (libmicrohttpd-dev), which "
	      "speaks HTTP; use weir top, or weir ctl -j show totals\n",
	      stderr);
	return 1;
}
