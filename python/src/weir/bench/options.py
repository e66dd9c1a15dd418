# SPDX-License-Identifier: BSD-3-Clause
"""The options of `weir bench` (bench_command.c): what they ask for, and what of them does not go
together. What would otherwise fail only when its turn comes, after minutes, is rejected here."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from .._command import Answers, CommandError, Given, listing

PARTS = ("cost", "precision", "depth", "clouds", "clock", "rfc2544", "latency", "reconf", "soak",
         "machine", "compare")
ONLY_IF_NAMED = ("latency", "reconf", "soak", "compare")
FRAME_MIN, FRAME_MAX, TESTER_FRAME_MAX = 64, 9600, 1518
MILLION, ONE = 1e6, 2.0**63  # of a factor, of a probability


def _but(*parts: str) -> list[str]:
    return [part for part in PARTS if part not in parts]


PARTS_OF = {
    "config": ("cost", "rfc2544", "machine", "compare"), "scenario": ("cost",),
    "load": ("precision",), "frame": ("cost", "rfc2544", "latency"),
    "seconds": _but("reconf", "machine"),
    "runs": ("cost", "depth", "clouds", "rfc2544", "soak", "compare"), "full": ("cost",),
    "cores": _but("clock"), "layout": _but("clock", "latency", "machine"),
    "priority": _but("clock", "machine"), "flight": ("cost", "precision"),
    "snap": ("cost", "precision"), "device": ("rfc2544", "latency"),
    "line-rate": ("rfc2544", "latency"), "cable": ("latency",), "rfc-times": ("rfc2544",),
    "hours": ("soak",), "loss-bound": ("soak",), "continue": ("soak",), "bound": ("compare",),
    "json": PARTS, "html": PARTS}


def asked_of(given: Given, scenarios: Sequence[str], weir: Answers) -> dict[str, Any]:
    """Returns what is asked for. `scenarios` are weir's own."""
    frame = _frame(given)
    _check_scenario(given, scenarios, weir)
    for device in given.every("device")[2:]:
        raise CommandError(f"--device {device}: there are two already, one at each side of the "
                           "device under test")
    parts, files = _words(given.words, weir)
    if "compare" in parts and not files:
        raise CommandError("compare needs a file: weir bench compare OLD.json")
    if "compare" in parts and len(parts) > 1:
        raise CommandError("compare measures what the file holds: name no other part with it")
    parts = parts or _but(*ONLY_IF_NAMED)
    for option in PARTS_OF if len(files) > 1 else ():
        if option in given.given and option != "bound":
            raise CommandError("compare of two files measures nothing: it prints only the verdict, "
                               f"and takes no --{option}")
    given.check_parts(PARTS_OF, parts)
    _check_together(given)
    for part in ("rfc2544", "latency"):
        if part in parts and frame is not None:
            _check_tester(part, frame)
    return {"parts": parts, "files": files, "scenarios": scenarios, "frame": frame,
            "json": "json" in given, "full": "full" in given, "rfc_times": "rfc-times" in given,
            "scenario": given.get("scenario"), "devices": given.every("device"),
            "line_bps": int(given.get("line-rate", 0)),
            "cable_m": int(given.get("cable", 0)) / MILLION,
            "seconds": int(given.get("seconds", 0)) / MILLION, "runs": int(given.get("runs", 0)),
            "hours": int(given["hours"]) / MILLION, "bound": int(given["bound"]) / ONE,
            "loss_bound": int(given["loss-bound"]) / ONE}


def _frame(given: Given) -> int | None:
    """Returns the length, 0 for IMIX, None if it is not given."""
    length = None
    for text in given.every("frame"):
        if text.lower() == "imix":
            length = 0
        elif re.fullmatch(r"[0-9]+", text) and FRAME_MIN <= int(text) <= FRAME_MAX:
            length = int(text)
        else:
            raise CommandError(f"--frame {text}: must be a length from {FRAME_MIN} to {FRAME_MAX} "
                               "bytes, or imix")
    return length


def _check_scenario(given: Given, scenarios: Sequence[str], weir: Answers) -> None:
    for name in given.every("scenario"):
        if name not in scenarios:
            nearest = weir.nearest(name, scenarios)
            raise CommandError(f"there is no scenario `{name}`; " + (
                f"did you mean `{nearest}`?" if nearest else
                "name one that weir bench cost measures, like `delay-10ms` or `full`"))


def _words(words: Sequence[str], weir: Answers) -> tuple[list[str], list[str]]:
    """Returns parts, in their order, and the files behind `compare`, two at most."""
    parts: set[str] = set()
    files: list[str] = []
    for word in words:
        if "compare" in parts and len(files) < 2:
            files.append(word)
        elif word in PARTS:
            parts.add(word)
        else:
            nearest = weir.nearest(word, PARTS)
            raise CommandError(f"there is no part `{word}`; " + (
                f"did you mean `{nearest}`?" if nearest else f"the parts are {listing(PARTS)}"))
    return [part for part in PARTS if part in parts], files


def _check_together(given: Given) -> None:
    """Rejects options of which one makes the other useless, or that need another."""
    devices = given.every("device")
    if len(devices) == 1:
        raise CommandError(f"--device {devices[0]}: rfc2544 takes two, one at each side of the "
                           "device under test; latency takes two, the ends of a cable")
    if "scenario" in given and "config" in given:
        raise CommandError("--scenario and -c: give only one; measure one of weir's own scenarios, "
                           "or your own")
    if devices and "config" in given:
        raise CommandError("--device and -c: give only one; the device under test is either "
                           "between two devices, or weir with this scenario")
    if "snap" in given and "flight" not in given:
        raise CommandError("--snap needs --flight TIME")
    for option in ("frame", "scenario", "config") if "full" in given else ():
        if option in given:
            shown = "-c" if option == "config" else f"--{option}"
            raise CommandError(f"--full and {shown}: give only one; --full measures every one of "
                               "weir's own scenarios with every frame size")
    for option in ("seconds", "runs") if "rfc-times" in given else ():
        if option in given:
            raise CommandError(f"--rfc-times and --{option}: give only one; the RFC says how long "
                               "trials last, and how many there are")


def _check_tester(part: str, frame: int) -> None:
    if frame == 0:
        raise CommandError(f"--frame imix: {part} takes one length, from 64 to {TESTER_FRAME_MAX}; "
                           "name only parts that take imix, like weir bench cost --frame imix")
    if frame > TESTER_FRAME_MAX:
        raise CommandError(f"--frame {frame}: {part} takes lengths from 64 to {TESTER_FRAME_MAX}; "
                           f"name only parts that take more, like weir bench cost --frame {frame}")
