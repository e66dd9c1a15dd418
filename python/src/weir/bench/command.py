# SPDX-License-Identifier: BSD-3-Clause
"""`weir bench`, behind the command line that the program itself has checked (bench_options.c): what
is measured, and what becomes of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from .._command import AtomicFile, CommandError, Parent
from . import compare, live, plan, report, table, tester
from .document import Row, inner, number
from .plan import Plan

WITH_PACKETS = ("cost", "precision", "depth", "clouds", "rfc2544", "latency", "reconf", "soak")
MEASURES = {"cost": plan.cost, "precision": plan.precision, "depth": plan.depth,
            "clouds": plan.clouds, "clock": plan.clock, "rfc2544": tester.rfc2544,
            "latency": tester.latency, "reconf": live.reconf, "soak": live.soak}


def main(words: Sequence[str]) -> int:
    """Returns 0; 1 if something failed or a figure is worse; 2 if nothing could be measured."""
    given = dict(word.split("=", 1) for word in words)
    weir, before, after = Parent(), None, None
    asked = weir.ask({"ask": "asked"})
    try:
        if "html" in given:
            AtomicFile(given["html"]).discard()
        if "load" in given:
            plan.loads_named(given["load"])
        if "before" in given:
            before = _document(weir, given["before"])
        if "after" in given:
            after = _document(weir, given["after"])
    except CommandError as error:
        return _failed(error, 2)
    made = Plan(weir, asked, given, inner(before or {}, "machine"))
    status = _measure(made, before) if after is None else 0
    if status == 2:
        return status
    try:
        worse = _show(made, before, after)
        sys.stdout.flush()
    except CommandError as error:
        worse = _failed(error, 1)
    except OSError as error:
        worse = _failed(f"standard output: {error.strerror}", 1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # for what is left to print
    return status or worse


def _failed(error: object, status: int) -> int:
    print(f"weir bench: {error}", file=sys.stderr)
    return status


def _document(weir: Parent, path: str) -> Row:
    read = weir.ask({"ask": "json", "path": path})
    document = read["json"]
    if isinstance(document, dict) and isinstance(document.get("rows"), list):
        return document
    if document is not None:
        raise CommandError(f"{path}: has no \"rows\"; expected a file written by weir bench -j")
    if read["line"] < 0:
        raise CommandError(read["text"])
    raise CommandError(f"{path}:{read['line']}:{read['column']}: {read['text']}; expected a file "
                       "written by weir bench -j")


def _measure(made: Plan, before: Row | None) -> int:
    """Returns 0, 1 if an error occurred on the way, or 2 if the measurement could not begin."""
    parts = [part for part in MEASURES if part in made.asked["parts"]]
    with_packets = before is not None or any(part in WITH_PACKETS for part in parts)
    status = 0
    try:
        if with_packets or parts:
            made.begin(with_packets)
        if before is not None:
            plan.again(made, before)
        for part in parts:
            MEASURES[part](made)
    except CommandError as error:
        made.progress()
        status = _failed(error, 2 if error.wrong and not made.rows else 1)
    made.progress()
    return status


def _show(made: Plan, before: Row | None, after: Row | None) -> int:
    """Prints what was measured, writes the report, and prints the comparison. Returns 1 if a figure
    is worse."""
    weir, document = made.weir, after
    if document is None:
        ended = weir.ask({"ask": "end", **made.conditions})
        document = {"machine": ended["machine"], "rows": made.rows, "remarks": made.remarks}
        if "doctor" in ended:
            document["doctor"] = ended["doctor"]
        if made.asked["json"]:
            weir.ask({"ask": "print", "document": document})
        else:
            print(table.tables(document, weir), end="")
            if document.get("doctor"):
                core = number(inner(document, "machine"), "core")
                print(table.findings(document["doctor"], core), end="")
    if "html" in made.given:
        report.write(made.given["html"], document, weir)
    if before is None:
        return 0
    text, worse = compare.compare(before, document, made.asked["bound"], weir)
    print(text, end="", file=sys.stderr if made.asked["json"] else sys.stdout)
    return 1 if worse else 0
