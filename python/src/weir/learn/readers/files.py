# SPDX-License-Identifier: BSD-3-Clause
"""A file of measurements: recognized by what it has, not by its name."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable
from typing import Any

from ..pairs import NothingToLearn
from . import atlas, delays_csv, flent, heads, iperf, irtt, owping, ping, quic, tcp
from .measured import Measured

LEAST = 10
TEXTS: tuple[Callable[[str], Measured | None], ...] = (
    owping.read, ping.read, delays_csv.read)
OBJECTS: tuple[tuple[str, Callable[[Any], Measured | None]], ...] = (
    ("irtt", irtt.read), ("iperf3", iperf.read), ("flent", flent.read), ("RIPE Atlas", atlas.read))


def read(path: str) -> Measured:
    """Reads the output of any tool. Raises NothingToLearn if it is of none, or has too little."""
    if heads.is_capture(_bytes(path, 4)):
        conversation = heads.read(path)
        return tcp.read(conversation) if conversation.protocol == "TCP" else quic.read(conversation)
    text = _bytes(path).decode("utf-8", errors="replace")
    if text.lstrip()[:1] in ("{", "["):
        found = _object(path, text)
    else:
        found = next((one for one in (form(text) for form in TEXTS) if one is not None), None)
    if found is None:
        raise NothingToLearn(f"{path} is no output of ping, owping, irtt, iperf3, flent or RIPE "
                             "Atlas, no capture, and no CSV with a column `rtt` or `delay`")
    probed = len(found.trip_ns) > 0 or bool(found.ways)
    if probed and found.answers < LEAST:
        raise NothingToLearn(f"{path} has {found.answers} answers; {LEAST} are the least, 1,000 "
                             "are good")
    return found


def _bytes(path: str, most: int = -1) -> bytes:
    """Reads a file, unpacked if it is a .gz; at most so many bytes."""
    with open(path, "rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    try:
        with gzip.open(path) if packed else open(path, "rb") as file:
            return file.read(most)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise NothingToLearn(f"{path} is a cut or damaged .gz file") from None


def _object(path: str, text: str) -> Measured | None:
    try:
        data = json.loads(text)
    except ValueError as error:
        # RIPE Atlas delivers an object a line, too.
        try:
            data = [json.loads(line) for line in text.splitlines() if line.strip()]
        except ValueError:
            raise NothingToLearn(f"{path}: {error}") from None
    except RecursionError:
        raise NothingToLearn(f"{path} is nested too deeply") from None
    for tool, form in OBJECTS:
        try:
            found = form(data)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise NothingToLearn(f"{path} looks like {tool}, but lacks what that writes: "
                                 f"{type(error).__name__} {error}") from None
        if found is not None:
            return found
    return None
