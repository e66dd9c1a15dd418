# SPDX-License-Identifier: BSD-3-Clause
"""What is printed and stored about campaigns that have run: text, JSON and CSV.

JSON of a row: {"id", "experiment", "seeds", "parameters", "values", "errors", "paper", "band",
"pass", "reasons"}: values, paper, band and errors have a key for each of its figures; an error is
the standard error over the seeds; a band is [low, high], null where it is open; reasons has those
that are not inside.

JSON of an experiment: {"experiment", "title", "paper", "digest", "complete", "rows": [...], "runs":
[{"case", "seed", "parameters", "figures"}]}: digest is of its text, complete false if runs are
missing.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

from . import verdict
from .campaign import Campaign, names
from .experiment import Plot
from .process import Weir
from .verdict import Verdict

# Figures of a case that are printed if the experiment has no rows.
SHOWN = ("loss", "goodput", "utilisation", "queue", "fairness", "marking", "isq")


def passes(campaign: Campaign) -> bool:
    """Returns false if a row is outside its band, or has no value."""
    return all(verdict.of_row(campaign, row)[0] not in (Verdict.OUTSIDE, Verdict.UNKNOWN)
               for row in campaign.experiment.rows if campaign.has_row(row))


def text(campaign: Campaign, weir: Weir) -> str:
    """Returns the rows and the figures, or if there are none, the figures of each case."""
    experiment = campaign.experiment
    rows = [row for row in experiment.rows if campaign.has_row(row)]
    plots = [plot for plot in experiment.plots if plot.kind != "trace" and campaign.has_plot(plot)]
    parts = [f"{experiment.name}: {experiment.title}\n", weir.table("lllll", [
        cells for row in rows if (cells := _row_cells(campaign, row))])]
    for plot in plots:
        head = f"{plot.figure}: {plot.title}" if plot.figure else plot.title
        parts += [f"  {head}, {plot.label}\n", weir.table("lll", _plot_cells(campaign, plot))]
    if not rows and not plots or campaign.swept:
        values: list[str | None] = [*campaign.sweep_values] if campaign.swept else [None]
        parts.append(weir.table("llll", [cells for case in experiment.cases for value in values
                                         for cells in _case_cells(campaign, case, value)]))
    return "".join(parts)


def _row_cells(campaign: Campaign, row: Any) -> list[str]:
    found, value, reason = verdict.of_row(campaign, row)
    if found is Verdict.LEFT_OUT:
        return []
    word = {Verdict.INSIDE: "pass", Verdict.NOT_COMPARABLE: "-"}.get(found, "FAIL")
    if found in (Verdict.INSIDE, Verdict.OUTSIDE):
        reason = f"paper {row.paper}; accept {row.low:g} to {row.high:g}"
    return [word, row.id, row.what, "" if found is Verdict.UNKNOWN else str(value), reason]


def _plot_cells(campaign: Campaign, plot: Plot) -> list[list[str]]:
    sweep = "" if plot.kind == "bars" else f"{campaign.sweep} "
    return [[f"  {case}", sweep + name, str(value)] for case in campaign.experiment.cases
            for name, value in verdict.of_plot(campaign, plot, case)]


def _case_cells(campaign: Campaign, case: str, value: str | None) -> Iterator[list[str]]:
    """Yields the figures of a case, at a value of the sweep; None: the case as it is."""
    job = campaign.job(case, value, campaign.arguments.seed)
    for name in (job.figures or {}) if job else {}:
        if name.rpartition(".")[2] in SHOWN:
            found = verdict.of_case(campaign, name, case, value)
            if found is not None:
                yield [case, "" if value is None else f"{campaign.sweep} {value}", name, str(found)]


# ---- JSON ----

def row_object(campaign: Campaign, id: str) -> dict[str, Any]:
    experiment = campaign.experiment
    row: dict[str, Any] = {
        "id": id, "experiment": experiment.name, "seeds": campaign.arguments.seeds,
        "parameters": {}, "values": {}, "errors": {}, "paper": {}, "band": {}, "pass": True,
        "reasons": {}}
    comparable = True
    for one in experiment.rows:
        if one.id != id:
            continue
        row["parameters"].update(_parameters(campaign, one.expression))
        found, value, reason = verdict.of_row(campaign, one)
        row["pass"] &= found in (Verdict.INSIDE, Verdict.NOT_COMPARABLE)
        comparable &= found is not Verdict.NOT_COMPARABLE
        if reason:
            row["reasons"][one.what] = reason
        if found in (Verdict.UNKNOWN, Verdict.LEFT_OUT):
            row["values"][one.what] = None
        else:
            row["values"][one.what] = value.mean
            row["errors"][one.what] = value.error if value.n > 1 else None
        row["paper"][one.what] = one.paper
        row["band"][one.what] = [bound if math.isfinite(bound) else None
                                 for bound in (one.low, one.high)]
    if row["pass"] and not comparable:  # it has neither passed nor failed
        row["pass"] = None
    return row


def _parameters(campaign: Campaign, expression: str) -> dict[str, dict[str, str]]:
    """Returns the parameters of each run that an expression names, by `CASE` or `CASE@VALUE`."""
    sweep = campaign.experiment.sweep
    named = list(dict.fromkeys((case, value)
                               for case, value, _ in names(campaign.experiment, expression)))
    found = {}
    for job in campaign.jobs:
        if job.plot or job.seed != campaign.arguments.seed:
            continue
        for case, value in named:
            if case == job.case and (
                    job.value is None if value is None else job.parameters.get(sweep) == value):
                found[case if value is None else f"{case}@{value}"] = job.parameters
    return found


def experiment_object(campaign: Campaign) -> dict[str, Any]:
    experiment = campaign.experiment
    done, n = verdict.done([campaign])
    ids = dict.fromkeys(row.id for row in experiment.rows if campaign.has_row(row))
    return {"experiment": experiment.name, "title": experiment.title, "paper": experiment.paper,
            "digest": experiment.digest, "complete": done == n,
            "rows": [row_object(campaign, id) for id in ids],
            "runs": [{"case": job.case, "seed": job.seed, "parameters": job.parameters,
                      "figures": job.figures}
                     for job in campaign.jobs if job.done and not job.plot]}


def json_text(value: Any, indent: int | None = None, level: int = 1) -> str:
    """Returns JSON, in lines if an indent is given. A number has 17 digits, as `%.17g` prints it,
    so that each run prints the same bytes."""
    if isinstance(value, float):
        return _real_text(value)
    if not isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False)
    colon = ":" if indent is None else ": "
    if isinstance(value, dict):
        parts = [json.dumps(name, ensure_ascii=False) + colon
                 + json_text(one, indent, level + 1) for name, one in value.items()]
    else:
        parts = [json_text(one, indent, level + 1) for one in value]
    first, last = ("{", "}") if isinstance(value, dict) else ("[", "]")
    if indent is None or not parts:
        return first + ",".join(parts) + last
    line = "\n" + " " * (indent * level)
    return first + line + ("," + line).join(parts) + line[:len(line) - indent] + last


def _real_text(value: float) -> str:
    text = f"{value:.17g}"
    if "e" in text:
        digits, _, exponent = text.partition("e")
        return f"{digits}e{int(exponent)}"
    return text if "." in text else text + ".0"


# ---- CSV ----

def csv_text(campaigns: Sequence[Campaign]) -> str:
    """Returns experiment,case,sweep,value,seed,figure,mean, as in RFC 4180 but for the ends of
    lines."""
    out = io.StringIO()
    write = csv.writer(out, lineterminator="\n").writerow
    write(["experiment", "case", "sweep", "value", "seed", "figure", "mean"])
    for campaign in campaigns:
        for job in campaign.jobs:
            if job.plot:
                continue
            # Also if the value is the case's own, so that a sweep has all its points.
            sweep = job.sweep or campaign.sweep
            value = job.parameters[sweep] if sweep else ""
            for name, mean in (job.figures or {}).items():
                write([campaign.experiment.name, job.case, sweep, value, job.seed, name,
                       f"{mean:.17g}"])
    return out.getvalue()
