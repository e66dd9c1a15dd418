# SPDX-License-Identifier: BSD-3-Clause
"""Two clocks: how they drift apart, when one was set, and by how much they differ.

The stamps of the second capture are corrected to the clock of the first. Drift is the slope of the
highest line below all delays (a linear program: S. Moon, P. Skelly, D. Towsley, "Estimation and
Removal of Clock Skew from Network Delay Measurements", INFOCOM 1999). It is the segment of their
lower convex hull under the middle of the measurement (L. Zhang, Z. Liu, C. Xia, "Clock
Synchronization Algorithms for Network Measurements", INFOCOM 2002). A constant difference of clocks
cannot be told from a constant delay: the delays of both directions together are known, how they
divide is not.

A drift that a queue hides is sought once more in the delays without the queue. Assumed: a clock
drifts evenly. A step that explains the delays better than a line is no drift.
"""

from __future__ import annotations

import dataclasses
import math

import numpy

from . import steps
from .estimate import BLOCKS, Estimate, Floats
from .pairs import NEVER, Direction

BINS = 60
SKEW_MOST = 1e-3  # a clock that drifts faster is no clock
FAR_NS = 5e9      # a delay that only a wrong clock has
SKEW_USUAL = 1e-4
DRIFT_SURE = 5.0  # standard errors
STEP_SURE = 8.0   # the logarithm by which a step is more likely than a line
DRIFT_LEAST_NS = 50.0  # over the whole measurement
T_BLOCKS = 2.02   # the 97.5 % quantile of Student's t of BLOCKS - 2


@dataclasses.dataclass
class Clocks:
    """What was found and removed. `sure` is false if the delay of one way is an assumption."""

    skew: Estimate | None
    steps: list[tuple[float, float]]  # seconds after the beginning, nanoseconds
    sure: bool
    notes: list[str]
    drift_error: float = 0.0  # the half width of the interval of the drift, as a share of time


def _level(direction: Direction, begin: int, bins: int, share: float = 0.0
           ) -> tuple[Floats, Floats]:
    """Returns the least delay of each part of the measurement, or another quantile of its delays,
    and when that was."""
    there = ~direction.lost & ~direction.damaged
    at = (direction.sent_ns[there] - begin).astype(float)
    delay = (direction.received_ns[there] - direction.sent_ns[there]).astype(float)
    groups = numpy.array_split(numpy.arange(len(at)), min(bins, max(len(at) // 20, 1)))
    chosen = []
    for g in groups:
        k = int(share * (len(g) - 1))
        chosen.append(g[numpy.argpartition(delay[g], k)[k]])
    return at[chosen], delay[chosen]


def hull_slope(at: Floats, delay: Floats) -> float:
    """Returns the slope of the segment of the lower convex hull under the mean instant."""
    hull: list[int] = []
    for i in range(len(at)):
        while len(hull) > 1:
            a, b = hull[-2], hull[-1]
            if ((delay[b] - delay[a]) * (at[i] - at[a])
                    >= (delay[i] - delay[a]) * (at[b] - at[a])):
                hull.pop()
            else:
                break
        hull.append(i)
    if len(hull) < 2:
        return 0.0
    middle = float(at.mean())
    j = min(max(int(numpy.searchsorted(at[hull], middle)), 1), len(hull) - 1)
    a, b = hull[j - 1], hull[j]
    return float((delay[b] - delay[a]) / (at[b] - at[a]))


def _drift(at: Floats, delay: Floats) -> tuple[float, float] | None:
    """Returns the slope and its error, if delays follow a line beyond doubt."""
    if len(at) < 20:
        return None
    half = len(at) // 2
    x = at - at.mean()
    slope = float((x * delay).sum() / (x * x).sum())
    rest = delay - delay.mean() - slope * x
    error = math.sqrt(float((rest ** 2).mean()) / float((x * x).sum()))
    floor = 1.0 / (at[-1] - at[0])  # a nanosecond
    parts = [float(numpy.polyfit(at[part], delay[part], 1)[0])
             for part in (slice(0, half), slice(half, None))]
    if (steps.left(delay) < float((rest ** 2).sum())
            or abs(slope) < max(8 * error, 20 * floor) or abs(slope) > SKEW_MOST
            or abs(parts[0] - parts[1]) > 0.3 * abs(slope) + 6 * error):
        return None
    return hull_slope(at, delay) if abs(hull_slope(at, delay) - slope) < 4 * error + floor else \
        slope, max(2 * error, floor)


def _correct(forward: Direction | None, back: Direction | None, begin: int, slope: float,
             step_at: float = math.inf, step: float = 0.0, offset: float = 0.0) -> None:
    """Corrects the stamps of the second clock."""
    def shift(stamps: numpy.typing.NDArray[numpy.int64]) -> None:
        there = stamps != NEVER
        since = (stamps[there] - begin).astype(float)
        off = offset + slope * since + numpy.where(since >= step_at, step, 0.0)
        stamps[there] -= numpy.round(off).astype(numpy.int64)

    if forward is not None:
        shift(forward.received_ns)
        shift(forward.copy_ns)
    if back is not None:
        shift(back.sent_ns)


def settle(forward: Direction | None, back: Direction | None, word: str = "guess") -> Clocks:
    """Corrects the second clock in place. `word` is that of --clocks; if it is `same`, there is one
    clock."""
    both = [d for d in (forward, back) if d is not None]
    begin = min(int(d.sent_ns[0]) for d in both)
    found = Clocks(None, [], True, [])
    if word == "same":
        return found
    if forward is not None and back is not None:
        _set_clock(forward, back, begin, found)
    _remove_drift(forward, back, begin, found)
    _place(forward, back, begin, word, found)
    return found


def _set_clock(forward: Direction, back: Direction, begin: int, found: Clocks) -> None:
    """Removes a step that both directions have, in opposite ways: no route does that."""
    one, other = (steps.largest(*_level(d, begin, 4 * BINS)) for d in (forward, back))
    if one is None or other is None or abs(one[1] + other[1]) > 0.1 * abs(one[1]) + 6 * one[2]:
        return
    size = (one[1] - other[1]) / 2
    when = steps.instant(forward, back, begin, one[0], size)
    _correct(forward, back, begin, 0.0, when, size)
    found.steps.append((when / 1e9, size))
    found.notes.append(f"{when / 1e9:.3f} s after the beginning a clock was set by "
                       f"{abs(size) / 1e6:.3g} ms: removed")


def _remove_drift(forward: Direction | None, back: Direction | None, begin: int,
                  found: Clocks) -> None:
    """Removes a drift that shows in the measured delays, with the queue in them."""
    slopes = []
    for direction, sign in ((forward, 1.0), (back, -1.0)):
        if direction is not None:
            # The line lies below all delays; of a queue that is always full, above or among them.
            # A queue that fills at first is left out by the second try.
            known = []
            for share in (0.0, 0.5, 0.98):
                at, delay = _level(direction, begin, BINS, share)
                drift = _drift(at, delay) or _drift(at[BINS // 4:], delay[BINS // 4:])
                known += [drift] if drift is not None else []
            if not known:
                return
            slope, error = min(known, key=lambda drift: drift[1])
            slopes.append((sign * slope, error))
    if len(slopes) == 2 and abs(slopes[0][0] - slopes[1][0]) > 0.2 * abs(slopes[0][0]) + 3 * (
            slopes[0][1] + slopes[1][1]):
        return
    slope = sum(s for s, _ in slopes) / len(slopes)
    _set_drift(forward, back, begin, slope, max(e for _, e in slopes), found)


def _set_drift(forward: Direction | None, back: Direction | None, begin: int, slope: float,
               error: float, found: Clocks, shown: bool = True) -> None:
    """Removes a drift, on top of one that has been removed. `error` is that of their sum."""
    # Stamps of the second clock run 1 + slope times as fast.
    _correct(forward, back, begin, slope / (1 + slope))
    found.drift_error = error
    if not shown:
        return
    total = slope + (found.skew.value / 1e6 if found.skew is not None else 0.0)
    found.skew = Estimate("skew", total * 1e6, (total - error) * 1e6, (total + error) * 1e6, "ppm",
                          "the slope of the delays")
    found.notes = [note for note in found.notes if " ppm too " not in note]
    found.notes.append(f"the second clock runs {abs(total) * 1e6:.3g} ppm too "
                       f"{'fast' if total > 0 else 'slow'}: removed")


@dataclasses.dataclass
class Rest:
    """The delays of one direction without the queue, and when each packet has left that. `per_rate`
    is the error that the rate of the queue brings into their slope."""

    at_ns: Floats
    rest_ns: Floats
    forward: bool
    per_rate: float = 0.0


def slope_of(at_ns: Floats, rest_ns: Floats) -> tuple[float, float] | None:
    """Returns the slope of delays without the queue, and its standard error; None if a step
    explains them better than a line. The line is that of least squares through the medians of
    parts, which are long enough to be independent."""
    if len(rest_ns) < 20 * BLOCKS:
        return None
    parts = numpy.array_split(numpy.arange(len(rest_ns)), BLOCKS)
    y = numpy.array([float(numpy.median(rest_ns[part])) for part in parts])
    x = numpy.array([float(at_ns[part].mean()) for part in parts])
    x -= x.mean()
    slope = float((x * y).sum() / (x * x).sum())
    left = float(((y - y.mean() - slope * x) ** 2).sum()) + BLOCKS
    if BLOCKS / 2 * math.log(left / (BLOCKS + steps.left(y))) > STEP_SURE:
        return None
    return slope, math.sqrt(left / (BLOCKS - 2) / float((x * x).sum()))


def remove_rest_drift(forward: Direction | None, back: Direction | None, rests: list[Rest],
                      found: Clocks) -> bool:
    """Removes the drift that is left in the delays without the queue, and returns whether it is
    beyond doubt. One that is not is removed, too, as far as it is likely: clocks drift by up to
    100 ppm, so that it counts as drawn from a normal distribution of this deviation (the mean of
    its posterior). So intervals of the delay have what a drift that does not show may change."""
    slopes = []
    for rest in rests:
        known = slope_of(rest.at_ns, rest.rest_ns)
        if known is None:
            return False
        slopes.append((known[0] if rest.forward else -known[0],
                       math.hypot(known[1], rest.per_rate)))
    weights = numpy.array([error ** -2 for _, error in slopes])
    slope = float((weights * [s for s, _ in slopes]).sum() / weights.sum())
    error = float(weights.sum() ** -0.5)
    span = max(float(rest.at_ns.max() - rest.at_ns.min()) for rest in rests)
    if max(abs(s - slope) / e for s, e in slopes) > DRIFT_SURE or abs(slope) > SKEW_MOST:
        return False
    sure = abs(slope) > DRIFT_SURE * error and abs(slope) * span > DRIFT_LEAST_NS
    shown = sure or found.skew is not None
    if not shown:
        slope *= SKEW_USUAL ** 2 / (SKEW_USUAL ** 2 + error ** 2)
        error *= SKEW_USUAL / math.hypot(SKEW_USUAL, error)
    begin = min(int(d.sent_ns[0]) for d in (forward, back) if d is not None)
    _set_drift(forward, back, begin, slope, T_BLOCKS * error, found, shown)
    return sure


def _least(direction: Direction) -> float:
    there = ~direction.lost & ~direction.damaged
    return float((direction.received_ns[there] - direction.sent_ns[there]).min())


def _place(forward: Direction | None, back: Direction | None, begin: int, word: str,
           found: Clocks) -> None:
    """Decides about the constant difference of clocks."""
    least = [_least(d) for d in (forward, back) if d is not None]
    wrong = any(x < 0 or x > FAR_NS for x in least)
    if word == "guess" and not wrong:
        found.notes.append("the clocks of both captures count as equal, because nothing in them "
                           "says otherwise; if they are not, give `--clocks apart`")
        return
    found.sure = False
    if forward is not None and back is not None:
        trip = least[0] + least[1]
        _correct(forward, back, begin, 0.0, offset=least[0] - trip / 2)
        found.notes.append(
            f"the clocks differ; the least round trip is {trip / 1e6:.4g} ms, and each direction "
            "counts as half of it, because no capture tells how it divides")
    else:
        _correct(forward, back, begin, 0.0,
                 offset=least[0] if forward is not None else -least[0])
        found.notes.append("the clocks differ, and there is one direction only: its least delay "
                           "counts as 0, and only what varies is known")
        if least[0] < 0:
            found.notes.append("packets seem to arrive before they are sent: if the clocks do not "
                               "differ, exchange --sent and --received")
