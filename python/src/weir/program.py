# SPDX-License-Identifier: BSD-3-Clause
"""The program `weir`, which this package calls: `$WEIR`, or the one in `$PATH`."""

from __future__ import annotations

import ctypes
import functools
import os
import queue
import re
import shutil
import signal
import subprocess
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

from .errors import Failed, NotInstalled

_prctl = ctypes.CDLL(None, use_errno=True).prctl
_PR_SET_PDEATHSIG = 1


def find(program: str | os.PathLike[str] | None = None) -> str:
    """Returns the path of `program`, or of `$WEIR`, or of the `weir` in `$PATH`."""
    wanted = os.fspath(program) if program is not None else os.environ.get("WEIR") or "weir"
    found = shutil.which(wanted)
    if found is None:
        raise NotInstalled(
            f"there is no program `{wanted}`; build weir, and put it into $PATH or name it in "
            "$WEIR")
    return os.path.abspath(found)


def call(words: Sequence[str], *, program: str | os.PathLike[str] | None = None,
         input: str | None = None, cwd: str | None = None,
         fine: Sequence[int] = (0,)) -> subprocess.CompletedProcess[str]:
    """Runs `weir WORDS...`. Raises Failed with its error output unless its status is in `fine`."""
    done = subprocess.run([find(program), *words], input=input, cwd=cwd, capture_output=True,
                          encoding="utf-8", errors="replace", check=False)
    if done.returncode not in fine:
        said = done.stderr.strip().splitlines()
        raise Failed(said[-1] if said else f"weir {words[0]} ended with {done.returncode}",
                     done.returncode, done.stderr)
    return done


def failed(command: str, status: int, said: str) -> Failed:
    """Returns the error of a `weir COMMAND` that has ended with this status. The reason may stand
    before or after the table of counters, which has its own heading."""
    lines = re.sub(rf"^weir {command}: [\d.]+ \w+, seed \d+$.*?(?=^weir {command}: |\Z)", "", said,
                   flags=re.MULTILINE | re.DOTALL).strip().splitlines()
    return Failed(lines[-1] if lines else f"weir {command} ended with status {status}", status,
                  said)


def end_with_me() -> None:
    """For `preexec_fn`: the process gets SIGTERM when its parent ends, for whatever reason. Its
    parent is the thread that starts it: see start()."""
    _prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)


def start(words: Sequence[str], **how: Any) -> subprocess.Popen[str]:
    """Starts a process that gets SIGTERM when this process ends, for whatever reason, and not when
    the calling thread does."""
    made: Future[subprocess.Popen[str]] = Future()
    _starter(os.getpid()).put((made, words, how))
    return made.result()


@functools.cache
def _starter(pid: int) -> queue.SimpleQueue[Any]:
    """Returns the queue of a thread that starts processes and stays as long as the process `pid`. A
    forked child needs a thread of its own."""
    asked: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def serve() -> None:
        while True:
            made, words, how = asked.get()
            try:
                made.set_result(subprocess.Popen(words, preexec_fn=end_with_me, **how))
            except Exception as error:
                made.set_exception(error)

    threading.Thread(target=serve, name="weir starts", daemon=True).start()
    return asked
