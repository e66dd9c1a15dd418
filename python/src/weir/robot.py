# SPDX-License-Identifier: BSD-3-Clause
"""Keywords for Robot Framework.

    *** Settings ***
    Library     weir.robot
    Test Teardown    Close Path

    *** Test Cases ***
    The Page Comes Over A Satellite
        Open Path       scenario=geo-satellite
        Start On Server     python3 -m http.server 8000
        Wait On Client      curl -s http://A:8000/
        Weir Should Have Lost Nothing
"""

from __future__ import annotations

import time

from .end import Process
from .path import Path


class robot:  # Robot uses the class that is named like the module
    """A path with a client and a server. `Close Path` ends it."""

    ROBOT_LIBRARY_SCOPE = "TEST"
    ROBOT_AUTO_KEYWORDS = True

    def __init__(self) -> None:
        self._path: Path | None = None

    def _there(self) -> Path:
        if self._path is None:
            raise RuntimeError("there is no path; `Open Path` makes one")
        return self._path

    def open_path(self, down: str = "", up: str = "", scenario: str | None = None,
                  seed: int | None = None, folder: str | None = None) -> str:
        """Makes two namespaces joined by a weir. Returns the server's address."""
        self.close_path()
        path = Path(down, up, scenario=scenario, seed=seed, folder=folder)
        path.__enter__()
        self._path = path
        return path.server.address

    def change_down(self, *statements: str) -> None:
        """Changes the direction to the client: `Change Down rate 2mbit queue 20kB delay 80ms`"""
        self._there().down(*statements)

    def change_up(self, *statements: str) -> None:
        """Changes the direction to the server."""
        self._there().up(*statements)

    def run_on_client(self, command: str, timeout: float = 60) -> str:
        """Runs a shell command at the client. Fails if the command fails; returns its output."""
        done = self._there().client.run(command, shell=True, timeout=float(timeout))
        if done.returncode != 0:
            raise AssertionError(f"status {done.returncode}\n{done.stdout}{done.stderr}")
        text: str = done.stdout
        return text

    def wait_on_client(self, command: str, timeout: float = 60) -> str:
        """Runs a shell command at the client, again and again until it succeeds: for a server that
        is starting."""
        end = time.monotonic() + float(timeout)
        while True:
            try:
                return self.run_on_client(command, max(0.1, end - time.monotonic()))
            except AssertionError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)

    def start_on_server(self, command: str) -> Process:
        """Starts a shell command at the server. It runs until the path is closed."""
        return self._there().server.popen(command, shell=True, stdout=None, stderr=None)

    def weir_should_have_lost_nothing(self) -> None:
        """Fails if weir itself has lost a packet, though the scenario did not ask for it."""
        self._there().assert_no_real_loss()

    def weir_should_have_been_punctual(self, most: str = "2ms") -> None:
        """Fails if a packet left weir later than this after its due time."""
        self._there().assert_punctual(most)

    def path_evidence(self) -> str:
        """Ends the path, and returns its seed, scenario and counters as a text, for a test that has
        failed."""
        return self._there().evidence()

    def close_path(self) -> None:
        """Ends the path and all processes at its ends."""
        if self._path is not None:
            self._path.close()
            self._path = None
