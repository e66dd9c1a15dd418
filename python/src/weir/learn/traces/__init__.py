# SPDX-License-Identifier: BSD-3-Clause
"""Traces of other emulators, as scenarios: a module for each, with `read(text)`, which returns
what one file has, or None if it has another format. `scenario.of_files()` puts them together."""
