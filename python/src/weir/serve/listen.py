# SPDX-License-Identifier: BSD-3-Clause
"""The address for browsers: `127.0.0.1:9470`, `[::1]:9470`, `localhost:9470`, or `unix:PATH`, a
socket of mode 0660. Port 0: any free port."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import ipaddress
import os
import socket
import stat
import struct
import time
from collections.abc import Iterator

from .._command import CommandError
from .._link import owners

_BACKLOG = 512
_MODE = 0o660


class Listener:
    """A socket that listens. `url` is for a browser; `loopback`: no other machine reaches it."""

    def __init__(self, of: socket.socket, url: str, loopback: bool, path: str = "") -> None:
        self.socket, self.url, self.loopback, self._path = of, url, loopback, path
        self._file = _identity(path) if path else None

    def close(self) -> None:
        """Also removes the file, if it is still the one that was made."""
        self.socket.close()
        if self._path and _identity(self._path) == self._file:
            with contextlib.suppress(OSError):
                os.unlink(self._path)


def _identity(path: str) -> tuple[int, int] | None:
    try:
        state = os.lstat(path)
    except OSError:
        return None
    return state.st_dev, state.st_ino


def listen(where: str) -> Listener:
    """Raises CommandError, which is `wrong` if `where` is no address."""
    if where.startswith("unix:"):
        return _listen_unix(where.removeprefix("unix:"))
    address, port = _place(where)
    of = socket.socket(socket.AF_INET6 if address.version == 6 else socket.AF_INET)
    of.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        of.bind((str(address), port))
        of.listen(_BACKLOG)
    except OSError as error:
        of.close()
        used = error.errno == errno.EADDRINUSE
        raise CommandError(
            f"--listen {where[:80]}: {error.strerror}"
            + ("; something listens there; choose another port" if used else ""),
            wrong=False) from None
    name, port = of.getsockname()[:2]
    return Listener(of, f"http://[{name}]:{port}/" if address.version == 6
                    else f"http://{name}:{port}/", address.is_loopback)


def _place(where: str) -> tuple[ipaddress.IPv4Address | ipaddress.IPv6Address, int]:
    name, _, port = where.rpartition(":")
    try:
        if not port.isascii() or not port.isdigit() or int(port) > 65535:
            raise ValueError
        if name.startswith("[") and name.endswith("]") and "%" not in name:
            return ipaddress.IPv6Address(name[1:-1]), int(port)
        return ipaddress.IPv4Address("127.0.0.1" if name == "localhost" else name), int(port)
    except ValueError:
        raise CommandError(
            f"--listen `{where[:80]}` is not an address with a port; write one like "
            "127.0.0.1:9470, [::1]:9470 or unix:/run/weir-serve.sock") from None


# ---- a socket in the file system ----

def _failed(path: str, why: str) -> CommandError:
    return CommandError(f"socket {path}: {why}; give another path with --listen unix:PATH",
                        wrong=False)


def _listen_unix(path: str) -> Listener:
    """Replaces a socket at which no process answers. The file never has a wider mode, and nobody
    can connect before it has its mode."""
    with _locked(os.path.dirname(path) or "."):
        _probe(path)
        of = socket.socket(socket.AF_UNIX)
        # bind() gives the file the mode of the socket, less the umask.
        before = os.umask(0o777 & ~_MODE)
        try:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
            os.fchmod(of.fileno(), _MODE)
            of.bind(path)
            of.listen(_BACKLOG)
        except OSError as error:
            of.close()
            raise _failed(path, f"cannot be created: {error.strerror or error}") from None
        finally:
            os.umask(before)
    return Listener(of, f"unix:{path}", True, path)


@contextlib.contextmanager
def _locked(folder: str) -> Iterator[None]:
    """Locks the folder, so that two processes that start at the same moment do not both replace
    the same socket. Who holds the lock for longer than a second is none of them."""
    try:
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        yield
        return
    try:
        for _ in range(100):
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                time.sleep(0.01)
        yield
    finally:
        os.close(fd)


def _probe(path: str) -> None:
    """Returns if the name is free, or belongs to a socket at which no process answers."""
    try:
        if not stat.S_ISSOCK(os.lstat(path).st_mode):
            raise _failed(path, "there is a file of that name, which is no socket")
    except FileNotFoundError:
        return
    except OSError as error:
        raise _failed(path, f"{error.strerror} ({owners(path)})") from None
    with socket.socket(socket.AF_UNIX) as of:
        of.setblocking(False)
        try:
            of.connect(path)
        except (ConnectionRefusedError, FileNotFoundError):
            return
        except BlockingIOError:
            raise _failed(path, "in use, and its process does not accept connections; stop "
                                "it") from None
        except OSError as error:
            raise _failed(path, f"{error.strerror or error} ({owners(path)})") from None
        pid, _, _ = struct.unpack("3i", of.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    raise _failed(path, f"in use by pid {pid}; stop it" if pid else "in use by another process; "
                                                                    "stop it")
