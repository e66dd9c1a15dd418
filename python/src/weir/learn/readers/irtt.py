# SPDX-License-Identifier: BSD-3-Clause
"""The JSON of irtt (`irtt client -o FILE.json`).

The server stamps packets, too, unless it is told not to: then both directions are known, and which
of them has lost a packet (`true_up`, `true_down`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy

from ..estimate import Floats
from .measured import ETHERNET, Measured, probes, times

HEADERS = {"IPv4": ETHERNET + 20 + 8, "IPv6": ETHERNET + 40 + 8}


def read(data: Any) -> Measured | None:
    if not isinstance(data, dict) or "round_trips" not in data:
        return None
    rows, config = data["round_trips"], data["config"]
    size = int(config["params"]["length"]) + HEADERS[config["ip_version"]]
    found = Measured("irtt", size=size)
    if not rows:
        return found
    sent = stamps(rows, "client", "send")
    if numpy.isfinite(stamps(rows, "server", "receive", "wall")).sum() > len(rows) / 2:
        _both(found, rows)
        return found
    found.at_ns = times(sent)
    found.trip_ns = numpy.array([float(row["delay"]["rtt"]) if row["lost"] == "false" else math.nan
                                 for row in rows])
    lost = [row["lost"] for row in rows if row["lost"] != "false"]
    if "true_up" in lost or "true_down" in lost:
        found.notes.append(f"irtt says of its losses: {lost.count('true_up')} up, "
                           f"{lost.count('true_down')} down, {lost.count('true')} unknown; all "
                           "are written into `down`")
    return found


def stamps(rows: list[Any], end: str, what: str, clock: str | None = None) -> Floats:
    """Returns the stamps of one end; NaN where there is none. Of no clock in particular, the wall
    clock is preferred."""
    def one(row: Any) -> float:
        stamp = row["timestamps"].get(end, {}).get(what, {})
        given = stamp.get(clock) if clock else stamp.get("wall", stamp.get("monotonic"))
        return math.nan if not given else float(given - first)

    first = 0
    known = [row["timestamps"]["client"]["send"] for row in rows]
    first = min((stamp.get("wall", stamp.get("monotonic")) for stamp in known), default=0)
    return numpy.array([one(row) for row in rows])


def _both(found: Measured, rows: list[Any]) -> None:
    sent, there = stamps(rows, "client", "send", "wall"), stamps(rows, "server", "receive", "wall")
    back, came = stamps(rows, "server", "send", "wall"), stamps(rows, "client", "receive", "wall")
    lost = [row["lost"] for row in rows]
    # The stamps of an answer are in the answer.
    down = numpy.array([word == "true_down" for word in lost])
    usual = sent + float(numpy.nanmedian(there - sent))
    there, back = numpy.where(down, usual, there), numpy.where(down, usual, back)
    answered = numpy.flatnonzero(numpy.isfinite(back))
    answered = answered[numpy.argsort(back[answered], kind="stable")]
    found.ways = {"up": probes(sent, there, found.size),
                  "down": probes(back[answered], came[answered], found.size)}
    if down.any():
        found.notes.append(f"the stamps of {int(down.sum())} answers were lost with them: they "
                           "count as sent after the median delay of `up`")
    if "true" in lost:
        found.notes.append(f"irtt does not know which direction has lost {lost.count('true')} "
                           "packets: they count as lost in `up`")
