# SPDX-License-Identifier: BSD-3-Clause
"""The lab's report: the rows of each experiment with the verdict, and its figures, drawn as in the
paper: a line for each case over the sweep, bars, or a value over the time of a run. Hollow markers
show what the paper says in words."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .._command import CommandError
from ..page import Axis, Bars, Chart, Line, Page, Points, Series
from ..page.theme import SERIES_COLORS
from . import verdict
from .campaign import Campaign
from .experiment import Plot, leading_number
from .verdict import Verdict

HEAD = ["row", "what", "paper", "weir", "+-", "to accept", "verdict", "reason"]


def html(campaigns: Sequence[Campaign]) -> str:
    page = Page("weir lab", "The papers' experiments, through weir's own data path")
    done, n = verdict.done(campaigns)
    if done < n:
        page.alarm(f"Partial: {done} of {n} runs. The same command with --continue runs the rest.")
    if len(campaigns) > 1:  # every row and its verdict is on the first page
        experiments = [campaign.experiment for campaign in campaigns]
        page.table(["experiment", "title", "paper"],
                   [[one.name, one.title, one.paper] for one in experiments], "Contents")
        _rows(page, campaigns)
    for campaign in campaigns:
        _experiment(page, campaign)
    return page.html()


def _experiment(page: Page, campaign: Campaign) -> None:
    experiment, arguments = campaign.experiment, campaign.arguments
    name = f"{experiment.name}: {experiment.paper}" if experiment.paper else experiment.name
    seeds = f"{arguments.seeds:,} {'seed' if arguments.seeds == 1 else 'seeds'}"
    page.heading(experiment.title)
    page.text(f"{name}, {seeds} from {arguments.seed}")
    if experiment.about:
        page.text(experiment.about)
    _rows(page, [campaign])
    for plot in experiment.plots:
        if campaign.has_plot(plot):
            chart = _trace(campaign, plot) if plot.kind == "trace" else _cases(campaign, plot)
            if chart.series:
                page.figure(chart, f"{plot.figure}: {plot.title}" if plot.figure else plot.title)


def _rows(page: Page, campaigns: Sequence[Campaign]) -> None:
    rows: list[list[str]] = []
    alarms: list[int] = []
    for campaign in campaigns:
        for row in campaign.experiment.rows:
            if not campaign.has_row(row):
                continue
            found, value, reason = verdict.of_row(campaign, row)
            known = found not in (Verdict.UNKNOWN, Verdict.LEFT_OUT)
            if found not in (Verdict.INSIDE, Verdict.NOT_COMPARABLE):
                alarms.append(len(rows))
            error = "nan" if not known else _cell(value.high - value.mean) if value.n > 1 else ""
            rows.append([row.id, row.what, row.paper, _cell(value.mean) if known else "nan", error,
                         f"{row.low:.4g} to {row.high:.4g}",
                         (found if known else Verdict.UNKNOWN).value, f"{reason:.150}"])
    page.table(HEAD, rows, "Comparison with the papers. +-: the standard error over the seeds.",
               alarms)


def _cell(value: float) -> str:
    return "any" if math.isinf(value) else f"{value:.4g}"


# ---- figures ----

def _cases(campaign: Campaign, plot: Plot) -> Chart:
    bars = plot.kind == "bars"
    series: list[Series] = []
    color = 0
    for case in campaign.experiment.cases:
        values = verdict.of_plot(campaign, plot, case)
        # A series of bars has a value for each of its categories, or none.
        if not values or (bars and len(values) < len(plot.bars)):
            continue
        color = color % SERIES_COLORS + 1
        series.append((Bars if bars else Line)(
            name=case, color=color, x=[_place(plot, name) for name, _ in values],
            y=[value.mean for _, value in values], low=[value.low for _, value in values],
            high=[value.high for _, value in values]))
        points = [(_place(plot, x), y) for of, x, y in plot.points if of == case]
        if points:
            series.append(Points(name=f"{case}, paper", color=color, hollow=True, marker="diamond",
                                 x=[x for x, _ in points], y=[y for _, y in points]))
    x = Axis(categories=list(plot.bars)) if bars else Axis(campaign.sweep)
    return Chart(x=x, y=Axis(plot.label), series=series, title=plot.title)


def _place(plot: Plot, x: str) -> float:
    """Returns the place of a bar, or of a value that begins with a number."""
    if x in plot.bars:
        return list(plot.bars).index(x)
    return leading_number(x)


def _trace(campaign: Campaign, plot: Plot) -> Chart:
    rate = plot.expression.endswith(".rate")
    what = plot.expression.removesuffix(".rate") + ".bytes" if rate else plot.expression
    lines = [line for job in campaign.jobs if job.plot is plot and job.trace
             for line in _trace_lines(job.trace, what)]
    t = [float(line[0]) for line in lines]
    value = [float(line[2]) for line in lines]
    if rate:  # total bytes become Mbit/s since the line before
        value = [0.0] * len(value[:1]) + [(value[i] - value[i - 1]) * 8e-6 / (t[i] - t[i - 1])
                                          for i in range(1, len(value))]
    averaged = any(line[3] for line in lines)
    series = [Line(name="queue" if averaged else "", x=t, y=value)]
    if averaged:
        series.append(Line(name="average", x=t, y=[float(line[3] or 0) for line in lines]))
    return Chart(x=Axis("Time (s)"), y=Axis(plot.label, from_zero=True),
                 series=series if lines else [], title=plot.title)


def _trace_lines(path: str, what: str) -> list[list[str]]:
    """Returns the lines t_s,WHAT,value,average of a trace."""
    try:
        with open(path, encoding="utf-8") as file:
            return [line.rstrip("\n").split(",") for line in file if f",{what}," in line]
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}", wrong=False) from None
