# SPDX-License-Identifier: BSD-3-Clause
"""`weir lab`: runs the papers' experiments again. Its options: src/control/lab/lab_command.c."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Sequence

from .._command import CommandError, Given, is_text
from . import folder, merge, output, verdict
from .campaign import Arguments, Campaign
from .experiment import Experiment
from .jobs import Pool, first_error
from .process import Weir

JOBS_MAX = 256  # as the program has it
SETS_MAX = 32
RUNS, ALL = ("run", "points"), ("run", "points", "merge")
PARTS = {"seeds": RUNS, "seed": RUNS, "set": RUNS, "case": ALL, "no-figures": ALL, "alone": RUNS,
         "jobs": RUNS, "out": ALL, "continue": RUNS, "trace": RUNS, "pcap": RUNS}


def arguments_of(words: Sequence[str]) -> Arguments:
    given = Given(words)
    sets = given.every("set")
    for at, text in enumerate(sets):
        name, _, value = text.partition("=")
        if not name or not value:
            raise CommandError(f"--set `{text:.60}`: write NAME=VALUE, like flows=20")
        if at == SETS_MAX:
            raise CommandError(f"--set more than {SETS_MAX} times")
        if not is_text(text):
            raise CommandError("--set: the value must be UTF-8 text")
    if "continue" in given and "out" not in given:
        raise CommandError("--continue needs --out DIR, the folder of the earlier runs")
    verb, *rest = given.words or [""]
    fits = {"list": not rest, "run": len(rest) == 1, "points": len(rest) == 1, "merge": bool(rest)}
    if not fits.get(verb):
        raise CommandError("write `weir lab list` or `weir lab run NAME`; `weir lab --help` says "
                           "more")
    given.check_parts(PARTS, [verb])
    jobs = int(given.get("jobs", min(max(1, os.sysconf("SC_NPROCESSORS_ONLN")), JOBS_MAX)))
    return Arguments(
        verb=verb, what=rest[0] if rest else "", folders=rest, seeds=int(given["seeds"]),
        seed=int(given["seed"]), jobs=jobs, set=[tuple(text.split("=", 1)) for text in sets],
        case=given.get("case"), figures="no-figures" not in given, alone="alone" in given,
        out=given.get("out"), resume="continue" in given, trace=given.get("trace"),
        pcap=given.get("pcap"), json="json" in given)


def main(words: Sequence[str]) -> int:
    """Returns the exit status."""
    arguments = arguments_of(words)
    campaigns: list[Campaign] = []
    try:
        with Weir(os.environ["WEIR"]) as weir:
            return _command(arguments, campaigns, weir)
    finally:
        for campaign in campaigns:
            campaign.remove_traces()


def _command(arguments: Arguments, campaigns: list[Campaign], weir: Weir) -> int:
    if arguments.verb == "list":
        print(_list(experiments(weir), arguments.json), end="")
        return 0
    if arguments.verb == "merge":
        campaigns += merge.campaigns(experiments(weir), arguments, weir)
    else:
        choose(arguments, campaigns, weir)
    if arguments.verb == "points":
        print(output.json_text(points(campaigns), 1))
        return 0
    if arguments.out is not None:
        folder.check(arguments.out)
        if arguments.verb == "merge":
            folder.write(arguments.out, campaigns)
        elif arguments.resume:
            taken = folder.resume(arguments.out, campaigns)
            print(f"weir lab: {taken} of {verdict.done(campaigns)[1]} runs are in {arguments.out} "
                  "already", file=sys.stderr)
    failed = None
    if arguments.verb == "run":
        failed = _run_until_stopped(arguments, campaigns, weir)
    if failed:
        print(f"weir lab: {failed}", file=sys.stderr)
    for campaign in campaigns:
        print(_json(campaign) if arguments.json else output.text(campaign, weir),
              end="\n" if arguments.json else "")
    return 0 if not failed and all(map(output.passes, campaigns)) else 1


def experiments(weir: Weir) -> list[Experiment]:
    """Returns those that are built in."""
    return [Experiment(given, weir) for given in weir.read()]


def choose(arguments: Arguments, campaigns: list[Campaign], weir: Weir) -> None:
    """Adds the campaigns that the command line names."""
    what = arguments.what
    if what.endswith(".lab"):
        campaigns.append(Campaign(Experiment(weir.read(path=what)[0], weir), arguments))
    all_of_them = [] if campaigns else experiments(weir)
    for experiment in all_of_them:
        if what in ("all", experiment.name):
            campaigns.append(Campaign(experiment, arguments))
        elif what in experiment.ids:
            campaigns.append(Campaign(experiment, arguments, row=what))
        elif what in experiment.figures:
            campaigns.append(Campaign(experiment, arguments, figure=what))
    if not campaigns:
        nearest = weir.nearest(what, [experiment.name for experiment in all_of_them])
        raise CommandError(f"there is no experiment, row, figure or file `{what:.60}`; "
                           + (f"did you mean `{nearest}`? " if nearest else "")
                           + "`weir lab list` names them")
    for campaign in campaigns:
        campaign.take_sets(weir)
        campaign.make(weir)


def points(campaigns: Sequence[Campaign]) -> list[dict[str, object]]:
    """Returns what `run` would run, without figures over time, which are files of one machine."""
    return [{"experiment": campaign.experiment.name, "case": job.case, "seed": job.seed,
             "set": job.set} for campaign in campaigns for job in campaign.jobs if not job.plot]


def _list(all_of_them: Sequence[Experiment], as_json: bool) -> str:
    rows = [{"name": experiment.name, "title": experiment.title, "paper": experiment.paper,
             "rows": " ".join(experiment.ids), "figures": " ".join(experiment.figures)}
            for experiment in all_of_them]
    if as_json:
        return output.json_text(rows, 1) + "\n"
    lines = []
    for row in rows:
        lines.append(f"{row['name']:<20} {row['title']}")
        lines += [f"{'':21}{text}" for text in (
            row["paper"], row["rows"] and "rows " + row["rows"],
            row["figures"] and "figures " + row["figures"]) if text]
    return "".join(line + "\n" for line in lines)


def _json(campaign: Campaign) -> str:
    return output.json_text(output.row_object(campaign, campaign.row) if campaign.row
                            else output.experiment_object(campaign))


# ---- running ----

def run(arguments: Arguments, campaigns: Sequence[Campaign], weir: Weir,
        stopped: Callable[[], bool] = lambda: False) -> CommandError | None:
    """Runs the campaigns, and writes the folder. Returns the error of the first run that failed;
    the others have been run. If it is stopped, writes what is finished, and raises CommandError."""
    failed = None
    with Pool(weir, arguments.jobs) as pool:
        for index, campaign in enumerate(campaigns):
            if not pool.run(campaign, stopped):
                raise _interrupted(arguments, campaigns)
            error = first_error(campaign.jobs)
            if error and error.wrong and len(campaigns) == 1:
                raise error
            failed = failed or error
            if len(campaigns) > 1:  # how long each took shows the progress
                done, n = verdict.done([campaign])
                seconds = sum(job.seconds for job in campaign.jobs)
                print(f"{campaign.experiment.name}: {done} of {n} runs, {seconds:.1f} s of "
                      f"processor time; experiment {index + 1} of {len(campaigns)}",
                      file=sys.stderr, flush=True)
            if arguments.out is not None:
                folder.write(arguments.out, campaigns)
    return failed


def _run_until_stopped(arguments: Arguments, campaigns: Sequence[Campaign],
                       weir: Weir) -> CommandError | None:
    signals: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: signals.append(number))
    return run(arguments, campaigns, weir, lambda: bool(signals))


def _interrupted(arguments: Arguments, campaigns: Sequence[Campaign]) -> CommandError:
    done, n = verdict.done(campaigns)
    text = f"interrupted after {done} of {n} runs"
    if arguments.out is not None:
        folder.write(arguments.out, campaigns)
        text += f", which are in {arguments.out:.200}; --continue runs the rest"
    return CommandError(text, wrong=False)
