# SPDX-License-Identifier: BSD-3-Clause
"""Numbers short enough for a column, in ASCII; a row of bars; and the part of a text that fits the
screen."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

_TIMES = (("ns", 1.0, 999.5), ("us", 1e3, 999.5), ("ms", 1e6, 999.5), ("s", 1e9, 120.0),
          ("min", 60e9, 120.0), ("h", 3600e9, 72.0), ("d", 86400e9, math.inf))
_BARS, _PLAIN_BARS = " ▁▂▃▄▅▆▇█", " .:-=+*#@"


def _three(value: float, unit: str) -> str:
    """Returns three significant digits and a unit."""
    places = 0 if value >= 99.95 else 1 if value >= 9.995 else 2
    if not unit and value == math.floor(value):
        places = 0
    return f"{value:.{places}f}{unit}"


def count(value: float) -> str:
    """Returns at most six characters.

    >>> count(0), count(842), count(84_200), count(1_234_567), count(-1), count(0.5)
    ('0', '842', '84.2k', '1.23M', '0', '0.50')
    """
    units = iter(("k", "M", "G", "T", "P"))
    unit = ""
    while value >= 999.5 and unit != "P":
        value, unit = value / 1000, next(units)
    return _three(max(value, 0.0), unit)


def time(ns: float) -> str:
    """
    >>> time(801), time(40_123_000), time(192e9), time(-1)
    ('801ns', '40.1ms', '3.20min', '-')
    """
    if ns < 0:
        return "-"
    unit, size, _ = next(row for row in _TIMES if ns / row[1] < row[2])
    return f"{ns:.0f}ns" if unit == "ns" else _three(ns / size, unit)


def spark(values: Collection[float], points: int, utf8: bool) -> str:
    """Draws the latest `points` values as bars; the greatest of all has the highest bar.

    >>> spark([0, 1, 4, 8], 3, True), spark([0, 8, 0], 9, False), spark([0, 0], 2, True)
    ('▁▄█', ' @ ', '  ')
    """
    most = max(values, default=0.0)
    bars = _BARS if utf8 else _PLAIN_BARS
    return "".join(bars[math.ceil(value / most * 8) if most > 0 else 0]
                   for value in [*values][-points:])


@dataclass(frozen=True)
class Page:
    """The lines of a text that are shown; `begin`: the number of the first; `below`: how many
    follow the last one."""

    lines: tuple[str, ...]
    begin: int
    below: int


def page(text: str, roomy: int, room: int, begin: int) -> Page:
    """Lays a text out in at most `room` rows. It keeps its blank lines if it fits in `roomy` rows.
    If it still does not fit, it is shown from line `begin` on; one beyond the last page means the
    last page."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    if len(lines) > roomy:
        lines = [line for line in lines if line]
    rows = max(min(len(lines), room), 0)
    begin = min(begin, len(lines) - rows)
    return Page(tuple(lines[begin:begin + rows]), begin, len(lines) - begin - rows)
