# SPDX-License-Identifier: BSD-3-Clause
"""What `weir top` shows: the latest sample, the latest events, and the history of the queue of each
cloud that was in recent samples. All is bounded."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

EVENTS = 256
HISTORIES = 512
HISTORY = 32
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")

Object = Mapping[str, Any]


def number(of: Object | None, key: str) -> float:
    value = (of or {}).get(key)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0


def plain(text: object) -> str:
    """Returns a name or text without control characters, which would act on the terminal."""
    return _CONTROL.sub("?", text) if isinstance(text, str) else ""


@dataclass(frozen=True)
class Rate:
    """What flows through a row of a sample, in bits and packets a second."""

    in_bps: float
    in_pps: float
    out_bps: float
    out_pps: float


def rate(row: Object, seconds: float) -> Rate:
    return Rate(number(row, "rx_bytes") * 8 / seconds, number(row, "rx_packets") / seconds,
                number(row, "tx_bytes") * 8 / seconds, number(row, "tx_packets") / seconds)


@dataclass(frozen=True)
class Row:
    """A cloud, or a template, in the latest sample."""

    name: str
    clouds: int  # of a template; else 0
    rate: Rate
    emulated: float  # a second
    congestion: float
    real: float
    queue_bytes: float
    delay_p50: float  # -1: unknown
    history: deque[float]


@dataclass(frozen=True)
class Event:
    text: str
    real: bool  # weir's own loss, or a stall


# The orders of rows, by their names: the greatest first.
SORTS: dict[str, Callable[[Row], float]] = {
    "out": lambda row: row.rate.out_bps,
    "in": lambda row: row.rate.in_bps,
    "drops": lambda row: row.emulated + row.congestion + 1e9 * row.real,
    "queue": lambda row: row.queue_bytes,
    "delay": lambda row: row.delay_p50,
    "name": lambda row: 0.0,
}


class Model:
    def __init__(self) -> None:
        self.sample: Object | None = None
        self.paused = False
        self.seconds = 0.0  # the length of the sample
        self.n_samples = 0
        self.sort = "out"
        self.filter = ""
        self.rows: list[Row] = []  # filtered and sorted
        self.events: deque[Event] = deque(maxlen=EVENTS)
        self._histories: dict[str, deque[float]] = {}  # the one not used for longest comes first

    def take(self, message: Object) -> None:
        """Takes a sample or an event. Samples are ignored while it is paused."""
        if "sample" in message:
            self._take_sample(message)
        elif isinstance(message.get("event"), str):
            self._take_event(message)

    def sort_on(self) -> None:
        names = [*SORTS]
        self.sort = names[(names.index(self.sort) + 1) % len(names)]
        self.arrange()

    def arrange(self) -> None:
        """Makes the rows again, after a change of the sort or filter."""
        key = SORTS[self.sort]
        rows = (self._row(raw) for raw in self._raw_rows())
        self.rows = sorted((row for row in rows if self.filter in row.name),
                           key=lambda row: (-key(row), row.name))

    def _raw_rows(self) -> list[Object]:
        return [*(self.sample or {}).get("templates", ()), *(self.sample or {}).get("clouds", ())]

    def _take_event(self, event: Object) -> None:
        kind = event["event"]
        wall_s = int(number(event, "wall_ns") / 1e9)
        real = kind in ("real-loss", "stall") or event.get("kind") == "real"
        self.events.append(Event(
            f"{wall_s // 3600 % 24:02}:{wall_s // 60 % 60:02}:{wall_s % 60:02} {plain(kind)}: "
            f"{plain(event.get('text'))}", real))

    def _take_sample(self, sample: Object) -> None:
        if self.paused or number(sample, "for_ns") <= 0:
            return
        self.sample = sample
        self.seconds = number(sample, "for_ns") / 1e9
        self.n_samples += 1
        for row in self._raw_rows():
            self._remember(plain(row.get("cloud")), number(row, "queue_bytes"))
        self.arrange()

    def _remember(self, cloud: str, queue_bytes: float) -> None:
        history = self._histories.pop(cloud, None)
        if history is None:
            history = deque([0.0] * HISTORY, maxlen=HISTORY)
        self._histories[cloud] = history
        history.append(queue_bytes)
        while len(self._histories) > HISTORIES:
            del self._histories[next(iter(self._histories))]

    def _row(self, raw: Object) -> Row:
        name, seconds, delay = plain(raw.get("cloud")), self.seconds, raw.get("delay_ns")
        return Row(name, int(number(raw, "clouds")), rate(raw, seconds),
                   number(raw, "emulated") / seconds, number(raw, "congestion") / seconds,
                   number(raw, "real") / seconds, number(raw, "queue_bytes"),
                   number(delay, "p50") if number(delay, "count") > 0 else -1.0,
                   self._histories.get(name) or deque())
