# SPDX-License-Identifier: BSD-3-Clause
"""A process `weir lab --answer`, which reads experiments and runs points (src/control/lab/lab.h has
its questions)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import _command
from .._command import CommandError, is_text


class Weir(_command.Weir):
    def __init__(self, program: str) -> None:
        super().__init__(program, "lab", "--answer")

    def read(self, **what: str) -> list[dict[str, Any]]:
        """Returns experiments with their lines, split into words: that of a `path`, or a `text` of
        this `name`; or else those that are built in, of this `name`, or all."""
        for path in [what["path"]] if "path" in what else []:
            if not is_text(path):
                raise CommandError("the name of this file is not UTF-8 text, as JSON needs it; "
                                   "rename the file")
        found = self.ask({"ask": "read", **what})
        return list(found["experiments"])

    def check(self, question: Mapping[str, Any], name: str) -> None:
        """Sees that the point of an experiment of this name can be built."""
        self.ask(question, name)
