# SPDX-License-Identifier: BSD-3-Clause
"""The process at an end of a path, which starts the test's processes there.

It is a command of `weir exec --between`. Its first argument is the descriptor of a socket to the
test. A request is a line of JSON, and its answer has the same number. Four descriptors come with a
request that starts a process: its three streams, and a pipe that receives its exit status. If the
socket is closed, the test has ended, for whatever reason: this process ends, and weir exec kills
the processes that it has left running.
"""

import json
import os
import select
import signal
import socket
import subprocess
import sys
from typing import Any


def addresses() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in ("A", "B"):
        try:
            rows = socket.getaddrinfo(name, 0, proto=socket.IPPROTO_TCP)
        except OSError:
            rows = []
        found[name] = [str(row[4][0]) for row in rows]
    return found


class Agent:
    def __init__(self, channel: socket.socket) -> None:
        self.channel = channel
        self.children: dict[int, tuple[subprocess.Popen[bytes], int]] = {}

    def answer(self, **values: Any) -> None:
        self.channel.sendall(json.dumps(values).encode() + b"\n")

    def request(self) -> bool:
        data, fds, _, _ = socket.recv_fds(self.channel, 1 << 16, 4)
        while data and not data.endswith(b"\n"):
            more = self.channel.recv(1 << 16)
            data = data + more if more else b""
        if not data:
            return False
        # If the wait for an answer was interrupted, two requests may come at once, of which only
        # one has descriptors.
        for line in data.splitlines():
            said = json.loads(line)
            self.answer(number=said["number"], **self.outcome(said, fds))
        return True

    def outcome(self, said: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        try:
            return self.start(said, fds) if "args" in said else self.signal(said)
        except Exception as error:  # the request is wrong, and the next one may be right
            if isinstance(error, OSError) and error.errno:
                return {"errno": error.errno, "error": error.strerror, "filename": error.filename}
            return {"kind": type(error).__name__, "error": str(error)}

    def signal(self, said: dict[str, Any]) -> dict[str, Any]:
        child = self.children.get(said["pid"])
        if child:
            child[0].send_signal(said["signal"])
        return {}

    def start(self, said: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        *streams, status = fds
        try:
            child = subprocess.Popen(said["args"], stdin=streams[0], stdout=streams[1],
                                     stderr=streams[2], cwd=said["cwd"], env=said["env"],
                                     shell=said["shell"], start_new_session=True,
                                     **said["how"])
        except BaseException:
            os.close(status)
            raise
        finally:
            for fd in streams:
                os.close(fd)
        self.children[child.pid] = (child, status)
        return {"pid": child.pid}

    def reap(self) -> None:
        for pid, (child, fd) in list(self.children.items()):
            status = child.poll()
            if status is not None:
                del self.children[pid]
                try:
                    os.write(fd, str(status).encode())
                except OSError:
                    pass  # the reader has closed the pipe
                os.close(fd)

    def serve(self) -> None:
        wakes, wake = os.pipe()
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # ^C is meant for the test
        self.answer(addresses=addresses(), pid=os.getpid())
        waited = select.poll()
        waited.register(self.channel, select.POLLIN)
        waited.register(wakes, select.POLLIN)
        while True:
            ready = dict(waited.poll())
            if wakes in ready:
                os.read(wakes, 4096)
                self.reap()
            if self.channel.fileno() in ready and not self.request():
                return


def main() -> None:
    # weir exec starts B when A listens, so A listens when it is ready.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    channel = socket.socket(fileno=int(sys.argv[1]))
    channel.set_inheritable(False)
    if len(sys.argv) > 2:  # A: the test writes when both ends are there, then A stops listening
        channel.recv(1)
    listening.close()
    Agent(channel).serve()


if __name__ == "__main__":
    main()
