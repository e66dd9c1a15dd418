# SPDX-License-Identifier: BSD-3-Clause
"""Campaigns of `weir lab` (docs/lab.md) on any executor of concurrent.futures.

    study = weir.lab.Study("becn-45", flows=range(10, 46, 5), seeds=20)
    results = study.run(ProcessPoolExecutor(8), out="becn")

Each point is a run of one case, one set of values and one seed, on the machine that the executor
chooses. Results come back through the executor, so no shared folder is needed. Finished points are
stored in OUT/points: if the call is repeated, it continues from there.

OUT/results.json has the same bytes as if `weir lab run` had run all points itself.

For a batch system that starts processes (a Slurm array):

    # prints how many points there are
    python3 -c 'import weir.lab; print(weir.lab.Study("becn-45", seeds=20).save("becn"))'
    python3 -m weir.lab point becn $SLURM_ARRAY_TASK_ID       # each, from 0
    python3 -m weir.lab finish becn
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import dataclasses
import hashlib
import json
import os
import pathlib
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from typing import Any

from .. import lab, program
from .._command import CommandError
from ..errors import Failed, WeirError
from . import command, folder, output
from .campaign import Arguments, Campaign
from .experiment import Experiment
from .jobs import Pool, first_error
from .process import Weir

PathLike = str | os.PathLike[str]
Run = dict[str, Any]

# As of the options of `weir lab run`.
SEEDS_MAX = 10000
SEED_MAX = (1 << 63) - 1


@dataclasses.dataclass(frozen=True)
class Point:
    """One run: a case of an experiment, values for its parameters, and a seed."""

    experiment: str
    case: str
    seed: int
    set: tuple[tuple[str, str], ...] = ()
    text: str | None = None  # the text of an experiment that is not built in

    @property
    def key(self) -> str:
        """The name of its folder in OUT/points."""
        data = json.dumps(dataclasses.astuple(self)).encode()
        name = os.path.basename(self.experiment)
        return f"{name}-{self.case}-{self.seed}-{hashlib.sha256(data).hexdigest()[:16]}"


@contextlib.contextmanager
def _weir(wanted: str | None) -> Iterator[Weir]:
    """The process of the program `wanted`. An error is one of this package."""
    try:
        with Weir(program.find(wanted)) as weir:
            yield weir
    except CommandError as error:
        text = f"weir lab: {error}"
        raise Failed(text, 2 if error.wrong else 1, text + "\n") from None


def run_point(point: Point, weir: str | None = None) -> str:
    """Runs the point, and returns its results as in results.json. This function is given to the
    executor."""
    arguments = Arguments(seeds=1, seed=point.seed, case=point.case, alone=True,
                          set=list(point.set))
    with _weir(weir) as process:
        text = {} if point.text is None else {"text": point.text}
        given = process.read(name=point.experiment, **text)
        if not given:
            raise CommandError(f"there is no experiment `{point.experiment}`")
        campaign = Campaign(Experiment(given[0], process), arguments)
        campaign.take_sets(process)
        campaign.make(process)
        with Pool(process, 1) as pool:
            pool.run(campaign)
        if error := first_error(campaign.jobs):
            raise error
        if len(campaign.jobs) != 1:
            raise CommandError(f"{point.experiment}: a point is one run, and this is "
                               f"{len(campaign.jobs)}")
        return output.json_text([output.experiment_object(campaign)])


@dataclasses.dataclass(frozen=True)
class Results:
    """`path` has results.json, results.csv and report.html. `passed` is true if every row is in its
    band."""

    path: pathlib.Path
    experiments: tuple[dict[str, Any], ...]
    passed: bool

    @property
    def runs(self) -> list[Run]:
        """The runs, each with `case`, `seed`, `parameters` and `figures`."""
        return [run for part in self.experiments for run in part["runs"]]

    def figure(self, name: str, over: str, case: str | None = None) -> dict[str, list[float]]:
        """Returns the values of a figure by the values of a parameter, one per seed:
        `figure("bottleneck.loss", "flows")`. As with Study, `_` stands for `-`."""
        found: dict[str, list[float]] = {}
        for run in self.runs:
            if case in (None, run["case"]) and name in run["figures"]:
                parameters = run["parameters"]
                value = parameters[over if over in parameters else over.replace("_", "-")]
                found.setdefault(value, []).append(run["figures"][name])
        return found

    def _repr_html_(self) -> str:
        import html

        page = html.escape((self.path / "report.html").read_text(encoding="utf-8"), quote=True)
        return f'<iframe srcdoc="{page}" style="width:100%;height:44em;border:0"></iframe>'


def _set_text(value: Any) -> str:
    if isinstance(value, Iterable) and not isinstance(value, str):
        return ",".join(str(one) for one in value)
    return str(value)


class Study:
    """An experiment, row, figure or file of `weir lab run`, or "all", with its seeds and values for
    parameters. If a parameter has several values, they are swept."""

    def __init__(self, what: str, *, seeds: int = 5, first_seed: int = 1, case: str | None = None,
                 figures: bool = True, weir: PathLike | None = None, **values: Any) -> None:
        self.weir = os.fspath(weir) if weir is not None else None
        self.arguments = Arguments(
            what=what, seeds=seeds, seed=first_seed, case=case, figures=figures,
            jobs=os.cpu_count() or 1,
            set=[(name.replace("_", "-"), _set_text(value)) for name, value in values.items()])

    def points(self) -> list[Point]:
        """Returns all runs, each once. Figures over time are not included: `run` makes them at the
        end."""
        what = self.arguments.what
        text = pathlib.Path(what).read_text(encoding="utf-8") if what.endswith(".lab") else None
        with _weir(self.weir) as weir, self._campaigns(weir) as campaigns:
            return list(dict.fromkeys(
                Point(campaign.experiment.name, job.case, job.seed, tuple(job.set.items()), text)
                for campaign in campaigns for job in campaign.jobs if not job.plot))

    @contextlib.contextmanager
    def _campaigns(self, weir: Weir) -> Iterator[list[Campaign]]:
        campaigns: list[Campaign] = []
        try:
            for name, value, least, most in (
                    ("seeds", self.arguments.seeds, 1, SEEDS_MAX),
                    ("first_seed", self.arguments.seed, 0, SEED_MAX)):
                if not least <= value <= most:
                    raise CommandError(f"{name} {value} is out of range; it goes from {least} to "
                                       f"{most}")
            command.choose(self.arguments, campaigns, weir)
            yield campaigns
        finally:
            for campaign in campaigns:
                campaign.remove_traces()

    def save(self, out: PathLike) -> int:
        """Writes the points into OUT, for processes that run them one by one. Returns the number of
        points."""
        store = Store(out)
        points = self.points()
        study = {"weir": self.weir, "arguments": vars(self.arguments), "points": [
            dataclasses.asdict(point) for point in points]}
        store.write("study.json", json.dumps(study, indent=1) + "\n")
        return len(points)

    def run(self, executor: Executor | Callable[[], Executor] | None = None, *,
            out: PathLike = "out", attempts: int = 3, progress: bool | None = None) -> Results:
        """Runs all points that OUT does not have yet.

        `executor` is an executor of concurrent.futures, which the caller keeps; or a function that
        makes one, which is called again if all workers of an executor are broken; None: a process
        for each processor of this machine. If the worker of a point dies, the point is run again,
        `attempts` times in all."""
        store, points = Store(out), self.points()
        missing = [point for point in points if not store.has(point)]
        bar = _Bar(len(points), sys.stderr.isatty() if progress is None else progress)
        bar.show(len(points) - len(missing))
        with _Pool(executor) as pool:
            for attempt in range(attempts):
                missing = _run_all(pool, missing, self.weir, store, bar, attempt + 1 == attempts)
                if not missing:
                    break
        return self.finish(out, points)

    def finish(self, out: PathLike, points: Sequence[Point] | None = None) -> Results:
        """Makes the results from the points in OUT. None may be missing."""
        store, points = Store(out), list(points or self.points())
        missing = [point for point in points if not store.has(point)]
        if missing:
            raise WeirError(f"{len(missing)} of {len(points)} points have not been run, such as "
                            f"{missing[0].experiment}, case {missing[0].case}, seed "
                            f"{missing[0].seed}")
        store.assemble(points)
        arguments = Arguments(**{**vars(self.arguments), "out": str(store.folder)})
        with _weir(self.weir) as weir, self._campaigns(weir) as campaigns:
            taken = folder.resume(str(store.folder), campaigns)
            if taken != len(points):
                raise CommandError(f"{store.folder}: {len(points) - taken} of {len(points)} points "
                                   "are of another campaign")
            if error := command.run(arguments, campaigns, weir):
                raise error
            passed = all(map(output.passes, campaigns))
        parts = json.loads((store.folder / "results.json").read_text(encoding="utf-8"))
        return Results(store.folder, tuple(parts), passed)


class Store:
    """The folder of a study: a file for each finished point."""

    def __init__(self, folder: PathLike) -> None:
        self.folder = pathlib.Path(folder).absolute()
        (self.folder / "points").mkdir(parents=True, exist_ok=True)

    def _place(self, point: Point) -> pathlib.Path:
        return self.folder / "points" / point.key / "results.json"

    def has(self, point: Point) -> bool:
        return self._place(point).exists()

    def put(self, point: Point, text: str) -> None:
        self._place(point).parent.mkdir(exist_ok=True)
        self.write(str(self._place(point).relative_to(self.folder)), text)

    def write(self, name: str, text: str) -> None:
        """Writes a file atomically."""
        path = self.folder / name
        part = path.with_name(f".{path.name}.{os.getpid()}")
        part.write_text(text, encoding="utf-8")
        os.replace(part, path)

    def assemble(self, points: Sequence[Point]) -> None:
        """Puts the results of the points into one results.json, as --continue takes them."""
        parts: list[dict[str, Any]] = []
        digests: dict[str, str] = {}
        for point in points:
            for part in json.loads(self._place(point).read_text(encoding="utf-8")):
                if digests.setdefault(point.experiment, part["digest"]) != part["digest"]:
                    raise WeirError(f"{self.folder}: the points of {point.experiment} are from two "
                                    "versions of weir; remove the folder, and run all again")
                parts.append(part)
        self.write("results.json", json.dumps(parts))


class _Pool:
    """The executor, and its replacement if it breaks."""

    def __init__(self, given: Executor | Callable[[], Executor] | None) -> None:
        self._given = given
        self._own: list[Executor] = []
        self.executor = given if isinstance(given, Executor) else self._make()

    def _make(self) -> Executor:
        if self._given is None:
            # A point is a process of its own, so a thread is enough to wait for it.
            made: Executor = concurrent.futures.ThreadPoolExecutor(os.cpu_count())
        elif isinstance(self._given, concurrent.futures.ProcessPoolExecutor):
            made = concurrent.futures.ProcessPoolExecutor(
                getattr(self._given, "_max_workers", None),
                getattr(self._given, "_mp_context", None))
        elif isinstance(self._given, Executor):
            raise WeirError("the executor is broken; run it again with another one: points that "
                            "are done are not run again")
        else:
            made = self._given()
        self._own.append(made)
        return made

    def submit(self, point: Point, weir: str | None) -> Future[str]:
        try:
            return self.executor.submit(lab.run_point, point, weir)
        except BrokenExecutor:
            self.executor = self._make()
            return self.executor.submit(lab.run_point, point, weir)

    def __enter__(self) -> _Pool:
        return self

    def __exit__(self, *error: object) -> None:
        for executor in self._own:
            executor.shutdown(cancel_futures=True)


def _done(futures: dict[Future[str], Point]) -> Iterator[tuple[Future[str], Point]]:
    for future in concurrent.futures.as_completed(futures):
        yield future, futures[future]


def _run_all(pool: _Pool, points: Sequence[Point], weir: str | None, store: Store, bar: _Bar,
             last: bool) -> list[Point]:
    """Runs points, and returns those whose workers died."""
    futures: dict[Future[str], Point] = {}
    again: list[Point] = []
    try:
        for point in points:
            futures[pool.submit(point, weir)] = point
        for future, point in _done(futures):
            try:
                store.put(point, future.result())
                bar.show(1)
            except (WeirError, OSError):
                raise  # the point itself is wrong, and would fail again
            except Exception:
                if last:
                    raise
                again.append(point)
    except BaseException:
        for future in futures:
            future.cancel()
        raise
    return again


class _Bar:
    def __init__(self, most: int, on: bool) -> None:
        self.done, self.most, self.on = 0, most, on

    def show(self, more: int) -> None:
        self.done += more
        if self.on:
            full = 30 * self.done // max(1, self.most)
            end = "\n" if self.done == self.most else ""
            print(f"\r[{'#' * full:.<30}] {self.done} of {self.most} runs", end=end,
                  file=sys.stderr,
                  flush=True)


def main(words: Sequence[str]) -> int:
    if (words[:1], len(words)) not in ((["point"], 3), (["finish"], 2)):
        print(__doc__, file=sys.stderr)
        return 2
    store = Store(words[1])
    said = json.loads((store.folder / "study.json").read_text(encoding="utf-8"))
    points = [Point(row["experiment"], row["case"], row["seed"],
                    tuple((name, value) for name, value in row["set"]), row["text"])
              for row in said["points"]]
    if words[0] == "point":
        if words[2] not in map(str, range(len(points))):
            print(f"weir.lab: `{words[2]}` is no point of {words[1]}: 0 to {len(points) - 1}",
                  file=sys.stderr)
            return 2
        point = points[int(words[2])]
        if not store.has(point):
            store.put(point, run_point(point, said["weir"]))
        return 0
    study = Study("", weir=said["weir"])
    study.arguments = Arguments(**said["arguments"])
    results = study.finish(store.folder, points)
    print(results.path / "report.html")
    return 0 if results.passed else 1

