# SPDX-License-Identifier: BSD-3-Clause
"""What weir.learn asks the program (src/control/learn/learn.h)."""

from __future__ import annotations

import os
from typing import Any

from .. import program
from .._command import Weir, path_text


def ask(question: str, table: str, **captures: str) -> dict[str, Any]:
    """Has the rows of packets written into the table. Returns facts about them."""
    with Weir(program.find(), "learn", "--answer") as weir:
        return weir.ask({"ask": question, "table": path_text(table), **{
            name: path_text(f"/proc/{os.getpid()}/fd/0" if path == "-" else path)
            for name, path in captures.items()}})
