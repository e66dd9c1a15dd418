# SPDX-License-Identifier: BSD-3-Clause
"""The page of shared memory by which a test makes calls of weir-faults fail (faults.h)."""
import mmap
import os
import struct
import subprocess

KINDS = {"memory": 1, "mbuf": 2, "write": 4, "system": 8, "ring": 16, "dpdk": 32, "network": 64}
BYTES, FRAMES = 4096, 16


class Page:
    def __init__(self, path, program):
        with open(path, "wb") as out:
            out.write(bytes(BYTES))
        self.path, self.program = path, program
        with open(path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), BYTES)

    def arm(self, kind, at, onwards=False):
        """From now on the at-th call of this kind fails, or, with `onwards`, this and all later
        ones; 0: calls are only counted."""
        self.map[:] = struct.pack("<QQQ", 0, at, onwards) + bytes(BYTES - 24)
        self.map[:8] = struct.pack("<Q", KINDS[kind])

    def disarm(self):
        self.map[:8] = bytes(8)

    def _word(self, index):
        return struct.unpack_from("<Q", self.map, 8 * index)[0]

    @property
    def counted(self):
        return self._word(3)

    @property
    def refused(self):
        return self._word(4)

    def where(self):
        """Returns the call that was refused, and its callers, innermost first."""
        call = self.map[8 * (6 + FRAMES):8 * (6 + FRAMES) + 64].split(b"\0")[0].decode()
        frames = [f"{self._word(6 + i) - 1:x}" for i in range(self._word(5))]
        if not frames:
            return call
        names = subprocess.run(["addr2line", "-s", "-f", "-p", "-e", self.program, *frames],
                               capture_output=True, text=True, check=False).stdout.splitlines()
        return f"{call} in " + " < ".join(name.replace(" at ", " ") for name in names)


def environment(page):
    """Returns the environment of a run, with the page if there is one. Sanitizers check everything,
    and exit with a status of their own."""
    sanitizers = {name: f"{os.environ.get(name, '')}:{options}" for name, options in (
        ("ASAN_OPTIONS", "exitcode=86:detect_leaks=1:allocator_may_return_null=1:handle_sigill=1"),
        ("UBSAN_OPTIONS", "halt_on_error=1:exitcode=86:print_stacktrace=1"))}
    faults = {"WEIR_FAULTS": page.path} if page else {}
    return {**os.environ, **sanitizers, **faults}


def complaint(stderr):
    """Returns the message of a sanitizer or an assertion, or None."""
    for line in stderr.splitlines():
        if any(word in line
               for word in ("Sanitizer:", "runtime error:", "Assertion", "weir_poison:")):
            at = stderr.index(line)
            return stderr[at:at + 3000]
    return None
