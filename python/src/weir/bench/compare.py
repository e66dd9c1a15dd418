# SPDX-License-Identifier: BSD-3-Clause
"""The comparison of two documents: which figures got worse.

Only ratios are judged, because only they mean the same on two days and two machines: of `cost` the
ratio to the ceiling, of `depth` and `clouds` the cost relative to the first row of the part. All
other figures are not compared.

A row is worse if its median is worse by more than the bound, and the ranges of its runs do not
overlap the old ones. For `depth` and `clouds`, the range is that of the rate, scaled to the ratio.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from .._command import Answers
from .document import Row, inner, number, text

HEAD = ["figure (higher is better)", "before", "now", "change", ""]
CONDITIONS = ("layout", "priority", "hugepages", "flight_ns", "flight_snap_bytes")


@dataclass
class Ratio:
    """With the range of its runs; higher is better."""

    median: float
    min: float
    max: float

    def __str__(self) -> str:
        return f"{self.median:.3f} ({self.min:.3f} to {self.max:.3f})"


def figure(row: Row) -> tuple[str, Ratio] | None:
    """Returns the name and the ratio of a row that is judged."""
    part = text(row, "part")
    if part == "cost":
        ratio = number(row, "ratio")
        least, most = (number(row, key) if key in row else ratio
                       for key in ("ratio_min", "ratio_max"))
        return (f"cost {text(row, 'scenario')} {text(row, 'ports')} {text(row, 'frames')}",
                Ratio(ratio, least, most))
    relative, mpps = number(row, "relative"), number(row, "mpps")
    if part not in ("depth", "clouds") or relative <= 0 or mpps <= 0:
        return None
    # A depth is named by the configured number of packets, since the number actually in flight
    # differs a little from run to run. The inverse of the cost relative to the first row makes
    # higher better.
    median = 1 / relative
    return f"{part} {number(row, part):.0f}", Ratio(
        median, *(median * number(row, key) / mpps for key in ("mpps_min", "mpps_max")))


def figures(document: Row) -> list[tuple[str, Ratio]]:
    return [found for found in map(figure, document.get("rows", [])) if found]


def verdict(before: Ratio | None, after: Ratio | None, bound: float) -> str:
    if before is None or after is None:
        return "new" if before is None else "missing now"
    if after.median < before.median * (1 - bound) and after.max < before.min:
        return "WORSE"
    if after.median > before.median * (1 + bound) and after.min > before.max:
        return "better"
    return ""


def compare(before: Row, after: Row, bound: float, weir: Answers) -> tuple[str, int]:
    """Returns a text, which also names conditions that are not the same, and how many figures are
    worse."""
    old, new = figures(before), figures(after)
    there, here = dict(reversed(old)), dict(reversed(new))  # the first of each name
    pairs: list[tuple[str, Ratio | None, Ratio | None]] = [
        (name, was, here.get(name)) for name, was in old]
    pairs += [(name, None, now) for name, now in new if name not in there]
    rows, worse = [HEAD], 0
    for name, was, now in pairs:
        said = verdict(was, now, bound)
        change = f"{(now.median / was.median - 1) * 100:+.1f} %" if was and now and (
            was.median > 0) else ""
        rows.append([name, str(was or "-"), str(now or "-"), change, said])
        worse += said == "WORSE"
    answer = weir.table("lrrrl", rows)
    for key in CONDITIONS:  # those that change a ratio
        was_text, is_text = (_condition(document, key) for document in (before, after))
        if was_text != is_text:
            answer += f"\nnot measured alike: {key} was {was_text}, and is {is_text} now"
    return answer + (f"\n{worse} of {len(rows) - 1} figures are worse by more than "
                     f"{bound * 100:.0f} %, beyond the spread of their runs\n"), worse


def _condition(document: Row, key: str) -> str:
    machine = inner(document, "machine")
    return json.dumps(machine[key], ensure_ascii=False) if key in machine else "not there"
