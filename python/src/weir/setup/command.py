# SPDX-License-Identifier: BSD-3-Clause
"""`weir setup`. Its options: setup_command.c."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from .._command import CommandError, Given, Weir
from . import record as records
from .plan import Plan
from .ports import Ports, TooMany
from .record import Huge, Record
from .step import Step, StepError

CORES_MAX = 319  # bytes of --cores that the record has room for


@dataclass
class Arguments:
    words: list[str]
    root: str = ""
    cores: str | None = None  # None: not given
    apply: bool = False
    undo: bool = False
    json: bool = False
    unsafe: bool = False


def arguments_of(words: Sequence[str]) -> Arguments:
    given = Given(words)
    made = Arguments(given.words, given.get("root", ""), given.get("cores"), "apply" in given,
                     "undo" in given, "json" in given, "unsafe-noiommu" in given)
    size = len(os.fsencode(made.cores or ""))
    if made.undo and (made.apply or made.words or made.json):
        raise CommandError("--undo undoes everything that --apply has done; give nothing else with "
                           "it")
    if made.apply and made.json:
        raise CommandError("--json shows what --apply would do; do not give both")
    if size > CORES_MAX:
        raise CommandError(f"--cores has {size} bytes; at most {CORES_MAX} are allowed")
    return made


def say(text: str) -> None:
    print(f"weir setup: {text}", file=sys.stderr)


def main(given: Sequence[str]) -> int:
    """Returns the exit status."""
    arguments = arguments_of(given)
    status = 2  # of an error before anything was changed
    try:
        if arguments.apply or arguments.undo:
            records.lock(arguments.root)
        record = records.read(arguments.root)
        if arguments.undo:
            return undo(record)
        # Options of the last --apply stay in force, unless they are given anew.
        arguments.unsafe |= record.unsafe
        if arguments.cores is None:
            arguments.cores = record.cores or None
        with Weir(os.environ["WEIR"], "setup", "--answer") as weir:
            cores = list(weir.ask({"ask": "cores", "text": arguments.cores})["cores"])
            ports = find_ports(arguments, record, weir)
            known = arguments.apply or set(ports.words) <= set(record.words)
            plan = Plan(weir, ports, cores, record.huge if known else Huge(), arguments.unsafe)
        status = 1
        if arguments.apply:
            return apply(arguments, record, ports, plan)
    except CommandError as error:
        say(str(error))
        return status
    print(plan.json() if arguments.json else plan.text(), end="")
    return 1 if plan.steps else 0


def find_ports(arguments: Arguments, record: Record, weir: Weir) -> Ports:
    """Finds the ports of the words given; with --apply, or without words, also those of the
    record."""
    ports = Ports(weir, arguments.root)
    for word in arguments.words:
        ports.add(word)
    for word in record.words if arguments.apply or not arguments.words else []:
        try:
            ports.add(word)
        except TooMany:
            raise
        except CommandError as error:
            # One that is gone does not keep the others from what they lack.
            say(f"{word} of an earlier --apply is left out: {error}")
    return ports


# ---- applying and undoing ----

def apply(arguments: Arguments, record: Record, ports: Ports, plan: Plan) -> int:
    before, steps = record.copy(), plan.steps
    for step in steps:
        step.look(record.root)
        record.add(step)
    for word in ports.words:
        record.name(word)
    record.unsafe |= arguments.unsafe
    record.huge, record.cores = plan.huge, arguments.cores or ""
    if steps or before.steps:
        record.write()
    status = 0
    for i, step in enumerate(steps):
        try:
            status |= do(record.root, step)
        except CommandError:
            take_back(steps[:i + step.may_be_half_done], before, record)
            raise
    if plan.reboot:
        print("The new kernel command line takes effect after a reboot.")
    return status


def do(root: str, step: Step) -> int:
    """Does the step, and prints it. Returns 1 if the kernel did less than it asked for, else 0."""
    try:
        step.do(root)
    except CommandError as error:
        if not step.may_fail:
            raise
        say(f"{error}; the kernel keeps its setting")
        return 0
    print(f"$ {step}")
    less = step.fell_short(root)
    if less:
        say(f"{less}; the kernel gives no more now")
    return 1 if less else 0


def take_back(steps: Sequence[Step], before: Record, record: Record) -> None:
    """Undoes the steps of an --apply that has failed. The record is then as it was before, with
    those steps besides that cannot be undone."""
    left = before.copy()
    left.made_folder = record.made_folder
    for step in reversed(steps):
        try:
            step.undo(record.root)
        except StepError as error:
            say(str(error))
            if not error.gone and not step.may_fail:
                left.add(step)
    if len(left.steps) > len(before.steps):
        say("not all is undone; `weir setup --undo` tries it again")
    try:
        if left.steps:
            left.write()
        else:
            left.remove()
    except CommandError as error:
        say(str(error))


def undo(record: Record) -> int:
    status = 0
    for step in reversed(record.steps):
        try:
            step.undo(record.root)
        except StepError as error:
            if step.may_fail:
                continue
            say(f"{error}; there is nothing to restore" if error.gone else str(error))
            status = status if error.gone else 1
    if status == 0:
        record.remove()
    return status
