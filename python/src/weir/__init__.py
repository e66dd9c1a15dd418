# SPDX-License-Identifier: BSD-3-Clause
"""weir, a network emulator, from Python: docs/python.md.

This package calls the program `weir` (`$WEIR`, or the one in `$PATH`), talks to a running weir, and
calls the library libweir for networks inside a process: weir.Network, and weir.virtual.
"""

from __future__ import annotations

import importlib
import sys
import types
from typing import TYPE_CHECKING, Any

from . import errors

if TYPE_CHECKING:
    from .aio import AsyncClient, connect_async
    from .around import On, on
    from .client import Client, Lease, connect
    from .end import End, Process
    from .errors import Refusal, ScenarioError, WeirError
    from .explain import Connection, Explanation, explain, explain_capture
    from .network import Datagram, Frame, Network
    from .path import Path
    from .recording import Diff, Recording
    from .replay import Fate, Replay, replay, replays
    from .running import run
    from .scenario import Scenario, Statement, statement

__version__ = "0.2.0"

__all__ = ["AsyncClient", "Client", "Connection", "Datagram", "Diff", "End", "Explanation", "Fate",
           "Frame", "Lease", "Network", "On", "Path", "Process", "Recording", "Refusal", "Replay",
           "Scenario", "ScenarioError", "Statement", "WeirError", "connect", "connect_async",
           "errors", "explain", "explain_capture", "on", "replay", "replays", "run", "statement"]

# The modules of these names. A module is imported when a name of it is needed: all together take
# ten times as long to start as what a command needs.
_MODULES = {
    "aio": ("AsyncClient", "connect_async"),
    "around": ("On", "on"),
    "client": ("Client", "Lease", "connect"),
    "end": ("End", "Process"),
    "errors": ("Refusal", "ScenarioError", "WeirError"),
    "explain": ("Connection", "Explanation", "explain", "explain_capture"),
    "network": ("Datagram", "Frame", "Network"),
    "path": ("Path",),
    "recording": ("Diff", "Recording"),
    "replay": ("Fate", "Replay", "replay", "replays"),
    "running": ("run",),
    "scenario": ("Scenario", "Statement", "statement"),
}


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names:
            value = getattr(importlib.import_module(f"{__name__}.{module}"), name)
            globals()[name] = value
            return value
    whole = f"{__name__}.{name}"
    try:
        return importlib.import_module(whole)  # weir.client
    except ModuleNotFoundError as error:
        if error.name != whole:
            raise
    raise AttributeError(f"module {__name__} has no attribute {name}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(types.ModuleType):
    """`weir.replay` and `weir.explain` are the functions, also when the modules of these names have
    been imported."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("replay", "explain") and isinstance(value, types.ModuleType):
            value = getattr(value, name)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
