# SPDX-License-Identifier: BSD-3-Clause
"""Replays a recorded live run in virtual time, and answers questions about it (docs/record.md).

    with weir.run(scenario, record="monday"):
        ...
    recording = weir.Recording("monday")
    print(recording.packet(4711))
    print(recording.diff(set="cloud down rate 50mbit"))
"""

from __future__ import annotations

import json
import os
import pathlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from . import program, protocol, show
from .replay import PathLike, Replay, into_folder
from .scenario import Scenario

Lines = str | Sequence[str]


@dataclass(frozen=True)
class PacketAt:
    """A packet: its port, its number there, and when it reached its cloud, since the start of the
    run."""

    port: str = ""
    packet: int = 0
    at_ns: int = 0


@dataclass(frozen=True)
class Change:
    """Packets that have one fate in the first run and another in the second: `delivered`, a reason,
    or `not decided`. `few` holds the earliest of them."""

    was: str = field(default="", metadata={"key": "from"})
    becomes: str = field(default="", metadata={"key": "to"})
    packets: int = 0
    few: tuple[PacketAt, ...] = ()


@dataclass(frozen=True)
class Delays:
    """How much longer the delays are in the second run, over the packets that both runs deliver."""

    equal: int = 0
    longer: int = 0
    shorter: int = 0
    min_ns: int = 0
    p50_ns: int = 0
    p99_ns: int = 0
    max_ns: int = 0


@dataclass(frozen=True)
class First:
    """The earliest packet that differs between the runs. `later_ns` is set if both deliver it."""

    port: str = ""
    packet: int = 0
    at_ns: int = 0
    was: str = field(default="", metadata={"key": "from"})
    becomes: str = field(default="", metadata={"key": "to"})
    later_ns: int = 0


@dataclass(frozen=True)
class Diff:
    """The differences of two runs. It is true if there are any.

    >>> from weir import show
    >>> diff = show.made(Diff, {"same": False, "fates": 9, "changed": 2, "changes": [
    ...     {"from": "queue-full", "to": "delivered", "packets": 2,
    ...      "few": [{"port": "a", "packet": 7, "at_ns": 5}]}]})
    >>> bool(diff), diff.changes[0].was, diff.changes[0].few[0].packet, diff.first
    (True, 'queue-full', 7, None)
    >>> print(diff)
    2 of 9 have a different fate: 2 queue-full -> delivered
    """

    same: bool = True
    fates: int = 0
    changed: int = 0
    other_length: int = 0
    changes: tuple[Change, ...] = ()
    delays: Delays = Delays()
    first: First | None = None
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def __bool__(self) -> bool:
        return not self.same

    def __str__(self) -> str:
        parts = ", ".join(f"{one.packets} {one.was} -> {one.becomes}" for one in self.changes)
        return (f"{self.changed} of {self.fates} have a different fate"
                + (f": {parts}" if parts else ""))


def flight_words(flight: float | str | None, on: Lines | None = None,
                 to: PathLike | None = None) -> list[str]:
    """Returns the options of a flight: see weir.run.

    >>> flight_words(2.5, ["stall", "change"])
    ['--flight', '2500ms', '--flight-on', 'stall,change']
    >>> flight_words("64MB", to="/tmp/x"), flight_words(None)
    (['--flight', '64MB', '--flight-to', '/tmp/x'], [])
    """
    words = ["--flight", protocol.duration(flight)] if flight is not None else []
    if on is not None:
        words += ["--flight-on", on if isinstance(on, str) else ",".join(on) or "none"]
    if to is not None:
        words += ["--flight-to", os.path.abspath(to)]
    return words


class Recording:
    """The folder of a recording: of `weir run --record`, `weir exec --record`,
    `weir.run(record=...)`, or of a dumped flight.

    >>> Recording("/nonexistent")
    Traceback (most recent call last):
    ...
    FileNotFoundError: /nonexistent is not a recording: it has no recording.json
    """

    def __init__(self, folder: PathLike, *, weir: PathLike | None = None) -> None:
        self.folder = pathlib.Path(folder).absolute()
        self._weir = weir
        if not (self.folder / "recording.json").exists():
            raise FileNotFoundError(f"{folder} is not a recording: it has no recording.json")

    def __repr__(self) -> str:
        return f"Recording({str(self.folder)!r})"

    @property
    def about(self) -> dict[str, Any]:
        """recording.json: the version of weir that recorded it, its workers, the snap length."""
        raw: dict[str, Any] = json.loads(
            (self.folder / "recording.json").read_text(encoding="utf-8"))
        return raw

    @property
    def outcome(self) -> dict[str, Any] | None:
        """outcome.json: the counters of the live run; None if it was killed."""
        path = self.folder / "outcome.json"
        if not path.exists():
            return None
        raw: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return raw

    @property
    def text(self) -> str:
        """The scenario at the start, with the seed, as it was written."""
        return (self.folder / "scenario.weir").read_text(encoding="utf-8")

    @property
    def bytes(self) -> int:
        """The size of the folder's files."""
        return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())

    def replay(self, *, until: float | str | None = None, scenario: Scenario | str | None = None,
               set: Lines = (), seed: int | None = None, ideal: bool = False, fates: bool = True,
               picture: bool = False, folder: PathLike | None = None) -> Replay:
        """Replays the run. Raises `errors.Failed` with status 1 if the replay differs from the
        recording.

        `until` is an end, after the start of the run, in seconds or as `"3s"`. `scenario` (the name
        of a file, or a Scenario), the lines `set`, and `seed` change the run: then the replay shows
        what would have happened, and nothing is compared. `ideal`: as if weir itself had lost
        nothing. The result's `table` says what was compared."""
        own, place = into_folder(folder, "weir-recording-")
        words = self._what_if(place, scenario, set, seed, ideal, until)
        ports = [line.split()[1] for line in self.text.split("\n") if line.startswith("port ")]
        outputs = {port: place / f"{port}.pcap" for port in ports}
        for port, path in outputs.items():
            words += ["--out", f"{port}={path}"]
        words += ["--report", str(place / "report.json")]
        words += ["--log", str(place / "fates.csv")] if fates else []
        words += ["--picture", str(place / "picture.html")] if picture else []
        done = program.call(["replay", "--recording", str(self.folder), *words], program=self._weir)
        return Replay.of(place, outputs, picture, done, own)

    def packet(self, number: int, *, scenario: Scenario | str | None = None, set: Lines = (),
               seed: int | None = None, ideal: bool = False) -> str:
        """Returns the path of the packet with this number, at each port, in words."""
        own, place = into_folder(None, "weir-recording-")
        words = self._what_if(place, scenario, set, seed, ideal, None)
        done = program.call(["replay", "-q", "--recording", str(self.folder),
                             "--packet", str(number),
                             *words], program=self._weir)
        assert own is not None
        own.cleanup()
        return "".join(line for line in done.stdout.splitlines(True)
                       if line.startswith(("packet ", "  ")))

    def diff(self, other: Recording | None = None, *, scenario: Scenario | str | None = None,
             set: Lines = (), seed: int | None = None, ideal: bool = False,
             until: float | str | None = None) -> Diff:
        """Returns the differences of this recording to another one, or to what would have
        happened."""
        own, place = into_folder(None, "weir-recording-")
        words = [str(other.folder)] if other is not None else []
        words += self._what_if(place, scenario, set, seed, ideal, until)
        done = program.call(["diff", "--json", str(self.folder), *words], program=self._weir,
                            fine=(0, 1))
        assert own is not None
        own.cleanup()
        return show.made(Diff, json.loads(done.stdout))

    @staticmethod
    def _what_if(place: pathlib.Path, scenario: Scenario | str | None, lines: Lines,
                 seed: int | None, ideal: bool, until: float | str | None) -> list[str]:
        words: list[str] = []
        if isinstance(scenario, Scenario):
            path = place / "what-if.weir"
            path.write_text(str(scenario), encoding="utf-8")
            scenario = str(path)
        words += ["-c", os.path.abspath(scenario)] if scenario is not None else []
        for line in [lines] if isinstance(lines, str) else lines:
            words += ["--set", line]
        words += ["--seed", str(seed)] if seed is not None else []
        words += ["--ideal"] if ideal else []
        words += ["--until", protocol.duration(until)] if until is not None else []
        return words
