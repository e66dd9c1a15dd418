# SPDX-License-Identifier: BSD-3-Clause
"""Colours and type of all that is on a page: a list of CSS variables, light and dark, on :root, and
the rules that charts need. Printing is always light. Each rule is preceded by its light literal, so
that renderers without CSS variables (librsvg, Inkscape) draw the same picture.

The colours of series follow Okabe and Ito, "Color Universal Design" (2008): readers with each of
the three common colour deficiencies can tell them apart. Yellow is darkened to show on white, and
each colour has a lighter twin for dark."""

SERIES_COLORS = 8

_COLORS = {  # light, dark
    "c1": ("#0072b2", "#4aa3e0"),  # blue
    "c2": ("#d55e00", "#f5843c"),  # vermilion
    "c3": ("#009e73", "#2cc597"),  # bluish green
    "c4": ("#b2559b", "#e29ac9"),  # reddish purple
    "c5": ("#e69f00", "#f3bb45"),  # orange
    "c6": ("#56b4e9", "#a6dbfb"),  # sky blue
    "c7": ("#8a7a00", "#ece06a"),  # yellow
    "c8": ("#5d6670", "#b4bcc5"),  # grey, for black
    "ink": ("#1c2127", "#e6e9ed"),
    "mute": ("#57606a", "#9aa4af"),
    "rule": ("#e3e7eb", "#30373f"),
    "paper": ("#ffffff", "#14181d"),
}
_RULES = [
    *((f".c{i}", "color", f"c{i}") for i in range(1, SERIES_COLORS + 1)),
    ("text", "fill", "ink"), (".tick", "fill", "mute"), (".grid", "stroke", "rule"),
    (".axis", "stroke", "mute"), (".whisker", "stroke", "ink"), (".paper", "fill", "paper"),
]
_SHAPES = """\
.chart{font-size:12px;font-family:system-ui,-apple-system,'Segoe UI','Helvetica Neue',\
Helvetica,Arial,'Liberation Sans',sans-serif}
.chart .title{font-size:14px;font-weight:600}
.chart .tick,.chart .small{font-size:11px;font-variant-numeric:tabular-nums}
.chart .grid,.chart .axis{fill:none;stroke-width:1}
.chart .faint{stroke-opacity:.45}
.chart .line{fill:none;stroke:currentColor;stroke-width:1.75;stroke-linejoin:round;\
stroke-linecap:round}
.chart .thin{fill:none;stroke:currentColor;stroke-width:1.25}
.chart .whisker{fill:none;stroke-width:1}
.chart .dash{stroke-dasharray:6 4;stroke-linecap:butt}
.chart .fill{fill:currentColor;stroke:none}
.chart .area{fill:currentColor;fill-opacity:.22;stroke:none}
.chart .hollow{stroke:currentColor;stroke-width:1.5}
.chart .hover{fill:none;stroke:none;pointer-events:all}
.chart .dots{fill:none;stroke:currentColor;stroke-linecap:round}
"""


def css() -> str:
    """Returns the style sheet, without <style> around it. A page has it once."""
    light, dark = ("".join(f"--{name}:{both[i]};" for name, both in _COLORS.items())
                   for i in (0, 1))
    rules = "".join(f".chart {selector}{{{what}:{_COLORS[color][0]};{what}:var(--{color})}}\n"
                    for selector, what, color in _RULES)
    return (f":root{{{light}}}\n@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
            f"{rules}{_SHAPES}")
