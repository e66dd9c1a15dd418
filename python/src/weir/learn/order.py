# SPDX-License-Identifier: BSD-3-Clause
"""Packets that arrive in another order (RFC 4737), twice, or with errors.

Assumed: packets that are held back are few, and all by the same number of packets or the same time;
copies and errors come at random. Shares have Wilson's intervals.
"""

from __future__ import annotations

import dataclasses

import numpy

from .estimate import Bools, Estimate, Floats, Ints, share
from .pairs import Direction
from .queue import Queue

HIDDEN_BYTES = 12  # the addresses of the link
LATE_SHARE_MOST = 0.3


@dataclasses.dataclass
class Reorder:
    """Some packets are held back, by a number of packets (`unit` "pkt") or by a time ("ns")."""

    probability: Estimate
    by: Estimate
    unit: str
    late: Bools  # of the packets that arrived


@dataclasses.dataclass
class Copies:
    """`every`: each so many; 0: at random."""

    probability: Estimate
    every: int


def overtaken(rank: Ints) -> Bools:
    """Returns which packets arrived behind one that was sent later. `rank` is the order of arrival,
    by the order of sending."""
    later = numpy.minimum.accumulate(rank[::-1])[::-1]
    behind = numpy.zeros(len(rank), bool)
    behind[:-1] = rank[:-1] > later[1:]
    return behind


def displacement(rank: Ints, which: Bools) -> Ints:
    """Returns how many packets that were sent later arrived before each of these."""
    order = numpy.argsort(rank, kind="stable")
    place = numpy.empty(len(rank), numpy.int64)
    place[order] = numpy.arange(len(rank))
    found = []
    for i in numpy.flatnonzero(which):
        # Those sent later that arrived earlier are near: a window as long as it was moved.
        width = 64
        while True:
            n = int((place[i + 1:i + 1 + width] < place[i]).sum())
            if n < width // 2 or i + 1 + width >= len(rank):
                break
            width *= 4
        found.append(n)
    return numpy.array(found, numpy.int64)


def reorder(rest_ns: Floats, rank: Ints) -> Reorder | None:
    """Finds packets that were held back: a few, far later than all others, and overtaken."""
    middle = float(numpy.median(rest_ns))
    usual = 1.4826 * float(numpy.median(numpy.abs(rest_ns - middle)))
    behind = overtaken(rank)
    late = behind & (rest_ns > middle + max(8 * usual, 100.0))
    n, k = len(late), int(late.sum())
    if k < 5 or k > LATE_SHARE_MOST * n or late.sum() < 0.9 * behind.sum():
        return None
    extra = rest_ns[late] - middle
    moved = displacement(rank, late)
    basis = f"{k} of {n} packets held back"
    probability = share("probability", k, n, basis)
    values, counts = numpy.unique(moved, return_counts=True)
    most = int(values[numpy.argmax(counts)])
    if counts.max() > 0.9 * k:
        return Reorder(probability, Estimate("by", most, most, most, "pkt", basis), "pkt", late)
    low, centre, high = numpy.quantile(extra, [0.1, 0.5, 0.9])
    if high - low > max(0.02 * centre, 12 * usual, 4.0):
        return None
    half = max(2.0, float(high - low) / max(k, 1) ** 0.5)
    return Reorder(probability, Estimate("by", float(centre), float(centre - half),
                                         float(centre + half), "ns", basis), "ns", late)


def copies(direction: Direction, queue: Queue, random_loss: Bools) -> Copies | None:
    """Counts copies, of packets for which the queue had room for two."""
    if len(direction.copy_of) == 0:
        return None
    counted = ~random_loss & ~queue.full & ~queue.tight
    copied = numpy.zeros(len(counted), bool)
    copied[direction.copy_of] = True
    k, n = int((copied & counted).sum()), int(counted.sum())
    numbers = (numpy.cumsum(~random_loss))[numpy.unique(direction.copy_of)]
    steps = numpy.diff(numbers)
    every = int(steps[0]) if len(steps) >= 5 and (steps == steps[0]).all() else 0
    return Copies(share("probability", k, n, f"{k} of {n} packets arrived twice"), every)


def corruption(direction: Direction) -> Estimate | None:
    """The share of packets with errors. Those in the addresses of the link do not show."""
    k = int(direction.damaged.sum())
    if k == 0:
        return None
    n = int((~direction.lost).sum())
    seen = 1 - HIDDEN_BYTES / float(direction.size.mean())
    found = share("probability", k, n, f"{k} of {n} packets have wrong checksums")
    return dataclasses.replace(found, value=found.value / seen, low=found.low / seen,
                               high=min(1.0, found.high / seen))
