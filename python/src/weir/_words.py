# SPDX-License-Identifier: BSD-3-Clause
"""Splits a line of the language into words, and writes words as a line."""

from __future__ import annotations

from dataclasses import dataclass

from .errors import ScenarioError


@dataclass(frozen=True)
class Word:
    text: str
    column: int
    quoted: bool = False


def split(line: str, number: int) -> tuple[list[Word], int]:
    """Returns the words, and the column at which another word would begin.

    >>> [word.text for word in split(r'cloud a rate 1mbit # as it is', 1)[0]]
    ['cloud', 'a', 'rate', '1mbit']
    >>> split(r'"my file" "say \\"so\\""', 1)[0]
    [Word(text='my file', column=1, quoted=True), Word(text='say "so"', column=11, quoted=True)]
    """
    line = line.removesuffix("\r")
    words: list[Word] = []
    at, end = 0, 1
    while True:
        while at < len(line) and line[at] in " \t":
            at += 1
        if at == len(line) or line[at] == "#":
            return words, end
        begin = at
        if line[at] != '"':
            while at < len(line) and line[at] not in " \t":
                if line[at] == '"':
                    raise _wrong(number, at, "a quote in the middle of a word")
                at += 1
            words.append(Word(line[begin:at], begin + 1))
        else:
            text, at = "", at + 1
            while at < len(line) and line[at] != '"':
                if line[at] == "\\":
                    at += 1
                    if at == len(line) or line[at] not in '"\\':
                        raise _wrong(number, at - 1, 'in quotes a backslash stands before " or \\')
                text += line[at]
                at += 1
            if at == len(line):
                raise _wrong(number, begin, "this quote is not closed")
            at += 1
            if at < len(line) and line[at] not in " \t":
                raise _wrong(number, at, "a blank must follow the closing quote")
            words.append(Word(text, begin + 1, True))
        end = at + 2


def _wrong(number: int, at: int, message: str) -> ScenarioError:
    return ScenarioError(f"line {number}, column {at + 1}: {message}", number, at + 1)


def written(text: str, quote: bool = False) -> str:
    """Returns a text as one word of the language.

    >>> written("plain"), written("two words"), written("#5"), written("")
    ('plain', '"two words"', '"#5"', '""')
    """
    if quote or text == "" or text[0] == "#" or any(c in ' \t"' for c in text):
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return text
