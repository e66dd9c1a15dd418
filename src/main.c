/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the subcommand, and sees that what it prints arrives. */
#include <signal.h>
#include <sys/prctl.h>

#include "command.h"
#include "standard_output.h"

int main(int argc, char **argv)
{
	int status;

	/* One of several programs (launcher.c), and the same one for who looks at it. */
	prctl(PR_SET_NAME, "weir");
	standard_streams_hold();
	/* If the parent ignores it, the kernel reaps our children itself, and their status is lost.
	 * The command of `weir exec` gets the default, too, as that of timeout(1): POSIX lets no
	 * program rely on anything else. */
	signal(SIGCHLD, SIG_DFL);
	status = command_main(argc, argv);
	return standard_output_end(argc < 2 ? "" : argv[1], status);
}
