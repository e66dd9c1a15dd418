# SPDX-License-Identifier: BSD-3-Clause
"""A full queue: the length from which on packets are lost, and what that tells of the rate.

Given rate and bucket, what waits when a packet is sent follows from what arrived. A queue that
drops from some length on is compared with a loss rate that does not depend on the length, by the
ratio of their likelihoods, for each length. At a wrong rate, packets seem to be let in where others
are dropped, so this ratio tells the rate, too. It rests on when packets were sent, and on which of
them arrived, not on when: the clock of the receiver does not matter.

Assumed: one limit, in bytes or packets, that does not change, and drops only of what arrives.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import numpy
import scipy.optimize

from .estimate import Bools, Floats, Ints, Z
from .link import Arrivals, departures
from .pairs import Direction
from .rate import LEAST_DEPTH, LEAST_HALF

FULL, BLURRED = 0.9, 0.5  # a queue that drops nearly all is full
KIB = 1024
TURNS = 4
GRID = 25
BEGINS = 17
CLOUD = 40   # points
CLOUDS = 6
SEARCH = 60  # points
WIDER = 1.4   # than the cloud before
LEAST_POINTS = 6
LIKELY = 1.92  # the logarithm of a likelihood ratio that bounds an interval of 95 %
UNIT_SURE = 2.0  # the logarithm by which a unit has to be more likely
LENGTHS_MOST = 1 << 17  # that are told apart
DRIFT = 1e-5  # of a clock, that may be left
SURE = 1e-9  # the chance at which losses count as those of a full queue


@dataclasses.dataclass
class Edge:
    """Where a queue seems to be full: `score` says by how much that is more likely than a loss
    rate that does not depend on the queue, as a logarithm; 0: it is not. `length` is in `unit`."""

    score: float
    unit: str
    length: float


@dataclasses.dataclass
class Limit:
    """The limit of a queue, in the unit of its edge, and between which lengths it lies."""

    edge: Edge
    value: float
    low: float
    high: float
    unit_sure: bool


class Filled:
    """What waits when each packet is sent, if the link has some rate and bucket."""

    def __init__(self, direction: Direction, a: Arrivals) -> None:
        self.a, self.lost, self.size = a, direction.lost, direction.size
        self.sent = (direction.sent_ns - direction.sent_ns[0]).astype(float)
        self.ahead = numpy.searchsorted(a.index + a.copy * 0.5, numpy.arange(len(self.sent)))
        self.summed = numpy.concatenate([[0.0], numpy.cumsum(a.size)])

    def waiting(self, theta: Floats) -> dict[str, Ints]:
        """Returns how much waits when each packet is sent, with its own: bytes, and packets.
        `theta` has the logarithms of the rate, and of the depth of a token bucket."""
        rate, burst = math.exp(theta[0]), math.exp(theta[1]) if len(theta) > 1 else 0.0
        gone = departures(self.a.at_ns, self.a.size, rate, burst)
        if not burst:  # a leaky bucket has taken a packet when it begins to send it
            gone = gone - self.a.size * 8e9 / rate
        served = numpy.minimum(numpy.searchsorted(gone, self.sent + 0.5, side="right"), self.ahead)
        filled = self.summed[self.ahead] - self.summed[served]
        return {"B": filled.astype(numpy.int64) + self.size, "pkt": self.ahead - served + 1}

    def edges(self, waiting: dict[str, Ints], least: float = FULL) -> list[Edge]:
        """Returns the length from which on at least this share of packets is lost, in each
        unit."""
        found = []
        for unit, here in waiting.items():
            wide = int(here.max()) // LENGTHS_MOST + 1
            lengths = here // wide
            sent = numpy.bincount(lengths)
            lost = numpy.bincount(lengths[self.lost], minlength=len(sent))
            there = numpy.flatnonzero(sent)
            of = numpy.cumsum(sent[there][::-1])[::-1].astype(float)
            hits = numpy.cumsum(lost[there][::-1])[::-1].astype(float)
            score, at = _edge(of, hits, least)
            length = here[lengths >= there[at]].min() if wide > 1 else there[at]
            found.append(Edge(score, unit, float(length)))
        return found

    def score(self, theta: Floats) -> float:
        """Returns the best score of a rate (and bucket). At a wrong one, an edge is blurred."""
        return max(edge.score for edge in self.edges(self.waiting(theta), BLURRED))

    def limit(self, waiting: dict[str, Ints]) -> Limit | None:
        """Returns the limit of the queue, if it was full."""
        found = []
        for edge in self.edges(waiting):
            if edge.score > 0:
                here = waiting[edge.unit]
                inside = here[~self.lost & (here < edge.length)]
                most = float(inside.max()) if len(inside) else 1.0
                value = most if edge.unit == "pkt" else short(most, edge.length - 1)
                found.append(Limit(edge, value, most, max(most, edge.length - 1), True))
        if not found:
            return None
        best = max(limit.edge.score for limit in found)
        likely = [limit for limit in found if limit.edge.score > best - UNIT_SURE]
        # Packets of nearly one length do not tell the units apart. A limit is a number that
        # somebody has chosen: a round one is more probable.
        chosen = min(likely, key=lambda limit: digits(limit.value))
        return dataclasses.replace(chosen, unit_sure=len(likely) == 1)


def by_edge(filled: Filled, theta: Floats, half: Floats, absorbs: float
            ) -> tuple[Floats, Floats]:
    """Improves rate and burst by what a full queue drops: at the right ones, no packet is let in
    where others are dropped. Returns the half widths of their intervals, too: likelihood ratios,
    with a normal prior from the delays. `absorbs` is the share of a drift that the rate hides."""
    # The stamps of arrivals have the drift of a clock in them, which is known later; drops do not.
    width = half / Z
    width[0] = math.hypot(width[0], DRIFT * absorbs)
    width[1:] = numpy.hypot(width[1:], LEAST_DEPTH / Z)
    begin = theta

    def log(here: Floats) -> float:
        return (filled.score(here)
                - 0.5 * float((((here - begin) / width) ** 2).sum()))

    # On one side of the right rate nothing seems to be dropped by a full queue.
    rates = numpy.eye(len(theta))[0] * width[0] * numpy.linspace(-4, 4, BEGINS)[:, None]
    theta = max(begin + rates, key=log)
    if filled.score(theta) <= 0:
        return begin, half
    if len(theta) == 1:
        return _narrow(log, theta, Z * width)
    return _by_packets(log, *_scatter(log, theta, Z * width),
                       float(numpy.bincount(filled.size).argmax()))


def _narrow(log: Callable[[Floats], float], theta: Floats, wide: Floats) -> tuple[Floats, Floats]:
    """Searches one parameter on ever finer grids."""
    for _ in range(TURNS):
        tries = theta + numpy.linspace(-2, 2, GRID)[:, None] * wide
        logs = numpy.array([log(here) for here in tries])
        best = tries[logs >= logs.max() - 0.1]
        theta = (best.min(axis=0) + best.max(axis=0)) / 2
        likely = tries[logs >= logs.max() - LIKELY]
        half = (likely.max(axis=0) - likely.min(axis=0)) / 2 + 4 * wide / (GRID - 1)
        wide = numpy.maximum(half, LEAST_HALF)
    return theta, wide


def _scatter(log: Callable[[Floats], float], theta: Floats, wide: Floats
             ) -> tuple[Floats, Floats]:
    """Searches two parameters, which depend on each other, by clouds of points around the best
    one, each as wide as the weights of the one before (O. Cappe et al., "Population Monte Carlo",
    2004). As long as few points have all the weight, weights count less (tempering). The method of
    Nelder and Mead ends the search."""
    floor = numpy.array([5e-6, LEAST_DEPTH])
    rng = numpy.random.default_rng(1)
    spread = numpy.diag(wide / Z)
    for _ in range(CLOUDS):
        points = rng.normal(size=(CLOUD, 2))
        points[0] = 0.0
        tries = theta + points @ spread.T * WIDER
        found = numpy.array([log(here) for here in tries])
        logs = found + 0.5 * (points ** 2).sum(axis=1)  # less that of being drawn
        logs -= logs.max()
        power = 1.0
        while power > 1e-6 and numpy.exp(power * logs).sum() < LEAST_POINTS:
            power /= 2
        weights = numpy.exp(power * logs)
        weights /= weights.sum()
        apart = tries - weights @ tries
        covariance = apart.T @ (apart * weights[:, None])
        spread = numpy.linalg.cholesky(covariance + numpy.diag((floor / 100) ** 2))
        theta = tries[int(numpy.argmax(found))]
    end = scipy.optimize.minimize(lambda x: -log(x), theta, method="Nelder-Mead", options={
        "initial_simplex": theta + numpy.vstack([[0, 0], spread.T]), "maxfev": SEARCH,
        "xatol": 1e-9, "fatol": 0.05})
    # Where weights have counted less, the last cloud is as much wider.
    half = Z * numpy.sqrt(power * numpy.diag(covariance))
    return numpy.asarray(end.x), numpy.maximum(half, floor)


def _by_packets(log: Callable[[Floats], float], theta: Floats, half: Floats, packet: float
                ) -> tuple[Floats, Floats]:
    """Goes on to depths of a packet more or less, as far as they are likely. If all packets have
    one length, and the bucket is never full again, one packet more in it and one less in the queue
    are the same drops; only the prior tells them apart."""
    depth = math.exp(theta[1])
    found = {0: log(theta)}
    for way in (1, -1):
        n = way
        while depth + n * packet > 0:
            found[n] = log(numpy.array([theta[0], math.log(depth + n * packet)]))
            if found[n] < max(found.values()) - LIKELY:
                break
            n += way
    best = max(found, key=found.__getitem__)
    other = max(abs(n - best) for n, value in found.items() if value >= found[best] - LIKELY)
    theta[1] = math.log(depth + best * packet)
    half[1] += other * packet / math.exp(theta[1])
    return theta, half


def likely(here: Ints, lost: Bools) -> float:
    """Returns a limit that lies between the longest queue of which a packet arrived, and that of
    the packets, all lost, that met a longer one; 0: none did."""
    most = int(here[~lost].max()) if (~lost).any() else 0
    beyond = here[here > most]
    return short(float(most), float(beyond.min()) - 1) if len(beyond) else 0.0


def flat_below(here: Ints, lost: Bools, edge: float, step: float) -> float:
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


def _edge(of: Floats, lost: Floats, least: float) -> tuple[float, int]:
    """Returns the largest logarithm of the likelihood ratio, and where it is. `of` packets met at
    least each length, `lost` of them were lost."""
    n, k = float(of[0]), float(lost[0])

    def log(hits: Floats, of: Floats) -> Floats:
        p = numpy.clip(hits / numpy.maximum(of, 1), 1e-12, 1 - 1e-12)
        return numpy.asarray(hits * numpy.log(p) + (of - hits) * numpy.log(1 - p))

    full = numpy.flatnonzero((lost > least * of) & (lost > 0))
    if len(full) == 0:
        return 0.0, 0
    hits, there = lost[full], of[full]
    score = (log(hits, there) + log(k - hits, n - there)
             - float(log(numpy.array(k), numpy.array(n))))
    at = int(numpy.argmax(score))
    if score[at] < -math.log(SURE) / 2:
        return 0.0, 0
    return float(score[at]), int(full[at])


def digits(value: float) -> int:
    """Returns how many digits a limit needs, in bytes, in KiB, or in packets."""
    return min(len(f"{value / unit:.0f}".rstrip("0")) for unit in (1, KIB) if value % unit == 0)


def short(low: float, high: float) -> float:
    """Returns the number with the fewest digits in an interval, be it of KiB; of several, the one
    nearest to its middle."""
    for places in range(1, 12):
        for base in (1, KIB):
            power = math.floor(math.log10(max(high / base, 1.0))) - places + 1
            unit = base * 10.0 ** power
            for text in (round((low + high) / 2 / unit) * unit, math.floor(high / unit) * unit):
                if low <= text <= high and power >= 0:
                    return float(text)
    return low
