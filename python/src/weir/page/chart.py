# SPDX-License-Identifier: BSD-3-Clause
"""A chart as SVG:

    Chart(x=Axis("Time", NS), y=Axis("Delay", NS), series=[
        Points(name="delivered", x=t_ns, y=delay_ns),
        Marks(name="lost", x=lost_ns, color=2)]).svg()

Series are drawn in their order, later ones over earlier ones; colours and markers follow the same
order unless given. Names stand in a legend above the data, which it cannot cover. Without any data,
the axes are drawn and say so.

The same description and data give the same bytes. The size of the output is bounded whatever the
number of data (points.py). Charts one above the other line up on the x axis if they share size and
a given range of x: the left margin grows only for tick labels wider than about ten characters.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from . import svg
from .bars import Bars
from .frame import Frame, Legend
from .points import Marks
from .scale import Axis, Extent, Scale
from .series import STRIPS, Plot, Series, span

_TITLE_FONT = 15.0  # 14, bold
_TITLE_PX, _TOP_PX, _RIGHT_PX = 26.0, 12.0, 28.0
_LEGEND_GAP_PX = 6.0
_X_INSET_PX = 8.0  # between the y axis and the first datum of a chosen range
_X_TICK_PX, _Y_TICK_PX = 85.0, 42.0  # one tick with a label in about so many pixels
_LEAST_PX = 40.0
_TOLD_MAX = 8  # series of a chart whose values are under the pointer


@dataclass
class Chart:
    x: Axis
    y: Axis
    series: Sequence[Series]
    title: str = ""
    width: int = 720
    height: int = 360

    def svg(self) -> str:
        """Returns the <svg> element of a page that has the style sheet of theme.py."""
        return (f'<svg class="chart" role="img" width="{self.width}" height="{self.height}" '
                f'viewBox="0 0 {self.width} {self.height}" '
                f'aria-label="{svg.escaped(self.title or "chart")}">\n'
                f'{"".join(self._draw())}</svg>\n')

    def _draw(self) -> Iterator[str]:
        series = [one.arranged(i) for i, one in enumerate(self.series)]
        plot, left, top = self._arrange(series)
        if self.title:
            yield svg.text("title", left, _TOP_PX + 10, "start",
                           svg.fitted(self.title, _TITLE_FONT, self.width - left))
        yield from Legend(series, plot.width).draw(left, self._legend_top() + 4)
        yield f'<g transform="translate({svg.point(left, top)})">\n'
        frame = Frame(plot)
        yield frame.grid()
        # Axes are drawn over what stands on them. They must not hide points and lines that touch
        # them.
        last = any(one.stands for one in series)
        if not last:
            yield from frame.axes()
        places: dict[type, int] = {}
        for one in series:
            yield from one.draw(plot, places.get(type(one), 0))
            places[type(one)] = places.get(type(one), 0) + 1
        if last:
            yield from frame.axes()
        if not plot.categories:  # whose bars show their values
            yield from _tooltips(plot, series[:_TOLD_MAX])
        if all(one.is_empty() for one in series):
            yield svg.text("tick", plot.width / 2, plot.height / 2, "middle", "no data")
        yield "</g>\n"

    def _legend_top(self) -> float:
        return _TOP_PX + (_TITLE_PX if self.title else 0)

    def _arrange(self, series: list[Series]) -> tuple[Plot, float, float]:
        """Chooses the ranges and divides the picture. Also returns the corner where the data area
        begins."""
        across, up, y = Extent(), Extent(), self.y
        for one in series:
            across.take(one.x)
            for values in (one.y, one.low, one.high):
                up.take(values)
        if any(one.stands for one in series):
            y = dataclasses.replace(y, from_zero=True)
        if any(isinstance(one, Bars) and one.values for one in series):
            up.high *= 1.05  # room for the text above the highest bar
        y_scale = Scale(y, up, True, _wanted((self.height - 100) / _Y_TICK_PX))
        left = Frame.left(y_scale)
        width = max(self.width - left - _RIGHT_PX, _LEAST_PX)
        x_scale = Scale(self.x, across, False, _wanted(width / _X_TICK_PX))
        lanes, bars = (sum(isinstance(one, kind) for one in series) for kind in (Marks, Bars))
        plot = Plot(x_scale, y_scale, width, 0, lanes, bars)
        rows = Legend(series, width).height()
        top = self._legend_top() + (rows + _LEGEND_GAP_PX if rows else 0)
        plot.height = max(self.height - top - (Frame(plot).bottom() + plot.foot), _LEAST_PX)
        inset = 0 if self.x.is_given or self.x.categories else _X_INSET_PX
        x_scale.start, x_scale.end = inset, width - inset
        y_scale.start, y_scale.end = plot.height, 0
        return plot, left, top


def _wanted(ticks: float) -> int:
    return math.floor(max(ticks, 2) + 0.5)


def _tooltips(plot: Plot, series: Sequence[Series]) -> Iterator[str]:
    """Covers the data area by strips side by side. Each has a tooltip of the browser (an SVG
    <title>) with its place on the x axis and the values of each series in it. So a chart shows its
    values in a bounded number of bytes, however they are drawn."""
    told = [(one, one.strips(plot)) for one in series]
    width = plot.width / STRIPS
    for strip in range(STRIPS):
        if not any(strip in values for one, values in told if not one.everywhere):
            continue
        left = strip * width
        lines = [span(plot.x, plot.x.value(left), plot.x.value(left + width))]
        lines += [(f"{one.name}: " if one.name else "") + one.said(plot, values[strip])
                  for one, values in told if strip in values]
        yield svg.rect("hover", left, 0, width, plot.foot, svg.escaped("\n".join(lines)))
