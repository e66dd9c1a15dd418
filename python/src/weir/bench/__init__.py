# SPDX-License-Identifier: BSD-3-Clause
"""What `weir bench` prints, draws and compares. The program measures, and gives the document to
command.main() (src/control/bench/bench.h)."""
