# SPDX-License-Identifier: BSD-3-Clause
"""Combines runs of the lab that were made separately, on several machines: each folder has the
results.json that `weir lab run --out` wrote.

Rows and figures are then those of all runs, as from a single run, and the runs are in its order,
whatever that of the folders is; figures over time, which are files of one machine, are left out. If
all runs of an experiment are of one case, it is as with --case.

The runs must be of experiments that are built in, and of their text as it is now. Every point needs
the same seeds, without gaps. A run that occurs twice counts once, and both copies must have the
same figures. Parameters that --set gave to all runs stay; one may differ: the sweep.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .._command import CommandError
from . import folder
from .campaign import Arguments, Campaign, Runs
from .experiment import VALUES_MAX, Experiment, leading_number
from .process import Weir

Run = Mapping[str, Any]


def campaigns(experiments: Sequence[Experiment], arguments: Arguments,
              weir: Weir) -> list[Campaign]:
    """Returns a campaign for each experiment of which the folders have runs; sets the arguments'
    seeds."""
    runs: dict[str, list[Run]] = {experiment.name: [] for experiment in experiments}
    digests = {experiment.name: experiment.digest for experiment in experiments}
    for path in arguments.folders:
        for part in folder.read(path):
            _add_part(runs, digests, part, path)
    seeds = [run["seed"] for some in runs.values() for run in some]
    if not seeds:
        raise CommandError("there are no runs in these folders")
    arguments.seed, arguments.seeds = min(seeds), max(seeds) - min(seeds) + 1
    found = []
    for experiment in experiments:
        if runs[experiment.name]:
            campaign = Campaign(experiment, arguments)
            _take_sets(campaign, runs[experiment.name])
            campaign.make(weir)
            found.append(campaign)
    return found


def _add_part(runs: Mapping[str, list[Run]], digests: Mapping[str, str], part: Mapping[str, Any],
              path: str) -> None:
    """Adds the runs of a part of results.json to those of its experiment, which must have the text
    that it has now."""
    where, name = f"{path:.300}/results.json", part["experiment"]
    if name not in runs:
        raise CommandError(f"{where}: {name:.300} is not built in; merge takes the experiments "
                           "that `weir lab list` names")
    if part.get("digest") != digests[name]:
        raise CommandError(f"{where}: its runs are of another text of {name}, that of another "
                           "version of weir; make them again")
    runs[name] += part["runs"]


def _take_sets(campaign: Campaign, runs: Sequence[Run]) -> None:
    """Sets the campaign's case, parameters and sweep to what --case and --set were, seen from the
    runs that were made with them."""
    experiment = campaign.experiment
    names = list(experiment.general)
    cases = list(dict.fromkeys(run["case"] for run in runs))
    if not set(cases) <= set(experiment.cases):
        raise CommandError(f"{experiment.name}: the runs have a case that the experiment lacks; "
                           "they are from another version")
    if campaign.case is None and len(cases) == 1 and len(experiment.cases) > 1:
        campaign.case = cases[0]
    campaign.sweep = ""
    for name in names:
        values = [run["parameters"].get(name) for run in runs]
        # The value of --set may be a case's own, too.
        if all(value is None or value == experiment.value(run["case"], name)
               for run, value in zip(runs, values)):
            continue
        if all(value == values[0] for value in values):
            campaign.fixed[name] = values[0] or ""
        elif campaign.sweep:
            raise CommandError(f"{experiment.name}: runs differ in {campaign.sweep} and in {name}: "
                               "only one sweep is possible")
        else:
            campaign.sweep = name
    # Without all parameters, a run would be of no point, and be lost.
    for name in [campaign.sweep, *names] if campaign.sweep else names:
        if any(name not in run["parameters"] for run in runs):
            raise CommandError(f"{experiment.name}: a run has no value of {name}")
    swept = {run["parameters"].get(campaign.sweep): None for run in runs}
    campaign.sweep_values = sorted(swept, key=leading_number) if campaign.sweep else []
    if len(campaign.sweep_values) > VALUES_MAX:
        raise CommandError(f"{experiment.name}: more than {VALUES_MAX} values of {campaign.sweep}")
    campaign.sweep = campaign.sweep or experiment.sweep
    campaign.runs = Runs(runs, names)
