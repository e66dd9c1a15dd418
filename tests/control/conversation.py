# SPDX-License-Identifier: BSD-3-Clause
"""A running weir between two ports at which nothing arrives, and clients that talk to it."""

import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time

SCENARIO = """\
seed 1
port a device net_ring0
port b device net_ring1
cloud down from a to b
cloud up from b to a
cloud up delay 1ms
"""


class Client:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(60)
        self.socket.connect(path)
        self.file = self.socket.makefile("rb")

    def answers(self, n):
        """Reads n answers; returns the last line of the last one."""
        line = b""
        for _ in range(n):
            while True:
                line = self.file.readline()
                if not line:
                    raise ConnectionError("weir hung up")
                if line == b"ok\n" or line.startswith(b"err ") or line.startswith(b'{"'):
                    break
        return line.decode(errors="replace").rstrip("\n")

    def say(self, text, n=1):
        data = text if isinstance(text, bytes) else text.encode()
        if not data.endswith(b"\n"):
            data += b"\n"
        if len(data) < 65536:
            self.socket.sendall(data)
            return self.answers(n)
        # Answers arrive while the data is being sent.
        sender = threading.Thread(target=self.socket.sendall, args=(data,))
        sender.start()
        last = self.answers(n)
        sender.join()
        return last

    def close(self):
        self.file.close()
        self.socket.close()


class Weir:
    """A weir that runs in a folder of its own. stop() ends it, whatever its state."""

    def __init__(self, program, name, *options, scenario=SCENARIO, files=()):
        """In the options, `SOCKET` stands for the path of the control socket; in the scenario,
        `FOLDER` stands for the folder of the files (name: bytes). Tests leave the processors to
        each other: an idle worker sleeps, and few pages must be cleared."""
        self.folder = tempfile.mkdtemp(prefix=f"weir-{name}-")
        self.path = os.path.join(self.folder, "socket")
        config = os.path.join(self.folder, "scenario.weir")
        with open(config, "w") as file:
            file.write(scenario.replace("FOLDER", self.folder))
        for leaf, data in dict(files).items():
            with open(os.path.join(self.folder, leaf), "wb") as file:
                file.write(data)
        # "a": reading moves the offset, which weir shares.
        self.log = open(os.path.join(self.folder, "log"), "a+")
        self.command = [program, "run", "-c", config, "-s", self.path, "--sleep", "1ms",
                        "--memory", "8MiB",
                        *(option.replace("SOCKET", self.path) for option in options),
                        "--", "--no-huge"]
        self.start()

    def start(self):
        """Starts weir, or starts it again after its process has ended. It needs neither root nor
        hugepages, so if it ends at its start, this is an error on any machine."""
        self.process = subprocess.Popen(self.command, stdout=self.log, stderr=self.log)
        for _ in range(1800):
            if self.process.poll() is not None:
                said = self.said()
                self.stop()
                raise RuntimeError(f"weir ended at its start with {self.process.returncode}: "
                                   f"{said}")
            try:
                Client(self.path).close()
                return
            except OSError:
                time.sleep(0.1)
        self.stop()
        raise RuntimeError("weir does not come up")

    def said(self):
        self.log.seek(0)
        return self.log.read()

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.log.close()
        shutil.rmtree(self.folder)
