# SPDX-License-Identifier: BSD-3-Clause
"""Where a server is: HOST, HOST:PORT or [HOST]:PORT."""

from __future__ import annotations

import re

PORT = 8620


def read(text: str) -> tuple[str, int]:
    """Returns host and port. Raises ValueError with what is wrong."""
    found = re.fullmatch(r"\[([^\]]+)\](?::(\d+))?|([^:\[\]]+)(?::(\d+))?", text)
    if found is None:
        if text.count(":") > 1 and "[" not in text:
            return text, PORT  # an IPv6 address
        raise ValueError(f"`{text}` is no HOST, HOST:PORT or [ADDRESS]:PORT")
    port = int(found[2] or found[4] or PORT)
    if not 0 < port < 65536:
        raise ValueError(f"`{text}`: a port is 1 to 65535")
    return found[1] or found[3], port
