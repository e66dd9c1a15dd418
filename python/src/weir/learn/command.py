# SPDX-License-Identifier: BSD-3-Clause
"""`weir learn`. Packages that take long to import, or that are not there, are imported where they
are needed."""

from __future__ import annotations

import json
from collections.abc import Sequence

from .._command import Given
from .asks import ask
from .options import Options


def main(words: Sequence[str]) -> int:
    """Returns the exit status."""
    options = Options(Given(words))
    if options.pairs is not None:
        return _print(ask("pairs", options.pairs, sent=options.sent, received=options.received))
    if options.headers is not None:
        return _print(ask("headers", options.headers, capture=options.files[0]))
    if options.server:
        from .live import server
        return server.run(options)
    from . import learning
    return learning.run(options)


def _print(facts: object) -> int:
    print(json.dumps(facts, ensure_ascii=False, separators=(",", ":")))
    return 0
