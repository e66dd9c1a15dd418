/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the subcommand, and sees that what it prints arrives. */
#include "command.h"
#include "standard_output.h"

int main(int argc, char **argv)
{
	int status;

	standard_streams_hold();
	status = command_main(argc, argv);
	return standard_output_end(argc < 2 ? "" : argv[1], status);
}
