# SPDX-License-Identifier: BSD-3-Clause
"""A step of delays: of a clock that was set, or of a route that has changed."""

from __future__ import annotations

import numpy

from .estimate import Floats
from .pairs import Direction

NOISES = 10  # a step is as many times the noise
LEAST_NS = 10e3  # nobody sets a clock by less, and no stamp of a host is better


def left(y: Floats) -> float:
    """Returns the sum of squares that the best step in a series leaves."""
    return min(float(y[:i].var() * i + y[i:].var() * (len(y) - i)) for i in range(2, len(y) - 1))


def largest(at: Floats, delay: Floats) -> tuple[float, float, float] | None:
    """Returns instant, size and noise of the largest step of the least delays, if there is one."""
    if len(at) < 20:
        return None
    best = (0.0, 0)
    for i in range(4, len(at) - 4):
        size = float(numpy.median(delay[i:i + 4]) - numpy.median(delay[i - 4:i]))
        if abs(size) > abs(best[0]):
            best = (size, i)
    size, i = best
    inner = numpy.concatenate([numpy.diff(delay[:max(i - 1, 2)]), numpy.diff(delay[i + 1:])])
    noise = 1.4826 * float(numpy.median(numpy.abs(inner))) + 1.0
    if abs(size) < max(NOISES * noise, LEAST_NS):
        return None
    return float(at[i]), size, noise


def instant(forward: Direction, back: Direction, begin: int, about: float, size: float) -> float:
    """Returns when the second clock was set, by itself: the stamp that best divides the packets of
    both directions into those with the delays of before and of after."""
    stamps, behind = [], []
    for direction, own, grows in ((forward, forward.received_ns, size > 0),
                                  (back, back.sent_ns, size < 0)):
        there = ~direction.lost
        delay = (direction.received_ns[there] - direction.sent_ns[there]).astype(float)
        at = (own[there] - begin).astype(float)
        near = numpy.abs(at - about) < 0.05 * (at[-1] - at[0]) + 2 * abs(size)
        level = float(numpy.median(delay[near & (at < about - abs(size))]))
        level += abs(size) / 2 if grows else -abs(size) / 2
        stamps.append(at[near])
        behind.append(delay[near] > level if grows else delay[near] < level)
    at, after = numpy.concatenate(stamps), numpy.concatenate(behind)
    order = numpy.argsort(at, kind="stable")
    right = numpy.concatenate([[0], numpy.cumsum(numpy.where(after[order], -1, 1))])
    cut = min(int(numpy.argmax(right)), len(at) - 1)
    return float(at[order][cut])
