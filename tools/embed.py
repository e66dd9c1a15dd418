#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes a C table of texts, so that a program has them wherever it is: embed.py OUT.c HEADER SYMBOL
FILE...

Writes `const struct embedded_text SYMBOL[]` of {name, text, bytes}, which ends with a NULL name. A
name is that of the file, without folder and extension."""
import pathlib
import sys


def literal(text):
    lines = []
    for line in text.splitlines(keepends=True):
        escaped = line.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        lines.append(f'\t "{escaped}"')
    return "\n".join(lines) or '\t ""'


def main():
    out, header, symbol, *files = sys.argv[1:]
    rows = []
    for path in sorted(map(pathlib.Path, files), key=lambda p: p.stem):
        text = path.read_text(encoding="utf-8")
        rows.append(f'\t{{"{path.stem}",\n{literal(text)},\n\t {len(text.encode())}}},\n')
    pathlib.Path(out).write_text(
        f'#include "{header}"\n\nconst struct embedded_text {symbol}[] = {{\n'
        + "".join(rows) + "\t{0},\n};\n", encoding="utf-8")


main()
