# SPDX-License-Identifier: BSD-3-Clause
"""An estimate: a number, its 95 % interval, and what it rests on.

Shares of independent trials have the interval of E. Wilson ("Probable Inference", 1927). Means of
series whose values depend on their neighbours have that of batch means (for instance N. Steiger et
al., "ASAP3: A Batch Means Procedure for Steady-State Simulation Analysis"). Assumed: a fortieth of
the measurement is long beside the time for which values depend on each other.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy
import numpy.typing
import scipy.stats

Floats = numpy.typing.NDArray[numpy.float64]
Ints = numpy.typing.NDArray[numpy.int64]
Bools = numpy.typing.NDArray[numpy.bool_]
LEVEL = 0.95
Z = 1.959964
BLOCKS = 40
EXACT = 5e-6  # nobody writes a number more exactly


@dataclasses.dataclass(frozen=True)
class Estimate:
    """`name` is that of the field in the scenario, `unit` one of ns, bit/s, B, pkt, ppm or "" for a
    share."""

    name: str
    value: float
    low: float
    high: float
    unit: str
    basis: str

    def holds(self, truth: float) -> bool:
        """Returns whether the interval contains a value."""
        return self.low <= truth <= self.high

    def json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


def share(name: str, hits: int, of: int, basis: str) -> Estimate:
    """A probability, by independent trials: the interval of Wilson."""
    if of == 0:
        return Estimate(name, 0.0, 0.0, 1.0, "", basis)
    p = hits / of
    centre = (p + Z * Z / (2 * of)) / (1 + Z * Z / of)
    half = Z / (1 + Z * Z / of) * math.sqrt(p * (1 - p) / of + Z * Z / (4 * of * of))
    low = 0.0 if hits == 0 else max(0.0, centre - half)
    high = 1.0 if hits == of else min(1.0, centre + half)
    return Estimate(name, p, low, high, "", basis)


def block_error(values: Floats, blocks: int = BLOCKS) -> float:
    """Returns the half width of the 95 % interval of the mean of a series whose values depend on
    their neighbours: means of blocks that are long enough count as independent."""
    blocks = min(blocks, len(values) // 2)
    if blocks < 2:
        return math.inf
    size = len(values) // blocks
    means = values[:size * blocks].reshape(blocks, size).mean(axis=1)
    t = float(scipy.stats.t.ppf(0.5 + LEVEL / 2, blocks - 1))
    return t * float(means.std(ddof=1)) / math.sqrt(blocks)


def independent(x: Floats) -> float:
    """Returns how many independent values have as uncertain a mean."""
    half = block_error(x)
    if not half > 0:
        return float(len(x))
    return max(4.0, min(float(len(x)), (2.02 * float(x.std()) / half) ** 2))


def series(name: str, unit: str, value: float, influence: Floats, basis: str,
           least: float = 0.0) -> Estimate:
    """An estimate from the influence of each packet on it. `least` is the half width that the
    resolution of clocks allows."""
    half = max(block_error(influence), least)
    return Estimate(name, value, value - half, value + half, unit, basis)


def wider(estimate: Estimate, by: float) -> Estimate:
    """Adds an independent error of this half width."""
    return dataclasses.replace(estimate, low=estimate.value - math.hypot(
        estimate.value - estimate.low, by), high=estimate.value + math.hypot(
        estimate.high - estimate.value, by))


def rounded(estimate: Estimate) -> float:
    """Returns the number that a person would write: the shortest one close to the value, compared
    with the interval."""
    value = estimate.value
    near = max(min(estimate.high - value, value - estimate.low) / 4, EXACT * abs(value))
    if value == 0 or not math.isfinite(near):
        return value
    for digits in range(1, 15):
        text = float(f"{value:.{digits - 1}e}")
        if abs(text - value) <= near:
            return text
    return value
