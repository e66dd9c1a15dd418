# SPDX-License-Identifier: BSD-3-Clause
"""The bottleneck: its rate, its bucket, and the limit of its queue.

The packets that arrived have passed the queue in the order in which they were sent. Given a rate,
when each has left the link follows: max(arrival, last departure) + 8 L / R, and for a token bucket
of depth B the same, 8 B / R earlier. What remains of each delay is propagation. At the right rate
that remainder varies least, because a wrong one leaves a part of the queue in it. So bursts, idle
times and one's own load need no special care: each packet that waits says something about the rate.
"""

from __future__ import annotations

import dataclasses
import math

import numpy
import scipy.optimize
import scipy.stats

from .estimate import BLOCKS, LEVEL, Bools, Estimate, Floats, Ints
from .pairs import Direction

RESOLUTION_NS = 2.0
LEAST_HALF = 1e-7
TURNS = 4
LEAST_PACKETS = 20 * BLOCKS  # fewer say too little about a queue
BURST_LEAST = 3000.0  # less is a packet or two, which nobody can tell from none
SURE = 1e-9  # the chance at which losses count as those of a full queue


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
    soft: float = 0.0  # the share that was let in although the queue seemed full


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


def _deviation(rest: Floats) -> Floats:
    """Returns the standard deviation of each row. The outermost 2 in 1,000 count as less extreme:
    packets that overtake, and jitter with a long tail."""
    low, high = numpy.quantile(rest, [0.001, 0.999], axis=-1, keepdims=True)
    return numpy.asarray(numpy.clip(rest, low, high).std(axis=-1))


def _spread(a: Arrivals, rate: float, burst: float = 0.0) -> float:
    """Returns how much the remainder of delays varies."""
    return float(_deviation(a.out_ns - departures(a.at_ns, a.size, rate, burst)))


def _spreads(a: Arrivals, rate: float, burst: float, blocks: int = BLOCKS) -> Floats:
    rest = a.out_ns - departures(a.at_ns, a.size, rate, burst)
    size = len(rest) // blocks
    return _deviation(rest[:size * blocks].reshape(blocks, size))


def _better(a: Arrivals, one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Returns whether the first bucket explains more than the second one, beyond chance."""
    gain = _spreads(a, *other) - _spreads(a, *one)
    if gain.mean() < max(RESOLUTION_NS, 0.02 * float(_spreads(a, *other).mean())):
        return False
    if (gain > 0).mean() > 0.85:  # one part may gain much more than the others
        return True
    deviation = float(gain.std(ddof=1)) / math.sqrt(len(gain))
    return deviation == 0 or float(gain.mean()) / deviation > 3.5


def _dispersion(a: Arrivals) -> list[float]:
    """Returns the rates at which packets most often arrive, over runs of several lengths. While the
    queue is not empty, that is the rate of the bottleneck."""
    order = numpy.argsort(a.out_ns, kind="stable")
    out, done = a.out_ns[order], numpy.cumsum(a.size[order])
    found = []
    for run in (1, 4, 16, 64, 256, 1024):
        if run * 8 > len(out):
            break
        time = out[run:] - out[:-run]
        rates = 8e9 * (done[run:] - done[:-run])[time > 0] / time[time > 0]
        if len(rates) == 0:
            continue
        logs = numpy.log(rates)
        counts = numpy.bincount(((logs - logs.min()) / 0.01).astype(int))
        mode = logs.min() + 0.01 * (int(numpy.argmax(counts)) + 0.5)
        found.append(math.exp(float(numpy.median(logs[numpy.abs(logs - mode) < 0.01]))))
    return found


def _short_spread(a: Arrivals, rate: float, burst: float, run: int) -> float:
    """Returns how much the remainder varies within runs of so many packets. Over a long time in
    which the queue is never empty, a rate that is a little wrong adds up; over a short one it does
    not."""
    rest = a.out_ns - departures(a.at_ns, a.size, rate, burst)
    n = len(rest) // run
    return float(rest[:n * run].reshape(n, run).std(axis=1).mean())


def _best_rate(a: Arrivals, burst: float = 0.0) -> float:
    """Searches the rate: coarsely over short runs, then ever closer over longer ones."""
    mean = 8e9 * a.size.sum() / (a.out_ns.max() - a.at_ns[0])
    tries = [*(mean * numpy.geomspace(0.8, 300, 64)), *_dispersion(a)]
    n = len(a.size)
    best, width = 0.0, 0.1
    for run in (256, 2048, 16384, n):
        if run > n:
            continue
        _, best = min((_short_spread(a, rate, burst, run), rate)
                      for rate in (tries if not best else [best]))
        for _ in range(3):
            _, best = min((_short_spread(a, rate, burst, run), rate)
                          for rate in best * (1 + width * numpy.linspace(-1, 1, 13)))
            width /= 4
        width *= 8
    found = scipy.optimize.minimize_scalar(
        lambda x: _spread(a, best * math.exp(x), burst), method="bounded",
        bounds=(-width, width), options={"xatol": 1e-9})
    return best * math.exp(float(found.x)) if found.fun < _spread(a, best, burst) else best


def _slopes(a: Arrivals, theta: Floats) -> tuple[Floats, Floats]:
    """Returns the remainders, and how they follow the logarithms of rate and burst."""
    columns = []
    for i in range(len(theta)):
        step = numpy.zeros(len(theta))
        step[i] = 1e-5
        up = departures(a.at_ns, a.size, *numpy.exp(theta + step))
        down = departures(a.at_ns, a.size, *numpy.exp(theta - step))
        columns.append((up - down) / (2 * step[i]))
    rest = a.out_ns - departures(a.at_ns, a.size, *numpy.exp(theta))
    return rest, numpy.stack(columns, axis=1)


def _refine(a: Arrivals, theta: Floats) -> tuple[Floats, Floats]:
    """Improves rate (and burst) by least squares, and returns the half widths of the intervals of
    their logarithms. Neighbours depend on each other, so blocks count, not packets."""
    use = ~a.copy
    for _ in range(6):
        rest, slopes = _slopes(a, theta)
        centre = numpy.median(rest[use])
        near = use & (numpy.abs(rest - centre) <= 4 * max(
            RESOLUTION_NS, 1.4826 * float(numpy.median(numpy.abs(rest[use] - centre)))))
        x = slopes[near] - slopes[near].mean(axis=0)
        y = rest[near] - rest[near].mean()
        normal = numpy.linalg.pinv(x.T @ x)
        change = normal @ (x.T @ y)
        if not numpy.isfinite(change).all() or numpy.abs(change).max() > 0.05:
            break
        theta = theta + change
        if numpy.abs(change).max() < 1e-10:
            break
    rest, slopes = _slopes(a, theta)
    x = slopes[near] - slopes[near].mean(axis=0)
    y = rest[near] - rest[near].mean()
    blocks = min(BLOCKS, len(y) // 10)
    size = len(y) // blocks
    scores = (x * y[:, None])[:size * blocks].reshape(blocks, size, -1).sum(axis=1)
    normal = numpy.linalg.pinv(x.T @ x)
    covariance = normal @ (scores.T @ scores) @ normal * blocks / (blocks - 1)
    t = float(scipy.stats.t.ppf(0.5 + LEVEL / 2, blocks - 1))
    half = t * numpy.sqrt(numpy.maximum(numpy.diag(covariance), 0))
    # The last nanosecond is that of the clock, and of the emulator's own rounding.
    floor = RESOLUTION_NS / numpy.maximum(numpy.abs(x).max(axis=0), RESOLUTION_NS)
    floor[0] = max(floor[0], LEAST_HALF, math.exp(-theta[0]))
    return theta, numpy.maximum(half, floor)


def learn(direction: Direction) -> Queue:
    a = arrivals_of(direction)
    none = numpy.zeros(len(direction.sent_ns), bool)
    passed = float(8e9 * a.size.sum() / max(a.out_ns.max() - a.at_ns[0], 1.0))
    rate = _best_rate(a) if len(a.size) >= LEAST_PACKETS else math.inf
    if not math.isfinite(rate) or not _better(a, (rate, 0.0), (math.inf, 0.0)):
        return Queue(None, passed, None, None, "", none, none, a.at_ns, numpy.zeros(len(none)), 0.0)
    theta = numpy.array([math.log(rate)])
    bucket = _bucket(a, rate)
    if bucket is not None:
        theta = numpy.log(numpy.array(bucket))
    theta, half = _refine(a, theta)
    rate, burst = math.exp(theta[0]), math.exp(theta[1]) if len(theta) > 1 else 0.0
    if direction.lost.any() and half[0] > LEAST_HALF:
        theta, half = _by_edge(direction, a, theta, half)
        rate, burst = math.exp(theta[0]), math.exp(theta[1]) if len(theta) > 1 else 0.0
    left = departures(a.at_ns, a.size, rate, burst)
    waited = left - a.at_ns - (0 if burst else a.size * 8e9 / rate) > RESOLUTION_NS
    basis = f"{int(waited.sum())} of {len(waited)} packets waited"
    found = Queue(
        Estimate("rate", rate, rate * math.exp(-half[0]), rate * math.exp(half[0]), "bit/s", basis),
        passed,
        Estimate("burst", burst, burst * math.exp(-half[1]), burst * math.exp(half[1]), "B", basis)
        if burst else None,
        None, "", none, none, left, numpy.zeros(len(none)), float(waited.mean()))
    _limit(direction, a, found, rate, burst)
    return found


def _by_edge(direction: Direction, a: Arrivals, theta: Floats, half: Floats
             ) -> tuple[Floats, Floats]:
    """Improves rate and burst by what a full queue drops: at the right ones, no packet is let in
    where others are dropped. Returns the half widths of their intervals, too."""
    width = half / 1.96

    def log(here: Floats) -> float:
        return float(_edge_of(direction, a, here)[0]
                     - 0.5 * (((here - theta) / width) ** 2).sum())

    if _edge_of(direction, a, theta)[0] <= 0:
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


def _bucket(a: Arrivals, rate: float) -> tuple[float, float] | None:
    """Returns rate and depth of a token bucket, if that explains the delays better."""
    longest = float(a.size.max())
    tries = [(_spread(a, r, b), r, b) for b in longest * numpy.geomspace(2, 2000, 16)
             for r in rate * numpy.array([0.5, 0.7, 0.85, 0.95, 1.0])]
    best = min(tries)
    found = scipy.optimize.minimize(
        lambda x: _spread(a, math.exp(x[0]), math.exp(x[1])),
        numpy.log([best[1], best[2]]), method="Nelder-Mead",
        options={"maxiter": 160, "xatol": 1e-6, "fatol": 0.5,
                 "initial_simplex": numpy.log([[best[1], best[2]], [best[1] * 1.05, best[2]],
                                               [best[1], best[2] * 1.3]])})
    r, b = math.exp(found.x[0]), math.exp(found.x[1])
    if b < BURST_LEAST or not _better(a, (r, b), (rate, 0.0)):
        return None
    return r, b


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


def _edge_of(direction: Direction, a: Arrivals, theta: Floats
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


def _limit(direction: Direction, a: Arrivals, found: Queue, rate: float, burst: float) -> None:
    """Finds the limit of the queue: the length from which on packets are lost."""
    theta = numpy.log([rate, burst] if burst else [rate])
    score, unit, edge, waiting = _edge_of(direction, a, theta)
    found.occupancy = waiting["B"]
    if score <= 0:
        return
    lost, here = direction.lost, waiting[unit]
    inside = here[~lost & (here < edge)]
    most, least = float(inside.max()) if len(inside) else 1.0, edge
    found.limit_unit = unit
    step = float(a.size.max()) if unit == "B" else 1.0
    found.unsure = here >= _flat_below(here, lost, edge, step)
    found.full = lost & found.unsure
    found.soft = float((~lost & (here >= edge)).sum()) / max(int((here >= edge).sum()), 1)
    value = most if unit == "pkt" else _short(most, least - 1)
    same = numpy.unique(direction.size).size == 1
    found.limit = Estimate(
        "queue", value, most, max(most, least - 1), unit,
        f"{int((lost & (here >= edge)).sum())} packets dropped by a full queue"
        + (", all of one length: bytes and packets cannot be told apart" if same else ""))


def _flat_below(here: Floats, lost: Bools, edge: float, step: float) -> float:
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


def _short(low: float, high: float) -> float:
    """Returns the number with the fewest digits in an interval."""
    if high <= low:
        return low
    for digits in range(1, 12):
        unit = 10.0 ** (math.floor(math.log10(max(high, 1.0))) - digits + 1)
        text = math.floor(high / unit) * unit
        if text >= low:
            return text
    return low
