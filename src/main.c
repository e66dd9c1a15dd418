/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the subcommand; nothing else. */
#include "command.h"

int main(int argc, char **argv)
{
	return command_main(argc, argv);
}
