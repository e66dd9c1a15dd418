# SPDX-License-Identifier: BSD-3-Clause
"""What other tools have measured: a module for each format, with one function that returns a
Measured, or None if the file has another format. `files.read()` tries them all."""
