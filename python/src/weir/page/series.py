# SPDX-License-Identifier: BSD-3-Clause
"""A set of data in a chart: what all kinds of it share. Each kind is a class with all that is
particular to it, in points.py, lines.py or bars.py. A value that is not finite is left out: a line
has a gap there."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from . import svg
from .scale import Scale
from .theme import SERIES_COLORS

TOOLTIP_DIGITS = 4
LANE_PX = 13  # of marks, below the data area
STRIPS = 72  # side by side, over the data area: each has a tooltip

MARKERS = {  # path data around the current point: large, small
    "circle": ("m-3.8 0a3.8 3.8 0 1 0 7.6 0a3.8 3.8 0 1 0-7.6 0",
               "m-2 0a2 2 0 1 0 4 0a2 2 0 1 0-4 0"),
    "square": ("m-3.4-3.4h6.8v6.8h-6.8z", "m-2-2h4v4h-4z"),
    "triangle": ("m0-4.8l4.4 7.6h-8.8z", "m0-2.8l2.7 4.7h-5.4z"),
    "diamond": ("m0-4.8l4.8 4.8-4.8 4.8-4.8-4.8z", "m0-2.9l2.9 2.9-2.9 2.9-2.9-2.9z"),
    "cross": ("m-3.4-3.4l6.8 6.8m0-6.8l-6.8 6.8", "m-2-2l4 4m0-4l-4 4"),
}


@dataclass
class Plot:
    """The data area. Its origin is the upper left corner. Below it there is a lane for each series
    of marks, and below the lanes the x axis."""

    x: Scale
    y: Scale
    width: float
    height: float
    lanes: int
    bars: int  # series of bars, which share each category's place

    @property
    def categories(self) -> Sequence[str]:
        return self.x.axis.categories

    @property
    def foot(self) -> float:
        return self.height + self.lanes * LANE_PX

    def by_strip(self, xs: Sequence[float], values: Iterable[float]) -> dict[int, list[float]]:
        """Returns the finite values in each strip."""
        found: list[list[float]] = [[] for _ in range(STRIPS + 1)]
        most, width = self.width, self.width / STRIPS
        for px, value in zip(self.x.places(xs), values):
            if 0 <= px <= most:
                found[int(px / width)].append(value)
        found[STRIPS - 1] += found.pop()  # the right edge belongs to the last strip
        return {strip: finite for strip, held in enumerate(found)
                if (finite := [value for value in held if math.isfinite(value)])}


@dataclass(kw_only=True)
class Series:
    """`low` and `high`: the ends of error bars, as values of y. `color`: 1 to SERIES_COLORS; 0: by
    the position among the series, as a marker is. `hollow`: outline only, for data to compare
    with."""

    name: str = ""  # in the legend; "": not in it
    x: Sequence[float] = ()
    y: Sequence[float] = ()
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    color: int = 0
    marker: str = ""
    hollow: bool = False
    dashed: bool = False

    stands: ClassVar[bool] = False  # heights are measured from the axis, which must begin at 0
    everywhere: ClassVar[bool] = False  # its values hold for all x
    markers_most: ClassVar[float] = 0  # with more points it has no markers, unless they are given
    sample_px: ClassVar[float] = 22  # width of the sample in the legend

    def arranged(self, position: int) -> Self:
        """Returns the series with its colour and marker."""
        many = len(self.x) > self.markers_most
        marker = "none" if many else list(MARKERS)[position % len(MARKERS)]
        return replace(self, color=self.color or position % SERIES_COLORS + 1,
                       marker=self.marker or marker)

    def is_empty(self) -> bool:
        return not self.x and not self.y

    def draw(self, plot: Plot, place: int) -> Iterator[str]:
        """Draws the series, the one of this number among those of its kind."""
        if self.is_empty():
            return
        yield f'<g class="c{self.color}">\n'
        if curve := "".join(self.inside(plot, place)):
            # An inner <svg> cuts off what is outside. It needs no id that charts could share.
            width, height = plot.width + 2, plot.height + 2
            yield (f'<svg x="-1" y="-1" width="{svg.number(width)}" '
                   f'height="{svg.number(height)}" viewBox="-1 -1 {svg.point(width, height)}">\n'
                   f"{curve}</svg>\n")
        yield from self.above(plot, place)
        yield "</g>\n"

    def inside(self, plot: Plot, place: int) -> Iterator[str]:
        """Draws what is cut off at the edges of the data area."""
        yield from ()

    def above(self, plot: Plot, place: int) -> Iterator[str]:
        """Draws what may reach beyond them."""
        yield from ()

    def sample(self) -> Iterator[tuple[str, float, str]]:
        """Yields the parts of the sample in the legend: classes, the distance from its left edge,
        and path data from there on."""
        yield from ()

    def strips(self, plot: Plot) -> dict[int, list[float]]:
        """Returns the values in each strip that has any."""
        return plot.by_strip(self.x, self.y)

    def said(self, plot: Plot, values: list[float]) -> str:
        """Writes what the values of a strip are."""
        return span(plot.y, min(values), max(values))

    def dash(self, classes: str) -> str:
        return classes + " dash" if self.dashed else classes


def span(scale: Scale, low: float, high: float) -> str:
    """Writes `1.2 ms`, or `1.2 ms to 1.4 ms`."""
    first, last = scale.text(low, TOOLTIP_DIGITS), scale.text(high, TOOLTIP_DIGITS)
    return first if first == last else f"{first} to {last}"



def whiskers(classes: str, plot: Plot, series: Series, places: Iterable[float]) -> str:
    data = []
    for x, low, high in zip(places, series.low, series.high):
        ends = plot.y.px(low), plot.y.px(high)
        if not (all(map(math.isfinite, (x, *ends))) and 0 <= x <= plot.width
                and min(ends) <= plot.height and max(ends) >= 0):
            continue
        # a cap only where the end is in view
        data += [f"M{svg.point(x - 3, end)}h6" for end in ends if 0 <= end <= plot.height]
        first, last = (svg.number(min(max(end, 0), plot.height)) for end in ends)
        data.append(f"M{svg.number(x)} {first}V{last}")
    return svg.path(classes, "".join(data))
