# SPDX-License-Identifier: BSD-3-Clause
"""Doubts: signs that no statement of weir behaves as the path does.

Losses are compared with what the chosen model has expected of each packet, after the packets before
it (A. Dawid, "Statistical Theory: the Prequential Approach", 1984). What is left has no memory, so
that its relation to the load has a known distribution, although losses come in bursts.
"""

from __future__ import annotations

import math

import numpy

from .estimate import Bools, Floats

SURE = 5.0   # standard deviations of chance
LEAST_LOSSES = 20
PARTS = 60
WINDOWS_NS = (10e6, 20e6, 50e6, 100e6, 200e6, 500e6, 1e9, 2e9)


def load_of(at_ns: Floats, size: Floats, window_ns: float) -> Floats:
    """Returns how many bytes were sent in the window ahead of each packet."""
    summed = numpy.concatenate([[0.0], numpy.cumsum(size)])
    first = numpy.searchsorted(at_ns, at_ns - window_ns)
    return numpy.asarray(summed[:-1] - summed[first])


def follows(surprise: Floats, variance: Floats, quantity: Floats) -> float:
    """Returns how sure it is that losses grow with a quantity, in standard deviations of chance.
    `surprise` is each loss less what the model expected of it, after the packets before it, and
    `variance` that of this difference. The quantity, too, was known before. So under the model the
    sum of their products is a martingale, whose variance is the sum of theirs, however losses come
    in bursts."""
    if len(surprise) < 100 or len(numpy.unique(quantity)) < 3:
        return 0.0
    apart = quantity - float((quantity * variance).sum()) / max(float(variance.sum()), 1e-300)
    return float((apart * surprise).sum()) / math.sqrt(
        max(float((apart ** 2 * variance).sum()), 1e-300))


def loss_follows(lost: Bools, predicted: Floats, counts: Bools, at_ns: Floats, size: Floats,
                 occupancy: Floats | None) -> str | None:
    """Looks for losses that the chosen model does not expect, where the queue is long, or where
    much was sent. `counts` marks the packets to look at, which may depend on the past only."""
    if (lost & counts).sum() < LEAST_LOSSES:
        return None
    surprise = (lost - predicted)[counts]
    variance = (predicted * (1 - predicted))[counts]
    if occupancy is not None and follows(surprise, variance, occupancy[counts]) > SURE:
        return ("packets are lost the more often the longer the queue is: an active queue "
                "management, whose parameters a measurement does not tell")
    sure, window = max((follows(surprise, variance, load_of(at_ns, size, window)[counts]), window)
                       for window in WINDOWS_NS)
    if sure <= SURE:
        return None
    return (f"the loss follows what was sent in the {window / 1e6:g} ms before: a policer, a radio "
            "cell or a queue that others fill. `loss` would not react to other traffic as the path "
            "does")


def loss_changes(lost: Bools) -> str | None:
    """Looks for a loss rate that is another one later: halves of many lengths."""
    k = int(lost.sum())
    if k < 20:
        return None
    parts = numpy.array([part.sum() for part in numpy.array_split(lost, PARTS)], float)
    error = float(parts.std(ddof=1)) + 1e-9
    level, at = _edge(parts)
    # Within both parts the rates have to be steadier than between them.
    split = [parts[:at], parts[at:]]
    inner = math.sqrt(sum(float(((p - p.mean()) ** 2).sum()) for p in split) / (PARTS - 2)) + 1e-9
    if level / inner > 8 and error > 1.3 * inner:
        first, second = (float(p.mean()) * PARTS / len(lost) for p in split)
        return (f"the loss rate changes from {100 * first:.3g} % to {100 * second:.3g} % at "
                f"{100 * at / PARTS:.0f} % of the measurement; try `--windows`")
    return None


def _edge(values: Floats) -> tuple[float, int]:
    """Returns the largest step of a series, times the root of the lengths on both sides."""
    best = (0.0, 1)
    for i in range(3, len(values) - 3):
        step = abs(float(values[i:].mean() - values[:i].mean()))
        weight = math.sqrt(i * (len(values) - i) / len(values))
        best = max(best, (step * weight, i))
    return best


def delay_changes(rest_ns: Floats, at_ns: Floats, packet_ns: float) -> str | None:
    """Looks for a route that is another one later: a step of the delay without the queue. A step of
    what the link takes for a few packets, `packet_ns` each, is that of packets which no capture
    has."""
    if len(rest_ns) < 20 * PARTS:
        return None
    parts = numpy.array([float(numpy.median(p)) for p in numpy.array_split(rest_ns, PARTS)])
    strength, at = _edge(parts)
    inner = numpy.concatenate([parts[:at] - numpy.median(parts[:at]),
                               parts[at:] - numpy.median(parts[at:])])
    noise = 1.4826 * float(numpy.median(numpy.abs(inner))) + float(inner.std()) / 2 + 1.0
    first, second = float(numpy.median(parts[:at])), float(numpy.median(parts[at:]))
    if strength / noise < 9 or abs(second - first) < max(
            20e3, 0.005 * abs(first), 3.5 * packet_ns):
        return None
    when = float(numpy.array_split(at_ns, PARTS)[at][0]) / 1e9
    return (f"the path changes: {when:.1f} s after the beginning its delay steps from "
            f"{first / 1e6:.4g} ms to {second / 1e6:.4g} ms, by another route or a clock that was "
            "set; captures of both directions tell which")
