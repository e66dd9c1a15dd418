# SPDX-License-Identifier: BSD-3-Clause
"""Points, and marks on the x axis. However many there are, the drawing is bounded; for the default
size of a chart:

  Points   each has its marker, up to MARKERS_MAX in view. More are counted in cells of 1.5 px, and
           every occupied cell is drawn, in four strengths by count: density shows, and so does the
           single outlier. Ordinary data < 200 kB, evenly spread < 500 kB.
  Marks    counted in columns of 1.5 px, in the same strengths. < 16 kB.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from . import svg
from .series import LANE_PX, MARKERS, TOOLTIP_DIGITS, Plot, Series, whiskers

MARKERS_MAX = 2000  # points drawn one by one
_LARGE_MAX = 150  # up to so many points are large, and have tooltips
_CELL_PX = 1.5
_STRENGTHS = ("0.58", "0.72", "0.86", "1")
Cell = tuple[int, int]  # row, column
Seen = tuple[float, float, float, float]  # the place of a point in view, and its values


@dataclass(kw_only=True)
class Points(Series):
    markers_most: ClassVar[float] = math.inf
    sample_px: ClassVar[float] = 12

    def marker_class(self) -> str:
        return "line" if self.marker == "cross" else "paper hollow" if self.hollow else "fill"

    def sample(self) -> Iterator[tuple[str, float, str]]:
        if self.marker != "none":
            yield self.marker_class(), self.sample_px / 2, MARKERS[self.marker][0]

    def above(self, plot: Plot, place: int) -> Iterator[str]:
        if self.low:
            yield whiskers("thin", plot, self, plot.x.places(self.x))
        if self.marker != "none":
            seen = [place for place in zip(plot.x.places(self.x), plot.y.places(self.y), self.x,
                                           self.y)
                    if 0 <= place[0] <= plot.width and 0 <= place[1] <= plot.height]
            yield from (self._each if len(seen) <= MARKERS_MAX else self._density)(plot, seen)

    def _each(self, plot: Plot, seen: list[Seen]) -> Iterator[str]:
        large = len(seen) <= _LARGE_MAX
        shape = MARKERS[self.marker][0 if large else 1]
        places = [f"M{svg.point(px, py)}{shape}" for px, py, _, _ in seen]
        if not large:
            yield svg.path(self.marker_class(), "".join(places))
            return
        for place, (_, _, x, y) in zip(places, seen):
            at = plot.categories[round(x)] if plot.categories else plot.x.text(x, TOOLTIP_DIGITS)
            title = f"{at}, {plot.y.text(y, TOOLTIP_DIGITS)}"
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


# ---- many points, and marks ----

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
