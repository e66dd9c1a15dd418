# SPDX-License-Identifier: BSD-3-Clause
"""A scenario that plays traces of other emulators."""

from __future__ import annotations

import os
import re

from ..pairs import NothingToLearn
from ..words import plain_lines, table_path
from . import cellreplay, mahimahi, theaterq
from .played import Played

ENDS = {"down": ("a", "b"), "up": ("b", "a")}
UP = re.compile(r"(^|[^a-z])(up|uplink|upload)([^a-z]|$)")
DOWN = re.compile(r"(^|[^a-z])(down|downlink|download)([^a-z]|$)")


def of_files(paths: list[str], out: str | None, seed: int) -> str:
    """Reads traces, writes what the scenario needs beside it, and returns its text."""
    if out is None:
        raise NothingToLearn("a trace becomes a file beside the scenario: say with -o where the "
                             "scenario goes")
    texts: dict[str, dict[str, str]] = {}
    for path in paths:
        cloud = direction(path, len(paths))
        with open(path, encoding="utf-8", errors="replace") as file:
            texts.setdefault(cloud, {})[path] = file.read()
    lines = [f"Converted by `weir learn --trace` from {', '.join(map(os.path.basename, paths))}."]
    statements: list[str] = []
    for cloud in ENDS:
        parts = _parts(texts[cloud]) if cloud in texts else []
        statements += ["", *_cloud(cloud, parts, out)]
        lines += [f"{cloud}: {part.kind}, {part.notes[0]}." for part in parts]
        lines += [f"{cloud}: {note}." for part in parts for note in part.notes[1:]]
        if not parts:
            lines.append(f"{cloud}: no trace; it passes everything at once.")
    return plain_lines(lines, statements, seed)


def direction(path: str, of: int) -> str:
    """Returns the direction that a name says. A single trace without a direction is down."""
    name = os.path.basename(path).lower()
    up, down = UP.search(name) is not None, DOWN.search(name) is not None
    if up == down and of > 1:
        raise NothingToLearn(f"{path}: for which direction? The name has to have one of the words "
                             "`up` and `down`, like trace.up or down-heavy-pdo")
    return "up" if up and not down else "down"


def _parts(texts: dict[str, str]) -> list[Played]:
    """Recognizes the traces of one direction: one file, or both of CellReplay."""
    names = list(texts)
    if len(texts) == 1:
        text = texts[names[0]]
        if cellreplay.trains(text):
            raise NothingToLearn(f"{names[0]} is a light trace of CellReplay: give the heavy one "
                                 "of the same direction, too")
        found = theaterq.read(text) or mahimahi.read(text)
        if found is None:
            raise NothingToLearn(f"{names[0]} is no trace of mahimahi, TheaterQ or CellReplay; a "
                                 "csv with a head is played by `trace`, as it is")
        return [found]
    by_length = sorted(names, key=lambda name: cellreplay.trains(texts[name]) is None)
    light = cellreplay.light(texts[by_length[0]])
    heavy = cellreplay.heavy(texts[by_length[-1]])
    if len(names) != 2 or light is None or heavy is None:
        raise NothingToLearn(f"{' and '.join(names)} are of one direction: only CellReplay has two "
                             "files for it, a light and a heavy one")
    return [light, heavy]


def _cloud(cloud: str, parts: list[Played], out: str) -> list[str]:
    """Returns the lines of one direction: a cloud for each part, one behind the other."""
    begin, end = ENDS[cloud]
    lines = [] if parts else [f"cloud {cloud} from {begin} to {end}"]
    for i, part in enumerate(parts):
        name = cloud if i == 0 else f"{cloud}-{i}"
        lines.append(f"cloud {name} from {begin} to {end}")
        begin = name
        path = table_path(out, f"{cloud}.{part.ending}")
        with open(path, "w", encoding="ascii") as file:
            file.write(part.text)
        lines += [f"cloud {name} {line.format(os.path.basename(path))}"
                  for line in part.statements]
    return lines
