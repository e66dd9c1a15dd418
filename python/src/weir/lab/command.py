# SPDX-License-Identifier: BSD-3-Clause
"""`weir lab`: runs the papers' experiments again, behind the command line that the program itself
has checked (src/control/lab/lab_command.c)."""

from __future__ import annotations

import getopt
import os
import signal
import sys
from collections.abc import Callable, Sequence

from .._command import CommandError
from . import folder, merge, output, verdict
from .campaign import Arguments, Campaign
from .experiment import Experiment
from .jobs import Pool, first_error
from .process import Weir

JOBS_MAX = 256  # as the program has it


def arguments_of(words: Sequence[str]) -> Arguments:
    options, (verb, *rest) = getopt.gnu_getopt([*words], "j", [
        "seeds=", "seed=", "set=", "case=", "no-figures", "alone", "jobs=", "out=", "continue",
        "trace=", "pcap=", "json"])
    arguments = Arguments(verb=verb, what=rest[0] if rest else "", folders=rest)
    arguments.jobs = min(max(1, os.sysconf("SC_NPROCESSORS_ONLN")), JOBS_MAX)
    for option, value in options:
        name = option.lstrip("-")
        if name in ("seeds", "seed", "jobs"):
            setattr(arguments, name, int(value))
        elif name == "set":
            name, _, value = value.partition("=")
            arguments.set = [*arguments.set, (name, value)]
        elif name == "no-figures":
            arguments.figures = False
        elif name in ("case", "out", "trace", "pcap"):
            setattr(arguments, name, value)
        else:
            setattr(arguments, {"j": "json", "continue": "resume"}.get(name, name), True)
    return arguments


def main(words: Sequence[str]) -> int:
    """Returns the exit status."""
    arguments = arguments_of(words)
    campaigns: list[Campaign] = []
    try:
        with Weir(os.environ["WEIR"]) as weir:
            return _command(arguments, campaigns, weir)
    except CommandError as error:
        print(f"weir lab: {error}", file=sys.stderr)
        return 2 if error.wrong else 1
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
