# SPDX-License-Identifier: BSD-3-Clause
"""Prints, draws and compares what `weir bench` has measured."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from .._command import CommandError, Weir
from . import compare, report, table
from .document import inner, number


def main(words: Sequence[str]) -> int:
    """Returns 0, or 1 if something failed or a figure is worse. `words` is the file of --html, or
    none. Standard input has

        {"document", "print": BOOL, "json": BOOL, "before", "after", "bound"}

    The document is drawn, printed for people, and compared with `before`; or `before` is compared
    with `after`. With "json", standard output has the document already."""
    if list(words) == ["--ready"]:
        return 0
    given = json.load(sys.stdin.buffer)
    with Weir(os.environ["WEIR"], "bench", "--answer") as weir:
        try:
            return _show(given, words[0] if words else None, weir)
        except CommandError as error:
            print(f"weir bench: {error}", file=sys.stderr)
            return 1


def _show(given: Mapping[str, Any], html: str | None, weir: Weir) -> int:
    document = given["document"]
    if given["print"]:
        print(table.tables(document, weir), end="")
        if document.get("doctor"):
            core = number(inner(document, "machine"), "core")
            print(table.findings(document["doctor"], core), end="")
    if html is not None:
        report.write(html, document, weir)
    if given["before"] is None:
        return 0
    text, worse = compare.compare(given["before"], given["after"] or document, given["bound"], weir)
    print(text, end="", file=sys.stderr if given["json"] else sys.stdout)
    return 1 if worse else 0
