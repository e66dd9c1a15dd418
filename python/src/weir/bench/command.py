# SPDX-License-Identifier: BSD-3-Clause
"""`weir bench`: what is measured, and what becomes of it. A process `weir bench --answer` measures
(src/control/bench/bench.h)."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import Any

from .._command import AtomicFile, CommandError, Given, Weir, path_text
from . import compare, live, options, plan, report, table, tester
from .document import Row, inner, number
from .plan import Plan

WITH_PACKETS = ("cost", "precision", "depth", "clouds", "rfc2544", "latency", "reconf", "soak")
MEASURES = {"cost": plan.cost, "precision": plan.precision, "depth": plan.depth,
            "clouds": plan.clouds, "clock": plan.clock, "rfc2544": tester.rfc2544,
            "latency": tester.latency, "reconf": live.reconf, "soak": live.soak}


class Bench(Weir):
    """The process that measures. It gets the signals that this one gets, and ends its measurement;
    this one has the last word."""

    def __init__(self) -> None:
        super().__init__(os.environ["WEIR"], "bench", "--answer")
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._pass_on)

    def _pass_on(self, number: int, frame: FrameType | None) -> None:
        self.first.signal(number)

    def exchange(self, question: bytes) -> bytes:
        self.first.send(question)
        if line := self.first.receive():
            return line
        raise CommandError("the process that measures has ended", wrong=False)


def main(words: Sequence[str]) -> int:
    """Returns 0; 1 if something failed or a figure is worse; 2 if nothing could be measured."""
    given = Given(words)
    with Bench() as weir:
        asked = options.asked_of(given, weir.ask({"ask": "scenarios"})["scenarios"], weir)
        return _run(given, asked, weir)


def _run(given: Given, asked: dict[str, Any], weir: Weir) -> int:
    config = given.get("config")
    prepared = weir.ask({
        "ask": "prepare", "config": config and path_text(config), "cores": given.get("cores"),
        "pipeline": given.get("layout") == "pipeline", "priority": int(given.get("priority", 0)),
        "flight_ns": int(given.get("flight", 0)), "snap": int(given.get("snap", 0))})
    if "rfc2544" in asked["parts"] and config and prepared["ports"] != 2:
        raise CommandError(f"rfc2544 measures between two ports, but {config} has "
                           f"{prepared['ports']}: use a scenario with two ports, or name only the "
                           "other parts")
    if "html" in given:
        AtomicFile(given["html"]).discard()
    if "load" in given:
        plan.loads_named(given["load"])
    documents = [_document(weir, path) for path in asked["files"]]
    before, after = (*documents, None, None)[:2]
    made = Plan(weir, asked, given, inner(before or {}, "machine"))
    if prepared["unread"]:
        made.remarks.append(f"{prepared['unread']} could not be read: the description of this "
                            "machine is incomplete")
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


def _document(weir: Weir, path: str) -> Row:
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
        ended = weir.ask({"ask": "end", **made.conditions,
                          "doctor": "machine" in made.asked["parts"]})
        document = {"machine": ended["machine"], "rows": made.rows, "remarks": made.remarks}
        if "doctor" in ended:
            document["doctor"] = ended["doctor"]
        if made.asked["json"]:
            print(json.dumps(document, ensure_ascii=False))
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
