# SPDX-License-Identifier: BSD-3-Clause
"""A measurement of another tool, whatever its format."""

from __future__ import annotations

import dataclasses
import math

import numpy

from ..estimate import Bools, Estimate, Floats
from ..pairs import NEVER, Direction

SECOND_NS = 1e9
UNITS_NS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
PROBE_BYTES = 98   # of a ping of 56 bytes
ETHERNET = 14


def _none() -> Floats:
    return numpy.empty(0)


@dataclasses.dataclass
class Measured:
    """What a tool has measured. At most one of the first four is there:

    - `trip_ns` at `at_ns`: round trips, or with `one_way` delays of one direction; NaN is a lost
      probe;
    - `ways`: the probes of both directions, by cloud;
    - `acked`: packets of one direction, as received when their acknowledgement came;
    - `least_trip_ns`: only the least round trip.

    `rates` and `losses` are by cloud: what the tool has seen as throughput, and as share of lost
    packets that are not among the probes. `down` leads to the host that has measured."""

    tool: str
    at_ns: Floats = dataclasses.field(default_factory=_none)
    trip_ns: Floats = dataclasses.field(default_factory=_none)
    one_way: bool = False
    size: int = PROBE_BYTES
    ways: dict[str, Direction] = dataclasses.field(default_factory=dict)
    acked: Direction | None = None
    acked_cloud: str = "up"
    least_trip_ns: float | None = None
    rates: dict[str, Estimate] = dataclasses.field(default_factory=dict)
    losses: dict[str, Estimate] = dataclasses.field(default_factory=dict)
    notes: list[str] = dataclasses.field(default_factory=list)

    @property
    def answers(self) -> int:
        """Returns how many probes have arrived."""
        if self.acked is not None:
            return int((~self.acked.lost).sum())
        if self.ways:
            return max(int((~way.lost).sum()) for way in self.ways.values())
        return int(numpy.isfinite(self.trip_ns).sum())


def times(at: Floats, interval_ns: float = SECOND_NS) -> Floats:
    """Fills in the instants of lost probes; without any, probes are an interval apart."""
    there = numpy.isfinite(at)
    if there.sum() < 2:
        return numpy.arange(len(at)) * interval_ns
    index = numpy.arange(len(at))
    filled = numpy.interp(index, index[there], at[there])
    return numpy.asarray(numpy.maximum.accumulate(filled - filled[0]))


def by_number(numbers: list[int], values: list[float], count: int = 0) -> Floats:
    """Returns the values in the order of their numbers, from the least one on; NaN where a number
    is missing. Of a number that occurs twice the first counts: the second is a copy."""
    first = min(numbers)
    found = numpy.full(max(max(numbers) - first + 1, count), math.nan)
    for number, value in zip(numbers, values):
        if math.isnan(found[number - first]):
            found[number - first] = value
    return found


def rate_of(rates: Floats, basis: str) -> Estimate:
    """Returns the median of throughputs of intervals, and between what 90 % of them are."""
    low, middle, high = numpy.quantile(rates, [0.05, 0.5, 0.95])
    return Estimate("rate", float(middle), float(low), float(high), "bit/s",
                    f"{len(rates)} {basis}")


def probes(sent_ns: Floats, received_ns: Floats, size: int) -> Direction:
    """Makes a direction of probes of one length. What never arrives has NaN."""
    lost: Bools = numpy.asarray(~numpy.isfinite(received_ns))
    sent = numpy.round(sent_ns).astype(numpy.int64)
    came = numpy.where(lost, NEVER, numpy.round(numpy.nan_to_num(received_ns)).astype(numpy.int64))
    n = len(sent)
    rank = numpy.full(n, -1)
    there = numpy.flatnonzero(~lost)
    rank[there[numpy.argsort(came[there], kind="stable")]] = numpy.arange(len(there))
    none = numpy.zeros(n, bool)
    return Direction(sent, came.astype(numpy.int64), numpy.full(n, size), rank, none, none.copy(),
                     numpy.empty(0, numpy.int64), numpy.empty(0, numpy.int64))


def halves(measured: Measured) -> tuple[Direction, float]:
    """Divides round trips: makes the direction down, and returns the constant delay of up, which
    is half of the least one. Round trips do not tell how they divide."""
    up = 0.0 if measured.one_way else float(numpy.nanmin(measured.trip_ns)) / 2
    return probes(measured.at_ns, measured.at_ns + measured.trip_ns - up, measured.size), up
