# SPDX-License-Identifier: BSD-3-Clause
"""Values of the rows and figures of a campaign that has run: expressions over the seeds."""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from typing import NamedTuple

from . import expression
from .campaign import Campaign, Job, name_parts
from .experiment import Plot, Row


class Value(NamedTuple):
    """A mean over n seeds, and the mean less and plus a standard error, which one seed does not
    have."""

    mean: float = 0.0
    low: float = 0.0
    high: float = 0.0
    n: int = 0

    @property
    def error(self) -> float:
        return self.mean - self.low

    def __str__(self) -> str:
        return f"{self.mean:.5g}" + (f" +- {self.error:.2g}" if self.n > 1 else "")


class NoValue(Exception):
    """The expression divides by 0."""


class Verdict(enum.Enum):
    INSIDE = "inside"
    OUTSIDE = "OUTSIDE"
    UNKNOWN = "not measured"
    LEFT_OUT = "left out"  # --case left out what the row names
    NOT_COMPARABLE = "not comparable"  # --set changes what the paper measured


def done(campaigns: Sequence[Campaign]) -> tuple[int, int]:
    """Returns how many of all runs have results, and how many runs there are."""
    jobs = [job for campaign in campaigns for job in campaign.jobs]
    return sum(job.done for job in jobs), len(jobs)


def of_case(campaign: Campaign, text: str, case: str, value: str | None) -> Value | None:
    """Returns the value of an expression in names of one case, at a value of the sweep; None if
    there is none."""
    try:
        return _over_seeds(campaign, text, case, value)
    except (expression.Wrong, NoValue):
        return None


def of_plot(campaign: Campaign, plot: Plot, case: str) -> list[tuple[str, Value]]:
    """Returns the values of a figure for a case, each with the value of the sweep, or the name of
    its bar; without those that there are not."""
    if plot.kind == "bars":
        found = [(name, of_case(campaign, text, case, None)) for name, text in plot.bars.items()]
    else:
        found = [(value, of_case(campaign, plot.expression, case, value))
                 for value in campaign.sweep_values]
    return [(name, value) for name, value in found if value is not None]


def of_row(campaign: Campaign, row: Row) -> tuple[Verdict, Value, str]:
    """Returns whether the row's value is in its band, the value, and why it is not; "" if it is."""
    try:
        value = _over_seeds(campaign, row.expression)
    except NoValue:
        return Verdict.UNKNOWN, Value(), "the expression has no value: it divides by 0"
    except expression.Wrong as wrong:
        return (Verdict.UNKNOWN if campaign.case is None else Verdict.LEFT_OUT, Value(),
                _unknown_because(campaign) or str(wrong))
    if changed := [name for name in campaign.fixed if _is_changed(campaign, name)]:
        return (Verdict.NOT_COMPARABLE, value, "not comparable: " + ", ".join(changed)
                + (" differs" if len(changed) == 1 else " differ"))
    if value.mean < row.low:
        return Verdict.OUTSIDE, value, f"{value.mean:.4g} is below {row.low:.4g}"
    if value.mean > row.high:
        return Verdict.OUTSIDE, value, f"{value.mean:.4g} is above {row.high:.4g}"
    return Verdict.INSIDE, value, ""


def _over_seeds(campaign: Campaign, text: str, case: str | None = None,
                value: str | None = None) -> Value:
    """Computes Welford's mean and variance over the seeds. Without a case, each name begins with
    one."""
    arguments = campaign.arguments
    n, mean, square = 0, 0.0, 0.0
    for seed in range(arguments.seed, arguments.seed + arguments.seeds):
        def find(name: str, seed: int = seed) -> float | None:
            job: Job | None = None
            if case is not None:
                job = campaign.job(case, value, seed)
            elif parts := name_parts(campaign.experiment, name):
                job = campaign.job(parts[0], parts[1], seed, campaign.experiment.sweep)
                name = parts[2]
            return job.figures.get(name) if job and job.figures else None

        x = expression.value(text, find)
        if not math.isfinite(x):
            raise NoValue
        n += 1
        deviation = x - mean
        mean += deviation / n
        square += deviation * (x - mean)
    error = math.sqrt(square / (n - 1)) / math.sqrt(n) if n > 1 else 0.0
    return Value(mean, mean - error, mean + error, n)


def _unknown_because(campaign: Campaign) -> str:
    """Returns why a figure is missing, or "": the error of a run explains more than the figure's
    name."""
    for job in campaign.jobs:
        if job.error:
            return str(job.error)
    made, n = done([campaign])
    return f"only {made} of the experiment's {n} runs were made" if made < n else ""


def _is_changed(campaign: Campaign, name: str) -> bool:
    """Returns true if --set gives a parameter another value than the experiment has in some case.
    How long is measured changes nothing of what is."""
    experiment = campaign.experiment
    return name not in ("duration", "warmup") and any(
        experiment.value(case, name) != campaign.fixed[name] for case in experiment.cases)
