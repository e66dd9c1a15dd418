# SPDX-License-Identifier: BSD-3-Clause
"""Replays captures through a scenario, in virtual time (docs/replay.md)."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import itertools
import json
import os
import pathlib
import subprocess
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from . import program, show
from .errors import Failed
from .scenario import Scenario

PathLike = str | os.PathLike[str]
COLUMNS = ("packet", "port", "t_in_ns", "cloud", "fate", "reason", "t_out_ns", "detail")
LATE = "late_ns"  # one more column in the log of a live run


class Fate(str):
    """A decision about a packet: a line of `weir replay --log`, which is split only when a field is
    read.

    >>> fate = Fate("2,a,1700000000000104000,down,dropped,loss,,")
    >>> fate.packet, fate.port, fate.delivered, fate.reason, fate.delay_ns
    (2, 'a', False, 'loss', None)
    """

    __slots__ = ()

    @property
    def row(self) -> list[str]:
        """The fields, in the order of COLUMNS. Names of ports and clouds contain no commas."""
        return self.rstrip("\n").split(",")

    @property
    def packet(self) -> int:
        """Its ordinal at the port where it came in, counted from 1."""
        return int(self.split(",", 1)[0])

    @property
    def port(self) -> str:
        return self.split(",", 2)[1]

    @property
    def t_in_ns(self) -> int:
        return int(self.split(",", 3)[2])

    @property
    def cloud(self) -> str:
        return self.split(",", 4)[3]

    @property
    def delivered(self) -> bool:
        return self.split(",", 5)[4] == "delivered"

    @property
    def reason(self) -> str | None:
        """Why the packet was dropped."""
        return self.split(",", 6)[5] or None

    @property
    def t_out_ns(self) -> int | None:
        text = self.split(",", 7)[6]
        return int(text) if text else None

    @property
    def delay_ns(self) -> int | None:
        row = self.split(",", 7)
        return int(row[6]) - int(row[2]) if row[6] else None

    @property
    def detail(self) -> str:
        """`copy`, `generated`, `marked`, several of them, or nothing."""
        return self.row[7]

    @property
    def late_ns(self) -> int | None:
        """How long after `t_out_ns` it really left; None in a replay, and if it is not known."""
        row = self.row
        return int(row[8]) if len(row) > 8 and row[8] else None

    def __repr__(self) -> str:
        return f"Fate({', '.join(self.row)})"


def _columns(first_line: str) -> tuple[str, ...]:
    """Returns the columns of a log, from its first line; () if it is none."""
    given = tuple(first_line.rstrip("\n").split(","))
    return given if given in (COLUMNS, (*COLUMNS, LATE)) else ()


class Fates(Iterable[Fate]):
    """The fates of a run, in the order of the decisions. They are read from the file during the
    iteration."""

    def __init__(self, path: PathLike) -> None:
        self.path = pathlib.Path(path)

    def __iter__(self) -> Iterator[Fate]:
        # No Python function runs for each line, so that 10 million lines take seconds.
        file = open(self.path, encoding="ascii", buffering=1 << 20)
        if not _columns(file.readline()):
            file.close()
            raise ValueError(f"{self.path} is not a log of weir")
        return map(Fate, file)

    def numpy(self, chunk: int | None = None) -> Iterator[Mapping[str, Any]]:
        """Yields arrays by column, `chunk` rows at a time (None: all at once). t_out_ns is -1 for
        dropped packets, and late_ns, of a live run, where it is not known. Needs NumPy."""
        import numpy

        fates = iter(self)
        while part := list(itertools.islice(fates, chunk)):
            columns = dict(zip((*COLUMNS, LATE), zip(*(fate.row for fate in part))))
            arrays: dict[str, Any] = {}
            for name, values in columns.items():
                if name in ("packet", "t_in_ns", "t_out_ns", LATE):
                    arrays[name] = numpy.fromiter((int(v or -1) for v in values), numpy.int64,
                                                  len(part))
                else:
                    arrays[name] = numpy.array(values)
            yield arrays

    def pandas(self, chunk: int | None = None) -> Any:
        """Returns a DataFrame; with `chunk`, an iterator over frames of so many rows. Needs
        pandas."""
        import pandas

        words = {name: "category" for name in ("port", "cloud", "fate", "reason", "detail")}
        return pandas.read_csv(self.path, chunksize=chunk, keep_default_na=False,
                               na_values={"t_out_ns": [""], LATE: [""]},
                               dtype={**words, "packet": "int64", "t_in_ns": "int64",
                                      "t_out_ns": "Int64", LATE: "Int64"})


def _remove(folder: tempfile.TemporaryDirectory[str]) -> None:
    folder.cleanup()


def into_folder(folder: PathLike | None,
                prefix: str) -> tuple[tempfile.TemporaryDirectory[str] | None, pathlib.Path]:
    """Returns `folder`, or a new temporary folder, which the caller has to remove. What a replay
    may leave out is removed, so that nothing of an earlier one is taken for its result."""
    own = tempfile.TemporaryDirectory(prefix=prefix) if folder is None else None
    place = pathlib.Path(own.name if own is not None else folder or ".").absolute()
    place.mkdir(parents=True, exist_ok=True)
    for name in ("fates.csv", "picture.html"):
        (place / name).unlink(missing_ok=True)
    return own, place


@dataclasses.dataclass
class Replay:
    """The result of a replay. Its files are in `folder`. If this package has made the folder, it is
    removed together with this object."""

    folder: pathlib.Path
    seed: int
    report: show.Report
    outputs: dict[str, pathlib.Path]
    fates: Fates
    picture: pathlib.Path | None
    warnings: tuple[str, ...]
    table: str

    @classmethod
    def of(cls, place: pathlib.Path, outputs: dict[str, pathlib.Path], picture: bool,
           done: subprocess.CompletedProcess[str],
           own: tempfile.TemporaryDirectory[str] | None) -> Replay:
        """Builds the result from the files of `weir replay` in a folder. The temporary folder `own`
        is removed with the object."""
        text = (place / "report.json").read_text(encoding="utf-8")
        report = show.made(show.Report, json.loads(text))
        result = cls(place, int(report.seed), report, outputs, Fates(place / "fates.csv"),
                     place / "picture.html" if picture else None,
                     tuple(line for line in done.stderr.splitlines() if "warning" in line),
                     done.stdout)
        if own is not None:
            weakref.finalize(result, _remove, own)
        return result

    def __str__(self) -> str:
        return self.table

    def _repr_html_(self) -> str:
        import html

        if self.picture is None:
            return f"<pre>{html.escape(self.table)}</pre>"
        page = html.escape(self.picture.read_text(encoding="utf-8"), quote=True)
        return f'<iframe srcdoc="{page}" style="width:100%;height:44em;border:0"></iframe>'


def replay(scenario: Scenario | str, inputs: Mapping[str, PathLike | Sequence[PathLike]], *,
           split: str | None = None, seed: int | None = None, folder: PathLike | None = None,
           fates: bool = True, picture: bool = True, memory: str | None = None,
           weir: PathLike | None = None) -> Replay:
    """Passes captures through a scenario.

    `scenario` is a Scenario, a text with the lines of one, or the name of one of configs/. `inputs`
    are captures by port, `{"a": "in.pcap"}`, or by two ports, `{"a,b": "both.pcap"}`, together with
    `split`, such as "mac=02:00:00:00:00:0a". The result's `outputs` hold what leaves at each port.
    With `fates` and `picture` false the replay is faster. The same captures, scenario and seed give
    the same bytes."""
    own, place = into_folder(folder, "weir-replay-")
    if isinstance(scenario, str):
        scenario = (Scenario.parse(scenario, weir=weir) if "\n" in scenario
                    else Scenario.load(scenario, weir=weir))
    # The files that a scenario names are relative to its folder. The scenario is piped to weir,
    # which runs in this folder.
    words = ["replay", "-c", "/dev/stdin", "--report", str(place / "report.json")]
    for port, captures in inputs.items():
        several = [captures] if isinstance(captures, str | os.PathLike) else captures
        for capture in several:
            words += ["--in", f"{port}={os.path.abspath(capture)}"]
    outputs = {port: place / f"{port}.pcap" for port in scenario.ports}
    for port, path in outputs.items():
        words += ["--out", f"{port}={path}"]
    words += ["--split", split] if split else []
    words += ["--seed", str(seed)] if seed is not None else []
    words += ["--memory", memory] if memory else []
    words += ["--log", str(place / "fates.csv")] if fates else []
    words += ["--picture", str(place / "picture.html")] if picture else []
    (place / "scenario.weir").write_text(str(scenario), encoding="utf-8")
    done = program.call(words, program=weir, input=str(scenario), cwd=scenario.folder)
    return Replay.of(place, outputs, picture, done, own)


def _one(text: str, folder: str | None, inputs: Mapping[str, PathLike],
         options: dict[str, Any]) -> show.Report:
    scenario = Scenario.parse(text, weir=options.get("weir"))
    scenario.folder = folder
    return replay(scenario, inputs, fates=False, picture=False, **options).report


def _subfolder(folder: PathLike, name: str) -> str:
    if name in ("", ".", "..") or "/" in name:
        raise ValueError(f"`{name}` cannot be the name of a folder in {os.fspath(folder)}; name "
                         "the captures otherwise, or leave out `folder`")
    return os.path.join(os.path.abspath(folder), name)


def replays(scenario: Scenario, captures: Mapping[str, Mapping[str, PathLike]],
            executor: concurrent.futures.Executor | None = None,
            folder: PathLike | None = None, **options: Any) -> dict[str, show.Report | Failed]:
    """Replays a set of captures, side by side. Returns reports by the names of the captures, in
    their order; if a capture is refused, the error takes the place of its report. `executor` is any
    executor of concurrent.futures; by default a thread for each processor is used. The files are
    left in `folder`, if it is given: each capture's in a subfolder with its name."""
    text, beside = str(scenario), scenario.folder or os.getcwd()
    places = {name: None if folder is None else _subfolder(folder, name) for name in captures}
    own = executor is None
    pool = executor or concurrent.futures.ThreadPoolExecutor(os.cpu_count())
    try:
        waiting = {name: pool.submit(_one, text, beside, dict(inputs),
                                     {**options, "folder": places[name]})
                   for name, inputs in captures.items()}
        results: dict[str, show.Report | Failed] = {}
        for name, future in waiting.items():
            try:
                results[name] = future.result()
            except Failed as error:
                results[name] = error
        return results
    finally:
        if own:
            pool.shutdown()
