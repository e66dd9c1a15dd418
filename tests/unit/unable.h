/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Marks a claim that this machine or this build cannot try. CMocka's skip() is not used: its output
 * is no TAP, and meson takes it for a failure. tools/test_summary.py counts the claim as skipped,
 * with the reason.
 */
#ifndef WEIR_TEST_UNABLE_H
#define WEIR_TEST_UNABLE_H

#include <stdio.h>

/* Ends the claim. `reason`: a literal. */
#define UNABLE(reason)                                                                             \
	do {                                                                                       \
		printf("# unable: %s\n", reason);                                                  \
		return;                                                                            \
	} while (0)

#endif
