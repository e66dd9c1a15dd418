# SPDX-License-Identifier: BSD-3-Clause
"""A full queue: the length from which on packets are lost, and what that tells of the rate."""

from __future__ import annotations

import math

import numpy

from .estimate import Bools, Floats
from .link import Arrivals, departures
from .pairs import Direction
from .rate import LEAST_HALF

TURNS = 4
SURE = 1e-9  # the chance at which losses count as those of a full queue


def by_edge(direction: Direction, a: Arrivals, theta: Floats, half: Floats
             ) -> tuple[Floats, Floats]:
    """Improves rate and burst by what a full queue drops: at the right ones, no packet is let in
    where others are dropped. Returns the half widths of their intervals, too."""
    width = half / 1.96

    def log(here: Floats) -> float:
        return float(edge_of(direction, a, here)[0]
                     - 0.5 * (((here - theta) / width) ** 2).sum())

    if edge_of(direction, a, theta)[0] <= 0:
        return theta, half
    # Two that depend on each other are searched less finely.
    floor = (numpy.array([LEAST_HALF]) if len(theta) == 1
             else numpy.array([5e-6, 4 * math.exp(-theta[1])]))
    found, wide = theta, half
    rng = numpy.random.default_rng(1)
    spread = numpy.diag(wide)
    for turn in range(TURNS):
        # A grid of one dimension, a cloud of two: they depend on each other.
        at = (numpy.linspace(-2, 2, 33)[:, None] if len(theta) == 1 else
              numpy.vstack([numpy.zeros((1, 2)), rng.normal(size=(60, 2))]))
        tries = found + at * wide
        if turn > 0 and len(theta) == 2:
            tries[1:] = found + rng.normal(size=(60, 2)) @ spread.T
        logs = numpy.array([log(here) for here in tries])
        best = tries[logs >= logs.max() - 0.1]
        found = (best.min(axis=0) + best.max(axis=0)) / 2 if len(theta) == 1 else \
            tries[int(numpy.argmax(logs))]
        likely = tries[logs >= logs.max() - (1.92 if len(theta) == 1 else 3.0)]
        step = (tries.max(axis=0) - tries.min(axis=0)) / 32
        half = numpy.maximum((likely.max(axis=0) - likely.min(axis=0)) / 2 + step, floor)
        wide = half
        if len(theta) == 2:
            few = tries[numpy.argsort(logs)[-12:]]
            spread = numpy.linalg.cholesky(numpy.cov(few.T) + numpy.diag((floor / 10) ** 2))
    return found, half


def _waiting(direction: Direction, a: Arrivals, left: Floats, rate: float, burst: float
             ) -> dict[str, Floats]:
    """Returns how much waits when each packet is sent, with its own: bytes, and packets."""
    sent = (direction.sent_ns - direction.sent_ns[0]).astype(float)
    # A leaky bucket has taken a packet when it begins to send it; of a token bucket it waits.
    gone = left - (0 if burst else a.size * 8e9 / rate)
    ahead = numpy.searchsorted(a.index + a.copy * 0.5, numpy.arange(len(sent)))
    served = numpy.minimum(numpy.searchsorted(gone, sent + 0.5, side="right"), ahead)
    summed = numpy.concatenate([[0.0], numpy.cumsum(a.size)])
    return {"B": summed[ahead] - summed[served] + direction.size, "pkt": ahead - served + 1.0}


def edge_of(direction: Direction, a: Arrivals, theta: Floats
             ) -> tuple[float, str, float, dict[str, Floats]]:
    """Returns how likely it is that a queue of this rate is full from some length on, in which
    unit, that length, and what waits; 0: it is not."""
    rate, burst = math.exp(theta[0]), math.exp(theta[1]) if len(theta) > 1 else 0.0
    waiting = _waiting(direction, a, departures(a.at_ns, a.size, rate, burst), rate, burst)
    lost = direction.lost
    best = (0.0, "", 0.0, waiting)
    for unit, here in waiting.items():
        order = numpy.argsort(here, kind="stable")
        kept_above = numpy.cumsum(~lost[order][::-1])[::-1].astype(float)
        lost_above = numpy.cumsum(lost[order][::-1])[::-1].astype(float)
        score, at = _edge(kept_above, lost_above, here[order])
        if score > best[0] + 1e-6:
            best = (score, unit, float(here[order][at]), waiting)
    return best


def flat_below(here: Floats, lost: Bools, edge: float, step: float) -> float:
    """Returns the length below which the loss rate is that of short queues. Jitter leaves the rate,
    and so the length of the queue, a little uncertain."""
    low = here < edge / 2
    if low.sum() < 1000:
        low = here < numpy.quantile(here, 0.3)
    usual = float(lost[low].mean()) if low.any() else 0.0
    for top in edge - step * numpy.arange(12):
        inside = (here < top) & (here >= top - step)
        n, k = int(inside.sum()), int(lost[inside].sum())
        if top < edge / 2 or k <= n * usual + 2 * math.sqrt(n * usual + 1) and n > 0:
            return float(top)
    return float(top)


def _edge(kept: Floats, lost: Floats, here: Floats) -> tuple[float, int]:
    """Returns where a queue seems to be full, and by how much that is more likely than a loss rate
    that does not depend on the queue; 0: it is not."""
    n, k = int(kept[0] + lost[0]), int(lost[0])

    def log(hits: Floats, of: Floats) -> Floats:
        p = numpy.clip(hits / numpy.maximum(of, 1), 1e-12, 1 - 1e-12)
        return numpy.asarray(hits * numpy.log(p) + (of - hits) * numpy.log(1 - p))

    above = kept + lost
    new = numpy.concatenate([[True], numpy.diff(here) > 0])
    score = (log(lost, above) + log(k - lost, n - above)
             - float(log(numpy.array(float(k)), numpy.array(float(n)))))
    # Only a queue that drops nearly all is full.
    score = numpy.where(new & (lost > 0.9 * above) & (lost > 0), score, 0.0)
    at = int(numpy.argmax(score))
    if score[at] < -math.log(SURE) / 2:
        return 0.0, 0
    return float(score[at]), at


def short(low: float, high: float) -> float:
    """Returns the number with the fewest digits in an interval."""
    if high <= low:
        return low
    for digits in range(1, 12):
        unit = 10.0 ** (math.floor(math.log10(max(high, 1.0))) - digits + 1)
        text = math.floor(high / unit) * unit
        if text >= low:
            return text
    return low
