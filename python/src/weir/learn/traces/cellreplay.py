# SPDX-License-Identifier: BSD-3-Clause
"""Traces of CellReplay (W. Sentosa et al., "CellReplay: Towards accurate record-and-replay for
cellular networks", NSDI 2025): a network recorded under two loads.

The light one has a line for each train of packets: when it was sent (ms), the base delay (ms), and
at which ms behind it each packet of 1400 bytes was delivered. The heavy one is a trace of mahimahi,
of 1400 bytes for each opportunity.

CellReplay delays each packet by the base delay, interpolated between trains; then the first packets
of a burst use the light opportunities, and further ones the heavy ones. weir has no link whose rate
depends on the load. The base delay and the heavy opportunities are played as they are; what the
light ones would have changed is said.
"""

from __future__ import annotations

from ..pairs import NothingToLearn
from . import mahimahi
from .played import Played, Point, csv

SIZE = 1400
OVERHEAD = 90  # a packet of 1400 bytes, in a frame of 1414, takes one opportunity of 1504
MS = 10**6

Train = tuple[int, int, list[int]]


def trains(text: str) -> list[Train] | None:
    """Returns the lines of a light trace; None if that is not what the file has."""
    found: list[Train] = []
    for line in text.splitlines():
        words = line.split()
        if not words:
            continue
        if len(words) < 3 or not all(word.isascii() and word.isdecimal() for word in words):
            return None
        time, delay, *light = map(int, words)
        if found and time < found[-1][0]:
            raise NothingToLearn(f"the trace goes backwards: {time} follows {found[-1][0]}")
        found.append((time, delay, light))
    if found and (len(found) < 3 or found[-1][0] < 1):
        raise NothingToLearn("a light trace of CellReplay has at least three trains")
    return found or None


def light(text: str) -> Played | None:
    """Makes the base delay over time."""
    found = trains(text)
    if found is None:
        return None
    end = found[-1][0]
    points, before = [], -1
    for (time, delay, _), (after, to, _) in zip(found, found[1:]):
        for at in range(time, after):
            # Whole milliseconds, cut off, as CellReplay does it.
            now = int(delay + (at - time) / (after - time) * (to - delay))
            if now != before:
                points.append(Point(at * MS, (f"{now * MS}",)))
                before = now
    points[0] = Point(0, points[0].values)
    size = sum(len(one[2]) for one in found) / len(found)
    rates = [len(one[2]) * SIZE * 8 / one[2][-1] / 1000 for one in found if one[2][-1] > 0]
    rate = f"{sum(rates) / len(rates):.3g} Mbit/s" if rates else "no time"
    return Played("CellReplay, light", ["trace {} format csv loop"],
                  csv(["delay_ns"], points, end * MS), "delay.csv",
                  [f"base delays of {len(found)} trains in {end / 1000:g} s, interpolated",
                   f"Lost: the light opportunities, which CellReplay gives the first {size:.3g} "
                   f"packets of a burst, {rate} on average: here they have the heavy ones"])


def heavy(text: str) -> Played | None:
    """Makes the link of the heavy load."""
    found = mahimahi.numbers(text)
    if found is None:
        return None
    return Played("CellReplay, heavy", [
        f"rate 1gbit overhead {OVERHEAD} queue {mahimahi.QUEUE}",
        "trace {} format mahimahi loop"],
        "\n".join(map(str, found)) + "\n", "opportunities",
        [f"{mahimahi.said(found, SIZE)}; exact for packets of {SIZE} bytes, the longest that "
         "CellReplay lets through"])
