# SPDX-License-Identifier: BSD-3-Clause
"""`weir setup`: what a machine lacks for some ports, what each lack costs, and the changes that
remedy it (docs/setup.md). The program reads the command line, and answers what only it knows
(src/control/setup/setup.h)."""
