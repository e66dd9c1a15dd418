# SPDX-License-Identifier: BSD-3-Clause
"""The document of `weir bench`: {"machine": {...}, "rows": [...], "remarks": [...]}. Every row has
`part`; its other keys are those of docs/bench.md."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Row = Mapping[str, Any]


def number(row: Row, key: str) -> float:
    """Returns a number, 0 if it is missing. `OBJECT.KEY` is one of an object in the row."""
    found = row.get(key)
    if found is None and "." in key:
        name, _, rest = key.partition(".")
        inner = row.get(name)
        found = inner.get(rest) if isinstance(inner, dict) else None
    return float(found) if isinstance(found, (int, float)) and not isinstance(found, bool) else 0.0


def text(row: Row, key: str) -> str:
    """Returns a text, "" if it is missing."""
    found = row.get(key)
    return found if isinstance(found, str) else ""


def inner(row: Row, key: str) -> Row:
    """Returns an object, an empty one if it is missing."""
    found = row.get(key)
    return found if isinstance(found, dict) else {}


def rows_of(document: Row, part: str) -> list[Row]:
    return [row for row in document.get("rows", []) if text(row, "part") == part]


def burst_is_least(row: Row) -> bool:
    """Whether a burst shows only that longer ones might pass, too."""
    return number(row, "back_to_back_frames") >= number(row, "back_to_back_most")
