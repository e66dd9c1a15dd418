# SPDX-License-Identifier: BSD-3-Clause
"""The shell of `weir ctl` (docs/control.md)."""
