# SPDX-License-Identifier: BSD-3-Clause
"""The packets that have entered the link of a path, and when a bucket of some rate lets them go."""

from __future__ import annotations

import dataclasses
import math

import numpy

from .estimate import Bools, Floats, Ints
from .pairs import Direction

RESOLUTION_NS = 2.0  # of stamps, and of the emulator's own rounding


@dataclasses.dataclass
class Arrivals:
    """The packets that have entered the link: those that arrived, and copies."""

    at_ns: Floats
    out_ns: Floats
    size: Floats
    index: Ints  # of the packet in the direction
    copy: Bools


def arrivals_of(direction: Direction) -> Arrivals:
    there = numpy.flatnonzero(~direction.lost)
    index = numpy.concatenate([there, direction.copy_of])
    copy = numpy.concatenate([numpy.zeros(len(there), bool),
                              numpy.ones(len(direction.copy_of), bool)])
    out = numpy.concatenate([direction.received_ns[there], direction.copy_ns])
    order = numpy.lexsort((copy, index))
    index, copy, out = index[order], copy[order], out[order]
    begin = direction.sent_ns[0]
    return Arrivals((direction.sent_ns[index] - begin).astype(float), (out - begin).astype(float),
                    direction.size[index].astype(float), index, copy)


def departures(at_ns: Floats, size: Floats, rate: float, burst: float = 0.0) -> Floats:
    """Returns when packets leave a bucket."""
    if not math.isfinite(rate):
        return at_ns
    work = numpy.cumsum(size) * (8e9 / rate)
    ends = work + numpy.maximum.accumulate(at_ns - numpy.concatenate([[0.0], work[:-1]]))
    return numpy.asarray(numpy.maximum(at_ns, ends - burst * 8e9 / rate))
