# SPDX-License-Identifier: BSD-3-Clause
"""The folder of --out: results.csv, results.json, report.html.

The files are written under temporary names and renamed when all three are complete. A reader finds
either the old files or the new ones, even if the disk is full or the process is killed. So they may
be written before the campaign ends; then they say what is missing ("complete" in the JSON, a red
line in the report).

Continuing: a run is taken from results.json if the text of its experiment, its case, its seed and
all parameters are the same. Figures over time, traces and captures are not stored: they run again.
Nothing checks that the program is the same.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from typing import Any

from .._command import AtomicFile, CommandError
from . import output, report
from .campaign import Campaign, Runs

NAMES = ("results.csv", "results.json", "report.html")
NOT_OURS = "not what `weir lab run --out` writes"


def check(folder: str) -> None:
    """Makes the folder, if there is none, and sees that it can be written to."""
    try:
        os.mkdir(folder)
    except FileExistsError:
        pass
    except OSError as error:
        raise CommandError(f"--out {folder:.200}: {error.strerror}") from None
    try:
        file = AtomicFile(os.path.join(folder, NAMES[0]))
    except CommandError as error:
        raise CommandError(f"--out: {error}") from None
    file.discard()


def write(folder: str, campaigns: Sequence[Campaign]) -> None:
    contents: Sequence[Callable[[], str]] = (
        lambda: output.csv_text(campaigns),
        lambda: output.json_text([output.experiment_object(campaign) for campaign in campaigns], 1),
        lambda: report.html(campaigns))
    files: list[AtomicFile] = []
    try:
        for name, content in zip(NAMES, contents):
            files.append(AtomicFile(os.path.join(folder, name)))
            files[-1].write(content())
        for file in files:
            file.publish()
    finally:
        for file in files:
            file.discard()


def read(folder: str) -> list[dict[str, Any]]:
    """Returns the parts of results.json, one for each experiment. Each has `runs`, with their case,
    seed, parameters and figures."""
    path = os.path.join(folder, NAMES[1])
    try:
        with open(path, encoding="utf-8") as file:
            parts = json.load(file)
    except OSError as error:
        raise CommandError(f"{path:.300}: {error.strerror}") from None
    except ValueError as error:
        raise CommandError(f"{path:.300}: {error}") from None
    if not isinstance(parts, list) or not all(map(_is_part, parts)):
        raise CommandError(f"{path:.300}: {NOT_OURS}")
    return parts


def _is_part(part: Any) -> bool:
    return (isinstance(part, dict) and isinstance(part.get("experiment"), str)
            and isinstance(part.get("runs"), list) and all(map(_is_run, part["runs"])))


def _is_run(run: Any) -> bool:
    return (isinstance(run, dict) and isinstance(run.get("case"), str)
            and isinstance(run.get("seed"), int) and _is_object(run.get("parameters"), str)
            and _is_object(run.get("figures"), (int, float)))


def _is_object(given: Any, of: type | tuple[type, ...]) -> bool:
    return isinstance(given, dict) and all(isinstance(value, of) for value in given.values())


def resume(folder: str, campaigns: Sequence[Campaign]) -> int:
    """Gives the campaigns the runs that the folder has. Returns how many these are."""
    if not os.path.exists(os.path.join(folder, NAMES[1])):
        return 0
    try:
        parts = read(folder)
    except CommandError as error:
        raise CommandError(f"--continue: {error}") from None
    taken = 0
    for campaign in campaigns:
        experiment = campaign.experiment
        runs = Runs([run for part in parts if part.get("digest") == experiment.digest
                     for run in part["runs"]], list(experiment.general))
        for job in campaign.jobs:
            if not job.trace and not campaign.arguments.pcap:
                taken += runs.take(job) > 0
    return taken
