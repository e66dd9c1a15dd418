# SPDX-License-Identifier: BSD-3-Clause
"""weir, a network emulator, from Python: docs/python.md.

This package calls the program `weir` (`$WEIR`, or the one in `$PATH`), and talks to one that runs.
"""

from . import errors
from .errors import Refusal, ScenarioError, WeirError
from .scenario import Scenario, Statement, statement

__version__ = "0.1.0"

__all__ = ["Refusal", "Scenario", "ScenarioError", "Statement", "WeirError", "errors", "statement"]
