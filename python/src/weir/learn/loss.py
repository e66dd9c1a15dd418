# SPDX-License-Identifier: BSD-3-Clause
"""Loss: none, random, in bursts (Gilbert), in states that differ (Gilbert-Elliott), in four states.

Models are compared by BIC (G. Schwarz, "Estimating the Dimension of a Model", 1978), whose
likelihoods are those of chain.py. Packets that met a full queue count as unknown, because they
would have been dropped anyway. Intervals are those of a normal likelihood of the parameters'
logits, with the observed information (B. Efron, D. Hinkley, 1978); of models whose states show,
those of Wilson.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import numpy
import scipy.optimize
import scipy.special

from . import chain
from .chain import ARRIVED, FLOOR, LOST, UNKNOWN, Runs, likelihood, runs_of
from .estimate import Bools, Estimate, Floats, Ints, Z, share
from .estimate import series as series_estimate

MODELS = ("none", "every", "random", "gilbert", "gilbert-elliott", "four-state")
PARAMETERS = {"gilbert": ("p", "r"), "gilbert-elliott": ("p", "r", "bad", "good"),
              "four-state": ("p13", "p31", "p32", "p23", "p14")}
LEAST_LOSSES = 5
STARTS_MOST = 2
RUNS_MOST = 12_000  # with which a search begins: more would take long


@dataclasses.dataclass
class Loss:
    """`model` is one of MODELS. `bic` has the value of each model that was tried."""

    model: str
    rate: Estimate
    parameters: list[Estimate]
    bic: dict[str, float]
    losses: int
    packets: int

    def predicted(self, lost: Bools, unknown: Bools) -> Floats:
        """Returns for each packet how probable its loss was, after what is known of those before
        it. Only of models that draw."""
        x = numpy.array([e.value for e in self.parameters])
        return chain.predicted(chain.CHANNELS[self.model](x), outcomes(lost, unknown))


def outcomes(lost: Bools, unknown: Bools) -> Ints:
    return numpy.where(unknown, UNKNOWN, numpy.where(lost, LOST, ARRIVED))


def _four(x: Floats, runs: Runs) -> float:
    """The likelihood of four states; outside of what is a chain, the search turns back."""
    beyond = max(x[0] + x[4] - 1, 0) + max(x[1] + x[2] - 1, 0)
    return likelihood(chain.four(x), runs) if beyond <= 0 else -1e9 * (1 + float(beyond))


def _logistic(y: Floats) -> Floats:
    return numpy.asarray(scipy.special.expit(y))


def _climb(log: Callable[[Floats], float], starts: list[list[float]]
           ) -> tuple[Floats, float, Floats]:
    """Returns the best parameters, their likelihood, and the covariance of their logits."""
    best: tuple[Floats, float] | None = None

    def cost(y: Floats) -> float:
        return -log(numpy.clip(_logistic(y), FLOOR, 1 - FLOOR))

    points = [numpy.clip(numpy.array(start), 1e-7, 1 - 1e-4) for start in starts]
    for y in sorted((numpy.log(x / (1 - x)) for x in points), key=cost)[:STARTS_MOST]:
        found = scipy.optimize.minimize(cost, y, method="L-BFGS-B",
                                        bounds=[(-18.0, 12.0)] * len(y),
                                        options={"maxiter": 100, "ftol": 1e-9})
        if best is None or found.fun < best[1]:
            best = (found.x, float(found.fun))
    assert best is not None
    return numpy.clip(_logistic(best[0]), 0, 1), -best[1], _covariance(cost, best[0])


def _covariance(cost: Callable[[Floats], float], y: Floats) -> Floats:
    """Returns the inverse of the second derivatives at a minimum."""
    n = len(y)
    step = numpy.full(n, 1e-3)
    hessian = numpy.zeros((n, n))
    at = cost(y)
    ahead = [cost(y + step * numpy.eye(n)[i]) for i in range(n)]
    behind = [cost(y - step * numpy.eye(n)[i]) for i in range(n)]
    for i in range(n):
        hessian[i, i] = (ahead[i] - 2 * at + behind[i]) / step[i] ** 2
        for j in range(i):
            both = cost(y + step * (numpy.eye(n)[i] + numpy.eye(n)[j]))
            hessian[i, j] = hessian[j, i] = (both - ahead[i] - ahead[j] + at) / step[i] ** 2
    # A parameter at the border has no curvature: it gets a wide interval, and no other one.
    flat = numpy.diag(hessian) < 1e-4
    hessian[flat, :] = hessian[:, flat] = 0
    hessian[flat, flat] = 1e-2
    return numpy.asarray(numpy.linalg.pinv(hessian))


def _named(names: tuple[str, ...], x: Floats, covariance: Floats, basis: str) -> list[Estimate]:
    """Makes estimates of logits."""
    y = numpy.log(numpy.clip(x, FLOOR, 1 - FLOOR) / (1 - numpy.clip(x, FLOOR, 1 - FLOOR)))
    half = Z * numpy.sqrt(numpy.maximum(numpy.diag(covariance), 0))
    low, high = _logistic(y - half), _logistic(y + half)
    return [Estimate(name, float(x[i]), float(low[i]), float(high[i]), "", basis)
            for i, name in enumerate(names)]


def learn(lost: Bools, unknown: Bools | None = None) -> Loss:
    """Chooses a model for packets in the order in which they were sent. `unknown` marks those that
    met a full queue: whether they had been lost before does not show."""
    if unknown is None:
        unknown = numpy.zeros(len(lost), bool)
    known = lost[~unknown]
    n, k = len(known), int(known.sum())
    basis = f"{k} of {n} packets lost"
    rate = share("rate", k, n, basis)
    if k == 0:
        return Loss("none", rate, [], {"none": 0.0}, 0, n)
    series = outcomes(lost, unknown)
    periodic = _every(series, basis)
    if periodic is not None:
        return Loss("every", rate, periodic, {"every": 0.0}, k, n)
    bic = {"random": math.log(n) - 2 * _bernoulli(k, n)}
    found: dict[str, list[Estimate]] = {"random": [share("probability", k, n, basis)]}
    if k >= LEAST_LOSSES and _clustered(known):
        _try_bursts(series, bic, found)
    model = min(bic, key=bic.__getitem__)
    return Loss(model, _rate_of(model, rate, known), found[model], bic, k, n)


def _every(series: Ints, basis: str) -> list[Estimate] | None:
    """Returns the period and the length of bursts if all are the same."""
    runs = runs_of(series)
    inner = slice(1, -1)
    good, bad = (runs.length[inner][runs.what[inner] == what] for what in (ARRIVED, LOST))
    if ((series == UNKNOWN).any() or len(good) < LEAST_LOSSES or (good != good[0]).any()
            or (bad != bad[0]).any()):
        return None
    return [Estimate(name, value, value, value, "", basis)
            for name, value in (("every", float(good[0] + 1)), ("burst", float(bad[0])))]


def _clustered(lost: Bools) -> bool:
    """Returns whether losses come together or apart, in neighbours or in windows, beyond doubt. If
    not, no model with states can be better."""
    n, p = len(lost), float(lost.mean())
    pairs = float((lost[:-1] & lost[1:]).sum())
    far = abs(pairs - n * p * p) > 2.5 * max(math.sqrt(n) * p, 0.5)
    for window in (5, 20, 100, 500, 2000):
        m = n // window
        if m < 10:
            break
        counts = lost[:m * window].reshape(m, window).sum(axis=1)
        index = float(counts.var()) / max(window * p * (1 - p), 1e-12)
        # The variance of counts is itself uncertain, the more the rarer losses are.
        error = math.sqrt(2 / m + 1 / max(n * p, 1) / m * window)
        far = far or abs(index - 1) > 3 * error
    return far


def _transitions(series: Ints) -> dict[str, int]:
    before, after = series[:-1], series[1:]
    sure = (before != UNKNOWN) & (after != UNKNOWN)
    lost, next_lost = before[sure] == LOST, after[sure] == LOST
    return {"begun": int((~lost & next_lost).sum()), "quiet": int((~lost).sum()),
            "ended": int((lost & ~next_lost).sum()), "bursts": int(lost.sum())}


def _try_bursts(series: Ints, bic: dict[str, float], found: dict[str, list[Estimate]]) -> None:
    """Adds models with states."""
    seen = _transitions(series)
    if seen["begun"] < LEAST_LOSSES or seen["bursts"] == 0:
        return
    n, k = int((series != UNKNOWN).sum()), int((series == LOST).sum())
    basis = f"{seen['begun']} bursts, {k} of {n} packets lost"
    p = share("p", seen["begun"], seen["quiet"], basis)
    r = share("r", seen["ended"], seen["bursts"], basis)
    runs = runs_of(series)
    rate = max(k / n, 1e-6)
    starts = {
        "gilbert": [[p.value, r.value]],
        "gilbert-elliott": [[p.value, r.value, 0.9, rate / 50], [p.value / 4, 0.05, 0.5, rate / 5],
                            [rate / 10, 0.2, 0.7, rate / 10],
                            [p.value / 2, r.value / 3, 0.6, 1e-5]],
        "four-state": [[p.value, r.value, 0.05, 0.5, p.value / 10],
                       [p.value / 2, r.value / 2, 0.3, 0.5, p.value / 2],
                       [p.value / 10, 0.3, 0.3, 0.3, p.value]]}
    for model, names in PARAMETERS.items():
        if model == "gilbert" and not (series == UNKNOWN).any():  # its states show
            found[model] = [p, r]
            log = (_bernoulli(seen["begun"], seen["quiet"])
                   + _bernoulli(seen["ended"], seen["bursts"]))
        else:
            x, log, covariance = _fit(model, runs, starts[model])
            if model == "gilbert-elliott" and x[2] < x[3]:  # the states have changed their names
                x, covariance = x[[1, 0, 3, 2]], covariance[[1, 0, 3, 2]][:, [1, 0, 3, 2]]
            if model == "four-state" and (x[0] + x[4] >= 1 or x[1] + x[2] >= 1):
                continue
            found[model] = _named(names, x, covariance, basis)
        bic[model] = len(names) * math.log(n) - 2 * log


def _fit(model: str, runs: Runs, starts: list[list[float]]) -> tuple[Floats, float, Floats]:
    """Returns what _climb() does. A long series is begun with a part of it."""
    def log_of(runs: Runs) -> Callable[[Floats], float]:
        if model == "four-state":
            return lambda x: _four(x, runs)
        return lambda x: likelihood(chain.CHANNELS[model](x), runs)

    if len(runs.what) > RUNS_MOST:
        part = Runs(runs.what[:RUNS_MOST], runs.length[:RUNS_MOST])
        starts = [_climb(log_of(part), starts)[0].tolist()]
    return _climb(log_of(runs), starts)


def _bernoulli(hits: int, of: int) -> float:
    """The likelihood of so many hits, at the share that makes it largest."""
    return sum(m * math.log(m / of) for m in (hits, of - hits) if m > 0)


def _rate_of(model: str, rate: Estimate, lost: Bools) -> Estimate:
    """Losses in bursts are fewer independent ones: the interval is that of blocks."""
    if model == "random":
        return rate
    wide = series_estimate("rate", "", rate.value, lost.astype(float), rate.basis)
    return dataclasses.replace(rate, low=max(0.0, min(rate.low, wide.low)),
                               high=min(1.0, max(rate.high, wide.high)))
