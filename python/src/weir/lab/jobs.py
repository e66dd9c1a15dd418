# SPDX-License-Identifier: BSD-3-Clause
"""Runs points side by side, in as many processes as are to run at once.

A process runs one point after the other, and points share nothing. So the result does not depend
on how many run at once.
"""

from __future__ import annotations

import json
import selectors
import sys
from collections.abc import Callable, Sequence

from .._command import CommandError, Process, encoded, failure
from .campaign import Campaign, Job
from .process import Weir

STOP_S = 0.2  # the interval at which `stopped` is read


class Waiting:
    """The jobs of a campaign that are not done, in their order, each with its question. The next
    question is ready before a process needs it."""

    def __init__(self, campaign: Campaign) -> None:
        self._campaign = campaign
        self.jobs = [job for job in reversed(campaign.jobs) if not job.done]
        self._question = b""

    def prepare(self) -> None:
        if self.jobs and not self._question:
            self._question = encoded(self._campaign.question(self.jobs[-1], run=True))

    def give(self, process: Process) -> Job | None:
        """Asks the process to run the next one, and returns it."""
        if not self.jobs or process.ended:
            return None
        self.prepare()
        process.send(self._question)
        self._question = b""
        return self.jobs.pop()


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
        jobs, waiting = campaign.jobs, Waiting(campaign)
        n = len(jobs) - len(waiting.jobs)
        self._start(min(self._at_once, len(waiting.jobs)))
        running = {process: job for process in self._processes if (job := waiting.give(process))}
        with selectors.DefaultSelector() as selector:
            for process in running:
                selector.register(process.answers, selectors.EVENT_READ, process)
            while running and not stopped():
                waiting.prepare()
                for key, _ in selector.select(STOP_S):
                    process = key.data
                    line, job = process.receive(), running.pop(process)
                    if given := waiting.give(process):  # before the answer is read
                        running[process] = given
                    else:
                        selector.unregister(key.fileobj)
                    finish(job, line, campaign.experiment.name)
                    n += 1
                    progress(campaign.experiment.name, n, len(jobs))
        if running or stopped():
            for process in self._processes:
                process.end()
            for job in jobs:
                job.error = None
            return False
        for job in waiting.jobs:
            job.error = CommandError("no process was left to run it", wrong=False)
        self._processes = [process for process in self._processes if not process.ended]
        return True

    def _start(self, n: int) -> None:
        # With fewer processes than requested, the jobs only take longer.
        while len(self._processes) < n:
            try:
                self._processes.append(Process(self._weir.program, *self._weir.words))
            except CommandError:
                break


def finish(job: Job, line: bytes | None, name: str) -> None:
    """Gives the job its figures, or its error, from the answer."""
    if line is None:
        job.error = CommandError("the process of a run ended before its results were complete",
                                 wrong=False)
        return
    answer = json.loads(line)
    if "error" in answer:
        job.error = failure(answer, name)
    else:
        job.seconds = answer["seconds"]
        job.figures = {name: value for name, value in answer["figures"].items()
                       if value is not None}


def first_error(jobs: Sequence[Job]) -> CommandError | None:
    return next((job.error for job in jobs if job.error), None)


def progress(name: str, done: int, n: int) -> None:
    if sys.stderr.isatty():
        bar = "#" * (done * 30 // n)
        end = "\r\033[K" if done == n else ""
        print(f"\r\033[K{name} [{bar:.<30}] {done} of {n} runs", end=end, file=sys.stderr,
              flush=True)
