# SPDX-License-Identifier: BSD-3-Clause
"""Draws a run: `weir replay --picture FILE`, and that of exec, on and run. The program has sampled
the decisions, and writes the file. What comes here is in src/control/replay/picture_run.c."""

from __future__ import annotations

import bisect
import json
import sys
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, Any

from .page import (
    BPS,
    BYTES,
    NS,
    PERCENT,
    Axis,
    Chart,
    Histogram,
    HLines,
    Line,
    Marks,
    Page,
    Points,
    Series,
    Step,
    VLines,
)

BINS = 80
# The least and the greatest variation of delays, as a share of the greatest delay, for an axis that
# does not begin at 0. Less than a ten-thousandth is to be shown as the line that it is.
FLAT_LEAST, FLAT_MOST = 1e-4, 0.3

Object = dict[str, Any]


def main(_words: Sequence[str]) -> int:
    sys.stdout.write("\n")  # it is there
    sys.stdout.flush()
    try:
        page = Run(sys.stdin.buffer).page()
    except EOFError:  # the program has ended, or has nothing to draw
        return 1
    except MemoryError:
        print("weir --picture: no memory", file=sys.stderr)
        return 1
    sys.stdout.write(page)
    return 0


@dataclass
class Track:
    """Instants, in ns since the first packet, and values; each stands for `stride` of them."""

    t: list[float]
    value: list[float]
    stride: int


TRACKS = ("throughput", "delay", "queue", "average")  # and those of what was lost


def _read(source: IO[bytes], most: int = -1) -> bytes:
    """Reads so many bytes, or a line."""
    found = source.readline() if most < 0 else source.read(most)
    if len(found) < most or (most < 0 and not found.endswith(b"\n")):
        raise EOFError
    return found


class Run:
    def __init__(self, source: IO[bytes]) -> None:
        self._source = source
        head: Object = json.loads(_read(source))
        self.head = head
        # One unit for each quantity, in every chart of the page, as in its tables.
        self.time, self.delay, self.rate, self.queue = (
            unit.only(name) for unit, name in zip((NS, NS, BPS, BYTES), head["units"]))
        self._page = Page("What happened to the packets", head["subtitle"])

    def page(self) -> str:
        page, head = self._page, self.head
        if head["command"]:
            page.code(head["command"])
        for _ in range(head["clouds"]):  # one at a time is in memory
            self._cloud(json.loads(_read(self._source)))
        if head["words"]:
            page.heading(head["words"][0])
            page.code(head["words"][1])
        page.heading("The scenario")
        page.code(head["scenario"])
        return page.html()

    def _track(self, n: int, stride: int, start: float) -> Track:
        t, value = array("d", _read(self._source, 8 * n)), array("d", _read(self._source, 8 * n))
        return Track([at - start for at in t], value.tolist(), stride)

    def _cloud(self, cloud: Object) -> None:
        tracks = [self._track(n, stride, self.head["first_ns"] if i > 0 else 0)
                  for i, (n, stride) in enumerate(cloud["tracks"])]
        cloud.update(zip(TRACKS, tracks), lost=tracks[len(TRACKS):])
        self._page.heading(f"Cloud {cloud['name']}, from {cloud['from']} to {cloud['to']}")
        for columns, cells in cloud["tables"]:
            rows = [cells[i:i + columns] for i in range(columns, len(cells), columns)]
            self._page.table(cells[:columns], rows)
        self._delays(cloud)
        if cloud["throughput"].t:
            self._throughput(cloud)
        if cloud["delay"].t:
            self._distribution(cloud)
        if cloud["has_rate"]:
            self._queue(cloud)
            if cloud["red"]:
                self._probability(cloud)

    def _over_time(self, y: Axis, series: Sequence[Series], caption: str) -> None:
        """Adds a chart. What did not happen is left out, apart from the first series."""
        shown = [one for i, one in enumerate(series) if i == 0 or not one.is_empty()]
        self._page.figure(Chart(Axis("Time", self.time, most=self.head["duration_ns"]), y, shown),
                          caption)

    def _delays(self, cloud: Object) -> None:
        delay, configured = cloud["delay"], _values(cloud["delay_ns"])
        flat = bool(delay.t) and _is_flat([*delay.value, *configured])
        lost = zip(("lost as configured", "dropped by the queue", "lost by weir itself"),
                   cloud["lost"], (2, 3, 5))
        every = "each packet" if delay.stride <= 1 else f"one in {delay.stride} packets"
        self._over_time(
            Axis("Delay", self.delay, from_zero=not flat),
            [Points(name="delivered", x=delay.t, y=delay.value, color=1),
             HLines(name="configured", y=configured, color=4, dashed=True),
             *(Marks(name=name, x=track.t, color=color) for name, track, color in lost)],
            f"Delay of {every} through {cloud['name']}, at the instant of its arrival."
            + (" The axis does not begin at 0." if flat else "")
            + " Marks below: packets that were not delivered.")

    def _throughput(self, cloud: Object) -> None:
        steps, link = cloud["throughput"], cloud["has_link"]
        self._over_time(
            Axis("Throughput", self.rate, from_zero=True),
            [Step(name="on the link" if link else "left the cloud", x=steps.t, y=steps.value,
                  color=1),
             HLines(name="configured", y=_values(cloud["rate_bps"]), color=4, dashed=True)],
            f"{'What was sent on the link of' if link else 'What came through'} {cloud['name']}, "
            "in bits on the wire; each step is the average over "
            f"{self.time.text(cloud['step_ns'], 4)}.")

    def _distribution(self, cloud: Object) -> None:
        configured = _values(cloud["delay_ns"])
        low = min([cloud["least_ns"], *configured])
        high = max([cloud["most_ns"], *configured])
        if high - low < 100:  # a single value, and a line beside it, need an axis of some width
            low = max(0, low - 50)
            high = low + 100
        edges, shares = _bins(cloud["delay"].value, low, high)
        series: list[Series] = [Histogram(name="delivered", x=edges, y=shares, color=1)]
        if configured:
            series.append(VLines(name="configured", x=configured, color=4, dashed=True))
        self._page.figure(
            Chart(Axis("Delay", self.delay), Axis("Share of packets", PERCENT), series),
            f"Distribution of the delays through {cloud['name']}.")

    def _queue(self, cloud: Object) -> None:
        queue, average = (_sorted(cloud[name]) for name in ("queue", "average"))
        stride, red = cloud["queue"].stride, cloud["red"]
        self._over_time(
            Axis("Queue", self.queue, from_zero=True),
            [Step(name="queue", x=queue[0], y=queue[1], color=1),
             Step(name="average", x=average[0], y=average[1], color=2),
             HLines(name="min, max", y=red["thresholds_bytes"] if red else (), color=3,
                    dashed=True),
             HLines(name="limit", y=_values(cloud["limit_bytes"]), color=4, dashed=True)],
            f"Bytes waiting in the queue of {cloud['name']} when a packet left it or was dropped"
            + (f" (the maximum of {stride})" if stride > 1 else "")
            + (", and the average that its management computes" if average[0] else "") + ".")

    def _probability(self, cloud: Object) -> None:
        red = cloud["red"]
        self._page.figure(
            Chart(Axis("Average queue", self.queue, from_zero=True),
                  Axis("Probability", PERCENT, from_zero=True),
                  [Line(name=name, x=red["average_bytes"], y=p, color=i + 1, marker="none")
                   for i, (name, p) in enumerate(red["curves"])]),
            f"The probability with which RED in {cloud['name']} selects a packet at an average "
            "queue, before it spaces them.")


def _values(value: float | None) -> list[float]:
    return [] if value is None else [value]


def _is_flat(values: Sequence[float]) -> bool:
    """Returns true if an axis from 0 would flatten the variation."""
    low, high = min(values), max(values)
    return high * FLAT_LEAST < high - low < high * FLAT_MOST


def _bins(values: Sequence[float], low: float, high: float) -> tuple[list[float], list[float]]:
    """Returns the edges of bins of equal width, and the share of the values in each."""
    edges = [low + (high - low) * (i / BINS) for i in range(BINS)] + [high]
    counts = [0] * BINS
    for value in values:
        if low <= value <= high:
            counts[min(bisect.bisect_right(edges, value), BINS) - 1] += 1
    return edges, [count / len(values) for count in counts]


def _sorted(track: Track) -> tuple[list[float], list[float]]:
    """Returns instants and values, in the order of the instants."""
    order = sorted(range(len(track.t)), key=track.t.__getitem__)
    return [track.t[i] for i in order], [track.value[i] for i in order]
