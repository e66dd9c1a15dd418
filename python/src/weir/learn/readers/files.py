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
    raw = _bytes(path)
    if heads.is_capture(raw):
        conversation = heads.read(path)
        return tcp.read(conversation) if conversation.protocol == "TCP" else quic.read(conversation)
    text = raw.decode("utf-8", errors="replace")
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


def _bytes(path: str) -> bytes:
    with open(path, "rb") as file:
        raw = file.read()
    if raw[:2] == b"\x1f\x8b":
        try:
            raw = gzip.decompress(raw)
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise NothingToLearn(f"{path} is a cut or damaged .gz file") from None
    return raw


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
