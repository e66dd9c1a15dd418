# SPDX-License-Identifier: BSD-3-Clause
"""A trace file of TheaterQ (M. Ottens et al., "TheaterQ: A Qdisc for Dynamic Network Emulation",
2025), simple or extended: each line holds for some microseconds.

    KEEP, LATENCY, RATE, LOSS, LIMIT
    KEEP, LATENCY, JITTER, RATE, LOSS, LIMIT, DUP_PROB, DUP_DELAY[, ROUTE_ID[, QUEUE_ID]]

Latency and jitter are in ns, the rate in bit/s (-1: without a limit), the limit in packets, and a
probability of 1 is 2^32 - 1. Delay, jitter, rate and loss become a csv. The limit of weir's queue
does not change with the time, nor do duplicates.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from decimal import Decimal

from ..pairs import NothingToLearn
from .played import Played, Point, csv

WHOLE = 2**32 - 1
UNLIMITED = 400 * 10**9  # the largest rate of a csv


@dataclasses.dataclass
class Entry:
    keep_us: int
    latency_ns: int
    jitter_ns: int
    rate: int
    loss: int
    limit: int
    copies: int = 0
    copy_ns: int = 0
    route: int = 0
    queue: int = 0


def read(text: str) -> Played | None:
    entries = _entries(text)
    if not entries:
        return None
    points, now = [], 0
    for entry in entries:
        rate = UNLIMITED if entry.rate < 0 else entry.rate
        points.append(Point(now, (str(rate), str(entry.latency_ns), str(entry.jitter_ns),
                                  _share(entry.loss))))
        now += 1000 * entry.keep_us
    held: Counter[int] = Counter()
    for entry in entries:
        held[entry.limit] += entry.keep_us
    limit = held.most_common(1)[0][0]
    order = "keep" if any(entry.route for entry in entries) else "allow"
    found = Played("TheaterQ", [
        f"delay 0ms order {order}",
        f"trace {{}} format csv loop queue {max(limit, 1)}pkt"],
        csv(["rate_bit", "delay_ns", "jitter_ns", "loss"], points, now), "csv",
        [f"{len(entries)} entries, {now / 1e9:g} s, which begin anew then"])
    if len({entry.copies for entry in entries}) == 1 and entries[0].copies:
        found.statements.insert(0, f"duplicate random {_share(entries[0].copies)}")
    found.notes += _lost(entries, limit, held)
    return found


def _share(scaled: int) -> str:
    return format(round(Decimal(scaled) / WHOLE, 12).normalize(), "f")


def _entries(text: str) -> list[Entry]:
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line[:1].isdigit():  # TheaterQ skips them
            continue
        try:
            values = [int(cell) for cell in line.split(",")]
        except ValueError:
            return []
        if len(values) not in (5, 8, 9, 10):
            return []
        if len(values) == 5:
            values.insert(2, 0)
        entry = Entry(*values)
        if (entry.keep_us == 0 or min(values[:3] + values[4:]) < 0
                or max(entry.loss, entry.copies) > WHOLE):
            raise NothingToLearn(f"line {number} of the trace has a value that TheaterQ refuses")
        found.append(entry)
    return found


def _lost(entries: list[Entry], limit: int, held: Counter[int]) -> list[str]:
    lost = []
    if len(held) > 1:
        lost.append(f"limits of {min(held)} to {max(held)} packets: the queue always takes "
                    f"{max(limit, 1)}, the one that holds longest")
    if len({entry.copies for entry in entries}) > 1:
        lost.append("duplicates, as their share changes")
    if any(entry.copies and entry.copy_ns for entry in entries):
        lost.append("the delay of duplicates")
    if len({entry.route for entry in entries}) > 1:
        lost.append("overtaking at changes of the route: order is kept")
    if len({entry.queue for entry in entries}) > 1:
        lost.append("changes of the queue")
    if any(entry.rate < 0 for entry in entries):
        lost.append("that the rate has no limit at times: 400 Gbit/s stands there")
    if any(entry.jitter_ns for entry in entries):
        lost.append("the order of packets within a jitter: weir's is uniform, as TheaterQ's, but "
                    "drawn from another generator")
    return [f"Lost: {sentence}" for sentence in lost]
