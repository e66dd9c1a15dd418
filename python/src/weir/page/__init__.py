# SPDX-License-Identifier: BSD-3-Clause
"""Pages with charts: HTML and SVG, with nothing but the standard library. They know nothing of
weir: bench, lab, learn and _picture.py describe with them what they show.

    html.py    a page: headings, texts, tables, figures
    chart.py   a chart: its parts, where they are, and the values under the pointer
    series.py  a set of data in a chart; points.py, lines.py, bars.py: its kinds, how each is drawn
    scale.py   axes: range and ticks
    frame.py   grid, axes and legend
    units.py   numbers and their units, as people read them
    svg.py     elements, escaped text, and its width
    theme.py   colours and type
"""

from .bars import Bars, Histogram
from .chart import Chart
from .html import Page
from .lines import HLines, Line, Step, VLines
from .points import Marks, Points
from .scale import Axis
from .series import Series
from .units import BPS, BYTES, COUNT, NS, PERCENT, PLAIN, PPS, Unit

__all__ = ["BPS", "BYTES", "COUNT", "NS", "PERCENT", "PLAIN", "PPS", "Axis", "Bars", "Chart",
           "HLines", "Histogram", "Line", "Marks", "Page", "Points", "Series", "Step", "Unit",
           "VLines"]
