# SPDX-License-Identifier: BSD-3-Clause
"""The few SVG elements that charts are made of. Coordinates are pixels, written to a tenth. The
classes are those of theme.py."""

from __future__ import annotations

import re

_FORBIDDEN = re.compile("[^\t\n\r -~\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})


def escaped(text: str) -> str:
    """Escapes text for XML or HTML, as content or inside a double-quoted attribute. What may not
    stand there at all, control characters and bytes that are no UTF-8, becomes U+FFFD. So a name
    from a scenario or a capture cannot break or script a page."""
    return _FORBIDDEN.sub("\ufffd", text).translate(_ENTITIES)


def number(px: float) -> str:
    """Writes `12.5`, `-3`, `0`."""
    return f"{int(px * 10 + (0.5 if px >= 0 else -0.5)) / 10:g}"


def point(x: float, y: float) -> str:
    return f"{number(x)} {number(y)}"


def path(classes: str, data: str) -> str:
    return f'<path class="{classes}" d="{data}"/>\n'


def rect(classes: str, x: float, y: float, width: float, height: float, title: str) -> str:
    """Writes a rectangle with a tooltip. The title is escaped already."""
    return (f'<rect class="{classes}" x="{number(x)}" y="{number(y)}" width="{number(width)}" '
            f'height="{number(height)}"><title>{title}</title></rect>\n')


def text(classes: str, x: float, y: float, anchor: str, text: str, degrees: float = 0) -> str:
    """Writes a text, turned around its point. anchor: `start`, `middle` or `end`."""
    place = (f'transform="translate({point(x, y)})rotate({number(degrees)})"' if degrees
             else f'x="{number(x)}" y="{number(y)}"')
    return f'<text class="{classes}" text-anchor="{anchor}" {place}>{escaped(text)}</text>\n'


# The reader's font is unknown, so the width of a text is estimated with Helvetica's widths, and a
# tenth added for wider fonts. The estimate decides margins, wrapping and which labels fit, never
# where a datum is drawn.
_SAFETY = 1.1
# Thousandths of the font size, for the characters from space to tilde.
_WIDTHS = (
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,  # space to /
    556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,  # 0 to ?
    1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,  # @ to O
    667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,  # P to _
    333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,  # ` to o
    556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584)  # p to ~


def _width(character: str) -> int:
    if " " <= character <= "~":
        return _WIDTHS[ord(character) - ord(" ")]
    return 600 if character < "\u3000" else 1000  # from there on, most are full-width


def width(text: str, font: float) -> float:
    """Returns the width of a text at a font size, both in pixels."""
    return sum(map(_width, text)) * font * _SAFETY / 1000


def fitted(text: str, font: float, most: float) -> str:
    """Returns the text, shortened with an ellipsis if it is wider than `most`."""
    if width(text, font) <= most:
        return text
    left, used = most - width("…", font), 0
    for character in text:
        left -= width(character, font)
        if left < 0:
            break
        used += 1
    return text[:used].rstrip(" ") + "…"
