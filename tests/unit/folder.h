/* SPDX-License-Identifier: BSD-3-Clause */
/* A folder of the test's own, the working directory while it runs: CMocka's setup and teardown of a
 * test. */
#ifndef WEIR_TEST_FOLDER_H
#define WEIR_TEST_FOLDER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/weir-test-XXXXXX";

static int enter_folder(void **state)
{
	(void)state;
	strcpy(folder + strlen(folder) - 6, "XXXXXX");
	return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave_folder(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

#endif
