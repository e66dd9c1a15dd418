# SPDX-License-Identifier: BSD-3-Clause
"""Campaigns of `weir lab` (docs/lab.md).

`weir lab` itself is command.py: experiment.py reads an experiment, campaign.py knows which runs it
has, jobs.py runs them in processes (process.py), and merge.py takes those that were run elsewhere;
verdict.py and expression.py compute rows and figures, which output.py, report.py and folder.py
print and store.

For programs, there are campaigns on any executor of concurrent.futures (study.py):

    study = weir.lab.Study("becn-45", flows=range(10, 46, 5), seeds=20)
    results = study.run(ProcessPoolExecutor(8), out="becn")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .study import Point, Results, Store, Study, main, run_point

__all__ = ["Point", "Results", "Store", "Study", "main", "run_point"]


def __getattr__(name: str) -> Any:
    """`weir lab` starts faster without study.py."""
    if name not in __all__:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    from . import study

    return getattr(study, name)
