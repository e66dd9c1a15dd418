# SPDX-License-Identifier: BSD-3-Clause
"""What was found of a path, from whatever measurement: that is what is written and proved."""

from __future__ import annotations

import dataclasses

from . import estimate, pairs, path, words
from .clocks import Clocks
from .pairs import Direction
from .readers.measured import Measured, halves

LEAST_PROBES = 10


@dataclasses.dataclass
class Found:
    """`head` says what was measured, `learned` has the directions of which packets are known,
    `fixed` further statements by cloud. Without packets there is no proof."""

    head: list[str]
    settled: Clocks | None
    learned: dict[str, path.Learned]
    fixed: dict[str, list[str]]


def of_ways(head: list[str], ways: dict[str, Direction], clocks: str,
            least: int = path.LEAST_PACKETS) -> Found:
    """Learns what both ends have seen, by cloud. Settles the clocks."""
    if not ways:
        raise pairs.NothingToLearn("no packet goes from the first capture to the second one; "
                                   "exchange --sent and --received")
    settled, learned = path.learn_ways(ways, clocks, least)
    if not learned:
        raise pairs.NothingToLearn(f"each direction has fewer than {least} packets")
    return Found(head, settled, learned, {})


def of_tool(head: list[str], measured: Measured, clocks: str) -> Found:
    """Learns what a tool has measured, most often from one end."""
    head = [*head, *(sentence[0].upper() + sentence[1:] + "." for sentence in measured.notes)]
    if measured.ways:
        found = of_ways(head, measured.ways, clocks, LEAST_PROBES)
    elif measured.acked is not None:
        found = _of_acked(head, measured.acked, measured.acked_cloud)
    elif len(measured.trip_ns):
        found = _of_trips(head, measured)
    else:
        found = Found(head, None, {}, {})
    _add_figures(found, measured)
    return found


def _of_trips(head: list[str], measured: Measured) -> Found:
    way, up_ns = halves(measured)
    found = Found(head, None, {"down": path.learn(way)}, {})
    if not measured.one_way:
        half = words.time_text(up_ns)
        head.append(f"Half of the least round trip, {half}, is in `up`; what varies, and what is "
                    "lost, is in `down`: round trips do not tell.")
        found.fixed["up"] = [f"delay {half}"]
    return found


def _of_acked(head: list[str], way: Direction, cloud: str) -> Found:
    """Learns round trips of packets that have a length of their own."""
    there = ~way.lost
    half = int((way.received_ns - way.sent_ns)[there].min()) // 2
    way.received_ns[there] -= half
    other = "down" if cloud == "up" else "up"
    head.append(f"Half of the least round trip, {words.time_text(half)}, is in `{other}`; what "
                f"varies, and what is lost, is in `{cloud}`: round trips do not tell.")
    return Found(head, None, {cloud: path.learn(way)}, {other: [f"delay {words.time_text(half)}"]})


def _add_figures(found: Found, measured: Measured) -> None:
    """Adds what the tool knows without packets."""
    def add(cloud: str, statement: str) -> None:
        found.fixed.setdefault(cloud, []).append(statement)

    for cloud, loss in measured.losses.items():
        found.head.append(f"Loss in `{cloud}` {words.shown(loss)}: {loss.basis}.")
        if loss.value > 0:
            add(cloud, f"loss random {words.percent_text(estimate.rounded(loss))}")
    for cloud, rate in measured.rates.items():
        found.head.append(f"Throughput of `{cloud}` {words.shown(rate)}: {rate.basis}.")
        one = found.learned.get(cloud)
        if one is None or one.queue.rate is None:
            add(cloud, f"rate {words.rate_text(estimate.rounded(rate))}")
    if measured.least_trip_ns is not None:
        half = words.time_text(measured.least_trip_ns / 2)
        found.head.append(f"Half of the least round trip, {half}, is in each direction: round "
                          "trips do not tell.")
        for cloud in ("down", "up"):
            add(cloud, f"delay {half}")
