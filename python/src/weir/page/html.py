# SPDX-License-Identifier: BSD-3-Clause
"""A page as one HTML file: no scripts, nothing loaded from elsewhere, light or dark as the reader's
system is, and fit for print."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Sequence

from . import theme
from .chart import Chart
from .svg import escaped

# The size of a figure in a window of 640 pixels or less; a telephone has 390.
_NARROW_PX, _NARROW_HEIGHT_PX = 354, 270

_STYLE = """\
:root{color-scheme:light dark}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);line-height:1.55;font-size:16px;\
font-family:system-ui,-apple-system,'Segoe UI','Helvetica Neue',Helvetica,Arial,\
sans-serif}
main{max-width:48rem;margin:0 auto;padding:3rem 1.5rem 5rem}
header{border-bottom:1px solid var(--rule);padding-bottom:1.2rem;margin-bottom:2rem}
h1{font-size:1.9rem;line-height:1.2;margin:0;letter-spacing:-.01em}
.subtitle{color:var(--mute);margin:.4rem 0 0}
h2{font-size:1.25rem;line-height:1.3;margin:2.6rem 0 .6rem}
p{margin:.7rem 0;max-width:42rem}
pre{font-size:.84rem;line-height:1.45;padding:.8rem 1rem;border:1px solid var(--rule);\
border-radius:4px;overflow-x:auto;font-family:ui-monospace,'SF Mono',Menlo,Consolas,\
'Liberation Mono',monospace}
figure{margin:1.6rem 0 2rem}
figure .chart{display:block;max-width:100%;height:auto}
.narrow{display:none}
figcaption,caption{font-size:.88rem;line-height:1.45;color:var(--mute);text-align:left}
figcaption{margin-top:.5rem;max-width:42rem}
caption{caption-side:top;padding-bottom:.5rem}
.number{font-weight:600;color:var(--ink)}
.wide{overflow-x:auto;margin:1.4rem 0 1.8rem}
table{border-collapse:collapse;font-size:.9rem;line-height:1.4;\
border-top:1.5px solid var(--ink);border-bottom:1.5px solid var(--ink)}
tr.alarm td,p.alarm{background:#fbe0e0;color:#8c0011;font-weight:600}
p.alarm{padding:.5rem .9rem}
th,td{padding:.32rem .9rem;text-align:left;vertical-align:top}
th{font-weight:600;border-bottom:1px solid var(--mute);vertical-align:bottom}
tbody tr+tr td{border-top:1px solid var(--rule)}
.right{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
@media screen and (max-width:640px){main{padding:1.5rem 1rem 3rem}h1{font-size:1.5rem}\
.broad{display:none}.narrow{display:block}\
table{font-size:.8rem}th,td{padding:.25rem .35rem;overflow-wrap:break-word}\
pre{white-space:pre-wrap;overflow-wrap:anywhere}\
.right{white-space:normal;overflow-wrap:normal}}
@media print{@page{margin:18mm}body{font-size:10.5pt}main{max-width:none;padding:0}\
figure,table,pre{break-inside:avoid}h2{break-after:avoid}pre{white-space:pre-wrap}}
"""

_MISSING = ("", "-", "–", "n/a")
# Sign, digits, commas, point, exponent, and perhaps a short unit without digits.
_NUMBER = re.compile(r"[-+<>~ ]*[0-9][0-9,]*(\.[0-9]*)?([eE][-+0-9]+)? ?[^0-9.:\-, ]{0,10}")


class Page:
    """Parts are added in their order. All text is escaped."""

    def __init__(self, title: str, subtitle: str = "") -> None:
        title = escaped(title)
        self._parts = [
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8"/>\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1"/>\n'
            f"<title>{title}</title>\n<style>\n{theme.css()}{_STYLE}</style>\n</head>\n<body>\n"
            f"<main>\n<header>\n<h1>{title}</h1>\n"]
        if subtitle:
            self._parts.append(f'<p class="subtitle">{escaped(subtitle)}</p>\n')
        self._parts.append("</header>\n")
        self._figures = self._tables = 0

    def heading(self, text: str) -> None:
        self._parts.append(f"<h2>{escaped(text)}</h2>\n")

    def text(self, text: str) -> None:
        """Adds a paragraph. A blank line in the text begins another."""
        self._parts += [f"<p>{escaped(paragraph)}</p>\n"
                        for paragraph in re.split("\n\n+", re.sub("\n\n+$", "", text))]

    def alarm(self, text: str) -> None:
        """Adds a red paragraph, which cannot be overlooked."""
        self._parts.append(f'<p class="alarm">{escaped(text)}</p>\n')

    def code(self, text: str) -> None:
        """Adds verbatim text, lines kept."""
        self._parts.append(f"<pre>{escaped(text)}</pre>\n")

    def table(self, head: Sequence[str], rows: Sequence[Sequence[str]], caption: str = "",
              alarms: Collection[int] = ()) -> None:
        """Adds a table, unless it has no rows; those in `alarms` are red. A column is aligned right
        if all its cells are numbers with or without a unit (`1.5 ms`, `-3`, `0.1%`) or stand for a
        missing one (``, `-`, `n/a`)."""
        if not rows:
            return
        right = [_is_numeric(column) for column in zip(*rows)]
        self._parts.append('<div class="wide">\n<table>\n')
        if caption:
            self._tables += 1
            self._parts.append(f'<caption><span class="number">Table {self._tables}.</span> '
                               f"{escaped(caption)}</caption>\n")
        self._parts.append(f"<thead>\n{_row('th', head, right)}</thead>\n<tbody>\n")
        self._parts += [_row("td", row, right, i in alarms) for i, row in enumerate(rows)]
        self._parts.append("</tbody>\n</table>\n</div>\n")

    def figure(self, chart: Chart, caption: str) -> None:
        """Adds a chart with a numbered caption. It is drawn twice: as it is, and narrow for a
        telephone, where the other would be cut, or have letters half as high as a reader needs. The
        style sheet shows one of them."""
        narrow = dataclasses.replace(chart, width=_NARROW_PX, height=_NARROW_HEIGHT_PX)
        self._figures += 1
        self._parts.append(
            f'<figure>\n<div class="broad">\n{chart.svg()}</div>\n<div class="narrow">\n'
            f'{narrow.svg()}</div>\n<figcaption><span class="number">Figure {self._figures}.'
            f"</span> {escaped(caption)}</figcaption>\n</figure>\n")

    def html(self) -> str:
        return "".join(self._parts) + "</main>\n</body>\n</html>\n"


def _is_numeric(column: Sequence[str]) -> bool:
    cells = [cell for cell in column if cell not in _MISSING]
    return bool(cells) and all(_NUMBER.fullmatch(cell) for cell in cells)


def _row(tag: str, cells: Sequence[str], right: Sequence[bool], alarm: bool = False) -> str:
    row = "".join(_open(tag, "right" if is_right else "") + f"{escaped(cell)}</{tag}>"
                  for cell, is_right in zip(cells, right))
    return f"{_open('tr', 'alarm' if alarm else '')}{row}</tr>\n"


def _open(tag: str, classes: str) -> str:
    return f'<{tag} class="{classes}">' if classes else f"<{tag}>"
