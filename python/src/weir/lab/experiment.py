# SPDX-License-Identifier: BSD-3-Clause
"""An experiment of the lab: what the lines of its text mean (docs/lab.md).

The program splits the lines (Weir.read). A line of which a point is built is kept as it is: it is
read when parameters have values.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from .._command import CommandError
from .process import Weir

CASES_MAX = 32
VALUES_MAX = 64
LINE_BYTES_MAX = 4096

# The parameters that every experiment has.
STANDARD = {"duration": "500s", "warmup": "100s", "sample": "10ms", "ties": "departure-first"}


class Line(NamedTuple):
    """A line of which a point is built; `case` is None if it holds in all cases."""

    number: int
    text: str
    case: str | None


class Row(NamedTuple):
    """A figure of the acceptance table. Rows of one id belong together. The band includes `low` and
    `high`, which may be infinite."""

    id: str
    what: str
    expression: str
    paper: str
    low: float
    high: float
    line: int


class Plot(NamedTuple):
    """A figure to draw: a line for each case over the sweep, bars, or a trace of one run."""

    kind: str  # plot, bars or trace
    figure: str  # of the paper; "": none
    title: str
    label: str
    points: list[tuple[str, str, float]]  # of the paper: case, x, y
    expression: str = ""  # of a trace: what it shows
    bars: Mapping[str, str] = MappingProxyType({})  # their expressions
    case: str = ""  # of a trace
    set: Mapping[str, str] = MappingProxyType({})  # of a trace


def is_name(text: str) -> bool:
    return re.fullmatch(r"[A-Za-z0-9._-]{1,31}", text) is not None


def number(text: str) -> float | None:
    """Returns the number, perhaps `inf`, or None."""
    try:
        value = float(text) if "_" not in text else math.nan
    except ValueError:
        return None
    return None if math.isnan(value) else value


def leading_number(text: str) -> float:
    """Returns the number with which a text begins, or 0."""
    while text and number(text) is None:
        text = text[:-1]
    return number(text) or 0.0


class Experiment:
    """`digest` is that of the text: results are of this experiment if it is the same."""

    def __init__(self, given: Mapping[str, Any], weir: Weir) -> None:
        self.name: str = given["name"]
        self.digest: str = given["digest"]
        self.texts: dict[str, list[str]] = {"title": [], "paper": [], "about": []}
        self.cases: list[str] = []
        self.general = dict(STANDARD)  # parameters, and their values in all cases,
        self.special: dict[str, dict[str, str]] = {}  # and in one
        self.lines: list[Line] = []
        self.rows: list[Row] = []
        self.plots: list[Plot] = []
        self.sweep = ""
        self.sweep_values: list[str] = []
        self._weir = weir
        self._case: str | None = None
        self._number = 0
        for self._number, text, *words in given["lines"]:
            self._read(text, words)
        self._finish()
        self.title = " ".join(self.texts["title"]) or self.name
        self.paper = " ".join(self.texts["paper"])
        self.about = " ".join(self.texts["about"])

    @property
    def ids(self) -> list[str]:
        """The names of its rows, each once."""
        return list(dict.fromkeys(row.id for row in self.rows))

    @property
    def figures(self) -> list[str]:
        """The figures of papers that it shows, each once."""
        return list(dict.fromkeys(plot.figure for plot in self.plots if plot.figure))

    def value(self, case: str | None, parameter: str) -> str:
        """Returns the value that a parameter has in a case."""
        return self.special.get(case or "", {}).get(parameter, self.general[parameter])

    def point_lines(self, case: str, values: Mapping[str, str]) -> list[tuple[int, str]]:
        """Returns the lines of a case, with these values of the parameters."""
        found = []
        for line in self.lines:
            if line.case in (None, case):
                self._number = line.number
                text = re.sub(r"\$([A-Za-z0-9_-]*)", lambda name: self._value(name[1], values),
                              line.text)
                if len(text.encode()) >= LINE_BYTES_MAX:
                    raise self.wrong("the line is too long with its parameters")
                found.append((line.number, text))
        return found

    def wrong(self, text: str) -> CommandError:
        """Returns an error in the present line."""
        return CommandError(f"{self.name}:{self._number}: {text}")

    # ---- lines ----

    def _value(self, name: str, values: Mapping[str, str]) -> str:
        if not name:
            raise self.wrong("the name of a parameter is missing after `$`")
        if name not in values:
            raise self.wrong(f"`${name}`: there is no such parameter; `set {name} VALUE` defines "
                             "it")
        return values[name]

    def _read(self, text: str, words: list[str]) -> None:
        kind = words[0]
        if kind in READERS:
            READERS[kind](self, words)
        elif kind in POINT_WORDS:
            self.lines.append(Line(self._number, text, self._case))
        else:
            nearest = self._weir.nearest(kind, [*READERS, *POINT_WORDS])
            raise self.wrong(f"unknown word `{kind:.60}`; " + (
                f"did you mean `{nearest}`?" if nearest else
                "a line begins with title, set, link, cloud, ftp or another word that docs/lab.md "
                "lists"))

    def _finish(self) -> None:
        if self._case is not None:
            raise self.wrong(f"case {self._case} is not ended: write `end` after its lines")
        for row in self.rows:
            if "@" in row.expression and not self.sweep:
                self._number = row.line
                raise self.wrong(f"row {row.id} names a value of the sweep, but there is no "
                                 "`sweep NAME VALUES`")
        if not self.cases:
            self.cases = ["only"]

    def _text(self, words: list[str]) -> None:
        self.texts[words[0]] += words[1:]

    def _set(self, words: list[str]) -> None:
        if len(words) != 3:
            raise self.wrong("write: set NAME VALUE")
        _, name, value = words
        if self._case is None:
            self.general[name] = value
        elif name in self.general:
            self.special[self._case][name] = value
        else:
            raise self.wrong(f"`{name}` is not a parameter: a case can only change one that is set "
                             "before all cases")

    def _case_begin(self, words: list[str]) -> None:
        if len(words) != 2 or not is_name(words[1]):
            raise self.wrong("write: case NAME")
        if len(self.cases) == CASES_MAX:
            raise self.wrong(f"more than {CASES_MAX} cases")
        if words[1] in self.cases:
            raise self.wrong(f"there is a case `{words[1]}` already")
        self._case = words[1]
        self.cases.append(words[1])
        self.special[words[1]] = {}

    def _case_end(self, words: list[str]) -> None:
        if self._case is None:
            raise self.wrong("there is no case to end")
        self._case = None

    def _sweep(self, words: list[str]) -> None:
        if not 3 <= len(words) <= VALUES_MAX + 2:
            raise self.wrong(f"write: sweep NAME VALUES, up to {VALUES_MAX}")
        if self.sweep:
            raise self.wrong("there is a sweep already")
        if words[1] not in self.general:
            raise self.wrong(f"`{words[1]}` is not a parameter; `set {words[1]} VALUE` makes it "
                             "one")
        self.sweep, self.sweep_values = words[1], words[2:]

    def _row(self, words: list[str]) -> None:
        if len(words) != 9 or (words[4], words[6]) != ("paper", "accept"):
            raise self.wrong("write: row ID WHAT EXPRESSION paper TEXT accept LOW HIGH")
        low, high = number(words[7]), number(words[8])
        if low is None or high is None or low > high:
            raise self.wrong(f"`{words[7]} {words[8]}` is not a band; write two numbers, the "
                             "smaller one first")
        self.rows.append(Row(words[1], words[2], words[3], words[5], low, high, self._number))

    # ---- figures ----

    def _option(self, words: list[str], keyword: str) -> str:
        """Removes the last two words and returns the last one, if they are the keyword and a
        value."""
        if len(words) < 4 or words[-2] != keyword:
            return ""
        value = words[-1]
        del words[-2:]
        return value

    def _plot(self, words: list[str]) -> None:
        figure = self._option(words, "figure")
        if not 3 <= len(words) <= 4:
            raise self.wrong("write: plot TITLE EXPRESSION [LABEL] [figure ID]")
        self.plots.append(Plot("plot", figure, words[1], "".join(words[3:]), [], words[2]))

    def _bars(self, words: list[str]) -> None:
        figure = self._option(words, "figure")
        if len(words) < 4:
            raise self.wrong("write: bars TITLE LABEL NAME=EXPRESSION... [figure ID]")
        bars = {}
        for word in words[3:]:
            name, equals, expression = word.partition("=")
            if not name or not equals:
                raise self.wrong(f"`{word:.60}`: write NAME=EXPRESSION")
            bars[name] = expression
        self.plots.append(Plot("bars", figure, words[1], words[2], [], bars=bars))

    def _named_case(self, name: str) -> str:
        if name not in self.cases:
            raise self.wrong(f"there is no case `{name:.60}` above this line")
        return name

    def _trace(self, words: list[str]) -> None:
        figure = self._option(words, "figure")
        given = self._option(words, "set")
        if not 4 <= len(words) <= 5:
            raise self.wrong("write: trace TITLE CASE WHAT [LABEL] [set NAME=VALUE] [figure ID]")
        case = self._named_case(words[2])
        name, equals, value = given.partition("=")
        if given and not equals:
            raise self.wrong(f"`{given:.60}`: write set NAME=VALUE")
        if given and name not in self.general:
            raise self.wrong(f"`{name}` is not a parameter")
        self.plots.append(Plot("trace", figure, words[1], "".join(words[4:]), [], words[3],
                               case=case, set={name: value} if given else {}))

    def _point(self, words: list[str]) -> None:
        if len(words) != 4 or not self.plots:
            raise self.wrong("write: point CASE X Y, below the figure that it belongs to")
        case, y = self._named_case(words[1]), number(words[3])
        if y is None or math.isinf(y):
            raise self.wrong(f"`{words[3]:.60}` is not a number")
        self.plots[-1].points.append((case, words[2], y))


# The words with which a line may begin.
READERS: dict[str, Callable[[Experiment, list[str]], None]] = {
    "title": Experiment._text, "paper": Experiment._text, "about": Experiment._text,
    "set": Experiment._set, "case": Experiment._case_begin, "end": Experiment._case_end,
    "sweep": Experiment._sweep, "plot": Experiment._plot, "bars": Experiment._bars,
    "trace": Experiment._trace, "point": Experiment._point, "row": Experiment._row,
}
POINT_WORDS: Sequence[str] = ("link", "cloud", "ftp", "surge", "voice", "web")
