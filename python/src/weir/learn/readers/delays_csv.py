# SPDX-License-Identifier: BSD-3-Clause
"""A CSV with a column `rtt`, or `delay` (one way), perhaps with a unit, and perhaps one `time`."""

from __future__ import annotations

import csv
import io
import math
import re

import numpy

from .measured import UNITS_NS, Measured, times


def read(text: str) -> Measured | None:
    try:
        rows = [row for row in csv.reader(io.StringIO(text.lstrip("\ufeff")))
                if row and not row[0].startswith("#")]
    except csv.Error:
        return None
    if len(rows) < 2:
        return None
    trip, one = column(rows[0], "rtt", "trip"), column(rows[0], "delay", "owd")
    time = column(rows[0], "time")
    value = trip or one
    if value is None:
        return None
    delays = numpy.array([number(row, value) for row in rows[1:]])
    at = (numpy.array([number(row, time) for row in rows[1:]]) if time is not None
          else numpy.full(len(delays), math.nan))
    return Measured("CSV", times(at), delays, one_way=trip is None)


def column(head: list[str], *names: str) -> tuple[int, float] | None:
    """Returns the place of a column with one of these names, and how many ns its unit has."""
    for i, cell in enumerate(head):
        words = re.sub(r"[\[\]()_]", " ", cell).strip().lower().split()
        if words and words[0] in names:
            given = words[1] if len(words) > 1 else "s" if words[0] == "time" else "ms"
            if given in UNITS_NS:
                return i, UNITS_NS[given]
    return None


def number(row: list[str], where: tuple[int, float]) -> float:
    try:
        return float(row[where[0]]) * where[1]
    except (ValueError, IndexError):
        return math.nan
