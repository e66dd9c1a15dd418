# SPDX-License-Identifier: BSD-3-Clause
"""Scenarios as objects: built by methods, printed as the text of a file, and read back.

>>> s = Scenario(seed=42)
>>> _ = s.port("a"); _ = s.port("b")
>>> down = s.cloud("down", "a", "b").loss_random("0.1%").rate("10mbit", queue="90kB")
>>> _ = s.cloud("up", "b", "a").delay("40ms", jitter="2ms")
>>> print(s, end="")
seed 42
port a
port b
cloud down from a to b
cloud down loss random 0.1%
cloud down rate 10mbit queue 90kB
cloud up from b to a
cloud up delay 40ms jitter 2ms
>>> Scenario.parse(str(s)) == s
True

The methods are the statements of the program's tables (`weir help --json`). A `-` becomes a `_`,
and a `_` is appended to a keyword of Python: `loss_gilbert_elliott(p="1%", r="10%")`,
`loss_window(from_="1s", for_="100ms")`. Values are written as in the language, with their unit:

>>> down.delay(40)
Traceback (most recent call last):
...
weir.errors.ScenarioError: delay: `40` has no unit; write a time as a text, like "40ms"

weir checks the values and the scenario as a whole: `Scenario.check`.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from . import language, program
from ._statements import Statements
from ._words import Word, split, written
from .errors import Failed, NotInstalled, ScenarioError
from .language import Field, Kind, Tables

Value = str | int | float | bool | Sequence[Any] | None

_UNITS = {"time": ("time", "40ms"), "rate": ("rate", "10mbit"), "bytes": ("size", "15kB"),
          "limit": ("limit", "90kB"), "times": ("range of times", "10ms..80ms"),
          "rates": ("range of rates", "5mbit..20mbit")}


@dataclass(frozen=True)
class Statement:
    """A statement of a cloud. `values` are texts by the names of the fields. `scope` is the class,
    for a statement of a class."""

    name: str
    variant: str | None = None
    values: tuple[tuple[str, str], ...] = ()
    number: int = 0
    scope: str = ""
    kind: Kind = field(default=None, repr=False, compare=False)  # type: ignore[assignment]

    def __str__(self) -> str:
        words = ["class", self.scope] if self.scope else []
        if not self.kind.scoped:
            words += [self.name] + ([self.variant] if self.variant else [])
        if self.kind.number_max:
            words.append(str(self.number or 1))
        return " ".join(words + _fields_text(self.kind.fields, dict(self.values)))


def _fields_text(fields: Sequence[Field], values: dict[str, str]) -> list[str]:
    words: list[str] = []
    keywords = {f.name for f in fields if not f.positional}
    for f in fields:
        if f.positional and not f.inner and f.name in values:
            text = values[f.name]
            if not f.rest and f.type in ("text", "file"):
                text = written(text, text in keywords or text == "off")
            words.append(text)
    said = ""
    for f in fields:
        if f.positional or f.name not in values:
            continue
        if said != f.name:
            words.append(f.name)
        text = values[f.name]
        if f.type != "flag":
            words.append(written(text) if f.type in ("text", "file") and not f.rest else text)
        said = text if f.type == "word" else ""
    return words + [values[f.name] for f in fields if f.inner and f.name in values]


# ---- values ----


def _text_of(f: Field, value: Any) -> str | None:
    """Returns a Python value in the language's notation, or None if the value is not given."""
    if value is None or (f.type == "flag" and value is False):
        return None
    if isinstance(value, Statement):
        return str(value)
    if isinstance(value, bool):
        if f.type not in ("switch", "flag"):
            raise ScenarioError(f"{f.name}: {value} is not {f.kind}")
        return "on" if value else "off"
    if isinstance(value, int | float):
        if f.type in _UNITS:
            what, like = _UNITS[f.type]
            raise ScenarioError(
                f'{f.name}: `{value}` has no unit; write a {what} as a text, like "{like}"')
        return repr(value)
    if isinstance(value, str):
        return value
    if f.type in ("orders",):
        return " and ".join(str(part) for part in value)
    if f.type in ("rates", "times", "probabilities", "range"):
        return "..".join(str(part) for part in value)
    return ",".join(str(part) for part in value)


def make(tables: Tables, name: str, args: Sequence[Any], keywords: dict[str, Any],
         scope: str = "") -> Statement:
    """Returns a statement, from the arguments of a method call."""
    kind = tables.method(name)
    if kind is None:
        near = difflib.get_close_matches(name, [k.python for k in tables.statements], 1)
        raise AttributeError(f"there is no statement `{name}`"
                             + (f"; did you mean `{near[0]}`?" if near else ""))
    number = keywords.pop("n", 0)
    positional = [f for f in kind.fields if f.positional]
    if len(args) > len(positional):
        last = positional[-1] if positional else None
        if last is None or last.type != "orders":
            raise ScenarioError(f"`{kind.name}` takes {len(positional)} values without a name; "
                                "name the "
                                "others")
        args = [*args[:len(positional) - 1], list(args[len(positional) - 1:])]
    given = dict(zip((f.python for f in positional), args))
    for key, value in keywords.items():
        if key in given or key not in {f.python for f in kind.fields}:
            near = difflib.get_close_matches(key, [f.python for f in kind.fields], 1)
            raise ScenarioError(f"`{kind.name}` was given `{key}` twice" if key in given else
                                f"`{kind.name}` has no `{key}`"
                                + (f"; did you mean `{near[0]}`?" if near else ""))
        given[key] = value
    values = [(f.name, text) for f in kind.fields
              if (text := _text_of(f, given.get(f.python))) is not None]
    for f in kind.fields:
        if f.required and f.name not in dict(values):
            raise ScenarioError(f"`{kind.name}` needs `{f.name}`: {f.kind}")
    if kind.scoped and not scope:
        raise ScenarioError("a class needs a name: cloud.queue(\"voice\", weight=0.5)")
    return Statement(kind.name, kind.variant, tuple(values),
                     number or (1 if kind.number_max else 0), scope, kind)


# ---- reading ----


class _Line:
    """The words of a line that is being read."""

    def __init__(self, words: list[Word], number: int, end: int) -> None:
        self.words, self.number, self.end = words, number, end
        self.at = 0

    def wrong(self, message: str, at: int | None = None) -> ScenarioError:
        at = self.at if at is None else at
        column = self.words[at].column if at < len(self.words) else self.end
        return ScenarioError(f"line {self.number}, column {column}: {message}", self.number, column)

    def left(self) -> int:
        return len(self.words) - self.at

    def peek(self) -> str | None:
        """Returns the next word, or None if it is quoted, so that it cannot be a keyword."""
        word = self.words[self.at] if self.left() else None
        return None if word is None or word.quoted else word.text

    def take(self, what: str) -> str:
        if not self.left():
            raise self.wrong(f"the line ends too early; what must follow is {what}")
        self.at += 1
        return self.words[self.at - 1].text

    def expect(self, text: str) -> None:
        if self.peek() != text:
            raise self.wrong(f"`{text}` is expected here")
        self.at += 1

    def rest(self, whole: bool = False) -> str:
        words = self.words[self.at:]
        self.at = len(self.words)
        if whole and len(words) == 1:
            return words[0].text
        return " ".join(written(word.text, word.quoted) for word in words)


_LISTS = ("numbers", "words")


def _value(line: _Line, f: Field) -> str:
    if f.rest:
        return line.rest(whole=not f.positional)
    text = line.take(f"the value of `{f.name}`: {f.kind}")
    while f.type in _LISTS and text.endswith(",") and line.left():
        text += line.take("more of the list")
    return text


def _parse_fields(line: _Line, fields: Sequence[Field], of: str) -> tuple[tuple[str, str], ...]:
    keywords = {f.name: f for f in fields if not f.positional}
    inner = next((f for f in fields if f.inner), None)
    values: dict[str, str] = {}
    for f in fields:
        if not f.positional or f.inner:
            continue
        if not line.left() or line.peek() in keywords:
            break
        values[f.name] = _value(line, f)
    while line.left():
        word = line.peek()
        known = keywords.get(word) if word is not None else None
        if known is None and inner is not None:
            values[inner.name] = line.rest()
            break
        if known is None:
            raise line.wrong(f"`{line.words[line.at].text}` is not a word of `{of}`")
        if known.name in values:
            raise line.wrong(f"`{known.name}` was given already; give it once")
        line.at += 1
        if known.type == "flag":
            values[known.name] = "on"
            continue
        values[known.name] = _value(line, known)
        # The value may itself name a field: `distribution table FILE`.
        if known.type == "word" and values[known.name] in keywords:
            line.at -= 1
    for f in fields:
        if f.required and f.name not in values:
            raise line.wrong(f"`{of}` needs `{f.name}`: {f.kind}", len(line.words))
    return tuple((f.name, values[f.name]) for f in fields if f.name in values)


def _parse_statement(line: _Line, tables: Tables) -> Statement:
    scope = ""
    if line.peek() == "class":
        line.at += 1
        scope = line.take("the name of the class")
        kinds = {k.name for k in tables.statements if k.role.startswith("aqm")}
        if line.peek() not in kinds:
            kind = tables.statement("class", None)
            if kind is None:
                raise line.wrong("this weir has no classes")
            return Statement("class", None, _parse_fields(line, kind.fields, "class"), 0, scope,
                             kind)
    name = line.take("a statement")
    word = line.peek()
    found = tables.statement(name, word) if word is not None else None
    if found is not None:
        line.at += 1
    else:
        found = tables.statement(name, None)
    if found is None and word is not None and re.fullmatch(r"[0-9.]+%", word):
        found = tables.by_percent(name)
    if found is None:
        raise line.wrong(f"`{name}` is not a statement, or `{word}` not a variant of it",
                         line.at - 1)
    number = 1 if found.number_max else 0
    if number and word is not None and word.isdigit():
        number = int(line.take("a number"))
    return Statement(found.name, found.variant, _parse_fields(line, found.fields, name), number,
                     scope, found)


# ---- the objects ----


@dataclass
class Port:
    """A port with an `interface`, a `device`, or neither, as in a replay. `values` are the device's
    further settings."""

    name: str
    interface: str | None = None
    device: str | None = None
    values: tuple[tuple[str, str], ...] = ()
    fields: tuple[Field, ...] = field(default=(), repr=False, compare=False)

    def __str__(self) -> str:
        words = ["port", self.name]
        if self.interface is not None:
            words += ["interface", written(self.interface)]
        elif self.device is not None:
            words += ["device", written(self.device)]
        return " ".join(words + _fields_text(self.fields, dict(self.values)))


@dataclass
class Cloud(Statements["Cloud"]):
    """A cloud, or a template of clouds if `per` is true. Its methods are the statements."""

    name: str
    from_: str
    to: str
    per: bool = False
    values: tuple[tuple[str, str], ...] = ()
    statements: list[Statement] = field(default_factory=list)
    tables: Tables = field(default=None, repr=False, compare=False)  # type: ignore[assignment]

    def _made(self, name: str, args: Sequence[Any], keywords: dict[str, Any]) -> Cloud:
        return self.do(make(self.tables, name, args, keywords))

    def _kinds(self) -> Tables:
        return self.tables

    def do(self, statement: Statement | str) -> Cloud:
        """Adds a statement, or its text as after `cloud NAME`. It replaces a statement of the same
        name."""
        if isinstance(statement, str):
            words, end = split(statement, 0)
            statement = _parse_statement(_Line(words, 0, end), self.tables)
        new = statement
        if not new.kind.many_max:
            self.statements = [
                old for old in self.statements
                if (old.name, old.number, old.scope) != (new.name, new.number, new.scope)]
        self.statements.append(new)
        return self

    def queue(self, name: str, /, **fields: Value) -> Cloud:
        """`class NAME ...`: a class of the link, with a queue of its own."""
        return self.do(make(self.tables, "class_", (), dict(fields), name))

    def of_class(self, name: str, statement: str, /, *args: Value, **fields: Value) -> Cloud:
        """Adds the queue management of a class: `of_class("voice", "red", min="5kB",
        max="15kB")`."""
        return self.do(make(self.tables, statement, args, dict(fields), name))

    def without(self, name: str, number: int = 0) -> Cloud:
        """Removes a statement."""
        self.statements = [s for s in self.statements
                           if s.name != name or (number and s.number != number)]
        return self

    def lines(self) -> Iterator[str]:
        word = "clouds" if self.per else "cloud"
        fields = self.tables.template if self.per else self.tables.selection
        values = _fields_text(fields, dict(self.values))
        yield " ".join([word, self.name, "from", self.from_, "to", self.to]
                       + (["per"] if self.per else []) + values)
        order = sorted(self.statements, key=lambda s: (self.tables.place(s.kind), s.number))
        for statement in order:
            yield f"{word} {self.name} {statement}"


def _values_of(fields: Sequence[Field], keywords: dict[str, Any],
               of: str) -> tuple[tuple[str, str], ...]:
    unknown = set(keywords) - {f.python for f in fields}
    if unknown:
        raise ScenarioError(f"`{of}` has no `{unknown.pop()}`")
    return tuple((f.name, text) for f in fields
                 if (text := _text_of(f, keywords.get(f.python))) is not None)


class Scenario:
    """Ports, clouds, and a seed. See the module."""

    def __init__(self, seed: int | None = None, *,
                 weir: str | os.PathLike[str] | None = None) -> None:
        self.tables = language.tables(weir)
        self.weir = weir
        self.seed = seed
        self.ports: dict[str, Port] = {}
        self.clouds: dict[str, Cloud] = {}
        self.folder: str | None = None  # the folder of the files that the scenario names

    def port(self, name: str, *, interface: str | None = None, device: str | None = None,
             **settings: Value) -> Port:
        if name in self.ports or name in self.clouds:
            raise ScenarioError(f"there is a `{name}` already; choose another name")
        made = Port(name, interface, device, _values_of(self.tables.port, settings, "port"),
                    self.tables.port)
        self.ports[name] = made
        return made

    def cloud(self, name: str, from_: str | None = None, to: str | None = None,
              **selection: Value) -> Cloud:
        """Returns the cloud of this name; with `from_` and `to`, adds a new one. `priority` and
        `match` select its packets."""
        return self._cloud(name, from_, to, False, selection)

    def template(self, name: str, from_: str, to: str, **per: Value) -> Cloud:
        """`clouds NAME from PLACE to PORT per ...`: a cloud for each address, or for each flow."""
        return self._cloud(name, from_, to, True, per)

    def _cloud(self, name: str, from_: str | None, to: str | None, per: bool,
               values: dict[str, Any]) -> Cloud:
        if from_ is None and to is None and not values:
            if name not in self.clouds:
                near = difflib.get_close_matches(name, self.clouds, 1)
                raise ScenarioError(f"there is no cloud `{name}`"
                                    + (f"; did you mean `{near[0]}`?" if near else ""))
            return self.clouds[name]
        if from_ is None or to is None:
            raise ScenarioError(f"cloud `{name}` needs both ends: from where and to which port")
        if name in self.ports or name in self.clouds:
            raise ScenarioError(f"there is a `{name}` already; choose another name")
        fields = self.tables.template if per else self.tables.selection
        self.clouds[name] = Cloud(name, from_, to, per, _values_of(fields, values, "cloud"), [],
                                  self.tables)
        return self.clouds[name]

    def __str__(self) -> str:
        lines = [f"seed {self.seed}"] if self.seed is not None else []
        lines += [str(port) for port in self.ports.values()]
        for cloud in self.clouds.values():
            lines += cloud.lines()
        return "\n".join(lines) + "\n"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scenario) and str(self) == str(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<weir.Scenario: ports {', '.join(self.ports)}; clouds {', '.join(self.clouds)}>"

    def _repr_html_(self) -> str:
        import html

        return f"<pre>{html.escape(str(self))}</pre>"

    @classmethod
    def parse(cls, text: str, *, weir: str | os.PathLike[str] | None = None) -> Scenario:
        """Reads the text of a scenario file. Only weir itself can read `netem` lines: see load."""
        made = cls(weir=weir)
        for number, one in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
            words, end = split(one, number)
            if words:
                made._take(_Line(words, number, end))
        return made

    @classmethod
    def load(cls, path: str | os.PathLike[str], *,
             weir: str | os.PathLike[str] | None = None) -> Scenario:
        """Reads a file, or the scenario of this name in configs/. weir checks it, and expands
        `netem` lines."""
        path = beside(os.fspath(path), weir)
        try:
            text = program.call(["check", "-c", path], program=weir).stdout
        except Failed as error:
            if error.status != 2 or not error.stderr.startswith(path):
                raise
            raise _checked(error, path) from None
        made = cls.parse(text, weir=weir)
        made.folder = os.path.dirname(os.path.abspath(path))
        return made

    def check(self) -> str:
        """Returns what `weir check` prints about it: what it needs. Raises ScenarioError if it is
        wrong."""
        try:
            return program.call(["check", "-c", "/dev/stdin"], program=self.weir, input=str(self),
                                cwd=self.folder).stdout
        except Failed as error:
            raise _checked(error, "/dev/stdin") from None

    def _take(self, line: _Line) -> None:
        word = line.take("a word")
        readers: dict[str, Callable[[_Line], None]] = {
            "seed": self._take_seed, "port": self._take_port, "cloud": self._take_cloud,
            "clouds": self._take_cloud}
        if word not in readers or line.words[0].quoted:
            raise line.wrong(f"unknown word `{word}`; a line of a scenario begins with "
                             "`seed`, `port`, `cloud` or `clouds`", 0)
        readers[word](line)

    def _take_seed(self, line: _Line) -> None:
        text = line.take("a number")
        if not text.isdigit():
            raise line.wrong(f"`{text}` is not a seed", line.at - 1)
        self.seed = int(text)

    def _take_port(self, line: _Line) -> None:
        name = line.take("a name")
        interface = device = None
        if line.peek() == "interface":
            line.at += 1
            interface = line.take("an interface")
        elif line.peek() == "device":
            line.at += 1
            device = line.take("a device")
        made = self.port(name, interface=interface, device=device)
        made.values = _parse_fields(line, self.tables.port, "port")

    def _take_cloud(self, line: _Line) -> None:
        per = line.words[0].text == "clouds"
        name = line.take("a name")
        if line.peek() != "from" or name in self.clouds:
            if name not in self.clouds:
                raise line.wrong(f"there is no cloud `{name}`", 1)
            self.clouds[name].do(_parse_statement(line, self.tables))
            return
        line.expect("from")
        from_ = line.take("a port or a cloud")
        line.expect("to")
        to = line.take("a port")
        if per:
            line.expect("per")
        made = self._cloud(name, from_, to, per, {})
        made.values = _parse_fields(line, self.tables.template if per else self.tables.selection,
                                    line.words[0].text)


def _checked(error: Failed, path: str) -> ScenarioError:
    found = re.search(r"(?:^|: )" + re.escape(path) + r":(\d+):(\d+): (.*)", error.stderr)
    if found:
        return ScenarioError(f"line {found[1]}, column {found[2]}: {found[3]}", int(found[1]),
                             int(found[2]))
    return ScenarioError(str(error))


def beside(path: str, weir: str | os.PathLike[str] | None = None) -> str:
    """Returns the file `path`, or the scenario of this name in configs/: beside the program's
    sources or the library's, or where they are installed."""
    if os.path.exists(path):
        return path
    tried = []
    for start in (_program(weir), os.environ.get("WEIR_LIBRARY")):
        folder = os.path.dirname(os.path.realpath(start)) if start else "/"
        tried.append(os.path.join(folder, *["..", "share/weir/configs"]))
        while folder != "/":
            tried.append(os.path.join(folder, "configs"))
            folder = os.path.dirname(folder)
    for place in [*tried, "/usr/local/share/weir/configs", "/usr/share/weir/configs"]:
        found = os.path.join(place, path + ".weir")
        if os.path.exists(found) and "/" not in path:
            return found
    raise ScenarioError(f"there is no file `{path}`, and no scenario of that name")


def _program(weir: str | os.PathLike[str] | None) -> str | None:
    try:
        return program.find(weir)
    except NotInstalled:
        if weir is not None:
            raise
        return None  # a network of the library needs none


class _Maker(Statements[Statement]):
    """Makes statements without a cloud, as used in a schedule."""

    def _made(self, name: str, args: Sequence[Any], keywords: dict[str, Any]) -> Statement:
        return make(language.tables(), name, args, keywords)

    def _kinds(self) -> Tables:
        return language.tables()


statement = _Maker()
"""`cloud.at("10s", statement.rate("5mbit"), "no loss")`"""
