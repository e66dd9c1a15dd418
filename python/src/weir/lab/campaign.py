# SPDX-License-Identifier: BSD-3-Clause
"""A campaign: what `weir lab` runs, or merges, for one experiment.

It has the points that the rows and figures need, each with every seed. This is the only place that
knows which runs make up a campaign: `weir lab points` lists them, --continue and merge give runs of
results.json to the points that they belong to, and weir.lab.Study hands them to executors.
"""

from __future__ import annotations

import itertools
import os
import re
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .._command import CommandError, path_text
from .experiment import VALUES_MAX, Experiment, Plot, Row
from .process import Weir

TRACE_SAMPLE = "100ms"  # of a figure over time


class Arguments(types.SimpleNamespace):
    """The command line of `weir lab`, as its options are called. (Classes of dataclasses would
    double the time that the command takes to start.)"""

    verb: str = "run"
    what: str = ""  # experiment, row, figure, file or `all`
    folders: Sequence[str] = ()  # to merge
    seeds: int = 5
    seed: int = 1  # of the first run
    jobs: int = 1
    set: Sequence[tuple[str, str]] = ()
    case: str | None = None
    figures: bool = True
    alone: bool = False
    out: str | None = None
    resume: bool = False
    trace: str | None = None
    pcap: str | None = None
    json: bool = False


class Job:
    """A run: a case, other values than it has for parameters, and a seed."""

    def __init__(self, case: str, seed: int, given: dict[str, str],
                 parameters: dict[str, str]) -> None:
        self.case, self.seed, self.set = case, seed, given
        self.parameters = parameters  # all, with their values
        self.sweep = ""  # the parameter that is swept, if the value is none that the case has
        self.value: str | None = None
        self.plot: Plot | None = None  # a figure over time, for which alone it is run
        self.trace: str | None = None  # the file of its values over time
        self.figures: dict[str, float] | None = None  # the results
        self.seconds = 0.0  # of a processor
        self.error: CommandError | None = None

    @property
    def done(self) -> bool:
        return bool(self.figures)


class Runs:
    """Runs of results.json (folder.read), found by their case, parameters and seed. Several of one
    kind are a mistake only if they differ."""

    def __init__(self, runs: Sequence[Mapping[str, Any]], parameters: Sequence[str]) -> None:
        self._by: dict[Any, list[Any]] = {}
        self._kinds: set[Any] = set()
        for run in runs:
            kind = (run["case"], *(run["parameters"].get(name) for name in parameters))
            self._kinds.add(kind)
            self._by.setdefault((kind, run["seed"]), []).append(run["figures"])

    def has(self, job: Job) -> bool:
        """Returns true if there is a run of this point, with any seed."""
        return (job.case, *job.parameters.values()) in self._kinds

    def take(self, job: Job) -> int:
        """Gives the job its figures. Returns how many runs there are of it that differ."""
        found = self._by.get(((job.case, *job.parameters.values()), job.seed), [])
        if found:
            job.figures = {name: float(value) for name, value in found[0].items()}
        return sum(figures not in found[:i] for i, figures in enumerate(found))


class Campaign:
    """With `runs` it is a merge: a point belongs to it if there are runs of it, and then every seed
    must be there."""

    def __init__(self, experiment: Experiment, arguments: Arguments, *, row: str | None = None,
                 figure: str | None = None) -> None:
        self.experiment, self.arguments = experiment, arguments
        self.row, self.figure, self.case = row, figure, arguments.case
        self.fixed: dict[str, str] = {}  # of --set
        self.sweep = experiment.sweep
        self.sweep_values = experiment.sweep_values if arguments.figures else []
        self.swept = False  # by --set
        self.runs: Runs | None = None
        self.jobs: list[Job] = []
        self._by: dict[tuple[str, str, str | None, int], Job] = {}

    # ---- what it is asked for ----

    def has_row(self, row: Row) -> bool:
        return not self.figure and self.row in (None, row.id)

    def has_plot(self, plot: Plot) -> bool:
        return not self.row and self.arguments.figures and self.figure in (None, plot.figure)

    def take_sets(self, weir: Weir) -> None:
        """Reads --set: values, and a sweep."""
        for name, text in self.arguments.set:
            if name not in self.experiment.general:
                raise self._unknown(name, weir)
            if ".." not in text and "," not in text:
                self.fixed[name] = text
                continue
            if self.row:
                raise CommandError(f"--set {name}={text:.60}: row {self.row} has no sweep; "
                                   f"give one value, or run {self.experiment.name}")
            values = sweep_values(text)
            if self.swept or values is None:
                raise CommandError(f"--set {name}={text:.60}: only one sweep is possible, of "
                                   f"at most {VALUES_MAX} values, like 10..45, 10..45:5 or "
                                   "10,20,45")
            self.sweep, self.sweep_values, self.swept = name, values, True

    def _unknown(self, name: str, weir: Weir) -> CommandError:
        names = list(self.experiment.general)
        nearest = weir.nearest(name, names)
        rest = f"; did you mean `{nearest}`?" if nearest else "; there are " + " ".join(names)
        return CommandError(f"{self.experiment.name} has no parameter `{name:.60}`{rest}")

    # ---- its runs ----

    def make(self, weir: Weir) -> None:
        """Makes the jobs, and sees that each point can be built."""
        experiment, arguments = self.experiment, self.arguments
        if self.case is not None and self.case not in experiment.cases:
            raise CommandError(f"{experiment.name}: there is no case `{self.case:.60}`" if self.runs
                               else f"{experiment.name} has no case `{self.case:.60}`")
        self._add_all()
        if (arguments.trace or arguments.pcap) and len(self.jobs) != 1:
            raise CommandError(f"--trace and --pcap are for a single run, but there are "
                               f"{len(self.jobs)}; add --seeds 1 --no-figures --case NAME")
        for job in [] if self.runs else self.jobs:
            if job.plot or job.seed == arguments.seed:
                weir.check(self.question(job, run=False), experiment.name)

    def job(self, case: str, value: str | None, seed: int, sweep: str | None = None) -> Job | None:
        """Returns the run of a case, at a value of the sweep (None: the case's own)."""
        sweep = self.sweep if sweep is None else sweep
        value = self._other(case, sweep, value)
        return self._by.get((case, "" if value is None else sweep, value, seed))

    def _other(self, case: str, sweep: str, value: str | None) -> str | None:
        """Returns None for the value that the case has anyway, so that no point is run twice."""
        if value is None:
            return None
        own = self.fixed.get(sweep, self.experiment.value(case, sweep))
        return None if value == own else value

    def question(self, job: Job, run: bool) -> dict[str, Any]:
        """Returns what the process is asked about a run."""
        values = job.parameters
        seed = job.seed if job.seed < 1 << 63 else job.seed - (1 << 64)  # as JSON of C has it
        return {"ask": "point", "run": run, "seed": seed,
                "lines": self.experiment.point_lines(job.case, values),
                "trace": path_text(job.trace) if job.trace else None,
                "pcap": path_text(self.arguments.pcap) if self.arguments.pcap and not job.plot
                else None,
                **{name: values[name] for name in ("duration", "warmup", "sample", "ties")}}

    def remove_traces(self) -> None:
        for job in self.jobs:
            if job.plot and job.trace:
                os.unlink(job.trace)

    def _job(self, case: str, seed: int, more: Mapping[str, str]) -> Job:
        given = {**self.fixed, **more}
        experiment = self.experiment
        parameters = {name: given.get(name, experiment.value(case, name))
                      for name in experiment.general}
        job = Job(case, seed, given, parameters)
        job.trace = self.arguments.trace
        return job

    def _add_point(self, case: str, sweep: str = "", value: str | None = None) -> None:
        """Adds a case at a value of a parameter (None: its own), with every seed, unless it is
        there already."""
        value = self._other(case, sweep, value)
        sweep = "" if value is None else sweep
        first, n = self.arguments.seed, self.arguments.seeds
        if self.case not in (None, case) or (case, sweep, value, first) in self._by:
            return
        more = {} if value is None else {sweep: value}
        if self.runs and not self.runs.has(self._job(case, first, more)):
            return
        for seed in range(first, first + n):
            job = self._job(case, seed, more)
            job.sweep, job.value = sweep, value
            self.jobs.append(job)
            self._by[case, sweep, value, seed] = job
            if self.runs:
                self._take(self.runs, job)

    def _take(self, runs: Runs, job: Job) -> None:
        """Takes the run of a merge. Without it, a mean over the seeds would have no meaning."""
        name = self.experiment.name
        taken = runs.take(job)
        if taken > 1:
            raise CommandError(f"{name}: two runs of case {job.case} with seed {job.seed} differ")
        if taken == 0:
            at = f", {job.sweep} {job.value}" if job.sweep else ""
            raise CommandError(f"{name}: case {job.case}{at}: the run with seed {job.seed} is "
                               "missing")

    def _add_trace(self, plot: Plot) -> None:
        """Adds a single run, with the first seed, that records values over its time."""
        import tempfile

        if self.case not in (None, plot.case):
            return
        job = self._job(plot.case, self.arguments.seed, {"sample": TRACE_SAMPLE, **plot.set})
        job.plot = plot
        try:
            file, job.trace = tempfile.mkstemp(prefix="weir-lab-")
        except OSError as error:
            raise CommandError(f"no room for files, for {len(self.jobs) + 1} runs: "
                               f"{error.strerror}", wrong=False) from None
        os.close(file)
        self.jobs.append(job)

    def _add_named(self, row: Row) -> None:
        """Adds the runs that a row names, case by case."""
        experiment = self.experiment
        for case in experiment.cases:
            for named, value, _ in names(experiment, row.expression):
                if named == case:
                    self._add_point(case, experiment.sweep if value else "", value)

    def _add_cases(self, as_they_are: bool, swept: bool) -> None:
        """Adds all cases, as they are or at each value of the sweep."""
        for case in self.experiment.cases:
            if as_they_are:
                self._add_point(case)
            for value in self.sweep_values if swept else []:
                self._add_point(case, self.sweep, value)

    def _add_all(self) -> None:
        experiment, arguments = self.experiment, self.arguments
        single = bool(arguments.trace or arguments.pcap or arguments.alone)
        # Without rows or figures that select cases, each case runs as it is.
        everything = not self.row and not self.figure and (
            single or self.case is not None
            or not experiment.rows and (not experiment.plots or not arguments.figures))
        self._add_cases(everything, False)
        for row in [] if single else experiment.rows:
            if self.has_row(row):
                self._add_named(row)
        # A sweep that was requested runs even if no figure shows it.
        if not self.row and (self.swept or self.runs):
            self._add_cases(False, True)
        for plot in [] if single else experiment.plots:
            if not self.has_plot(plot):
                continue
            if plot.kind != "trace":
                self._add_cases(plot.kind == "bars", plot.kind == "plot")
            elif not self.runs:
                self._add_trace(plot)
        if self.runs:  # those that no row or figure needs come last
            only, self.case = self.case, None
            self._add_cases(True, True)
            self.case = only


def sweep_values(text: str) -> list[str] | None:
    """Returns the values of `10,20,45`, `10..45` or `10..45:5`; None if it is none of these, or
    they are too many."""
    values: list[str] = []
    if ".." not in text:
        values = text.split(",")
    elif found := re.fullmatch(r"(\d+)\.\.(\d+)(?::(\d+))?", text, re.ASCII):
        first, last, step = int(found[1]), int(found[2]), int(found[3] or 1)
        if step:
            numbers = range(first, last + 1, step)
            values = [str(number) for number in itertools.islice(numbers, VALUES_MAX + 1)]
    return values if values and all(values) and len(values) <= VALUES_MAX else None


def name_parts(experiment: Experiment, name: str) -> tuple[str, str | None, str] | None:
    """Returns the case, the value of the sweep and the figure of `CASE.NAME` or `CASE@VALUE.NAME`.
    Of several cases (`a` and `a.b`), the one with the longest name counts."""
    for case in sorted(experiment.cases, key=len, reverse=True):
        if name.startswith((f"{case}.", f"{case}@")):
            value, point, figure = name[len(case):].partition(".")
            return (case, value[1:] or None, figure) if point else None
    return None


def names(experiment: Experiment, expression: str) -> Iterator[tuple[str, str | None, str]]:
    """Returns the parts of each name in a row's expression."""
    for name in re.findall(r"[A-Za-z0-9._@%-]+", expression):
        if parts := name_parts(experiment, name):
            yield parts
