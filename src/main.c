/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the subcommand, and sees that what it prints arrives. */
#include <sys/prctl.h>

#include "command.h"
#include "standard_output.h"

int main(int argc, char **argv)
{
	int status;

	/* One of several programs (launcher.c), and the same one for who looks at it. */
	prctl(PR_SET_NAME, "weir");
	standard_streams_hold();
	status = command_main(argc, argv);
	return standard_output_end(argc < 2 ? "" : argv[1], status);
}
