# SPDX-License-Identifier: BSD-3-Clause
"""The rate of the bottleneck, and the depth of its bucket.

The packets that arrived have passed the queue in the order in which they were sent. Given a rate,
when each has left the link follows: max(arrival, last departure) + 8 L / R, and for a token bucket
of depth B the same, 8 B / R earlier. What remains of each delay is propagation. At the right rate
that remainder varies least, because a wrong one leaves a part of the queue in it. So bursts, idle
times and one's own load need no special care: each packet that waits says something about the rate.

The departures are those of Lindley's recursion (D. Lindley, "The Theory of Queues with a Single
Server", 1952). The search begins at the rates at which packets most often arrive (dispersion: C.
Dovrolis, P. Ramanathan, D. Moore, "What Do Packet Dispersion Techniques Measure?", 2001), and ends
by least squares, with the covariance of H. White (1980) over blocks. Assumed: one queue, first in,
first out, of a constant rate, that nobody else uses, and a propagation delay that does not depend
on it.
"""

from __future__ import annotations

import math

import numpy
import scipy.optimize
import scipy.stats

from .estimate import BLOCKS, LEVEL, Floats, independent
from .link import RESOLUTION_NS, Arrivals, departures

LEAST_HALF = 1e-7  # nobody needs to know a rate better
LEAST_DEPTH = 1e-3  # nobody needs to know a bucket better
OPENINGS = (4, 12, 40, 120)  # packets
OPENING_SURE = 6.0  # the logarithm by which a lead has to be more likely than none
LEAST_GAIN = 0.003  # of the spread
ONCE = 0.7  # of the spread is left, if a few packets tell of a bucket
BURST_LEAST = 3000.0  # less is a packet or two, which nobody can tell from none


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


def better(a: Arrivals, one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Returns whether the first bucket explains more than the second one, beyond chance."""
    gain = _spreads(a, *other) - _spreads(a, *one)
    if gain.mean() < max(RESOLUTION_NS, LEAST_GAIN * float(_spreads(a, *other).mean())):
        return False
    if (gain > 0).mean() > 0.85:  # one part may gain much more than the others
        return True
    deviation = float(gain.std(ddof=1)) / math.sqrt(len(gain))
    return deviation == 0 or float(gain.mean()) / deviation > 3.5


def explains(a: Arrivals, one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Returns whether the first bucket is better, be it by a few packets only."""
    return _spread(a, *one) < ONCE * _spread(a, *other) or better(a, one, other)


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


def best_rate(a: Arrivals, burst: float = 0.0) -> float:
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


def refine(a: Arrivals, theta: Floats) -> tuple[Floats, Floats]:
    """Improves rate (and burst) by least squares, and returns the half widths of the intervals of
    their logarithms. Neighbours depend on each other, so blocks count, not packets."""
    use = ~a.copy
    for _ in range(6):
        rest, slopes = _slopes(a, theta)
        centre = numpy.median(rest[use])
        # Packets that wait are those that tell something, and may be few.
        tells = use & (slopes != 0).any(axis=1)
        usual = max(float(numpy.median(numpy.abs(rest[some] - centre)))
                    for some in (use, tells if tells.any() else use))
        near = use & (numpy.abs(rest - centre) <= 4 * max(RESOLUTION_NS, 1.4826 * usual))
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


def _size(values: Floats) -> float:
    """Returns how far values are from 0."""
    return math.sqrt(float((values ** 2).mean()))


def _opening(a: Arrivals, rate: float) -> tuple[float, float]:
    """Returns the depth of a full bucket by which only the first packets of a queue that is never
    empty have passed, by their lead over all others, and the half width of the interval of its
    logarithm; 0: they have none."""
    rest = a.out_ns - departures(a.at_ns, a.size, rate)
    middle = float(numpy.median(rest))
    rest = rest - middle
    usual = max(1.4826 * float(numpy.median(numpy.abs(rest))), RESOLUTION_NS)
    half = len(rest) // 2
    later = rest[half:]  # whose bucket is empty
    alone = independent(later) / len(later)  # how much of a packet tells something new
    alone_ns = float(a.at_ns[-1] - a.at_ns[half]) / independent(later)

    def count(n: int) -> float:
        """Returns how many of the first packets tell something new. Delays of neighbours depend on
        each other by the time between them: the first packets of TCP lie far apart."""
        return min(float(n), max(1.0, n * alone, float(a.at_ns[n - 1] - a.at_ns[0]) / alone_ns))

    # As long as the bucket has tokens, a delay has no queue in it.
    delay = a.out_ns[:OPENINGS[-1]] - a.at_ns[:OPENINGS[-1]] - middle
    for first in OPENINGS:
        lead = float(numpy.median(delay[:first]))
        if lead * math.sqrt(count(first)) < 7 * usual or lead < 10 * RESOLUTION_NS:
            continue
        depth = lead * rate / 8e9
        # The lead ends when the bucket is empty. Behind it all packets have the lead in their rest.
        n = min(int(numpy.searchsorted(numpy.cumsum(a.size), 4 * depth)) + 20, len(rest))
        other = a.out_ns[:n] - departures(a.at_ns[:n], a.size[:n], rate, depth)
        gain = math.log(_size(rest[:n]) / max(_size(other - middle - lead), RESOLUTION_NS))
        if gain * max(count(n), n / first) > OPENING_SURE:
            wide = 2 * usual / math.sqrt(count(first)) / lead
            return depth, max(wide, LEAST_DEPTH)
    return 0.0, math.inf


def bucket(a: Arrivals, leaky: float, shows: bool) -> tuple[float, float, float] | None:
    """Returns rate and depth of a token bucket, if that explains the delays better than a leaky
    one of its best rate, or than none, if that one does not show. And the half width of the
    interval of the logarithm of the depth, as far as its first packets tell."""
    rate = leaky if shows else math.inf
    passed = 8e9 * float(a.size.sum()) / float(a.out_ns.max() - a.at_ns[0])
    seen = _dispersion(a)
    tries = [*seen, *numpy.geomspace(passed, max(*seen, 1.1 * passed), 24)]
    if math.isfinite(leaky):
        tries += [0.85 * leaky, 0.95 * leaky, leaky]
    without = _spread(a, rate)
    _, *best = min((float((a.out_ns - departures(a.at_ns, a.size, r, b)).std()), r, b) for b in
                   float(a.size.max()) * numpy.geomspace(2, 2000, 14) for r in tries)
    if not math.isfinite(rate) and _spread(a, best[0], best[1]) > 0.98 * without:
        return None
    found = scipy.optimize.minimize(
        lambda x: _spread(a, math.exp(x[0]), math.exp(x[1])), numpy.log(best),
        method="Nelder-Mead",
        options={"maxiter": 160, "xatol": 1e-6, "fatol": 0.5,
                 "initial_simplex": numpy.log([best, [best[0] * 1.05, best[1]],
                                               [best[0], best[1] * 1.3]])})
    r, b = math.exp(found.x[0]), math.exp(found.x[1])
    # A flow that is never idle shows the depth only at its beginning.
    opening, half = _opening(a, rate) if math.isfinite(rate) else (0.0, math.inf)
    if opening > BURST_LEAST and not explains(a, (r, b), (rate, opening)):
        return rate, opening, half
    if b < BURST_LEAST or not explains(a, (r, b), (rate, 0.0)):
        return None
    return r, b, math.inf
