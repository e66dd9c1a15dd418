/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces top.c in a build without ncurses. */
#include <stdio.h>

#include "top/top.h"

int top_run(const char *path, const char *interval)
{
	(void)path;
	(void)interval;
	fputs("weir top: this weir was built without ncurses (libncurses-dev), which draws it; use "
	      "weir ctl sample 1s and weir ctl events\n",
	      stderr);
	return 1;
}
