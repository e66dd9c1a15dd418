# SPDX-License-Identifier: BSD-3-Clause
"""Lines. Of any number of points, first, smallest, largest and last value of each pixel column are
drawn, so that no spike is lost: < 60 kB for the default size of a chart."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from . import svg
from .points import Points
from .series import STRIPS, Plot, Series, span

Place = tuple[float, float]  # in pixels


def thinned(places: Iterable[Place]) -> Iterator[list[Place]]:
    """Yields the parts of a line through any number of points whose x does not change direction;
    NaN is a gap. Of the points in one pixel column only the first, the topmost, the lowest and the
    last are kept, in their order: the picture looks the same, no spike is lost, and the length is
    bounded by the width. A gap within a column is not shown."""
    part: list[Place] = []
    column: list[Place] = []
    gap, last = False, 0
    for place in places:
        x, y = place
        if x != x or y != y:
            gap = True
            continue
        if math.floor(x) != last and column:
            part += _ends(column)
            column = []
            if gap:
                yield part
                part = []
        gap, last = False, math.floor(x)
        column.append(place)
    if column:
        yield part + _ends(column)


def _ends(column: list[Place]) -> list[Place]:
    ys = [y for _, y in column]
    return [column[i] for i in sorted({0, ys.index(min(ys)), ys.index(max(ys)), len(ys) - 1})]


def steps(places: Iterable[Place]) -> str:
    """Returns path data from the current point on: horizontal, then vertical."""
    return "".join(f"H{svg.number(x)}V{svg.number(y)}" for x, y in places)


@dataclass(kw_only=True)
class Line(Points):
    """Straight lines from point to point."""

    markers_most: ClassVar[float] = 40
    sample_px: ClassVar[float] = 22

    def inside(self, plot: Plot, place: int) -> Iterator[str]:
        places = zip(plot.x.places(self.x), plot.y.places(self.y))
        # A part of one point becomes a line of no length, whose round ends are a dot.
        yield svg.path(self.dash("line"), "".join(
            f"M{svg.point(*part[0])}" + (self.onward(part[1:]) or "h0")
            for part in thinned(places)))

    def onward(self, places: Iterable[Place]) -> str:
        return "".join(f"L{svg.point(x, y)}" for x, y in places)

    def sample(self) -> Iterator[tuple[str, float, str]]:
        yield self.dash("line"), 0, "h22"
        yield from super().sample()


@dataclass(kw_only=True)
class Step(Line):
    """The value y[i] holds from x[i] to x[i + 1]."""

    markers_most: ClassVar[float] = -1

    def onward(self, places: Iterable[Place]) -> str:
        return steps(places)

    def sample(self) -> Iterator[tuple[str, float, str]]:
        yield self.dash("line"), 0, "m1 4h7v-8h7v4h6"

    def strips(self, plot: Plot) -> dict[int, list[float]]:
        """A strip without a point has the value that holds there."""
        found = super().strips(plot)
        held: list[float] = []
        for strip in range(STRIPS):
            if strip in found:
                held = [max(found[strip])]
            elif held:
                found[strip] = held
        return found


@dataclass(kw_only=True)
class VLines(Series):
    """Lines across the chart at x, for percentiles or configured values."""

    sample_px: ClassVar[float] = 12

    def inside(self, plot: Plot, place: int) -> Iterator[str]:
        for px in (plot.x.px(x) for x in self.x if math.isfinite(x)):
            yield svg.path(self.dash("thin"),
                           f"M{svg.point(px, 0)}L{svg.point(px, plot.height)}")

    def sample(self) -> Iterator[tuple[str, float, str]]:
        yield self.dash("thin"), 0, "m6-8v16"

    def strips(self, plot: Plot) -> dict[int, list[float]]:
        return plot.by_strip(self.x, self.x)

    def said(self, plot: Plot, values: list[float]) -> str:
        return span(plot.x, min(values), max(values))


@dataclass(kw_only=True)
class HLines(Series):
    """Lines along the chart at y, for limits or configured values."""

    everywhere: ClassVar[bool] = True

    def inside(self, plot: Plot, place: int) -> Iterator[str]:
        for px in (plot.y.px(y) for y in self.y if math.isfinite(y)):
            yield svg.path(self.dash("thin"), f"M{svg.point(0, px)}L{svg.point(plot.width, px)}")

    def sample(self) -> Iterator[tuple[str, float, str]]:
        yield self.dash("thin"), 0, "h22"

    def strips(self, plot: Plot) -> dict[int, list[float]]:
        values = [y for y in self.y if math.isfinite(y)]
        return dict.fromkeys(range(STRIPS), values) if values else {}
