# SPDX-License-Identifier: BSD-3-Clause
"""Starts a weir, and stops it."""

from __future__ import annotations

import collections
import contextlib
import os
import pathlib
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence

from . import program
from .client import Client
from .recording import flight_words
from .scenario import Scenario


@contextlib.contextmanager
def run(scenario: Scenario | str, *, options: Sequence[str] = (), eal: Sequence[str] = (),
        record: str | os.PathLike[str] | None = None, zstd: bool = False,
        flight: float | str | None = None, flight_on: str | Sequence[str] | None = None,
        flight_to: str | os.PathLike[str] | None = None,
        weir: str | os.PathLike[str] | None = None) -> Iterator[Client]:
    """Starts `weir run` with the scenario, and stops it at the end of the block: `with weir.run(s)
    as client: ...`.

    The ports need devices. `options` are those of weir run; `eal` are those of DPDK after `--`,
    such as `["--no-huge"]`. `record` is the folder of a recording, which is complete after the
    block: `weir.Recording(folder)`. `zstd`: the recording is compressed while it is written.
    `flight` keeps the last so many seconds of the run (a number, or as `"10s"`), or what fits into
    so much memory, as `"64MB"`; `client.flight_dump()` makes a recording of it. The events
    `flight_on`, kinds such as `"stall"`, also dump it, into folders `flight_to`-DATE. If this
    process ends, for whatever reason, weir ends too. If weir fails during the block or at its end,
    as on a full disk, errors.Failed is raised, unless the block raises something else."""
    with tempfile.TemporaryDirectory(prefix="weir-run-") as folder:
        place = pathlib.Path(folder)
        (place / "scenario.weir").write_text(str(scenario), encoding="utf-8")
        recorded = ["--record", os.path.abspath(record)] if record is not None else []
        recorded += ["--zstd"] if zstd else []
        recorded += flight_words(flight, flight_on, flight_to)
        words = [program.find(weir), "run", "-c", str(place / "scenario.weir"), "-s",
                 str(place / "socket"), *recorded, *options, *(["--", *eal] if eal else [])]
        with client_of(words, place / "socket", collections.deque(maxlen=100)) as client:
            yield client


@contextlib.contextmanager
def client_of(words: Sequence[str], socket: pathlib.Path,
              last: collections.deque[str]) -> Iterator[Client]:
    """Starts `weir COMMAND...`, which listens at `socket`, and stops it at the end of the block.
    Then the last lines that it has said are in `last`."""
    process = program.start(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                            encoding="utf-8", errors="replace")
    try:
        said = _until_running(process)
        if said is not None:
            raise program.failed(words[1], process.wait(), said)
        reader = threading.Thread(target=_read_on, args=(process, last), daemon=True)
        reader.start()
        try:
            with Client(socket) as client:
                yield client
        finally:
            process.terminate()
            reader.join()
    finally:
        if process.poll() is None:
            process.terminate()
        process.communicate()
    if process.returncode != 0:
        raise program.failed(words[1], process.returncode, "".join(last))


def _read_on(process: subprocess.Popen[str], last: collections.deque[str]) -> None:
    """Reads on: if nobody reads weir's messages, weir blocks, and so does its control socket."""
    assert process.stderr is not None
    last.extend(process.stderr)


def _until_running(process: subprocess.Popen[str]) -> str | None:
    """Returns None once weir is running, or its messages if it has ended."""
    said = ""
    assert process.stderr is not None
    for line in process.stderr:
        said += line
        if ": running, seed " in line:
            return None
    return said
