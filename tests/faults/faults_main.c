/* SPDX-License-Identifier: BSD-3-Clause */
/* weir with calls that fail on purpose. */
#include "command.h"
#include "faults.h"

int main(int argc, char **argv)
{
	faults_begin();
	return command_main(argc, argv);
}
