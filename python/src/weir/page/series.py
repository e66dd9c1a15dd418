# SPDX-License-Identifier: BSD-3-Clause
"""The kinds of series: one set of data in a chart, and how it is drawn. Each kind is a class, with
all that is particular to it. A value that is not finite is left out: a line has a gap there.

However many data there are, the drawing is bounded; for the default size of a chart:

  Points   each has its marker, up to MARKERS_MAX in view. More are counted in cells of 1.5 px, and
           every occupied cell is drawn, in four strengths by count: density shows, and so does the
           single outlier. Ordinary data < 200 kB, evenly spread < 500 kB.
  Line, Step, Histogram
           first, smallest, largest and last value of each pixel column, so that no spike is lost.
           < 60 kB, a histogram twice that.
  Marks    counted in columns of 1.5 px, in the same strengths. < 16 kB.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from . import svg
from .scale import Scale
from .theme import SERIES_COLORS
from .units import short

MARKERS_MAX = 2000  # points drawn one by one
_LARGE_MAX = 150  # up to so many points are large, and have tooltips
_TOOLTIP_DIGITS = 4
LANE_PX = 13  # of marks, below the data area
STRIPS = 72  # side by side, over the data area: each has a tooltip

_MARKERS = {  # path data around the current point: large, small
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
        marker = "none" if many else list(_MARKERS)[position % len(_MARKERS)]
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
    first, last = scale.text(low, _TOOLTIP_DIGITS), scale.text(high, _TOOLTIP_DIGITS)
    return first if first == last else f"{first} to {last}"


# ---- points ----

Seen = tuple[float, float, float, float]  # the place of a point in view, and its values


@dataclass(kw_only=True)
class Points(Series):
    markers_most: ClassVar[float] = math.inf
    sample_px: ClassVar[float] = 12

    def marker_class(self) -> str:
        return "line" if self.marker == "cross" else "paper hollow" if self.hollow else "fill"

    def sample(self) -> Iterator[tuple[str, float, str]]:
        if self.marker != "none":
            yield self.marker_class(), self.sample_px / 2, _MARKERS[self.marker][0]

    def above(self, plot: Plot, place: int) -> Iterator[str]:
        if self.low:
            yield _whiskers("thin", plot, self, plot.x.places(self.x))
        if self.marker != "none":
            seen = [place for place in zip(plot.x.places(self.x), plot.y.places(self.y), self.x,
                                           self.y)
                    if 0 <= place[0] <= plot.width and 0 <= place[1] <= plot.height]
            yield from (self._each if len(seen) <= MARKERS_MAX else self._density)(plot, seen)

    def _each(self, plot: Plot, seen: list[Seen]) -> Iterator[str]:
        large = len(seen) <= _LARGE_MAX
        shape = _MARKERS[self.marker][0 if large else 1]
        places = [f"M{svg.point(px, py)}{shape}" for px, py, _, _ in seen]
        if not large:
            yield svg.path(self.marker_class(), "".join(places))
            return
        for place, (_, _, x, y) in zip(places, seen):
            at = plot.categories[round(x)] if plot.categories else plot.x.text(x, _TOOLTIP_DIGITS)
            title = f"{at}, {plot.y.text(y, _TOOLTIP_DIGITS)}"
            yield (f'<path class="{self.marker_class()}" d="{place}"><title>'
                   + svg.escaped(f"{self.name}: {title}" if self.name else title)
                   + "</title></path>\n")

    def _density(self, plot: Plot, seen: list[Seen]) -> Iterator[str]:
        counts = Counter([(int(py / _CELL_PX), int(px / _CELL_PX)) for px, py, _, _ in seen])
        columns, rows = (int(px / _CELL_PX) + 1 for px in (plot.width, plot.height))
        # Dots a little larger than a cell join into areas. If few cells are occupied, even larger
        # ones do not run together. The middle of a cell is the origin of its path.
        dot = "2" if len(counts) < columns * rows // 12 else "1.4"
        yield f'<g transform="translate(.75 .75)scale(1.5)" stroke-width="{dot}">\n'
        for strength, cells in _levels(counts):
            yield (f'<path class="dots" stroke-opacity="{strength}" '
                   f'd="{"".join(_runs(cells))}"/>\n')
        yield "</g>\n"


def _whiskers(classes: str, plot: Plot, series: Series, places: Iterable[float]) -> str:
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


# ---- many points, and marks ----

_CELL_PX = 1.5
_STRENGTHS = ("0.58", "0.72", "0.86", "1")
Cell = tuple[int, int]  # row, column


def _levels(counts: Mapping[Cell, int]) -> Iterator[tuple[str, list[Cell]]]:
    """Yields the strengths, each with its cells in order. The number of bits of its count decides:
    the fullest cell is in the strongest, and one weaker for each quarter of its bits that a count
    has less. While no cell holds more than a few points, all are strong."""
    most = max(counts.values(), default=0).bit_length()
    levels: list[list[Cell]] = [[] for _ in _STRENGTHS]
    for cell in sorted(counts):
        fewer = most - counts[cell].bit_length()
        levels[3 - fewer * 4 // max(most, 4)].append(cell)
    yield from zip(_STRENGTHS, levels)


def _runs(cells: list[Cell]) -> Iterator[str]:
    """Yields path data, in cells: for each unbroken run in a row, a stroke from the middle of its
    first cell to the middle of its last."""
    begin = 0
    for i, (row, column) in enumerate(cells):
        if i + 1 == len(cells) or cells[i + 1] != (row, column + 1):
            first = cells[begin][1]
            yield f"M{first} {row}h{column - first}"
            begin = i + 1


@dataclass(kw_only=True)
class Marks(Series):
    """Ticks at x, in a lane of their own between the data and the x axis."""

    def above(self, plot: Plot, place: int) -> Iterator[str]:
        counts = Counter([(0, int(px / _CELL_PX)) for px in plot.x.places(self.x)
                          if 0 <= px <= plot.width])
        top = plot.height + place * LANE_PX + 3
        for strength, cells in _levels(counts):
            marks = "".join(f"M{svg.point((column + 0.5) * _CELL_PX, top)}v{LANE_PX - 4}"
                            for _, column in cells)
            yield f'<path class="thin" stroke-opacity="{strength}" d="{marks}"/>\n'

    def sample(self) -> Iterator[tuple[str, float, str]]:
        yield "thin", 0, "m6-5v10m5-10v10m5-10v10"

    def strips(self, plot: Plot) -> dict[int, list[float]]:
        return plot.by_strip(self.x, self.x)

    def said(self, plot: Plot, values: list[float]) -> str:
        return str(len(values))


# ---- lines ----

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


def _steps(places: Iterable[Place]) -> str:
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
        return _steps(places)

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


# ---- bars ----

@dataclass(kw_only=True)
class Histogram(Series):
    """x: the edges of the bins, one more than their heights y."""

    stands: ClassVar[bool] = True

    def inside(self, plot: Plot, place: int) -> Iterator[str]:
        base = plot.y.px(0)
        heights = [y if math.isfinite(y) else 0 for y in self.y]
        tops = list(zip(plot.x.places(self.x), plot.y.places(heights)))
        outline = (f"M{svg.point(tops[0][0], base)}" + "".join(map(_steps, thinned(tops)))
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
            title = f"{category}: {plot.y.text(y, _TOOLTIP_DIGITS)}"
            yield svg.rect(classes, left + inset, min(end(y), end(0)), max(width - 2 * inset, 0.5),
                           abs(end(0) - end(y)),
                           svg.escaped(f"{self.name}, {title}" if self.name else title))

    def above(self, plot: Plot, place: int) -> Iterator[str]:
        bars = list(self._bars(plot, place))
        if self.low:
            yield _whiskers("whisker", plot, self, [left + width / 2 for _, _, left, width in bars])
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
