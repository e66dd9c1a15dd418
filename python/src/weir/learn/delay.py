# SPDX-License-Identifier: BSD-3-Clause
"""Propagation: what remains of each delay without the queue. Its family is chosen by likelihood.

Delays of neighbours depend on each other, above all on a path that keeps order, so a likelihood
counts as that of fewer independent packets, and intervals are those of means of blocks.

Mean and deviation are estimated by the moments, of lognormal by those of the logarithms, and of
pareto, which has no fourth moment, by quartiles; their errors by influence functions (F. Hampel,
1974). The distributions are those of docs/delay.md. Assumed: a distribution that does not change,
and does not depend on load. Whether it changes, doubts.py asks.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import numpy
import scipy.optimize
import scipy.special
import scipy.stats

from .estimate import Estimate, Floats, block_error, independent, series

CONSTANT_NS = 1000.0
STAMPS_NS = 50e3  # what a host's stamps vary by, if that is little beside the delay
TABLE_LINES = 1000


@dataclasses.dataclass
class Delay:
    """`family` is `constant`, `table`, or a distribution of the statement `delay`. `table_ns` has
    quantiles if no family fits."""

    family: str
    delay: Estimate
    jitter: Estimate | None
    correlation: Estimate | None
    half_life: Estimate | None
    order_kept: bool
    overtaken: int
    likelihood: dict[str, float]
    distance: float
    table_ns: Floats


def _influences(x: Floats) -> tuple[float, float, Floats, Floats]:
    """Returns mean and deviation, and the influence of each value on them."""
    mean, deviation = float(x.mean()), float(x.std())
    return mean, deviation, x - mean, ((x - mean) ** 2 - deviation ** 2) / (2 * deviation)


Fit = tuple[float, float, Floats, Floats]  # delay, jitter, and influences


def _uniform(x: Floats) -> tuple[Fit, float]:
    mean, deviation, i, k = _influences(x)
    return ((mean, deviation * math.sqrt(3), i, k * math.sqrt(3)),
            -len(x) * math.log(float(x.max() - x.min())))


def _normal(x: Floats) -> tuple[Fit, float]:
    mean, deviation, i, k = _influences(x)
    return (mean, deviation, i, k), float(scipy.stats.norm.logpdf(x, mean, deviation).sum())


def _exponential(x: Floats) -> tuple[Fit, float]:
    mean, deviation, i, k = _influences(x)
    return (mean, deviation, i, k), -len(x) * (math.log(mean - float(x.min())) + 1)


def _gamma(x: Floats) -> tuple[Fit, float]:
    mean, deviation, i, k = _influences(x)
    s = math.log(mean) - float(numpy.log(x).mean())
    shape = (3 - s + math.sqrt((s - 3) ** 2 + 24 * s)) / (12 * s)
    for _ in range(5):
        shape -= ((math.log(shape) - float(scipy.special.digamma(shape)) - s)
                  / (1 / shape - float(scipy.special.polygamma(1, shape))))
    return ((mean, deviation, i, k),
            float(scipy.stats.gamma.logpdf(x, shape, scale=mean / shape).sum()))


def _lognormal(x: Floats) -> tuple[Fit, float]:
    m, s, i, k = _influences(numpy.log(x))
    delay = math.exp(m + s * s / 2)
    g = math.sqrt(math.expm1(s * s))
    of_delay = delay * (i + s * k)
    return ((delay, delay * g, of_delay, g * of_delay + delay * s * math.exp(s * s) / g * k),
            float(scipy.stats.lognorm.logpdf(x, s, scale=math.exp(m)).sum()))


def _pareto(x: Floats) -> tuple[Fit, float]:
    """netem's, of shape 3: delay + 4/3 jitter (y - 3/2), where y is at least 1."""
    y = 0.75 ** (-1 / 3), 0.25 ** (-1 / 3)
    q = numpy.quantile(x, [0.25, 0.75])
    scale = float(q[1] - q[0]) / (y[1] - y[0])
    place = float(q[0]) - scale * y[0]
    # The density at a quantile: 3 / scale / y^4.
    i, k = ((p - (x <= at)) * scale * at_y ** 4 / 3 for p, at, at_y in
            ((0.25, q[0], y[0]), (0.75, q[1], y[1])))
    of_scale = (k - i) / (y[1] - y[0])
    least = float(x.min())

    def cost(log_scale: float) -> float:
        s = math.exp(log_scale)
        return 4 * float(numpy.log(x - least + s).sum()) - len(x) * (math.log(3) + 3 * log_scale)

    guess = math.log(max(scale, 1.0))
    found = scipy.optimize.minimize_scalar(cost, bounds=(guess - 2, guess + 2), method="bounded")
    return ((place + 1.5 * scale, 0.75 * scale, i + of_scale * (1.5 - y[0]), 0.75 * of_scale),
            -float(found.fun))


FAMILIES: dict[str, Callable[[Floats], tuple[Fit, float]]] = {
    "normal": _normal, "uniform": _uniform, "exponential": _exponential, "gamma": _gamma,
    "lognormal": _lognormal, "pareto": _pareto}


def quantile(family: str, delay: float, jitter: float, p: Floats) -> Floats:
    """Returns quantiles of a distribution of the statement `delay`, in its own unit."""
    if family == "uniform":
        found = delay + jitter * (2 * p - 1)
    elif family == "normal":
        found = scipy.stats.norm.ppf(p, delay, jitter)
    elif family == "exponential":
        found = delay - jitter - jitter * numpy.log1p(-p)
    elif family == "gamma":
        found = scipy.stats.gamma.ppf(p, (delay / jitter) ** 2, scale=jitter ** 2 / delay)
    elif family == "lognormal":
        s = math.sqrt(math.log1p((jitter / delay) ** 2))
        found = scipy.stats.lognorm.ppf(p, s, scale=delay * math.exp(-s * s / 2))
    else:
        found = delay + 4 / 3 * jitter * ((1 - p) ** (-1 / 3) - 1.5)
    return numpy.asarray(found)


def _distance(x: Floats, family: str, delay: float, jitter: float) -> float:
    """Returns the distance of Kolmogorov and Smirnov, at 1,000 quantiles."""
    p = (numpy.arange(1000) + 0.5) / 1000
    at = quantile(family, delay, jitter, p)
    return float(numpy.abs(numpy.searchsorted(numpy.sort(x), at) / len(x) - p).max())


def learn(rest_ns: Floats, gap_ns: Floats, overtaken: int) -> Delay:
    """`rest_ns` are delays without the queue, in the order in which packets have left it, `gap_ns`
    the times between them."""
    n = len(rest_ns)
    basis = f"{n} packets"
    low, high = numpy.quantile(rest_ns, [0.005, 0.995])
    if high - low <= max(CONSTANT_NS, min(STAMPS_NS, 0.005 * abs(float(numpy.median(rest_ns))))):
        middle = float(numpy.median(rest_ns))
        delay = Estimate("delay", middle, min(middle - 2, float(low)), max(middle + 2, float(high)),
                         "ns", basis)
        return Delay("constant", delay, None, None, None, overtaken == 0, overtaken, {}, 0.0,
                     numpy.empty(0))
    count = independent(rest_ns)
    basis += f", as many as {int(count)} independent ones" if count < n / 2 else ""
    fits, likelihood = _fits(rest_ns, count / n)
    family = max(likelihood, key=likelihood.__getitem__)
    for simple in likelihood:  # in their order: of two that are as likely, the first
        if likelihood[simple] > likelihood[family] - 2:
            family = simple
            break
    delay_ns, jitter_ns, of_delay, of_jitter = fits[family]
    distance = _distance(rest_ns, family, delay_ns, jitter_ns)
    if distance > max(0.015, 1.8 / math.sqrt(count)):
        family = "table"
        delay_ns, jitter_ns, of_delay, of_jitter = _influences(rest_ns)
    correlation, half_life = (None, None) if overtaken == 0 else _correlation(rest_ns, gap_ns)
    return Delay(family, series("delay", "ns", delay_ns, of_delay, basis),
                 series("jitter", "ns", jitter_ns, of_jitter, basis), correlation, half_life,
                 overtaken == 0, overtaken, likelihood, distance,
                 numpy.quantile(rest_ns, (numpy.arange(TABLE_LINES) + 0.5) / TABLE_LINES))


def _fits(x: Floats, weight: float) -> tuple[dict[str, Fit], dict[str, float]]:
    fits: dict[str, Fit] = {}
    likelihood: dict[str, float] = {}
    for name, fit in FAMILIES.items():
        if name in ("gamma", "lognormal") and float(x.min()) <= 0:
            continue
        found, log = fit(x)
        if found[1] > 0 and math.isfinite(log) and (
                name not in ("gamma", "lognormal") or found[1] < 10 * found[0]):
            fits[name], likelihood[name] = found, log * weight
    return fits, likelihood


def _correlation(x: Floats, gap_ns: Floats) -> tuple[Estimate | None, Estimate | None]:
    """Returns the correlation of successive delays, or the half-life if it falls with the time
    between them."""
    z = (x - x.mean()) / x.std()
    product = z[:-1] * z[1:]
    r = float(product.mean())
    basis = f"{len(product)} successive packets"
    found = series("correlation", "", r, product - r * (z[:-1] ** 2 + z[1:] ** 2) / 2, basis)
    if found.low < 0.02:
        return None, None
    gap = gap_ns[1:len(z)]
    middle = numpy.median(gap)
    near, far = product[gap < middle], product[gap > middle]
    if len(near) < 1000 or len(far) < 1000:
        return found, None
    error = math.hypot(block_error(near - near.mean()), block_error(far - far.mean()))
    if near.mean() - far.mean() < 1.5 * error:
        return found, None

    def miss(log_half: float) -> float:
        return float(((product - numpy.exp2(-gap / math.exp(log_half))) ** 2).sum())

    guess = math.log(float(gap.mean()) / max(-math.log2(max(r, 1e-3)), 1e-3))
    best = scipy.optimize.minimize_scalar(miss, bounds=(guess - 3, guess + 3), method="bounded")
    half = math.exp(float(best.x))
    slope = numpy.exp2(-gap / half) * math.log(2) * gap / half
    influence = slope * (product - numpy.exp2(-gap / half)) / float((slope ** 2).mean())
    width = block_error(influence)
    return None, Estimate("half-life", half, half * math.exp(-width), half * math.exp(width), "ns",
                          basis)
