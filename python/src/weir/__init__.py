# SPDX-License-Identifier: BSD-3-Clause
"""weir, a network emulator, from Python: docs/python.md.

This package calls the program `weir` (`$WEIR`, or the one in `$PATH`), talks to a running weir, and
calls the library libweir for networks inside a process: weir.Network, and weir.virtual.
"""

from . import errors
from .aio import AsyncClient, connect_async
from .around import On, on
from .client import Client, Lease, connect
from .end import End, Process
from .errors import Refusal, ScenarioError, WeirError
from .network import Datagram, Frame, Network
from .path import Path
from .recording import Diff, Recording
from .replay import Fate, Replay, replay, replays
from .running import run
from .scenario import Scenario, Statement, statement

__version__ = "0.2.0"

__all__ = ["AsyncClient", "Client", "Datagram", "Diff", "End", "Fate", "Frame", "Lease", "Network",
           "On", "Path", "Process", "Recording", "Refusal", "Replay", "Scenario",
           "ScenarioError", "Statement", "WeirError", "connect", "connect_async",
           "errors", "on", "replay", "replays", "run", "statement"]
