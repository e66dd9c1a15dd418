# SPDX-License-Identifier: BSD-3-Clause
"""The bottleneck: its rate (rate.py), its bucket, and the limit of its queue (full.py).

What is assumed stands there. A queue of which less than 0.3 % of the delays' spread tells does not
count as one.
"""

from __future__ import annotations

import dataclasses
import math

import numpy

from . import full
from . import rate as rates
from .estimate import BLOCKS, Bools, Estimate, Floats
from .link import RESOLUTION_NS, Arrivals, arrivals_of, departures
from .pairs import Direction

LEAST_PACKETS = 20 * BLOCKS  # fewer say too little about a queue


@dataclasses.dataclass
class Queue:
    """`departed_ns` is when each packet that arrived has left the link, relative to the first
    instant. `rate` None: no rate shows; `at_least` is then what has passed. `burst` None: the
    bucket is leaky. `limit` None: the queue was never full. `full` marks the packets it has
    dropped, `unsure` those that met a queue so full that their loss has two possible reasons."""

    rate: Estimate | None
    at_least: float
    burst: Estimate | None
    limit: Estimate | None
    limit_unit: str
    full: Bools
    unsure: Bools
    departed_ns: Floats
    occupancy: Floats  # bytes that waited when each packet was sent, with its own
    busy: float        # the share of packets that waited
    tight: Bools       # for which there was no room twice
    sway_ns: float = 0.0  # by how much the mean delay is uncertain, because rate and burst are
    likely_bytes: float = 0.0  # what may be the limit if there is none: all beyond it were lost
    soft: float = 0.0  # the share let in although the queue seemed fuller than full by a packet


def learn(direction: Direction) -> Queue:
    a = arrivals_of(direction)
    none = numpy.zeros(len(direction.sent_ns), bool)
    if len(a.size) < LEAST_PACKETS:
        return _no_rate(a, none)
    rate = rates.best_rate(a)
    leaky = math.isfinite(rate) and rates.explains(a, (rate, 0.0), (math.inf, 0.0))
    bucket = rates.bucket(a, rate, leaky)
    if bucket is None and not leaky:
        return _no_rate(a, none)
    theta = numpy.log(numpy.array([rate] if bucket is None else bucket[:2]))
    theta, half = rates.refine(a, theta)
    if bucket is not None and math.isfinite(bucket[2]):  # all that tells of it is in one block
        half[1] = bucket[2]
    rate, burst = _bucket_of(theta)
    filled = full.Filled(direction, a)
    if direction.lost.any() and half[0] > rates.LEAST_HALF:
        theta, half = full.by_edge(filled, theta, half, _absorbs(a, theta))
        rate, burst = _bucket_of(theta)
    left = departures(a.at_ns, a.size, rate, burst)
    waited = left - a.at_ns - (0 if burst else a.size * 8e9 / rate) > RESOLUTION_NS
    basis = f"{int(waited.sum())} of {len(waited)} packets waited"
    others = [departures(a.at_ns, a.size, *_bucket_of(theta + step)) for step in numpy.diag(half)]
    sway = math.hypot(*(float((other - left).mean()) for other in others))
    found = Queue(
        Estimate("rate", rate, rate * math.exp(-half[0]), rate * math.exp(half[0]), "bit/s", basis),
        _passed(a),
        Estimate("burst", burst, burst * math.exp(-half[1]), burst * math.exp(half[1]), "B", basis)
        if burst else None,
        None, "", none, none, left, numpy.zeros(len(none)), float(waited.mean()),
        none, sway)
    _limit(direction, filled, found, theta)
    return found


def _absorbs(a: Arrivals, theta: Floats) -> float:
    """Returns which share of a clock's drift a wrong rate hides: all if the queue is never
    empty."""
    left, other = (departures(a.at_ns, a.size, *_bucket_of(here)) for here in
                   (theta, theta + numpy.eye(len(theta))[0] * 1e-5))
    x = a.at_ns - a.at_ns.mean()
    return min(1.0, abs(float((x * (other - left)).sum() / (x * x).sum())) / 1e-5)


def _passed(a: Arrivals) -> float:
    return float(8e9 * a.size.sum() / max(a.out_ns.max() - a.at_ns[0], 1.0))


def _no_rate(a: Arrivals, none: Bools) -> Queue:
    return Queue(None, _passed(a), None, None, "", none, none, a.at_ns, numpy.zeros(len(none)),
                 0.0, none)


def _bucket_of(theta: Floats) -> tuple[float, float]:
    """Returns rate and depth of which these are the logarithms."""
    return math.exp(theta[0]), math.exp(theta[1]) if len(theta) > 1 else 0.0


def _limit(direction: Direction, filled: full.Filled, found: Queue, theta: Floats) -> None:
    """Finds the limit of the queue: the length from which on packets are lost."""
    waiting = filled.waiting(theta)
    found.occupancy = waiting["B"].astype(float)
    limit = filled.limit(waiting)
    if limit is None:
        found.likely_bytes = full.likely(waiting["B"], direction.lost)
        return
    unit, edge = limit.edge.unit, limit.edge.length
    lost, here = direction.lost, waiting[unit]
    step = float(direction.size.max()) if unit == "B" else 1.0
    found.limit_unit = unit
    found.unsure = here >= full.flat_below(here, lost, edge, step)
    found.full = lost & found.unsure
    # A stamp that is early or late by a packet is no other traffic.
    beyond = here >= edge + step
    found.soft = float((~lost & beyond).sum()) / max(int((here >= edge).sum()), 1)
    found.tight = here + (1 if unit == "pkt" else direction.size) > limit.low
    # Of packets that the bucket may have had in place of the queue, no drop tells.
    usual = float(numpy.bincount(direction.size).argmax())
    other = 0.0 if found.burst is None else (found.burst.high - found.burst.low) / 2 // usual
    other *= 1.0 if unit == "pkt" else usual
    found.limit = Estimate(
        "queue", limit.value, limit.low - other, limit.high + other, unit,
        f"{int((lost & (here >= edge)).sum())} packets dropped by a full queue"
        + ("" if limit.unit_sure else "; whether it counts bytes or packets does not show, because "
           "nearly all have one length: the rounder number stands here"))
