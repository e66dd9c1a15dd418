# SPDX-License-Identifier: BSD-3-Clause
"""An interface, of this machine or of a container, whose packets cross weir: `weir on`.

    with PostgresContainer("postgres") as container, weir.on(container, "40ms 1%") as path:
        path.down("delay 80ms")

It needs root, as docs/on.md says. The container needs nothing.
"""

from __future__ import annotations

import collections
import contextlib
import os
import pathlib
import shlex
import tempfile

from . import program, running
from .client import Client
from .errors import Failed, WeirError
from .live import Live

__tracebackhide__ = True  # pytest shows the line of the test, and not these


def _container_id(container: object) -> str:
    """Returns the name, or the id of an object of a library for containers: testcontainers, docker,
    podman."""
    if isinstance(container, str):
        return container
    of_testcontainers = getattr(container, "get_container_id", None)
    found = of_testcontainers() if of_testcontainers else getattr(container, "id", None)
    if not isinstance(found, str):
        raise WeirError(f"a container is a name, or an object that has an id, as one of docker or "
                        f"testcontainers that has been started: {container!r}")
    return found


class On(Live):
    """`weir on`, from `weir.on(...)` until `close()`, or until the end of its `with`. `down` leads
    to the interface's machine, `up` away from it.

    `what` is the name of an interface, or a started container: an object with an id. `text` is what
    stands behind `weir on INTERFACE`: statements, the name of a scenario, `match`, options. The
    interface is that of this machine, or in the `container` (a name, an id, an object), in the
    network of the process `pid`, or in `netns`, a name or a path. If this process ends, for
    whatever reason, the interface is given back."""

    def __init__(self, what: str | object, text: str = "", *, container: str | object = None,
                 pid: int | None = None, netns: str | None = None, seed: int | None = None,
                 weir: str | os.PathLike[str] | None = None) -> None:
        self.seed = seed if seed is not None else int.from_bytes(os.urandom(4), "big")
        self._weir = weir
        interface = [what] if isinstance(what, str) else []
        if not interface:
            container = what
        places = [("--container", container and _container_id(container)), ("--pid", pid),
                  ("--netns", netns)]
        self.where = " ".join([*interface, *(f"{option[2:]} {place}"
                                             for option, place in places if place)])
        self._said: collections.deque[str] = collections.deque(maxlen=200)
        with contextlib.ExitStack() as left:
            folder = pathlib.Path(left.enter_context(
                tempfile.TemporaryDirectory(prefix="weir-on-")))
            words = [program.find(weir), "on", *interface, *shlex.split(text),
                     *(word for option, place in places if place
                       for word in (option, str(place))),
                     "--seed", str(self.seed), "-s", str(folder / "socket")]
            self._control = left.enter_context(
                running.client_of(words, folder / "socket", self._said))
            self.scenario = self._control.config()
            self._left = left.pop_all()

    @property
    def control(self) -> Client:
        """A client of the weir that is on the interface."""
        return self._control

    def close(self) -> None:
        """Gives the interface back. If weir has failed, errors.Failed is raised. If its container
        or process has ended before, then so has weir, which is no failure."""
        try:
            self._left.close()
        except Failed as error:
            if not str(error).endswith(("has stopped", "has ended")):
                raise

    def __enter__(self) -> On:
        return self

    def evidence(self) -> str:
        """Gives the interface back, and returns a description of what crossed it."""
        try:
            now = self.control.config()
        except Exception:  # this may be why the test has failed
            now = self.scenario
        try:
            self.close()
        except Failed as error:
            now += f"\n{error}"
        parts = [f"repeat it with --weir-seed {self.seed}", "", f"weir on {self.where} began with",
                 self.scenario]
        if now != self.scenario:
            parts += ["and was at the end", now]
        return "\n".join(parts) + "\n" + "".join(self._said)


on = On
