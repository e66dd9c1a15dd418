# SPDX-License-Identifier: BSD-3-Clause
"""One change of the machine: a value written to a file of the kernel, a driver bound to a PCI
device, a file of weir's own, a link by which systemd starts a unit. It can be printed as a command
of a shell, done, and undone.

`root` is a prefix of every path: "" for this machine, a folder for a test.
"""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from .._command import CommandError

DEVICES = "/sys/bus/pci/devices/"
DRIVERS = "/sys/bus/pci/drivers/"
BIND_TRIES, BIND_STEP_S = 200, 0.01  # some drivers probe in a thread of their own
KINDS = ("write", "driver", "file", "link")


class StepError(CommandError):
    """A step cannot be done or undone. `gone`: what it is about is not there any more."""

    def __init__(self, text: str, gone: bool = False) -> None:
        super().__init__(text)
        self.gone = gone


def failed(path: str, what: str, error: OSError) -> StepError:
    return StepError(f"{path} cannot be {what}: {error.strerror}", error.errno == errno.ENOENT)


@dataclass
class Step:
    """`kind` says what path and value are:

    write   a file of the kernel, and what is written
    driver  a PCI address, and the driver to bind
    file    a file of weir's own, and its line
    link    a new symbolic link, and its target

    `before` is what was read, the driver ("": none), or the whole file (None: there was none); of a
    link it is None. If `may_fail`, the kernel may refuse it: interrupts of its own."""

    kind: str
    path: str
    value: str
    may_fail: bool = False
    before: str | None = None

    @property
    def thing(self) -> tuple[str, str]:
        return self.kind, self.path

    @property
    def may_be_half_done(self) -> bool:
        """If it fails, it is to be undone."""
        return self.kind in ("driver", "file")

    def __str__(self) -> str:
        """Returns the equivalent command."""
        if self.kind == "write":
            return f"echo {self.value} > {self.path}"
        if self.kind == "driver":
            return f"driverctl set-override {self.path} {self.value}"
        if self.kind == "file":
            return f"echo '{self.value}' > {self.path} && update-grub"
        return f"systemctl enable {os.path.basename(self.path)}"

    def look(self, root: str) -> None:
        """Fills in `before`."""
        if self.kind == "driver":
            self.before = driver_of(root, self.path)
        elif self.kind != "link":
            try:
                text = _read(root + self.path)
                self.before = _chosen(text) if self.kind == "write" else text
            except OSError as error:
                if self.kind == "write" or error.errno != errno.ENOENT:
                    raise failed(root + self.path, "read", error) from None

    def do(self, root: str) -> None:
        """If it fails, nothing has changed, unless it may be half done."""
        if self.kind == "write":
            _write(root + self.path, 0, self.value + "\n")
        elif self.kind == "driver":
            _give_to(root, self.path, self.value, lasting=True)
        elif self.kind == "file":
            _write(root + self.path, os.O_CREAT, self.value + "\n")
            _boot_loader(root)
        else:
            self._link(Path(root + self.path))

    def _link(self, path: Path) -> None:
        try:
            path.parent.mkdir()
        except OSError:
            pass  # it is there, or what follows fails
        try:
            path.symlink_to(self.value)
        except FileExistsError:
            pass
        except OSError as error:
            raise failed(str(path), "made", error) from None

    def fell_short(self, root: str) -> str | None:
        """Says whether the kernel has taken less than was written: it reserves as many hugepages as
        it finds memory in one piece."""
        try:
            now = _chosen(_read(root + self.path)) if self.kind == "write" else self.value
        except OSError:
            return None
        return None if now == self.value else (f"{root + self.path} has {now} instead of "
                                               f"{self.value}")

    def undo(self, root: str) -> None:
        """Restores what was before."""
        path = root + self.path
        if self.kind == "write":
            _write(path, 0, f"{self.before}\n")
        elif self.kind == "driver":
            try:
                os.stat(root + DEVICES + self.path)
            except OSError as error:
                raise failed(root + DEVICES + self.path, "found", error) from None
            _give_to(root, self.path, str(self.before), lasting=False)
        elif self.kind == "file":
            try:
                if self.before is None:
                    _remove(path)
                else:
                    _write(path, os.O_CREAT, self.before)
            finally:
                _boot_loader(root)
        else:
            _remove(path)


def driver_of(root: str, address: str) -> str:
    """Returns the driver of a PCI device, such as `vfio-pci`; "" if it has none."""
    try:
        return os.path.basename(os.readlink(f"{root}{DEVICES}{address}/driver"))
    except OSError:
        return ""


def _read(path: str) -> str:
    with open(path, "rb") as file:
        data = file.read()
    if b"\0" in data:
        raise OSError(errno.EILSEQ, os.strerror(errno.EILSEQ))
    return data.decode(errors="surrogateescape")


def _chosen(text: str) -> str:
    """Returns the first line, and of it the word in brackets, which is in force: `madvise` of
    `always [madvise] never`."""
    line = text.split("\n")[0]
    _, bracket, rest = line.partition("[")
    return rest.partition("]")[0] if bracket and "]" in rest else line


def _write(path: str, flags: int, text: str) -> None:
    """Writes all of the file, in one piece: the kernel wants it so."""
    try:
        fd = os.open(path, os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC | flags, 0o644)
    except OSError as error:
        raise failed(path, "opened", error) from None
    data = text.encode(errors="surrogateescape")
    try:
        try:
            if os.write(fd, data) != len(data):
                raise OSError(errno.EIO, os.strerror(errno.EIO))
        finally:
            os.close(fd)
    except OSError as error:
        raise failed(path, "written", error) from None


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise failed(path, "removed", error) from None


# ---- drivers ----

def _run(root: str, *words: str) -> bool:
    """Runs a program of this machine; does nothing for the tree of a test."""
    try:
        return root != "" or subprocess.run(words, check=False).returncode == 0
    except OSError:
        return False


def _have_driver(root: str, driver: str) -> None:
    path = root + DRIVERS + driver
    if not driver or os.path.exists(path):
        return
    if not _run(root, "modprobe", driver) or not os.path.exists(path):
        raise StepError(f"the kernel has no driver {driver}, and `modprobe {driver}` does not load "
                        "it")


def _comes_to(root: str, address: str, driver: str) -> bool:
    for _ in range(BIND_TRIES):
        if driver_of(root, address) == driver:
            return True
        time.sleep(BIND_STEP_S)
    return False


def _give_to(root: str, address: str, driver: str, lasting: bool) -> None:
    """Binds a device to `driver`; "": to none. `lasting`: reserves it for this driver until that is
    undone."""
    _have_driver(root, driver)
    _write(f"{root}{DEVICES}{address}/driver_override", 0, (driver if lasting else "") + "\n")
    now = driver_of(root, address)
    if now == driver:
        return
    if now:
        _write(f"{root}{DRIVERS}{now}/unbind", 0, address + "\n")
    if not _comes_to(root, address, ""):
        raise StepError(f"driver {now} does not release {address}")
    if driver:
        _write(f"{root}/sys/bus/pci/drivers_probe", 0, address + "\n")
    if not _comes_to(root, address, driver):
        raise StepError(f"driver {driver} does not bind to {address}")


def _boot_loader(root: str) -> None:
    """Updates the boot loader's command line for the kernel. If that fails, the file takes effect
    when somebody runs the program."""
    if not _run(root, "update-grub"):
        print("weir setup: `update-grub` could not be run; the kernel's command line does not "
              "change until it is", file=sys.stderr)
