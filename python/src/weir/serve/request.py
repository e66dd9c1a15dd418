# SPDX-License-Identifier: BSD-3-Clause
"""The checks of requests: everything that comes from a browser and is read here passes one of
these.

A page of another site may make a browser send requests here. Two headers reveal them:

    Host     The name that the browser used, which somebody else may have made point at this
             machine (DNS rebinding). An address cannot be made to point elsewhere. So the Host must
             be an address, or `localhost`, or the name given at the start (--name).
    Origin   In a request that a page of another site makes, it is that site, or `null`.
"""

from __future__ import annotations

import hmac
import re
import socket
from collections.abc import Callable
from dataclasses import dataclass

BODY_BYTES_MAX = 16384
_LINES_MAX = 64
_HOST = re.compile(r"(?:\[([^\]]*)\]|([^:]*))(?::([0-9]{0,5}))?", re.DOTALL)
_NAME = re.compile(r"[A-Za-z0-9._-]{1,31}")
_ADDRESS = re.compile(r"[0-9A-Za-z.:/_,>+\[\]-]{1,159}")
_NO_TEXT = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\ud800-\udfff]")
_COUNT = re.compile(r"[0-9]{1,19}")


# ---- the recipient and the sender of a request ----

def host_is_ours(host: str | None, name: str | None = None) -> bool:
    """`name`: accepted besides addresses and `localhost`. None: the header is absent."""
    found = _HOST.fullmatch(host or "")
    if found is None:
        return False
    six, other = found[1], found[2]
    given = six if six is not None else other
    if not given or len(given) > 255:
        return False
    try:
        socket.inet_pton(socket.AF_INET if six is None else socket.AF_INET6, given)
        return True
    except (OSError, ValueError):  # ValueError: a 0 in it
        return six is None and given.lower() in ("localhost", name and name.lower())


def origin_is_ours(origin: str | None, site: str | None, host: str | None) -> bool:
    """`site`: Sec-Fetch-Site. None: the header is absent, as in requests of a program."""
    if site not in (None, "same-origin", "none"):
        return False
    if origin is None:
        return True
    for scheme in ("http://", "https://"):  # a proxy in front of this speaks TLS
        if origin.startswith(scheme):
            return host is not None and origin.removeprefix(scheme).lower() == host.lower()
    return False


def token_is_right(authorization: str | None, token: str) -> bool:
    """`authorization`: `Bearer TOKEN`. The time taken does not depend on where it is wrong."""
    if authorization is None or authorization[:7].lower() != "bearer ":
        return False
    return hmac.compare_digest(authorization[7:].encode("latin-1", "replace"),
                               token.encode("latin-1", "replace"))


def wants_openmetrics(accept: str | None) -> bool:
    return accept is not None and "application/openmetrics-text" in accept


# ---- the content of a request ----

@dataclass(frozen=True)
class From:
    """The event to begin with: `17`, `RUN-17`, or `oldest`."""

    number: int = 0
    run: str = ""  # "": the present run
    oldest: bool = False

    def after(self) -> From:
        """Returns the event behind it."""
        return self if self.oldest else From(self.number + 1, self.run)


def from_read(text: str) -> From | None:
    """Returns None if it is none."""
    if text == "oldest":
        return From(oldest=True)
    run, _, number = text.rpartition("-")
    if len(run) > 31 or not _COUNT.fullmatch(number) or int(number) >= 1 << 63:
        return None
    return From(int(number), run)


def cloud_line(cloud: str) -> str | None:
    """Returns the command that shows a cloud: `show cloud down`, `show clouds sub 10.0.0.1`; None
    if this cannot be one."""
    name, slash, address = cloud.partition("/")
    if not _NAME.fullmatch(name) or (slash and not _ADDRESS.fullmatch(address)):
        return None
    return f"show clouds {name} {address}" if slash else f"show cloud {name}"


class NoChange(Exception):
    """A body that is no change. `line`: which of its lines is wrong, from 1; 0: none."""

    def __init__(self, text: str, line: int = 0) -> None:
        super().__init__(text)
        self.line = line


def is_text(text: str) -> bool:
    """Returns whether it may stand in a line: UTF-8 (what is not has become surrogates) without
    control characters other than tabs."""
    return _NO_TEXT.search(text) is None


def conversation(body: bytes, lease: str, lease_ns: Callable[[str], int]) -> list[str]:
    """Turns a body of lines, each a change, into the lines that make them one transaction: `begin`,
    the changes, `commit`. `lease`: `30s`, or "". `lease_ns` reads such a time, or raises NoChange.
    A line of it that is sent to weir begins with `cloud`, `clouds` or `no`: so it is no command of
    the conversation, and no query."""
    if len(body) > BODY_BYTES_MAX or re.search(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", body):
        raise NoChange(f"not text, or more than {BODY_BYTES_MAX} bytes")
    if not is_text(lease):
        raise NoChange("`lease` is not UTF-8 text")
    lines = [f"begin lease {lease_ns(lease)}ns" if lease else "begin"]
    for raw in body.split(b"\n"):
        line = raw.strip(b" \t\r").decode(errors="surrogateescape")
        if not line or line.startswith("#"):
            continue
        number = len(lines)
        if not is_text(line):
            raise NoChange(f"line {number} is not UTF-8 text", number)
        if re.split("[ \t]", line, maxsplit=1)[0] not in ("cloud", "clouds", "no"):
            shown = line.encode()[:60].decode(errors="ignore")
            raise NoChange(f"`{shown}` is not a change; each line begins with cloud, clouds or no",
                           number)
        if number > _LINES_MAX:
            raise NoChange(f"more than {_LINES_MAX} lines; load a file with weir ctl", number)
        lines.append(line)
    if len(lines) == 1:
        raise NoChange("no line; write a change like `cloud down delay 80ms`")
    return [*lines, "commit"]
