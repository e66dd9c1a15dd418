# SPDX-License-Identifier: BSD-3-Clause
"""The program `weir`, which this package calls: `$WEIR`, or the one in `$PATH`."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
from collections.abc import Sequence

from .errors import Failed, NotInstalled

_prctl = ctypes.CDLL(None, use_errno=True).prctl
_PR_SET_PDEATHSIG = 1


def find(program: str | os.PathLike[str] | None = None) -> str:
    """Returns the path of `program`, or of `$WEIR`, or of the `weir` in `$PATH`."""
    wanted = os.fspath(program) if program is not None else os.environ.get("WEIR") or "weir"
    found = shutil.which(wanted)
    if found is None:
        raise NotInstalled(
            f"there is no program `{wanted}`; build weir, and put it into $PATH or name it in $WEIR")
    return os.path.abspath(found)


def call(words: Sequence[str], *, program: str | os.PathLike[str] | None = None,
         input: str | None = None, cwd: str | None = None,
         fine: Sequence[int] = (0,)) -> subprocess.CompletedProcess[str]:
    """Runs `weir WORDS...`. Raises Failed with its error output unless its status is in `fine`."""
    done = subprocess.run([find(program), *words], input=input, cwd=cwd, capture_output=True,
                          text=True, errors="replace", check=False)
    if done.returncode not in fine:
        said = done.stderr.strip().splitlines()
        raise Failed(said[-1] if said else f"weir {words[0]} ended with {done.returncode}",
                     done.returncode, done.stderr)
    return done


def end_with_me() -> None:
    """For `preexec_fn`: the process gets SIGTERM when its parent ends, for whatever reason."""
    _prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
