# SPDX-License-Identifier: BSD-3-Clause
"""Makes a scenario of a path that was measured (docs/learn.md). Needs NumPy and SciPy.

The order is that in which a packet meets the path: clocks, queue, delay, loss. `weir learn` calls
it; programs call `pairs.read()` and `path.learn_ways()`.
"""
