# SPDX-License-Identifier: BSD-3-Clause
"""weir's answers about itself, as dataclasses.

Their members are named as in the JSON (docs/control.md); figures come from the program's own table
(_figures.py). Members that this package does not support are in `raw`. A member that weir does not
send has an empty value.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ._figures import (
    ClassFigures,
    CloudFeedback,
    CloudFigures,
    CloudLine,
    CloudQueue,
    CloudSince,
    PortFigures,
    PortLaunch,
    PortStamps,
    ReplayPortFigures,
    WorkerFigures,
)

T = TypeVar("T")


def made(of: type[T], raw: Mapping[str, Any] | None) -> T:
    """Returns an object of a dataclass, with the known members of a JSON object."""
    hints = typing.get_type_hints(of)
    values: dict[str, Any] = {}
    for member in dataclasses.fields(typing.cast(Any, of)):
        if member.name == "raw":
            values["raw"] = dict(raw or {})
            continue
        key = member.metadata.get("key", member.name)
        value = (raw or {}).get(key)
        kind = hints[member.name]
        inner = [a for a in typing.get_args(kind) if dataclasses.is_dataclass(a)]
        if dataclasses.is_dataclass(kind):
            values[member.name] = made(typing.cast(type, kind), value)
        elif inner and typing.get_origin(kind) is tuple:
            values[member.name] = tuple(made(typing.cast(type, inner[0]), v) for v in value or ())
        elif inner and value is not None:
            values[member.name] = made(typing.cast(type, inner[0]), value)
        elif value is not None:
            values[member.name] = value
    return of(**values)


def _raw() -> Any:
    return field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class Spread:
    """Delays in ns; None: not known."""

    mean: float | None = None
    min: int | None = None
    p50: float | None = None
    p99: float | None = None
    p999: int | None = field(default=None, metadata={"key": "p99.9"})
    max: int | None = None


@dataclass(frozen=True)
class Queue(CloudQueue):
    raw: dict[str, Any] = _raw()


@dataclass(frozen=True)
class Line(CloudLine):
    """The time on the line alone, without the time in the queue."""


@dataclass(frozen=True)
class Since(CloudSince):
    """What a cloud has achieved since `what`: a change, the start, or `clear counters`."""

    what: str = ""
    for_ns: int = 0
    drops: dict[str, int] = field(default_factory=dict)
    line_ns: Spread = Spread()
    delay_ns: Spread = Spread()
    raw: dict[str, Any] = _raw()


@dataclass(frozen=True)
class CloudClass(ClassFigures):
    name: str = field(default="", metadata={"key": "class"})
    queue: Queue = Queue()


@dataclass(frozen=True)
class Cloud(CloudFigures):
    """A cloud, of a live weir or of a report. `drops` are packets by reason. `lateness_ns` is how
    long after their due time packets left at the port that the cloud leads to; a replay has none.
    Only a live cloud has `since`."""

    name: str = field(default="", metadata={"key": "cloud"})
    drops: dict[str, int] = field(default_factory=dict)
    delay_ns: Spread = Spread()
    lateness_ns: Spread = Spread()
    queue: Queue = Queue()
    line: Line = Line()
    feedback: CloudFeedback = CloudFeedback()
    classes: tuple[CloudClass, ...] = ()
    since: Since | None = None
    raw: dict[str, Any] = _raw()

    @property
    def dropped(self) -> int:
        return sum(self.drops.values())


@dataclass(frozen=True)
class Port(PortFigures):
    name: str = field(default="", metadata={"key": "port"})
    stamps: PortStamps = PortStamps()
    launch: PortLaunch = PortLaunch()
    lateness_ns: Spread = Spread()
    raw: dict[str, Any] = _raw()

    @property
    def really_lost(self) -> int:
        """The packets that weir itself lost here, though no scenario asked for it."""
        return self.rx_missed + self.rx_no_mbuf + self.tx_full + self.not_sent + self.not_written


@dataclass(frozen=True)
class Worker(WorkerFigures):
    worker: int = 0
    raw: dict[str, Any] = _raw()


@dataclass(frozen=True)
class Totals:
    run: str = ""
    t_ns: int = 0
    ports: tuple[Port, ...] = ()
    workers: tuple[Worker, ...] = ()
    clouds: tuple[Cloud, ...] = ()
    clouds_in_all: int = 0
    raw: dict[str, Any] = _raw()


@dataclass(frozen=True)
class Hello:
    """The answer to `hello`: which weir is at the other end."""

    weir: str = ""
    protocol: int = 0
    run: str = ""
    pid: int = 0
    seed: int = 0
    uptime_ns: int = 0
    read_only: bool = False
    ports: int = 0
    clouds: int = 0
    workers: int = 0
    capabilities: tuple[str, ...] = ()
    raw: dict[str, Any] = _raw()

    def __post_init__(self) -> None:
        object.__setattr__(self, "capabilities", tuple(self.capabilities))
        object.__setattr__(self, "seed", int(self.seed))  # a number above 2^63 is sent as a string


@dataclass(frozen=True)
class Event:
    """An event. `kind`: see docs/control.md; all its other members are in `raw`."""

    kind: str = field(default="", metadata={"key": "event"})
    seq: int = 0
    t_ns: int = 0
    wall_ns: int = 0
    text: str = ""
    raw: dict[str, Any] = _raw()


@dataclass(frozen=True)
class Sample:
    """What was counted since the previous sample. The rows are as weir sends them."""

    for_ns: int = 0
    raw: dict[str, Any] = _raw()


@dataclass(frozen=True)
class ReportPort(ReplayPortFigures):
    name: str = field(default="", metadata={"key": "port"})
    lateness_ns: Spread = Spread()


@dataclass(frozen=True)
class Report:
    """The contents of the file that `--report` writes."""

    seed: int = 0
    duration_ns: int = 0
    clouds: tuple[Cloud, ...] = ()
    ports: tuple[ReportPort, ...] = ()
    raw: dict[str, Any] = _raw()

    def cloud(self, name: str) -> Cloud:
        return next(cloud for cloud in self.clouds if cloud.name == name)
