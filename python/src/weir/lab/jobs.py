# SPDX-License-Identifier: BSD-3-Clause
"""Runs points side by side, in as many processes as are to run at once.

A process runs one point after the other, and points share nothing. So the result does not depend
on how many run at once.
"""

from __future__ import annotations

import selectors
import sys
from collections.abc import Callable, Sequence

from .campaign import Campaign, Job
from .process import Ended, LabError, Process, Weir, failure

STOP_S = 0.2  # the interval at which `stopped` is read


class Pool:
    """The processes of `weir`: the one that has been asked so far is the first of them. One that
    has ended is replaced for the next campaign, not before: another one might end likewise."""

    def __init__(self, weir: Weir, at_once: int) -> None:
        self._weir, self._at_once = weir, at_once
        self._processes = [weir.first]

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *error: object) -> None:
        for process in self._processes:
            if process is not self._weir.first:
                process.end()

    def run(self, campaign: Campaign, stopped: Callable[[], bool] = lambda: False) -> bool:
        """Runs the jobs that are not done. Each gets its figures, or an error. Returns false if it
        was stopped, and then no job has an error: whatever stopped it, has stopped the processes,
        too."""
        jobs = campaign.jobs
        waiting = [job for job in reversed(jobs) if not job.done]
        n = len(jobs) - len(waiting)
        self._start(min(self._at_once, len(waiting)))
        with selectors.DefaultSelector() as selector:
            for process in self._processes:
                self._feed(selector, campaign, process, waiting)
            while selector.get_map() and not stopped():
                for key, _ in selector.select(STOP_S):
                    process, job = key.data
                    selector.unregister(process.answers)
                    self._receive(campaign, process, job)
                    self._feed(selector, campaign, process, waiting)
                    n += 1
                    progress(campaign.experiment.name, n, len(jobs))
            if selector.get_map() or stopped():
                for process in self._processes:
                    process.end()
                for job in jobs:
                    job.error = None
                return False
        for job in waiting:
            job.error = LabError("no process was left to run it", wrong=False)
        self._processes = [process for process in self._processes if not process.ended]
        return True

    def _start(self, n: int) -> None:
        # With fewer processes than requested, the jobs only take longer.
        while len(self._processes) < n:
            try:
                self._processes.append(Process(self._weir.program))
            except LabError:
                break

    def _feed(self, selector: selectors.BaseSelector, campaign: Campaign, process: Process,
              waiting: list[Job]) -> None:
        if waiting and not process.ended:
            job = waiting.pop()
            process.send(campaign.question(job, run=True))
            selector.register(process.answers, selectors.EVENT_READ, (process, job))

    def _receive(self, campaign: Campaign, process: Process, job: Job) -> None:
        try:
            answer = process.receive()
        except Ended:
            job.error = LabError("the process of a run ended before its results were complete",
                                 wrong=False)
            return
        if "error" in answer:
            job.error = failure(answer, campaign.experiment.name)
            return
        job.seconds = answer["seconds"]
        job.figures = {name: value for name, value in answer["figures"].items()
                       if value is not None}


def first_error(jobs: Sequence[Job]) -> LabError | None:
    return next((job.error for job in jobs if job.error), None)


def progress(name: str, done: int, n: int) -> None:
    if sys.stderr.isatty():
        bar = "#" * (done * 30 // n)
        end = "\r\033[K" if done == n else ""
        print(f"\r\033[K{name} [{bar:.<30}] {done} of {n} runs", end=end, file=sys.stderr,
              flush=True)
