# SPDX-License-Identifier: BSD-3-Clause
"""Where the time of connections went (docs/explain.md): the JSON of the program, as objects."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import tempfile
from collections.abc import Sequence
from typing import Any

from . import program

PathLike = str | os.PathLike[str]


@dataclasses.dataclass(frozen=True)
class Phase:
    """A phase of a connection: "arp", "dns", "attempt", "tcp", "tls", "quic", "request" or
    "exchange"."""

    name: str
    detail: str
    begin_ns: int
    total_ns: int
    round_trips: int
    parts: dict[str, int]  # ns, by "delay", "rate", "queue", ...; they sum to total_ns
    raw: dict[str, Any] = dataclasses.field(repr=False)


@dataclasses.dataclass(frozen=True)
class Connection:
    """One connection. Its phases sum to `total_ns`."""

    name: str
    server: str
    protocol: str
    total_ns: int
    round_trips: int
    phases: tuple[Phase, ...]
    losses: tuple[dict[str, Any], ...]
    raw: dict[str, Any] = dataclasses.field(repr=False)

    def part_ns(self, part: str) -> int:
        """Returns the time of a part, such as "lost", over all phases."""
        return sum(phase.parts[part] for phase in self.phases)

    def phase(self, name: str) -> Phase | None:
        """Returns the first phase of this name."""
        return next((phase for phase in self.phases if phase.name == name), None)


@dataclasses.dataclass(frozen=True)
class Explanation:
    """All connections of a run, in the order in which they ended."""

    connections: tuple[Connection, ...]
    servers: tuple[dict[str, Any], ...]
    left_out: dict[str, int]
    text: str  # for people
    status: int = 0  # that of the command

    @classmethod
    def read(cls, path: PathLike, text: str = "", status: int = 0) -> Explanation:
        """Reads the file of `--explain-json`."""
        raw = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        return cls(tuple(map(_connection, raw["connections"])), tuple(raw["servers"]),
                   raw["left_out"], text, status)

    def __str__(self) -> str:
        return self.text


def _phase(raw: dict[str, Any]) -> Phase:
    parts = {key.removesuffix("_ns"): value for key, value in raw["parts"].items()}
    return Phase(raw["phase"], raw["detail"], raw["begin_ns"], raw["total_ns"],
                 raw["round_trips"], parts, raw)


def _connection(raw: dict[str, Any]) -> Connection:
    address, port = raw["server"]["address"], raw["server"]["port"]
    return Connection(raw["name"], f"[{address}]:{port}" if ":" in address else f"{address}:{port}",
                      raw["protocol"], raw["total_ns"], raw["round_trips"],
                      tuple(map(_phase, raw["phases"])), tuple(raw["losses"]), raw)


def _explained(words: Sequence[str], weir: PathLike | None, said_by: str) -> Explanation:
    with tempfile.TemporaryDirectory(prefix="weir-explain-") as folder:
        path = os.path.join(folder, "explain.json")
        done = program.call([words[0], "-q", "--explain", "--explain-json", path, *words[1:]],
                            program=weir, fine=range(256))
        if not os.path.exists(path):
            raise program.failed(words[0], done.returncode, done.stderr)
        return Explanation.read(path, getattr(done, said_by), done.returncode)


def explain(command: Sequence[str], *statements: str, weir: PathLike | None = None) -> Explanation:
    """Runs a command behind a path (`weir exec`), and says where the time of its connections went:

        weir.explain(["curl", "-s", "https://example.net"], "delay 40ms", "loss 1%")

    A command that fails is explained, too: `status` says how it ended. Raises errors.Failed if weir
    itself does."""
    words = [word for statement in statements for word in statement.split()]
    return _explained(["exec", *words, "--", *command], weir, "stderr")


def explain_capture(capture: PathLike, *statements: str, split: str = "first",
                    weir: PathLike | None = None) -> Explanation:
    """Says where the time of the connections in a capture of both directions would go over a path
    (`weir replay --explain`)."""
    words = [word for statement in statements for word in statement.split()]
    return _explained(["replay", *words, "--in", f"a,b={os.fspath(capture)}", "--split", split],
                      weir, "stdout")
