# SPDX-License-Identifier: BSD-3-Clause
"""A process `weir lab answer`, which reads experiments and runs points (src/control/lab/lab.h has
its questions)."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from .. import _command
from .._command import CommandError


class Weir(_command.Weir):
    def __init__(self, program: str) -> None:
        super().__init__(program, "lab", "answer")

    def read(self, **what: str) -> list[dict[str, Any]]:
        """Returns experiments with their lines, split into words: that of a `path`, or a `text` of
        this `name`; or else those that are built in, of this `name`, or all."""
        for path in [what["path"]] if "path" in what else []:
            if re.search(r"[\0-\x08\n-\x1f\x7f-\x9f\ud800-\udfff]", path):
                raise CommandError("the name of this file is not UTF-8 text, as JSON needs it; "
                                   "rename the file")
        found = self.ask({"ask": "read", **what})
        return list(found["experiments"])

    def check(self, question: Mapping[str, Any], name: str) -> None:
        """Sees that the point of an experiment of this name can be built."""
        self.ask(question, name)


def path_text(path: str) -> str:
    """Returns a path as a question has it: a character for each byte."""
    return os.fsencode(path).decode("latin-1")
