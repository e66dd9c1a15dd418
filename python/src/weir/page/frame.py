# SPDX-License-Identifier: BSD-3-Clause
"""What is around the data of a chart: grid, axes, ticks and their labels, and the legend; and the
room that they take."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from . import svg
from .scale import Scale
from .series import Plot, Series

_FONT, _TICK_FONT = 12.0, 11.0
_TICK_PX, _SMALL_TICK_PX = 5.0, 3.0
_LEFT_LEAST_PX, _LEFT_STEP_PX = 72.0, 8.0
_AXIS_LABEL_PX = 20.0
_LABEL_GAP_PX = 8.0  # least distance between neighbouring tick labels
_SLANT_DEGREES, _SLANT_WIDEST_PX = 38.0, 120.0  # of category names that do not fit side by side
_SLANT = math.radians(_SLANT_DEGREES)


def _widest(texts: Sequence[str]) -> float:
    return max((svg.width(text, _TICK_FONT) for text in texts), default=0)


def _widest_tick(scale: Scale) -> float:
    return _widest([tick.label for tick in scale.ticks])


class Frame:
    """Coordinates are those of the data area."""

    def __init__(self, plot: Plot) -> None:
        self.plot = plot
        self.widest = _widest(plot.categories)
        self.slants = bool(plot.categories) and (
            self.widest + _LABEL_GAP_PX > plot.width / len(plot.categories))

    # ---- room ----

    @staticmethod
    def left(y: Scale) -> float:
        """Returns the room left of the data area for the labels of the y axis."""
        need = _widest_tick(y) + 12 + (_AXIS_LABEL_PX if y.axis.label else 0)
        return max(_LEFT_LEAST_PX, math.ceil(need / _LEFT_STEP_PX) * _LEFT_STEP_PX)

    def bottom(self) -> float:
        """Returns the room below the data area and its lanes for the labels of the x axis."""
        bottom = 24.0
        if self.slants:
            bottom = 16 + min(self.widest, _SLANT_WIDEST_PX) * math.sin(_SLANT)
        return bottom + (_AXIS_LABEL_PX if self.plot.x.axis.label else 0)

    # ---- grid and axes ----

    def grid(self) -> str:
        plot = self.plot
        across = (f"M{svg.point(0, plot.y.px(tick.value))}h{svg.number(plot.width)}"
                  for tick in plot.y.ticks if tick.label)
        up = (f"M{svg.point(plot.x.px(tick.value), 0)}v{svg.number(plot.height)}"
              for tick in plot.x.ticks if tick.label)
        return svg.path("grid", "".join([*across, *up]))

    def axes(self) -> Iterator[str]:
        yield from self._tick_lines()
        yield from self._y_labels()
        yield from self._categories() if self.plot.categories else self._x_labels()
        yield from self._titles()

    def _tick_lines(self) -> Iterator[str]:
        plot, foot = self.plot, self.plot.foot
        data = f"M0 0V{svg.number(foot)}H{svg.number(plot.width)}"
        for tick in plot.y.ticks:
            length = _TICK_PX if tick.label else _SMALL_TICK_PX
            data += f"M{svg.point(0, plot.y.px(tick.value))}h{svg.number(-length)}"
        for tick in plot.x.ticks:
            length = _TICK_PX if tick.label else _SMALL_TICK_PX
            data += f"M{svg.point(plot.x.px(tick.value), foot)}v{svg.number(length)}"
        yield svg.path("axis", data)
        # The end of the data area above lanes, or zero where it is not the axis.
        below_zero = not plot.y.log and plot.y.low < 0
        if plot.lanes or plot.y.log or plot.y.low < 0 < plot.y.high:
            at = plot.y.px(0) if below_zero else plot.height
            yield svg.path("axis faint", f"M{svg.point(0, at)}L{svg.point(plot.width, at)}")

    def _y_labels(self) -> Iterator[str]:
        """Writes every label, from the lowest on, that keeps its distance from the last one."""
        free = math.inf
        for tick in self.plot.y.ticks:
            px = self.plot.y.px(tick.value)
            if tick.label and px <= free:
                yield svg.text("tick", -_TICK_PX - 4, px + 4, "end", tick.label)
                free = px - _TICK_FONT

    def _x_labels(self) -> Iterator[str]:
        free = -math.inf
        for tick in self.plot.x.ticks:
            px, half = self.plot.x.px(tick.value), svg.width(tick.label, _TICK_FONT) / 2
            if tick.label and px - half >= free:
                yield svg.text("tick", px, self.plot.foot + _TICK_PX + 13, "middle", tick.label)
                free = px + half + _LABEL_GAP_PX

    def _categories(self) -> Iterator[str]:
        plot, free = self.plot, -math.inf
        for i, name in enumerate(plot.categories):
            px = plot.x.px(i)
            if px < free:
                continue
            free = px + _TICK_FONT + 2
            if self.slants:  # it must not reach beyond the left edge of the picture
                room = min(_SLANT_WIDEST_PX, (px + _LEFT_LEAST_PX - 6) / math.cos(_SLANT))
                yield svg.text("tick", px + 3, plot.foot + 13, "end",
                               svg.fitted(name, _TICK_FONT, room), -_SLANT_DEGREES)
            else:
                room = plot.width / len(plot.categories)
                yield svg.text("tick", px, plot.foot + _TICK_PX + 13, "middle",
                               svg.fitted(name, _TICK_FONT, room))

    def _titles(self) -> Iterator[str]:
        plot = self.plot
        if plot.x.axis.label:
            yield svg.text("", plot.width / 2, plot.foot + self.bottom() - 6, "middle",
                           _title(plot.x, plot.width))
        if plot.y.axis.label:
            yield svg.text("", -_widest_tick(plot.y) - 20, plot.height / 2, "middle",
                           _title(plot.y, plot.height + 40), -90)


def _title(scale: Scale, room: float) -> str:
    label = scale.axis.label
    return svg.fitted(f"{label} ({scale.unit})" if scale.unit else label, _FONT, room)


# ---- the legend ----

_ROW_PX, _NAME_GAP_PX, _ENTRY_GAP_PX = 19, 6.0, 20.0


class Legend:
    """The names of a chart's series, each behind a sample of how it is drawn, in rows."""

    def __init__(self, series: Sequence[Series], width: float) -> None:
        self.entries: list[tuple[Series, str, float, int]] = []  # with its name, x and row
        x, row = 0.0, 0
        for one in series:
            if not one.name:
                continue
            name = svg.fitted(one.name, _FONT, width - one.sample_px - _NAME_GAP_PX)
            entry = one.sample_px + _NAME_GAP_PX + svg.width(name, _FONT)
            if x > 0 and x + entry > width:
                x, row = 0, row + 1
            self.entries.append((one, name, x, row))
            x += entry + _ENTRY_GAP_PX

    def height(self) -> float:
        return (self.entries[-1][3] + 1) * _ROW_PX if self.entries else 0

    def draw(self, left: float, top: float) -> Iterator[str]:
        """Draws the rows. The middle of the first is at `top`."""
        for one, name, x, row in self.entries:
            px, middle = left + x, top + row * _ROW_PX
            yield f'<g class="c{one.color}">\n'
            for classes, at, data in one.sample():
                yield svg.path(classes, f"M{svg.point(px + at, middle)}{data}")
            yield "</g>\n"
            yield svg.text("", px + one.sample_px + _NAME_GAP_PX, middle + 4, "start", name)
