# SPDX-License-Identifier: BSD-3-Clause
"""The record of what `weir setup --apply` has changed, so that it can be undone, and for which
ports: the file /var/lib/weir/setup.json. It is written before anything is changed. It keeps the
state before the first change of a thing, however often that is changed again, even after a restart
of the machine."""

from __future__ import annotations

import fcntl
import json
import os
from dataclasses import dataclass, field, replace
from typing import Any

from .._command import AtomicFile, CommandError
from .ports import WORDS_MAX
from .step import KINDS, Step

PARENT = "/var/lib"
FOLDER = PARENT + "/weir"
FILE = FOLDER + "/setup.json"
CORES_BYTES = 320  # as many processors as weir takes, with a comma between


@dataclass(frozen=True)
class Huge:
    """A need of huge pages that was met, and all huge pages of the machine then, in use or not. 0,
    0: none."""

    need_mib: int = 0
    total_mib: int = 0


def lock(root: str) -> None:
    """Waits until no other process changes this machine, and keeps others waiting until this
    process ends: a boot starts weir-setup@.service for each device at once."""
    try:
        # The folder above, because remove() may remove FOLDER.
        fd = os.open(root + PARENT, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        fcntl.flock(fd, fcntl.LOCK_EX)
    except OSError:
        pass


@dataclass
class Record:
    root: str
    words: list[str] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)  # in the order in which they were done
    cores: str = ""  # the value of --cores; "": not given
    unsafe: bool = False  # --unsafe-noiommu
    huge: Huge = Huge()  # at the last --apply
    made_folder: bool = False  # weir setup made the folder of the file

    def copy(self) -> Record:
        return replace(self, words=[*self.words], steps=[*self.steps])

    def add(self, step: Step) -> None:
        """Adds a step that is about to be done, with `before` filled in, unless the record has one
        for the same thing."""
        if any(one.thing == step.thing for one in self.steps):
            return
        try:
            (step.before or "").encode()  # JSON is UTF-8
        except UnicodeEncodeError:
            raise CommandError(f"{step.path} is not UTF-8, so it could not be restored; move it "
                               "away") from None
        self.steps.append(replace(step))

    def name(self, word: str) -> None:
        """Adds a device or service, unless the record has it."""
        if word in self.words:
            return
        if len(self.words) == WORDS_MAX:
            raise CommandError(f"more than {WORDS_MAX} devices and services, with those of the "
                               "record")
        self.words.append(word)

    def write(self) -> None:
        try:
            os.mkdir(self.root + FOLDER, 0o755)
            self.made_folder = True
        except OSError:
            pass
        steps = [{"kind": step.kind, "path": step.path, "value": step.value, "before": step.before,
                  "may_fail": step.may_fail} for step in self.steps]
        document = {"ports": self.words, "changes": steps, "cores": self.cores,
                    "unsafe_noiommu": self.unsafe, "made_folder": self.made_folder,
                    "hugepages": vars(self.huge)}
        file = AtomicFile(self.root + FILE)
        try:
            file.write(json.dumps(document, ensure_ascii=False, indent=1) + "\n")
            file.publish()
        finally:
            file.discard()

    def remove(self) -> None:
        """Removes the file, and its folder if that was made for it."""
        try:
            os.unlink(self.root + FILE)
            if self.made_folder:
                os.rmdir(self.root + FOLDER)
        except OSError:
            pass


def read(root: str) -> Record:
    """Returns the record, an empty one if there is no file."""
    path = root + FILE
    try:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
    except FileNotFoundError:
        return Record(root)
    except (OSError, ValueError) as error:
        raise _no_record(path, f": {error.strerror if isinstance(error, OSError) else error}"
                         ) from None
    try:
        return _record(root, document)
    except (KeyError, TypeError, ValueError):
        raise _no_record(path) from None


def _no_record(path: str, why: str = "") -> CommandError:
    return CommandError(f"{path} is not a record of weir setup{why:.102}; move it away: what it "
                        "records then stays as it is")


def _record(root: str, document: dict[str, Any]) -> Record:
    words, steps = document["ports"], document["changes"]
    cores, huge = document.get("cores"), document.get("hugepages")
    if not isinstance(words, list) or not isinstance(steps, list) or len(words) > WORDS_MAX or (
            not all(isinstance(word, str) for word in words)):
        raise ValueError
    cores = cores if isinstance(cores, str) else ""
    if len(cores.encode()) >= CORES_BYTES:
        raise ValueError
    huge = huge if isinstance(huge, dict) else {}
    record = Record(root, words, cores=cores, unsafe=document.get("unsafe_noiommu") is True,
                    huge=Huge(*(int(huge.get(name) or 0) for name in ("need_mib", "total_mib"))),
                    made_folder=document.get("made_folder") is True)
    for step in steps:
        record.add(_step(step))
    return record


def _step(given: dict[str, Any]) -> Step:
    kind, path, value, before, may_fail = (
        given[name] for name in ("kind", "path", "value", "before", "may_fail"))
    texts = (kind, path, value) if before is None else (kind, path, value, before)
    if not all(isinstance(text, str) for text in texts) or not isinstance(may_fail, bool) or (
            kind not in KINDS or (before is None and kind in ("write", "driver"))):
        raise ValueError
    return Step(kind, path, value, may_fail, before)
