# SPDX-License-Identifier: BSD-3-Clause
"""Bars, and histograms, whose outline is thinned as a line is (lines.py): < 120 kB."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from . import svg
from .lines import steps, thinned
from .series import STRIPS, TOOLTIP_DIGITS, Plot, Series, whiskers
from .units import short


@dataclass(kw_only=True)
class Histogram(Series):
    """x: the edges of the bins, one more than their heights y."""

    stands: ClassVar[bool] = True

    def inside(self, plot: Plot, place: int) -> Iterator[str]:
        base = plot.y.px(0)
        heights = [y if math.isfinite(y) else 0 for y in self.y]
        tops = list(zip(plot.x.places(self.x), plot.y.places(heights)))
        outline = (f"M{svg.point(tops[0][0], base)}" + "".join(map(steps, thinned(tops)))
                   + f"H{svg.number(plot.x.px(self.x[len(tops)]))}V{svg.number(base)}")
        if not self.hollow:
            yield svg.path("area", outline)
        yield svg.path(self.dash("thin"), outline)

    def sample(self) -> Iterator[tuple[str, float, str]]:
        for classes in ("thin",) if self.hollow else ("area", "thin"):
            yield self.dash(classes), 0, "m2 6v-7h6v-5h6v3h6v9z"

    def strips(self, plot: Plot) -> dict[int, list[float]]:
        """A bin is in all strips from its left edge to its right one."""
        found: dict[int, list[float]] = {}
        edges = plot.x.places(self.x)
        for left, right, y in zip(edges, edges[1:], self.y):
            if 0 <= left <= plot.width and math.isfinite(y):
                first, last = (min(int(px * STRIPS / plot.width), STRIPS - 1)
                               for px in (left, min(right, plot.width)))
                for strip in range(first, last + 1):
                    found.setdefault(strip, []).append(y)
        return found


@dataclass(kw_only=True)
class Bars(Series):
    """y: a value for each category; the bars of several series stand in groups. `values`: each is
    written above its bar, where it fits."""

    values: bool = False

    stands: ClassVar[bool] = True
    sample_px: ClassVar[float] = 12

    def _bars(self, plot: Plot, place: int) -> Iterator[tuple[str, float, float, float]]:
        """Yields category and value of each bar, its left edge and its width."""
        each = plot.width / len(plot.categories)
        width = min(each * 0.72 / plot.bars, 56)
        for i, (category, y) in enumerate(zip(plot.categories, self.y)):
            yield category, y, plot.x.px(i) + (place - plot.bars / 2) * width, width

    def inside(self, plot: Plot, place: int) -> Iterator[str]:
        def end(value: float) -> float:
            return min(max(plot.y.px(value), -2), plot.height + 2)

        classes = "paper hollow" if self.hollow else "fill"
        for category, y, left, width in self._bars(plot, place):
            if not math.isfinite(y):
                continue
            # An outline stays inside the bar's own place.
            inset = (0.5 if width > 6 else 0) + (1 if self.hollow else 0)
            title = f"{category}: {plot.y.text(y, TOOLTIP_DIGITS)}"
            yield svg.rect(classes, left + inset, min(end(y), end(0)), max(width - 2 * inset, 0.5),
                           abs(end(0) - end(y)),
                           svg.escaped(f"{self.name}, {title}" if self.name else title))

    def above(self, plot: Plot, place: int) -> Iterator[str]:
        bars = list(self._bars(plot, place))
        if self.low:
            yield whiskers("whisker", plot, self, [left + width / 2 for _, _, left, width in bars])
        for i, (_, y, left, width) in enumerate(bars if self.values else []):
            if not math.isfinite(y) or not plot.y.holds(y):
                continue
            text = (short(y / plot.y.factor, 3) if plot.y.unit  # which the axis names
                    else plot.y.axis.unit.text(y, 3))
            room = plot.width / len(plot.categories) if plot.bars == 1 else width
            if svg.width(text, 11) > room + 2:
                continue
            tip = y
            if self.low and math.isfinite(self.low[i]) and math.isfinite(self.high[i]):
                tip = self.low[i] if y < 0 else self.high[i]
            yield svg.text("small", left + width / 2, plot.y.px(tip) + (13 if y < 0 else -4),
                           "middle", text)

    def sample(self) -> Iterator[tuple[str, float, str]]:
        yield self.dash("paper hollow" if self.hollow else "fill"), 0, "m0-6h12v12h-12z"
