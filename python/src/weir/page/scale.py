# SPDX-License-Identifier: BSD-3-Clause
"""The scale of an axis: its range, its ticks with their texts, and where a value lies."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from .units import COUNT, PLAIN, Unit, fixed, scientific, short

# If the smallest datum is below this part of the largest, the range begins at 0.
_NEAR_ZERO_LOOSE, _NEAR_ZERO_TIGHT = 0.3, 0.05
_SLACK = 1e-9  # in steps: a tick this little outside the range counts
_MORE = 1.25  # up to so many times the wanted ticks rather than far fewer
_REACH = 0.03  # a tight range is extended to a tick within this part of it
_DIGITS = 3
_FAR_PX = 10000.0  # a place far outside is brought nearer
_LARGEST = 1e150  # differences and quotients of the ends are finite
_TICKS_MAX = 128


@dataclass
class Axis:
    """An axis as its user describes it.

    Its range is given, from `least` to `most`, or chosen: the x axis ends with the data, the y axis
    at round numbers. It then starts at 0 if the data come near 0, if `from_zero` is set, or if bars
    or a histogram stand on it. A logarithmic axis has no place for values <= 0: they are drawn at
    its lower end and do not affect its range.

    Ticks are multiples of 1, 2 or 5 times a power of ten, in the largest prefix that suits the
    range. A linear axis names the unit once, in its label (`Delay (ms)`), a logarithmic axis at
    every tick (`10 µs`).

    If there are `categories`, they mark the places 0, 1, ... of an x axis; the rest is ignored.
    """

    label: str = ""
    unit: Unit = PLAIN
    log: bool = False
    from_zero: bool = False
    least: float = 0
    most: float = 0
    categories: Sequence[str] = ()

    @property
    def is_given(self) -> bool:
        return self.least < self.most


class Extent:
    """The smallest and largest finite values so far; low > high while there are none."""

    def __init__(self) -> None:
        self.low, self.high, self.least_positive = math.inf, -math.inf, math.inf

    def take(self, values: Iterable[float]) -> None:
        finite = [v for v in values if math.isfinite(v)]
        self.low = min(self.low, min(finite, default=math.inf))
        self.high = max(self.high, max(finite, default=-math.inf))
        positive = finite if self.low > 0 else [v for v in finite if v > 0]
        self.least_positive = min(self.least_positive, min(positive, default=math.inf))


class Tick(NamedTuple):
    value: float
    label: str  # "": a small tick between those with labels


@dataclass
class Scale:
    """`loose`: a chosen range ends at ticks, else with the data. `wanted`: about so many ticks have
    labels. The places in pixels are set afterwards: those of `low` and `high`."""

    axis: Axis
    data: Extent
    loose: bool
    wanted: int
    low: float = field(init=False)
    high: float = field(init=False)
    ticks: list[Tick] = field(init=False, default_factory=list)
    unit: str = field(init=False, default="")  # that all tick labels share and leave out
    factor: float = field(init=False, default=1)  # base units in one of it
    start: float = field(init=False, default=0)
    end: float = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.log = self.axis.log and not self.axis.categories
        if self.axis.categories:
            self.low, self.high = -0.5, len(self.axis.categories) - 0.5
            return
        self.low, self.high = self._log_range() if self.log else self._linear_range()
        if self.axis.is_given:
            self.low, self.high = self.axis.least, self.axis.most
        self.low = max(self.low, 1 / _LARGEST if self.log else -_LARGEST)
        self.high = min(self.high, _LARGEST)
        # Within less than a decade, multiples of a step mark a log axis better than 1, 2, 5.
        if self.log and self.high > 5 * self.low:
            self.ticks = [Tick(value, self.axis.unit.text(value, _DIGITS + 1) if major else "")
                          for value, major in self._log_ticks()]
        else:
            self.ticks = self._labelled(list(self._linear_ticks()))

    # ---- a linear scale ----

    def _linear_range(self) -> tuple[float, float]:
        """Returns a range around the data, which is never empty, before rounding."""
        low, high = self.data.low, self.data.high
        if low > high:
            low, high = 0, 1
        near_zero = _NEAR_ZERO_LOOSE if self.loose else _NEAR_ZERO_TIGHT
        if self.axis.from_zero or 0 < low < near_zero * high:
            low, high = min(low, 0), max(high, 0)
        magnitude = max(abs(low), abs(high))
        if magnitude == 0:
            high = 1
        elif high - low <= magnitude * 1e-9:  # constant: loose ranges begin at 0
            low = 0 if self.loose and low > 0 else low - 0.1 * magnitude
            high += 0.1 * magnitude
        return low, high

    def _linear_ticks(self) -> Iterator[float]:
        """Yields the multiples of a round step. Before that, widens the range to the multiple
        beyond each end, if that is near enough."""
        span = self.high - self.low
        step = _round_step(span / self.wanted / _MORE)
        reach = 0 if self.axis.is_given else math.inf if self.loose else _REACH * span
        below = step * math.floor(self.low / step + _SLACK)
        above = step * math.ceil(self.high / step - _SLACK)
        if self.low - below <= reach:
            self.low = min(self.low, below)
        if above - self.high <= reach:
            self.high = max(self.high, above)
        while True:  # a given range may hold fewer than two multiples: they show no distance
            first = math.ceil(self.low / step - _SLACK)
            last = math.floor(self.high / step + _SLACK)
            if last > first:
                break
            step = _round_step(step / 2.5)
        for k in range(first, min(last + 1, first + _TICKS_MAX)):
            yield k * step

    def _labelled(self, values: list[float]) -> list[Tick]:
        """Labels ticks with equal decimals. If the unit is written behind a space and the axis has
        a label, the unit stands there once."""
        unit, magnitude = self.axis.unit, max(abs(self.low), abs(self.high))
        factor, name = unit.prefix(magnitude, _DIGITS)
        decimals = _decimals([value / factor for value in values])
        if self.axis.label and unit.gap:
            self.unit, self.factor = name, factor
            return [Tick(value, fixed(value / factor, decimals)) for value in values]
        if unit is PLAIN and not 1e-3 <= magnitude < 1e6:
            return [Tick(value, scientific(value, 6)) for value in values]
        return [Tick(value, "0" if unit is COUNT and value == 0
                     else fixed(value / factor, decimals) + unit.gap + name) for value in values]

    # ---- a logarithmic scale ----

    def _log_range(self) -> tuple[float, float]:
        low, high = self.data.least_positive, self.data.high
        if math.isinf(low):
            low, high = 1, 10
        if self.axis.from_zero:  # what stands on the axis must still have a height
            low /= 2
        if self.loose or high <= low * (1 + _SLACK):
            low, high = _round_below(low), _round_step(high)
        if high <= low * (1 + _SLACK):
            low, high = low / 10, high * 10
        return low, high

    def _log_ticks(self) -> Iterator[tuple[float, bool]]:
        """Yields ticks, and whether they have labels: at 1, 2, 5 if there is room, else at each
        decade, else at every 2nd, 3rd, ...; and small ones between, as long as they stay apart."""
        first = math.floor(math.log10(self.low) + _SLACK)
        last = math.ceil(math.log10(self.high) - _SLACK)
        decades = math.log10(self.high) - math.log10(self.low)
        every = max(1, math.ceil(decades / (1.6 * self.wanted)))
        dense = decades < 2 or 3 * decades <= 1.6 * self.wanted
        for d in range(first, last + 1):
            for m in range(1, 10):
                value = m * 10.0 ** d
                major = (d - first) % every == 0 if m == 1 else dense and m in (2, 5)
                inside = self.low * (1 - _SLACK) <= value <= self.high * (1 + _SLACK)
                if inside and (major or decades <= (30 if m == 1 else 10)):
                    yield value, major

    # ---- places and texts ----

    def px(self, value: float) -> float:
        """Returns the place of a value, in pixels; NaN if it is not finite."""
        if not math.isfinite(value):
            return math.nan
        if not self.log:
            part = (value - self.low) / (self.high - self.low)
        elif value <= 0:
            part = 0
        else:
            part = ((math.log(value) - math.log(self.low))
                    / (math.log(self.high) - math.log(self.low)))
        return min(max(self.start + part * (self.end - self.start), -_FAR_PX), _FAR_PX)

    def places(self, values: Sequence[float]) -> list[float]:
        """Returns the places of values; of many, in a tenth of the time."""
        if not self.log and all(map(math.isfinite, values)):
            low, span = self.low, self.high - self.low
            start, length = self.start, self.end - self.start
            places = [start + (value - low) / span * length for value in values]
            if min(places, default=0) > -_FAR_PX and max(places, default=0) < _FAR_PX:
                return places
        return [self.px(value) for value in values]

    def value(self, px: float) -> float:
        """Returns the value at a place."""
        share = min(max((px - self.start) / (self.end - self.start), 0), 1)
        if self.log:
            return self.low * math.pow(self.high / self.low, share)
        return self.low + share * (self.high - self.low)

    def holds(self, value: float) -> bool:
        """Returns true if the value lies in the range, or at the lower end of a log axis."""
        return self.low <= value <= self.high or (self.log and value <= 0)

    def text(self, value: float, digits: int) -> str:
        """Writes a value in the unit of the ticks if they share one, else in one that suits it."""
        if self.unit:
            return f"{short(value / self.factor, digits)} {self.unit}"
        return self.axis.unit.text(value, digits)


def _round_step(step: float) -> float:
    """Returns the smallest step of 1, 2 or 5 times a power of ten that is at least `step`."""
    if not 0 < step < math.inf:
        return 1
    step = max(step, 1e-300)
    power = 10.0 ** math.floor(math.log10(step))
    return next(k for k in (1, 2, 5, 10) if k == 10 or step / power <= k + _SLACK) * power


def _round_below(value: float) -> float:
    """Returns the largest such step that is at most `value`."""
    step = _round_step(value)
    if step <= value * (1 + _SLACK):
        return step
    power = 10.0 ** math.floor(math.log10(step) + _SLACK)
    return {1: 0.5, 2: 1.0}.get(round(step / power), 2.0) * power  # from 5 to 2, from 2 to 1, ...


def _decimals(values: Iterable[float]) -> int:
    """Returns how many decimals show every value exactly."""
    decimals = 0
    for value in values:
        while decimals < 9 and abs(value * 10 ** decimals - round(value * 10 ** decimals)) > 1e-4:
            decimals += 1
    return decimals
