# SPDX-License-Identifier: BSD-3-Clause
"""Changes of a weir that runs, made as a client makes them: one line of the scenario language each.

The lines make the example of every statement in turn (statement.h), of a cloud `down` that has a
delay and a rate, and remove it again. Schedules count from the beginning of the run: no instant of
these is ever reached."""

from __future__ import annotations

import json
import os
import tempfile
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Self

from .. import program
from .._command import CommandError
from .._link import Link, LinkError
from .plan import Plan

PATIENCE_S = 60.0
DELAY, RATE = "delay 10ms", "rate 100gbit queue 10MB"
BASE = f"{DELAY}\n{RATE}"
# Changes of what every cloud has, beside the examples of the statements.
VARIATIONS = ("delay 12ms", "delay 10ms jitter 1ms order allow", "rate 90gbit queue 20MB",
              "rate 100gbit algorithm token-bucket burst 100kB queue 10MB", DELAY, RATE)


def _removal(change: str, scoped: bool) -> str:
    """Returns the line that removes this statement, or restores it if BASE has it."""
    words = change.split()
    for base in (DELAY, RATE):
        if base.startswith(words[0] + " "):
            return f"cloud down {base}"
    return "no cloud down " + " ".join(words[:2 if scoped else 1])  # the name of the class, too


def lines_of(statements: Sequence[Mapping[str, Any]], file: str) -> list[str]:
    """Returns the lines, with `file` in the place of FILE."""
    lines = [f"cloud down {variation}" for variation in VARIATIONS]
    for row, following in zip(statements, [*statements[1:], None]):
        change = f"{row['name']} {row['example']}".rstrip()
        beside = row["beside"]
        lines += [f"cloud down {other}" for other in (*beside, change)]
        # What takes its place next removes it, too.
        replaced = following is not None and following["name"] == row["name"]
        if not row["clears"] and (beside or row["many_max"] or not replaced):
            lines.append(_removal(change, row["scoped"]))
        lines += [_removal(other, other.startswith("class ")) for other in reversed(beside)]
    return [line.replace("FILE", file, 1) for line in lines]


class Changes(threading.Thread):
    """Makes them during a `with` block, while the process that is asked answers clients: `most` of
    them, or until the end, with a pause in between after a first round of all."""

    def __init__(self, plan: Plan, socket: str, most: int = 0, pause: float = 0) -> None:
        super().__init__(daemon=True)
        self._weir, self._socket, self._most, self._pause = plan.weir, socket, most, pause
        self._end = threading.Event()
        self._problem = ""  # of the first line that was refused
        self._statements = json.loads(program.call(["help", "--json"]).stdout)["statements"]
        self.made = 0

    def __enter__(self) -> Self:
        # Of numbers, one a line: it is valid as a list of packets and as a trace.
        file, self._file = tempfile.mkstemp(prefix="weir-bench-")
        with open(file, "w", encoding="ascii") as out:
            out.writelines(f"{i}\n" for i in range(1, 1001))
        self._lines = lines_of(self._statements, self._file)
        self.start()
        return self

    def run(self) -> None:
        try:
            link = Link(self._socket, PATIENCE_S)
            while not self._end.is_set() and not 0 < self._most <= self.made:
                line = self._lines[self.made % len(self._lines)]
                ok, text = link.ask(line, [self._file] if self._file in line else [])
                if not ok:
                    self._problem = f"`{line}`: {text}"
                    break
                self.made += 1
                if self.made >= len(self._lines):
                    self._end.wait(self._pause)
            link.close()
        except LinkError as error:
            self._problem = str(error)

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        self._end.set()
        try:
            while self.is_alive():  # without an answer, the thread would wait for ever
                self._weir.ask({"ask": "live-step", "for": 0.02})
        except CommandError:
            pass
        os.unlink(self._file)
        if self._problem and kind is None:
            raise CommandError(self._problem, wrong=False)
