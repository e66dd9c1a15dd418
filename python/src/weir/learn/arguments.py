# SPDX-License-Identifier: BSD-3-Clause
"""The options of `weir learn`. The program itself has the help and the errors (learn_command.c)."""

from __future__ import annotations

import getopt
import sys
from collections.abc import Sequence
from dataclasses import dataclass

FLAGS = ("trace", "one-way", "json", "stay")
TEXTS = ("live", "server", "time", "most", "sent", "received", "out", "clocks", "windows",
         "picture", "seed")
LETTERS = {"o": "out", "j": "json"}


@dataclass
class Arguments:
    files: list[str]
    live: str = ""
    server: str = ""
    time: str = "20s"
    most: str = "100mbit"
    sent: str = ""
    received: str = ""
    out: str | None = None
    clocks: str = "guess"
    windows: str | None = None
    picture: str | None = None
    seed: int = 1
    trace: bool = False
    one_way: bool = False
    json: bool = False
    stay: bool = False


def read(given: Sequence[str] | None = None) -> Arguments:
    """Reads what `weir learn` passes on; None: the command line."""
    options, files = getopt.gnu_getopt(list(sys.argv[1:] if given is None else given), "o:j",
                                       [*FLAGS, *(name + "=" for name in TEXTS)])
    found = Arguments(files)
    for option, value in options:
        name = option.lstrip("-")
        name = LETTERS.get(name, name)
        setattr(found, name.replace("-", "_"),
                True if name in FLAGS else int(value) if name == "seed" else value)
    return found
