# SPDX-License-Identifier: BSD-3-Clause
"""What becomes of a trace: statements of weir, the files that they name, and what is lost."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass
class Played:
    """`kind` is the emulator's. `{}` in a statement stands for the name of the file, whose text is
    `text`, and whose name ends with `ending`. `notes` says what the trace has and what is lost."""

    kind: str
    statements: list[str]
    text: str
    ending: str
    notes: list[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Point:
    """The values of a path from an instant on."""

    at_ns: int
    values: tuple[str, ...]


def csv(columns: list[str], points: list[Point], end_ns: int) -> str:
    """Returns the text of a csv for `trace ... loop`, which repeats itself after `end_ns`.

    The last line of a csv holds as long as the one before it; so what holds last is divided into
    three lines, the last two of which hold a nanosecond each."""
    rows = ["time_ns, " + ", ".join(columns)]
    last: tuple[str, ...] | None = None
    for point in points:
        if point.values != last:
            rows.append(", ".join([str(point.at_ns), *point.values]))
        last = point.values
    for before in (2, 1):
        if end_ns - before > points[-1].at_ns:
            rows.append(", ".join([str(end_ns - before), *points[-1].values]))
    return "\n".join(rows) + "\n"
